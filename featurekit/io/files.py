"""Reading a file at any offset."""

from __future__ import annotations

import os
import stat

from featurekit.errors import InvalidArgumentError, InvalidTypeError, MissingFileError

__all__ = ["LocalFile", "path_text"]


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
        self.size: int = os.fstat(self._descriptor).st_size

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

    def __del__(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
