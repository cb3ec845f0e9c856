"""Record files of any format: one way to open them for reading and for writing."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from typing import Any, Protocol

from featurekit.errors import InvalidArgumentError, UnsupportedError, did_you_mean

__all__ = [
    "FILE_FORMATS",
    "RecordFile",
    "RecordSink",
    "check_file_format",
    "check_installed",
    "open_records",
    "open_writer",
]

# The module of each format, and its classes that read and write.
_CLASSES = {
    "tfrecord": ("featurekit.io.tfrecord", "TFRecordReader", "TFRecordWriter"),
    "array_record": ("featurekit.io.array_record", "ArrayRecordReader", "ArrayRecordWriter"),
    "parquet": ("featurekit.io.parquet", "ParquetReader", "ParquetWriter"),
}

FILE_FORMATS = (*_CLASSES, "riegeli")
"""The formats that TFDS has, as metadata calls them."""


class RecordFile(Protocol):
    """The records of a file, as bytes: a sequence that reads on demand."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> bytes: ...
    def __iter__(self) -> Iterator[bytes]: ...
    def close(self) -> None:
        """Let go of the open file; reading again opens it again."""


class RecordSink(Protocol):
    """What writes the records of one file."""

    def write(self, record: bytes, /) -> None:
        """Append one record."""

    def close(self) -> None:
        """Complete the file."""


def open_records(path: str | os.PathLike[str], file_format: str = "tfrecord") -> RecordFile:
    """The records of a file; it is opened when it is first needed.

    Args:
        path: The file, or a URL that fsspec knows; not compressed as a whole.
        file_format: `tfrecord`, `array_record` or `parquet`.

    Raises:
        InvalidArgumentError: There is no such format.
        UnsupportedError: The format is riegeli.
    """
    reader, _ = _classes(file_format)
    options = {"compression": None} if file_format == "tfrecord" else {}
    file: RecordFile = reader(path, **options)
    return file


def open_writer(path: str | os.PathLike[str], file_format: str = "tfrecord") -> RecordSink:
    """A writer of a new file.

    Args:
        path: The file; an existing one is replaced.
        file_format: `tfrecord`, `array_record` or `parquet`.

    Raises:
        InvalidArgumentError: There is no such format.
        UnsupportedError: The format is riegeli.
        WriteError: The file cannot be created.
        MissingDependencyError: The package that writes the format is not installed.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     writer = open_writer(f"{folder}/one", "tfrecord")
        ...     writer.write(b"record")
        ...     writer.close()
        ...     list(open_records(f"{folder}/one", "tfrecord"))
        [b'record']
    """
    _, writer = _classes(file_format)
    file: RecordSink = writer(path)
    return file


def check_file_format(file_format: Any) -> str:
    """The name of a format that can be read and written.

    Args:
        file_format: Its name, or a member of an enum that has it as value, as TFDS's.

    Raises:
        InvalidArgumentError: There is no such format.
        UnsupportedError: The format is riegeli.
    """
    name = getattr(file_format, "value", file_format)
    if name in _CLASSES:
        return str(name)
    if name in FILE_FORMATS:
        raise UnsupportedError(
            f"files of the format {name!r} can be neither read nor written",
            hint=f"have TFDS write the dataset as one of {', '.join(_CLASSES)}",
        )
    raise InvalidArgumentError(
        f"there is no file format {name!r}{did_you_mean(name, FILE_FORMATS)}"
    )


def check_installed(file_format: str) -> None:
    """Refuse a format whose package is not installed, before anything is done for it.

    Raises:
        MissingDependencyError: It is not installed; says how to install it.
    """
    module = importlib.import_module(_CLASSES[file_format][0])
    if hasattr(module, "import_library"):
        module.import_library()


def _classes(file_format: str) -> tuple[Any, Any]:
    """The classes that read and write a format."""
    module, reader, writer = _CLASSES[check_file_format(file_format)]
    found = importlib.import_module(module)
    return getattr(found, reader), getattr(found, writer)
