"""The serialized examples of a split, by position: across its shard files.

A split is a list of pieces of files, `FileInstruction`s. This module finds the piece that
holds example number i, reads it, and checks that the files hold as many records as the
metadata says.
"""

from __future__ import annotations

import bisect
import itertools
import os
from collections.abc import Iterator, Sequence

from featurekit.dataset.splits import FileInstruction
from featurekit.errors import (
    DatasetInfoError,
    FeatureKitError,
    MissingFileError,
    UnsupportedError,
    add_location,
)
from featurekit.io.tfrecord import TFRecordReader

__all__ = ["SplitRecords"]

# Open files are few on purpose: builds and readers work with a limit of 64.
_MAX_OPEN = 16


class SplitRecords(Sequence[bytes]):
    """Serialized examples, shard after shard.

    Args:
        pieces: Which records of which files, in order.
        file_format: How the files are stored.

    Raises:
        UnsupportedError: The format cannot be read.
    """

    def __init__(self, pieces: Sequence[FileInstruction], file_format: str = "tfrecord") -> None:
        if file_format != "tfrecord":
            raise UnsupportedError(f"shards of the format {file_format!r} cannot be read")
        self._pieces = tuple(pieces)
        self._offsets = list(itertools.accumulate((p.take for p in self._pieces), initial=0))
        self._readers: dict[str, TFRecordReader] = {}

    def __len__(self) -> int:
        """Number of records, as the metadata says."""
        return self._offsets[-1]

    def __getitem__(self, index: int) -> bytes:  # type: ignore[override]
        """The record at a position from 0 on."""
        piece, position = self.locate(index)
        reader = self._reader(piece.filename)
        self._check_count(piece, len(reader))
        return reader[position]

    def locate(self, index: int) -> tuple[FileInstruction, int]:
        """The piece that holds a record, and the record's number in that file."""
        number = bisect.bisect_right(self._offsets, index) - 1
        piece = self._pieces[number]
        return piece, piece.skip + index - self._offsets[number]

    @property
    def file_ranges(self) -> list[range]:
        """The positions of the records of each piece."""
        return [range(*bounds) for bounds in itertools.pairwise(self._offsets)]

    def scan(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """Read records in order, each file from front to back."""
        stop = len(self) if stop is None else stop
        for piece, offset in zip(self._pieces, self._offsets, strict=False):
            skip = max(start - offset, 0)
            take = min(stop - offset, piece.take) - skip
            if take > 0:
                yield from self._scan_piece(piece, piece.skip + skip, take)

    def _scan_piece(self, piece: FileInstruction, skip: int, take: int) -> Iterator[bytes]:
        reader = self._reader(piece.filename)
        if skip:
            self._check_count(piece, len(reader))
            yield from (reader[i] for i in range(skip, skip + take))
            return
        count = 0
        records = iter(reader)
        for count, record in enumerate(itertools.islice(records, take), 1):
            yield record
        if take == piece.examples_in_shard:
            count += sum(1 for _ in records)
            self._check_count(piece, count)
        elif count < take:
            self._check_count(piece, count)

    def _reader(self, path: str) -> TFRecordReader:
        reader = self._readers.pop(path, None)
        if reader is None:
            if not os.path.exists(path):
                raise MissingFileError(
                    "a shard of the dataset does not exist",
                    file=path,
                    hint="copy the dataset's folder again: all files that its metadata names",
                )
            if len(self._readers) >= _MAX_OPEN:
                self._readers.pop(next(iter(self._readers))).close()
            reader = TFRecordReader(path, compression=None)
        self._readers[path] = reader  # the last one is closed last
        return reader

    def _check_count(self, piece: FileInstruction, count: int) -> None:
        if count != piece.examples_in_shard:
            raise DatasetInfoError(
                f"expected {piece.examples_in_shard} records, got {count}",
                file=piece.filename,
                hint="the shard is cut, or not the one that dataset_info.json describes; "
                "copy it again",
            )

    def add_place(self, error: BaseException, index: int) -> None:
        """Say in which file and record an error happened."""
        piece, position = self.locate(index)
        if isinstance(error, FeatureKitError) and error.record is not None:
            error.record = None  # the position in a batch says nothing to people
        add_location(error, file=piece.filename, record=position)

    def __getstate__(self) -> dict[str, object]:
        """Pickle without the open files."""
        return self.__dict__ | {"_readers": {}}
