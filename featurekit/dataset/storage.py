"""Small files and folders, local or behind a URL that fsspec knows (`gs://`, `memory://`)."""

from __future__ import annotations

import contextlib
import os
import posixpath
import tempfile
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from featurekit.errors import FeatureKitError, MissingFileError

__all__ = ["absolute", "is_file", "list_folders", "local_copies", "read_text", "write_text"]


def is_file(path: str) -> bool:
    """Whether there is a file at `path`."""
    if _is_local(path):
        return os.path.isfile(path)
    filesystem, inner = _remote(path)
    return bool(filesystem.isfile(inner))


def list_folders(path: str) -> list[str]:
    """Names of the folders in the folder `path`, sorted; none where it does not exist."""
    try:
        if _is_local(path):
            with os.scandir(path) as entries:
                return sorted(entry.name for entry in entries if entry.is_dir())
        filesystem, inner = _remote(path)
        found = filesystem.ls(inner, detail=True)
    except (FileNotFoundError, NotADirectoryError):
        return []
    folders = [entry["name"] for entry in found if entry["type"] == "directory"]
    return sorted(posixpath.basename(name.rstrip("/")) for name in folders)


def read_text(path: str) -> str:
    """The text of a UTF-8 file.

    Raises:
        MissingFileError: There is none.
    """
    try:
        if _is_local(path):
            with open(path, encoding="utf-8") as file:
                return file.read()
        filesystem, inner = _remote(path)
        data: bytes = filesystem.cat_file(inner)
        return data.decode("utf-8")
    except FileNotFoundError:
        raise MissingFileError("the file does not exist", file=path) from None


def write_text(path: str, text: str) -> None:
    """Write a UTF-8 file and the folders above it; readers see the old or the new text whole."""
    if not _is_local(path):
        filesystem, inner = _remote(path)
        filesystem.makedirs(posixpath.dirname(inner), exist_ok=True)
        filesystem.pipe_file(inner, text.encode("utf-8"))
        return
    folder, name = os.path.split(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    unfinished = os.path.join(folder, f"incomplete.{uuid.uuid4().hex}.{name}")
    try:
        with open(unfinished, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(unfinished, path)
    except BaseException:
        if os.path.exists(unfinished):
            os.remove(unfinished)
        raise


@contextlib.contextmanager
def local_copies(folder: str, wanted: Callable[[str], bool]) -> Iterator[str]:
    """A local folder with the files of a folder, for code that reads local files only.

    Args:
        folder: A local folder, which is given as it is, or a URL.
        wanted: Whether a file of that name is needed; others are not copied.
    """
    if _is_local(folder):
        yield folder
        return
    filesystem, inner = _remote(folder)
    with tempfile.TemporaryDirectory() as copies:
        found = filesystem.ls(inner, detail=True) if filesystem.isdir(inner) else []
        for entry in found:
            name = posixpath.basename(entry["name"])
            if entry["type"] == "file" and wanted(name):
                with open(os.path.join(copies, name), "wb") as file:
                    file.write(filesystem.cat_file(entry["name"]))
        try:
            yield copies
        except FeatureKitError as error:
            if error.file is not None:  # where the file is, not where it was copied to
                error.file = error.file.replace(copies, folder.rstrip("/"), 1)
            raise


def absolute(path: str | os.PathLike[str]) -> str:
    """The absolute path of a local folder; a URL as it is."""
    text = os.fspath(path)
    return os.path.abspath(os.path.expanduser(text)) if _is_local(text) else text.rstrip("/")


def _is_local(path: str) -> bool:
    return "://" not in path


def _remote(path: str) -> tuple[Any, str]:
    import fsspec  # slow to import, and needed for URLs only

    filesystem, inner = fsspec.core.url_to_fs(path)
    return filesystem, inner
