"""One file of a dataset: its records by number, and all of them from front to back."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from featurekit.dataset.index_files import load_index
from featurekit.errors import (
    DatasetInfoError,
    MissingFileError,
    RecordIndexError,
    UnsupportedError,
)
from featurekit.io.files import ByteFile, open_file
from featurekit.io.index import RecordIndex, read_indexed, read_many
from featurekit.io.record_files import (
    FILE_FORMATS,
    RecordFile,
    check_file_format,
    open_records,
)
from featurekit.io.stream import RecordStream

__all__ = ["Shard", "TFRecordShard", "check_format", "open_shard"]

_RUN = 32

Indices: TypeAlias = Sequence[int] | npt.NDArray[np.int64]


class Shard(Protocol):
    """A file of records. Several threads may read from one at a time."""

    def __len__(self) -> int:
        """Number of records that are in the file."""

    def one(self, index: int) -> bytes:
        """The record with that number."""

    def read(self, indices: Indices) -> list[bytes]:
        """The records with these numbers, in that order."""

    def lengths(self, indices: Indices) -> npt.NDArray[np.int64] | None:
        """How many bytes each of them has; None where only reading can tell."""

    def runs(self) -> Iterator[list[bytes]]:
        """All records, some at a time, as they come out of the file."""


class TFRecordShard:
    """A TFRecord file of a dataset.

    Args:
        path: Of the file, or its URL.
        count: How many records it should have.
        kept: What is kept of a file that is closed and opened again: its index, by path.

    Raises:
        MissingFileError: There is no such file.
    """

    def __init__(self, path: str, count: int, kept: dict[Any, RecordIndex]) -> None:
        self._file = _open(path)
        self._path = path
        self._count = count
        self._kept = kept

    def __len__(self) -> int:
        return len(self._indexed())

    def one(self, index: int) -> bytes:
        """The record with that number.

        Raises:
            CorruptRecordError: It is damaged.
            DatasetInfoError: The file has more or fewer records than it should.
        """
        return read_indexed(self._file, self._checked(), index, check_crc=True)

    def read(self, indices: Indices) -> list[bytes]:
        """The records with these numbers.

        Raises:
            CorruptRecordError: One of them is damaged.
            DatasetInfoError: The file has more or fewer records than it should.
        """
        index = self._checked()
        return read_many(self._file, index, _as_array(indices, len(index)), check_crc=True)

    def lengths(self, indices: Indices) -> npt.NDArray[np.int64]:
        """How many bytes each of them has."""
        index = self._checked()
        return index.lengths[_as_array(indices, len(index))].astype(np.int64)

    def runs(self) -> Iterator[list[bytes]]:
        """All records, without an index; their number is checked at the end."""
        count = 0
        for _, payloads in RecordStream(self._file, "raise", True).blocks():
            count += len(payloads)
            yield payloads
        check_count(self._path, self._count, count)

    def _checked(self) -> RecordIndex:
        index = self._indexed()
        check_count(self._path, self._count, len(index))
        return index

    def _indexed(self) -> RecordIndex:
        key = (self._path, self._file.stamp)
        index = self._kept.get(key)
        if index is None:
            index = self._kept[key] = load_index(self._file, self._count)
        return index


def _as_array(indices: Indices, count: int) -> npt.NDArray[np.int64]:
    array = np.asarray(indices, np.int64)
    if len(array) and not 0 <= array.min() <= array.max() < count:
        raise RecordIndexError(f"there is no record {array.max()}: there are {count}")
    return array


def check_count(path: str, expected: int, count: int) -> None:
    """Check the number of records of a file against the metadata.

    Raises:
        DatasetInfoError: It is another one.
    """
    if count != expected:
        raise DatasetInfoError(
            f"expected {expected} records, got {count}",
            file=path,
            hint="the shard is cut, or not the one that dataset_info.json describes; copy it again",
        )


def _open(path: str) -> ByteFile:
    try:
        return open_file(path)
    except MissingFileError:
        raise MissingFileError(
            "a shard of the dataset does not exist",
            file=path,
            hint="copy the dataset's folder again: all files that its metadata names",
        ) from None


class RecordFileShard:
    """A file of a format that has an index of its own: ArrayRecord, Parquet.

    Each thread and process has the file open for itself, since the libraries' readers keep
    a place in it.

    Args:
        path: Of the file, or its URL.
        count: How many records it should have.
        file_format: The format.

    Raises:
        MissingFileError: There is no such file.
    """

    def __init__(self, path: str, count: int, file_format: str) -> None:
        _open(path)
        self._path = path
        self._count = count
        self._format = file_format
        self._opened = threading.local()

    @property
    def _file(self) -> RecordFile:
        if getattr(self._opened, "process", None) != os.getpid():
            self._opened.file = open_records(self._path, self._format)
            self._opened.process = os.getpid()
        file: RecordFile = self._opened.file
        return file

    def __len__(self) -> int:
        return len(self._file)

    def one(self, index: int) -> bytes:
        """The record with that number."""
        return self._checked()[index]

    def read(self, indices: Indices) -> list[bytes]:
        """The records with these numbers."""
        file, wanted = self._checked(), np.asarray(indices, np.int64)
        records = [b""] * len(wanted)
        for place in np.argsort(wanted).tolist():  # so that each row group is read once
            records[place] = file[int(wanted[place])]
        return records

    def _checked(self) -> RecordFile:
        file = self._file
        check_count(self._path, self._count, len(file))
        return file

    def lengths(self, indices: Indices) -> None:
        """Not known."""

    def runs(self) -> Iterator[list[bytes]]:
        """All records; their number is checked at the end."""
        records, count = iter(self._file), 0
        while run := list(itertools.islice(records, _RUN)):
            count += len(run)
            yield run
        check_count(self._path, self._count, count)


def check_format(file_format: str) -> None:
    """Raise an `UnsupportedError` where files of a format cannot be read."""
    if file_format in FILE_FORMATS:
        check_file_format(file_format)
        return
    raise UnsupportedError(f"shards of the format {file_format!r} cannot be read")


def open_shard(path: str, count: int, file_format: str, kept: dict[Any, Any]) -> Shard:
    """Open one file of a dataset.

    Args:
        path: Of the file, or its URL.
        count: How many records it should have.
        file_format: How it is stored.
        kept: What the reader wants to keep of a file that is closed and opened again.

    Raises:
        MissingFileError: There is no such file.
        MissingDependencyError: The package that reads the format is not installed.
    """
    if file_format == "tfrecord":
        return TFRecordShard(path, count, kept)
    return RecordFileShard(path, count, file_format)
