"""A stretch of a byte source, held in memory and moved front to back."""

from __future__ import annotations

from featurekit.errors import CorruptRecordError
from featurekit.io.compression import ByteSource

__all__ = ["Window"]


class Window:
    """The part of a source that is being worked on.

    Args:
        source: Where the bytes come from.
        block_bytes: Read at least so many bytes at a time.

    Attributes:
        data: The bytes held.
        position: Where in `data` the work has arrived.
        broken: The error at which the source ended before its end, else None.
    """

    def __init__(self, source: ByteSource, block_bytes: int) -> None:
        self.source = source
        self.data = b""
        self.position = 0
        self.broken: CorruptRecordError | None = None
        self._block_bytes = block_bytes
        self._origin = 0  # of data, in the source

    @property
    def offset(self) -> int:
        """Where in the source the work has arrived."""
        return self._origin + self.position

    @property
    def held(self) -> int:
        """Number of bytes held from `position` on."""
        return len(self.data) - self.position

    @property
    def end(self) -> int:
        """Where in the source the bytes held end."""
        return self._origin + len(self.data)

    def move(self, size: int) -> None:
        """Go on by `size` bytes, which need not be held."""
        self.position += size
        if self.held < 0:
            self._origin, self.data, self.position = self.offset, b"", 0

    def load(self, size: int) -> bool:
        """Hold `size` bytes from `position` on; False where the source ends before.

        Nothing is allocated for bytes that are not there: a file knows its size, and a
        compressed one is unpacked in chunks for as long as they come.
        """
        if self.held >= size:
            return True
        if self.source.size is not None and self.offset + size > self.source.size:
            return False
        return self._read(size)

    @property
    def left(self) -> int:
        """Number of bytes from `position` to the end, once `load` has said that it is near."""
        if self.source.size is None:
            return self.held
        return max(0, self.source.size - self.offset)

    def move_to_end(self) -> None:
        """Go to the end of the source."""
        if self.source.size is None:
            while self.load(self.held + 1):
                self.move(self.held)
        self.move(self.left)

    def _read(self, size: int) -> bool:
        self._origin, self.data, self.position = self.offset, self.data[self.position :], 0
        chunks, held = [self.data], len(self.data)
        while held < size and self.broken is None:
            try:
                chunk = self.source.pread(max(self._block_bytes, size - held), self._origin + held)
            except CorruptRecordError as error:
                self.broken = error.with_traceback(None)  # or it would keep the file open
                break
            if not chunk:
                break
            chunks.append(chunk)
            held += len(chunk)
        self.data = b"".join(chunks)
        return held >= size
