"""The bytes of a file that a generator gives as a path or as an open file."""

from __future__ import annotations

import os
from typing import Any, BinaryIO

from featurekit.errors import EncodeError, EncodeTypeError, MissingFileError

__all__ = ["is_url", "read_file", "read_path"]


def read_path(path: str | os.PathLike[str], size: int = -1) -> bytes:
    """The bytes of the file at a path.

    Args:
        path: Of a file, or a URL that fsspec knows (`gs://`, `memory://`).
        size: How many bytes from its start; -1 for all.

    Raises:
        MissingFileError: There is none.
        EncodeError: It cannot be read: a folder, no permission, an I/O error.
    """
    try:
        with _open(path) as file:
            return file.read(size)
    except FileNotFoundError:
        raise MissingFileError("there is no such file", file=path, hint="check the path") from None
    except (OSError, ValueError) as error:
        raise EncodeError(f"the file cannot be read: {error}", file=path) from error


def is_url(path: str | os.PathLike[str]) -> bool:
    """Whether a path is that of a file elsewhere."""
    return isinstance(path, str) and "://" in path


def _open(path: str | os.PathLike[str]) -> BinaryIO:
    if not is_url(path):
        return open(path, "rb")
    import fsspec  # slow to import, and needed for URLs only

    return fsspec.open(path, "rb").open()  # type: ignore[no-any-return]


def read_file(file: Any) -> bytes:
    """The rest of an open file.

    Raises:
        EncodeTypeError: Its `read()` gives no bytes.
    """
    data = file.read()
    if not isinstance(data, (bytes, bytearray)):
        raise EncodeTypeError(
            f"expected a file of bytes, its read() gave {type(data).__name__}",
            hint="open the file in binary mode: open(path, 'rb')",
        )
    return bytes(data)
