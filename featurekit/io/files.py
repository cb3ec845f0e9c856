"""Reading a file at any offset: one of this machine, or one behind a URL."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Sequence
from typing import Any, Protocol

from featurekit.errors import (
    DownloadError,
    InvalidArgumentError,
    InvalidTypeError,
    MissingFileError,
)

__all__ = ["ByteFile", "LocalFile", "RemoteFile", "SeekableFile", "open_file", "path_text"]

_READ_AHEAD = 1 << 22  # bytes; a request to a store costs as much time as about a megabyte


class ByteFile(Protocol):
    """A file that can be read at any offset, by several threads at a time."""

    @property
    def path(self) -> str:
        """Its path or URL."""

    @property
    def size(self) -> int:
        """Number of bytes, as it was when the file was opened."""

    @property
    def stamp(self) -> str:
        """Text that changes with the file's content: the time of its last change, or a hash."""

    def pread(self, size: int, offset: int) -> bytes:
        """The `size` bytes from `offset` on, fewer where the file ends before."""

    def preads(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """The bytes of several ranges, `(size, offset)` each."""


def open_file(path: str) -> ByteFile:
    """Open a local file, or one behind a URL that fsspec knows (`gs://`, `memory://`).

    Raises:
        MissingFileError: There is no such file.
    """
    return RemoteFile(path) if "://" in path else LocalFile(path)


def path_text(path: str | os.PathLike[str]) -> str:
    """The path as text; an `InvalidTypeError` for everything that is no path."""
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else path
    if not isinstance(text, str):
        raise InvalidTypeError(
            f"a path is a str or an os.PathLike of str, not {type(path).__name__}"
        )
    return text


class LocalFile:
    """A file of this machine, open for reading at any offset.

    Reads state their offset, so threads and forked processes can share one. The file is
    closed when the last reference goes, so that nobody reads from a descriptor that has
    become another file's.

    Args:
        path: An existing regular file.

    Raises:
        MissingFileError: There is no such file.
        InvalidArgumentError: It is a folder, a pipe or a device.
    """

    def __init__(self, path: str) -> None:
        self._descriptor = -1
        self.path = path
        try:
            mode = os.stat(path).st_mode  # before opening: opening a pipe waits for its writer
            if not stat.S_ISREG(mode):
                raise InvalidArgumentError(
                    "this is not a regular file", file=path, hint="pass the path of one record file"
                )
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError as error:
            raise MissingFileError(
                "there is no such file", file=path, hint="check the path"
            ) from error
        status = os.fstat(self._descriptor)
        self.size: int = status.st_size
        self.stamp = str(status.st_mtime_ns)

    def pread(self, size: int, offset: int) -> bytes:
        """The `size` bytes from `offset` on, fewer where the file ends before."""
        # The system makes the buffer before it reads: never ask for more than there is.
        size = min(size, self.size - offset)
        data = os.pread(self._descriptor, size, offset) if size > 0 else b""
        if len(data) >= size:
            return data
        chunks = [data]
        while chunks[-1] and (missing := size - sum(map(len, chunks))):  # 2 GiB a call at most
            chunks.append(os.pread(self._descriptor, missing, offset + size - missing))
        return b"".join(chunks)

    def preads(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """The bytes of several ranges, `(size, offset)` each."""
        return [self.pread(size, offset) for size, offset in ranges]

    def __del__(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)


class RemoteFile:
    """A file behind a URL, read in ranges.

    Reads that go on where the last one ended fetch some megabytes ahead; all others fetch what
    was asked for and no more.

    Args:
        url: Such as `gs://bucket/file`; what fsspec knows.

    Raises:
        MissingFileError: There is no such file.
    """

    def __init__(self, url: str) -> None:
        self.path = url
        self._process = -1
        self._filesystem: Any = None
        self._inner = ""
        filesystem = self._connected()
        try:
            self.size: int = int(filesystem.size(self._inner))
            self.stamp = str(filesystem.ukey(self._inner))
        except FileNotFoundError as error:
            raise MissingFileError(
                "there is no such file", file=url, hint="check the URL"
            ) from error
        # Where the next read is expected, and what was fetched ahead: its offset and bytes.
        self._next = 0
        self._ahead = (0, b"")

    def _connected(self) -> Any:
        """The file system; another one after a fork, since connections belong to a process."""
        if self._process != os.getpid():
            import fsspec  # slow to import, and needed for URLs only

            self._filesystem, self._inner = fsspec.core.url_to_fs(self.path)
            self._process = os.getpid()
        return self._filesystem

    def pread(self, size: int, offset: int) -> bytes:
        """The `size` bytes from `offset` on, fewer where the file ends before."""
        size = min(size, self.size - offset)
        if size <= 0:
            return b""
        start, held = self._ahead
        if not start <= offset <= offset + size <= start + len(held):
            start = offset
            wanted = max(size, _READ_AHEAD) if offset == self._next else size
            held = self._fetch(offset, min(wanted, self.size - offset))
            self._ahead = (start, held)
        self._next = offset + size
        return held[offset - start : offset - start + size]

    def preads(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """The bytes of several ranges, `(size, offset)` each, fetched at the same time."""
        if len(ranges) == 1:
            return [self.pread(*ranges[0])]
        stops = [min(offset + size, self.size) for size, offset in ranges]
        starts = [offset for _, offset in ranges]
        filesystem = self._connected()
        found: list[bytes] = filesystem.cat_ranges([self._inner] * len(ranges), starts, stops)
        return found

    def _fetch(self, offset: int, size: int) -> bytes:
        try:
            data: bytes = self._connected().cat_file(self._inner, start=offset, end=offset + size)
        except OSError as error:  # which says nothing against the file's content
            raise DownloadError(
                f"the file cannot be fetched: {error}", file=self.path, hint="read it again"
            ) from error
        return data


class SeekableFile(io.RawIOBase):
    """A file with a position, as libraries want it.

    Args:
        file: Where the bytes are.
    """

    def __init__(self, file: ByteFile) -> None:
        self._source = file
        self._position = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def tell(self) -> int:
        """The position."""
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Move the position."""
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._source.size}
        self._position = start[whence] + offset
        return self._position

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes, all of them where there are as many."""
        data = self._source.pread(self._source.size if size < 0 else size, self._position)
        self._position += len(data)
        return data
