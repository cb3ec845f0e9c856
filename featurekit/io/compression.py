"""GZIP and ZLIB around a whole record file: names, detection, unpacking as a stream."""

from __future__ import annotations

import contextlib
import zlib
from typing import Literal, Protocol

from featurekit.errors import CorruptRecordError, InvalidArgumentError, did_you_mean
from featurekit.io.framing import HEADER_BYTES, checked_length

__all__ = ["ByteSource", "Compression", "Inflater", "compression_named", "compressor", "detect"]

Compression = Literal["GZIP", "ZLIB"]

_WBITS = {"GZIP": 16 + zlib.MAX_WBITS, "ZLIB": zlib.MAX_WBITS}
_NAMES: dict[str | None, Compression | None] = {
    "GZIP": "GZIP",
    "ZLIB": "ZLIB",
    "NONE": None,
    "": None,
    None: None,
}
_PACKED_BYTES = 1 << 16  # read from the file at a time
_UNPACKED_BYTES = 1 << 20  # unpacked at a time

COPY_AGAIN = 'copy the file again, or read what is whole with on_corrupt="skip"'


class ByteSource(Protocol):
    """Bytes that can be read at an offset, such as a file or what is packed in one."""

    @property
    def path(self) -> str:
        """The file, for messages."""

    @property
    def size(self) -> int | None:
        """Number of bytes, None where only reading to the end can tell."""

    def pread(self, size: int, offset: int) -> bytes:
        """At most `size` bytes from `offset` on; none only at the end."""


def compression_named(name: str | None) -> Compression | None:
    """The compression with that name; None, "NONE" and "" stand for none.

    >>> compression_named("NONE")

    Raises:
        InvalidArgumentError: There is no such compression.
    """
    if name in _NAMES:
        return _NAMES[name]
    raise InvalidArgumentError(
        f"{name!r} is not a compression of record files"
        f"{did_you_mean(str(name).upper(), ['GZIP', 'NONE', 'ZLIB'])}"
    )


def compressor(compression: Compression) -> zlib._Compress:
    """A compressor whose bytes depend on the data and the zlib library alone.

    zlib's own GZIP header has no file name and no time.
    """
    return zlib.compressobj(wbits=_WBITS[compression])


def detect(source: ByteSource) -> Compression | None:
    """The compression of a record file, from its first bytes.

    A length can look like the first bytes of a compressed file (31, 139, 8 or 120, 156),
    so a header whose checksum holds decides first. The two bytes of ZLIB prove little and
    must be followed by something that unpacks.
    """
    start = source.pread(1 << 12, 0)
    if len(start) >= HEADER_BYTES and checked_length(start[:HEADER_BYTES]) >= 0:
        return None
    if start[:3] == b"\x1f\x8b\x08":
        return "GZIP"
    if len(start) >= 2 and start[0] & 15 == 8 and int.from_bytes(start[:2], "big") % 31 == 0:
        try:
            zlib.decompressobj().decompress(start, 1 << 12)
        except zlib.error:
            return None
        return "ZLIB"
    return None


class Inflater:
    """What is packed in a compressed file, as a `ByteSource` that is read front to back.

    Streams that follow one another are read as one, as `gzip` does. What is not a stream,
    a stream that is cut, and a stream whose own checksum is wrong are errors.

    Args:
        packed: The compressed file.
        compression: Its compression.
        salvage: Where a stream is damaged, give what unpacks before that point. Otherwise
            a chunk in which a fault lies gives nothing.
    """

    size = None

    def __init__(self, packed: ByteSource, compression: Compression, salvage: bool) -> None:
        self.path = packed.path
        self._packed = packed
        self._compression = compression
        self._salvage = salvage
        self._inflate = zlib.decompressobj(_WBITS[compression])
        self._input = b""
        self._read = 0  # bytes of the packed file
        self._in_stream = False
        self._streams = 0  # that have ended
        self._error: CorruptRecordError | None = None
        self._chunk = b""
        self._chunk_offset = 0

    def pread(self, size: int, offset: int) -> bytes:
        """At most `size` bytes from `offset` on, which must not lie before an earlier one.

        Raises:
            CorruptRecordError: The compressed file is damaged at or before that offset.
        """
        while (start := offset - self._chunk_offset) >= len(self._chunk):
            chunk = self._next_chunk()
            if not chunk:
                return b""
            self._chunk_offset += len(self._chunk)
            self._chunk = chunk
        return self._chunk[start : start + size]

    def _next_chunk(self) -> bytes:
        """The next unpacked bytes, none at the end."""
        while self._error is None:
            if not self._input:
                self._input = self._packed.pread(_PACKED_BYTES, self._read)
                self._read += len(self._input)
            if self._input:
                chunk = self._unpack()
            elif self._in_stream:
                chunk = self._inflate.flush()  # what was left out by the limit on a chunk
                self._error = self._cut()
            else:
                return b""
            if chunk:
                return chunk
        raise self._error

    def _unpack(self) -> bytes:
        """Unpack some of the input; no bytes where it holds none yet, or on an error."""
        before = self._inflate.copy() if self._salvage else None
        try:
            chunk = self._inflate.decompress(self._input, _UNPACKED_BYTES)
        except zlib.error as error:
            self._error = self._damaged(error)
            return b"" if before is None else _unpack_bytewise(before, self._input)
        self._in_stream = not self._inflate.eof
        if self._in_stream:
            self._input = self._inflate.unconsumed_tail
        else:
            self._input = self._inflate.unused_data
            self._inflate = zlib.decompressobj(_WBITS[self._compression])
            self._streams += 1
        return chunk

    def _cut(self) -> CorruptRecordError:
        return CorruptRecordError(
            f"the {self._compression} stream is cut: the file ends after {self._read} bytes, "
            "before the stream does",
            file=self.path,
            hint=COPY_AGAIN,
        )

    def _damaged(self, error: zlib.error) -> CorruptRecordError:
        where, hint = f"the {self._compression} stream is damaged", COPY_AGAIN
        if self._streams:
            where = f"what follows {self._compression} stream {self._streams} is damaged or junk"
        elif not self._chunk:
            hint = f'this may be no {self._compression} file: try compression="auto"; {COPY_AGAIN}'
        return CorruptRecordError(f"{where}: {error}", file=self.path, hint=hint)


def _unpack_bytewise(inflate: zlib._Decompress, data: bytes) -> bytes:
    """All that unpacks before the error that is somewhere in `data`."""
    chunks = []
    with contextlib.suppress(zlib.error):
        for i in range(len(data)):
            chunks.append(inflate.decompress(data[i : i + 1]))
    return b"".join(chunks)
