"""Copies of files behind URLs, for libraries that read files of this machine only.

A file is copied whole, once a process, and the latest copies are kept, up to 8 GiB of them and to
what the disk has room for. A copy has no name: the system removes it when nothing has it open any
more, even where the process is killed.
"""

from __future__ import annotations

import collections
import os
import shutil
import tempfile
import threading

from featurekit.errors import DownloadError
from featurekit.io.files import ByteFile, LocalFile, open_file

__all__ = ["LocalCopy", "local_file"]

_KEPT_BYTES = 1 << 33
_CHUNK_BYTES = 1 << 24


class LocalCopy:
    """A copy of a file, which is there as long as this object, or as somebody has it open.

    Args:
        file: What to copy.

    Raises:
        DownloadError: It has changed its size, or cannot be written.
    """

    def __init__(self, file: ByteFile) -> None:
        self._descriptor = -1
        self.size = file.size
        try:
            self._descriptor, name = tempfile.mkstemp()
            os.remove(name)
            done = self._fill(file)
        except DownloadError:
            raise
        except OSError as error:
            raise DownloadError(
                f"the file cannot be copied to this machine: {error.strerror or error}",
                file=file.path,
                hint=f"set TMPDIR to a folder with room for its {file.size:,} bytes",
            ) from error
        if done != file.size:
            raise DownloadError(
                f"expected {file.size} bytes, got {done}",
                file=file.path,
                hint="read it again when nobody writes to it any more",
            )

    def _fill(self, file: ByteFile) -> int:
        """Write the copy; gives its number of bytes."""
        with open(self._descriptor, "wb", closefd=False) as out:
            return sum(
                out.write(file.pread(_CHUNK_BYTES, offset))
                for offset in range(0, file.size, _CHUNK_BYTES)
            )

    @property
    def path(self) -> str:
        """A path by which this process can open it, and those that it forks."""
        return f"/proc/self/fd/{self._descriptor}"

    def __del__(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)


def local_file(path: str) -> LocalFile | LocalCopy:
    """A file of this machine with the content of the file at a path or URL.

    Open `.path` while you hold the result; what is open then stays readable.

    Raises:
        MissingFileError: There is no such file.
        InvalidArgumentError: It is a folder, a pipe or a device.
        DownloadError: It cannot be copied.
    """
    file = open_file(path)
    return file if isinstance(file, LocalFile) else _copy_of(file)


_copies: collections.OrderedDict[tuple[str, str], LocalCopy] = collections.OrderedDict()
_lock = threading.Lock()


def _copy_of(file: ByteFile) -> LocalCopy:
    """The copy of a file, made where there is none of its present content."""
    key = (file.path, file.stamp)
    with _lock:  # so that threads that want the same file wait for one copy
        copy = _copies.pop(key, None)
        if copy is None:
            _make_room(file.size)
            copy = LocalCopy(file)
        _copies[key] = copy  # the latest
    return copy


def _make_room(size: int) -> None:
    """Let the oldest copies go for one of that size."""
    folder = tempfile.gettempdir()
    while _copies and (
        size + sum(copy.size for copy in _copies.values()) > _KEPT_BYTES
        or size > shutil.disk_usage(folder).free
    ):
        _copies.popitem(last=False)


def _renew_lock() -> None:
    """A forked process has no thread that could release a lock that was held."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)
