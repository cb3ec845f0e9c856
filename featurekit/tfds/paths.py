"""Paths as TFDS's scripts use them."""

from __future__ import annotations

import os
import pathlib
import sys
from typing import Any

from featurekit.builders.script_names import tfds_folder
from featurekit.errors import MissingFileError
from featurekit.optional import import_optional

__all__ = ["Path", "as_path", "gcs_path", "tfds_path"]


def _path_class() -> Any:
    """`etils.epath.Path`, which also knows `gs://`, where it is installed."""
    try:
        from etils import epath
    except ImportError:
        return pathlib.Path
    return epath.Path


Path = _path_class()


def as_path(path: str | os.PathLike[str]) -> Any:
    """A path object."""
    return Path(path)


def tfds_path(*relative_path: str | os.PathLike[str]) -> Any:
    """Path of a file or folder of TFDS's sources, such as a list of class names.

    Args:
        *relative_path: Path below `tensorflow_datasets/`, in one or more parts.

    Raises:
        MissingFileError: TFDS's sources are neither installed nor around the script.
    """
    script = sys._getframe(1).f_globals.get("__file__")
    folder = tfds_folder(pathlib.Path(script) if script else None)
    if folder is None:
        wanted = pathlib.PurePath("tensorflow_datasets", *relative_path)
        raise MissingFileError(
            "a script asks for a file of TFDS's sources, which are not installed",
            file=wanted,
            hint="copy the file beside the script, and name it by pathlib.Path(__file__).parent",
        )
    return Path(folder).joinpath(*relative_path)


def gcs_path(*relative_path: str | os.PathLike[str]) -> Any:
    """Path of a file in TFDS's public bucket."""
    epath = import_optional("etils.epath", extra="tfds", purpose="a path in cloud storage")
    return epath.Path("gs://tfds-data").joinpath(*relative_path)
