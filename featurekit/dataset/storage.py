"""Small files and folders, local or behind a URL that fsspec knows (`gs://`, `memory://`)."""

from __future__ import annotations

import os
import posixpath
import uuid
from typing import Any

from featurekit.errors import MissingFileError

__all__ = ["is_file", "list_folders", "read_text", "write_text"]


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


def _is_local(path: str) -> bool:
    return "://" not in path


def _remote(path: str) -> tuple[Any, str]:
    import fsspec  # slow to import, and needed for URLs only

    filesystem, inner = fsspec.core.url_to_fs(path)
    return filesystem, inner
