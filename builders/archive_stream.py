"""The bytes of a tar archive without its compression, and not more of them than is sane."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import os
from collections.abc import Iterator
from typing import IO, Any

from featurekit.errors import ArchiveError

__all__ = ["DEFAULT_EXPANSION", "ArchiveStream", "expansion_limit"]

DEFAULT_EXPANSION = 250

_ALWAYS_ALLOWED = 1 << 30
_HEADER_BYTES = 1 << 20  # of one member: its name, links and extensions
_SKIP_BYTES = 1 << 20

# How compressed files begin, and what unpacks them.
_OPENERS: dict[bytes, Any] = {
    b"\x1f\x8b": gzip.GzipFile,
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ": lzma.LZMAFile,
    b"\x5d\x00\x00": lzma.LZMAFile,
}


def expansion_limit(num_bytes: int, ratio: int = DEFAULT_EXPANSION) -> int:
    """How many bytes a file of that size may unpack to; beyond that it is taken for a bomb.

    >>> expansion_limit(100), expansion_limit(10**9)
    (1073741824, 250000000000)
    """
    return max(_ALWAYS_ALLOWED, num_bytes * ratio)


class ArchiveStream:
    """Reads a tar archive, compressed or not, for `tarfile`.

    `tarfile` reads headers of the length that the archive says, whatever it is, so they are
    limited; and a compressed archive may go on for ever.

    Args:
        file: The archive.
        forward_only: Whether `file` can be read from front to back only.
    """

    def __init__(self, file: IO[bytes], *, forward_only: bool) -> None:
        self.name = getattr(file, "name", None)
        self._forward_only = forward_only
        self._limit: int | None = None
        self._in_header = True
        self._file = self._unpacked(file)
        self._position = 0 if forward_only else self._file.tell()

    def _unpacked(self, file: IO[bytes]) -> Any:
        if self._forward_only:
            buffered = io.BufferedReader(_Raw(file))
            start, file = buffered.peek(6)[:6], buffered
        else:
            place = file.tell()
            start = file.read(6)
            file.seek(place)
        for magic, opener in _OPENERS.items():
            if start.startswith(magic):
                size = _size(file)
                self._limit = None if size is None else expansion_limit(size)
                return opener(fileobj=file) if opener is gzip.GzipFile else opener(file)
        return file

    @contextlib.contextmanager
    def reading_headers(self) -> Iterator[None]:
        """What is read meanwhile are headers of members, of limited length."""
        self._in_header = True
        try:
            yield
        finally:
            self._in_header = False

    def read(self, size: int = -1) -> bytes:
        """As of any file."""
        if self._in_header and not 0 <= size <= _HEADER_BYTES:
            raise ArchiveError(
                f"a member of the archive has a header of {size} bytes",
                file=self.name,
                hint="do not trust it; get it from another place",
            )
        data: bytes = self._file.read(size)
        self._advance(self._position + len(data))
        return data

    def tell(self) -> int:
        """As of any file."""
        return self._position

    def seek(self, position: int) -> int:
        """As of any file, from its start."""
        if self._forward_only:
            while self._position < position and self.read(
                min(_SKIP_BYTES, position - self._position)
            ):
                pass
        else:
            self._advance(position)  # first: what is compressed is unpacked to get there
            self._position = self._file.seek(position)
        return self._position

    def _advance(self, position: int) -> None:
        self._position = position
        if self._limit is not None and position > self._limit:
            raise ArchiveError(
                f"the archive unpacks to more than {self._limit} bytes",
                file=self.name,
                hint="if it is to be trusted, extract it by hand into manual_dir",
            )


class _Raw(io.RawIOBase):
    """A file of which only `read` is used."""

    def __init__(self, file: IO[bytes]) -> None:
        self._inner = file
        self.name = getattr(file, "name", None)

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._inner.fileno()

    def readinto(self, buffer: Any) -> int:
        data = self._inner.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _size(file: Any) -> int | None:
    """Size of a file on disk; None of other files."""
    try:
        return os.fstat(file.fileno()).st_size
    except (AttributeError, OSError):  # an archive within an archive
        return None
