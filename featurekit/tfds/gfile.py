"""`tf.io.gfile`: files and folders, on disk or behind a URL that fsspec knows.

Names come back sorted, where TensorFlow gives them in the order of the file system.
"""

from __future__ import annotations

import fnmatch
import io
import os
from collections.abc import Iterator
from typing import Any

import fsspec

from featurekit.errors import MissingFileError

__all__ = [
    "GFile",
    "Open",
    "copy",
    "exists",
    "glob",
    "isdir",
    "join",
    "listdir",
    "makedirs",
    "mkdir",
    "remove",
    "rename",
    "rmtree",
    "stat",
    "walk",
]

PathLike = str | os.PathLike[str]


def _find(path: PathLike) -> tuple[Any, str]:
    """The file system of a path, and the path within it."""
    text = os.fspath(path)
    if "://" not in text:
        return fsspec.filesystem("file"), text
    found: tuple[Any, str] = fsspec.core.url_to_fs(text)
    return found


class GFile:
    """A file, open or not: it is opened when it is read or written, also again after `close`.

    So does TensorFlow's, and scripts read from files that a `with` block has closed.

    Args:
        name: Path or URL.
        mode: `"r"`, `"w"` or `"a"` for text in UTF-8, with `"b"` for bytes.

    Raises:
        MissingFileError: There is no such file to read.
    """

    def __init__(self, name: PathLike, mode: str = "r") -> None:
        self.name = name
        self.mode = mode
        self._file: Any = None
        if "r" in mode and not exists(name):
            raise MissingFileError("there is no such file", file=os.fspath(name))

    def _open(self) -> Any:
        if self._file is None:
            system, path = _find(self.name)
            file = system.open(path, self.mode if "b" in self.mode else f"{self.mode}b")
            if "b" not in self.mode:
                # TensorFlow ends lines at "\n" alone, and changes no "\r\n".
                file = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
            self._file = file
        return self._file

    def read(self, n: int = -1) -> Any:
        """The rest of the file, or up to `n` characters or bytes of it."""
        return self._open().read(n)

    def readline(self) -> Any:
        """The next line; empty at the end."""
        return self._open().readline()

    def readlines(self) -> list[Any]:
        """The rest of the lines."""
        return list(self)

    def write(self, file_content: Any) -> None:
        """Write text or bytes."""
        self._open().write(file_content)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a position; gives it."""
        return int(self._open().seek(offset, whence))

    def tell(self) -> int:
        """The position."""
        return int(self._open().tell())

    def __getattr__(self, name: str) -> Any:
        """What else the open file has, such as `peek`."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._open(), name)

    def size(self) -> int:
        """Size in bytes."""
        return stat(self.name).length

    def close(self) -> None:
        """Close it; reading on begins at the front."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> GFile:
        if "r" not in self.mode:
            self._open()  # there is a file, also where nothing is written
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line


Open = GFile


def exists(path: PathLike) -> bool:
    """Whether there is a file or folder."""
    system, name = _find(path)
    return bool(system.exists(name))


def isdir(path: PathLike) -> bool:
    """Whether there is a folder."""
    system, name = _find(path)
    return bool(system.isdir(name))


def listdir(path: PathLike) -> list[str]:
    """Names of what is in a folder, sorted.

    Raises:
        MissingFileError: There is no such folder.
    """
    system, name = _find(path)
    if not system.isdir(name):
        raise MissingFileError("there is no such folder", file=os.fspath(path))
    return sorted(os.path.basename(found.rstrip("/")) for found in system.ls(name, detail=False))


def glob(pattern: PathLike | list[PathLike]) -> list[str]:
    """Paths that match a pattern, sorted; `*` does not match `/`."""
    if isinstance(pattern, list):
        return [path for one in pattern for path in glob(one)]
    text = os.fspath(pattern)
    folder, _, last = text.rpartition("/")
    if not any(char in text for char in "*?["):
        return [text] if exists(text) else []
    folders = glob(folder) if folder else ["/" if text[:1] == "/" else ""]
    return [
        os.path.join(parent, name)
        for parent in folders
        if isdir(parent or ".")
        for name in listdir(parent or ".")
        if fnmatch.fnmatchcase(name, last)
    ]


def walk(top: PathLike, topdown: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """Folders below a folder, with the names of the folders and files in each, sorted."""
    folder = os.fspath(top)
    if not isdir(folder):
        return
    names = listdir(folder)
    folders = [name for name in names if isdir(os.path.join(folder, name))]
    entry = (folder, folders, [name for name in names if name not in set(folders)])
    if topdown:
        yield entry
    for name in folders:
        yield from walk(os.path.join(folder, name), topdown)
    if not topdown:
        yield entry


def makedirs(path: PathLike) -> None:
    """Make a folder and those above it; one that is there already is no error."""
    system, name = _find(path)
    system.makedirs(name, exist_ok=True)


mkdir = makedirs


def copy(src: PathLike, dst: PathLike, overwrite: bool = False) -> None:
    """Copy a file.

    Raises:
        FileExistsError: There is a file already.
    """
    if exists(dst) and not overwrite:
        raise FileExistsError(f"{os.fspath(dst)} is there already; give overwrite=True")
    with GFile(src, "rb") as source, GFile(dst, "wb") as target:
        while chunk := source.read(1 << 20):
            target.write(chunk)


def rename(src: PathLike, dst: PathLike, overwrite: bool = False) -> None:
    """Move a file.

    Raises:
        FileExistsError: There is a file already.
    """
    copy(src, dst, overwrite)
    remove(src)


def remove(path: PathLike) -> None:
    """Remove a file."""
    system, name = _find(path)
    system.rm_file(name)


def rmtree(path: PathLike) -> None:
    """Remove a folder with all that is in it."""
    system, name = _find(path)
    system.rm(name, recursive=True)


class _Stat:
    """What `stat` tells."""

    def __init__(self, info: dict[str, Any]) -> None:
        self.length = int(info["size"])
        self.is_directory = info["type"] == "directory"


def stat(path: PathLike) -> _Stat:
    """Size (`length`, in bytes) and kind (`is_directory`) of a file."""
    system, name = _find(path)
    return _Stat(system.info(name))


def join(path: PathLike, *paths: PathLike) -> str:
    """Join parts of a path."""
    return os.path.join(os.fspath(path), *(os.fspath(part) for part in paths))
