"""The serialized examples of a split, by position: across its shard files.

A split is a list of pieces of files, `FileInstruction`s. This module finds the pieces that
hold the wanted examples, and reads them through `featurekit.dataset.shards`.
"""

from __future__ import annotations

import abc
import bisect
import functools
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from featurekit.dataset.lost_rows import clip, rows_kept
from featurekit.dataset.shards import Shard, check_format, open_shard
from featurekit.dataset.splits import FileInstruction
from featurekit.errors import FeatureKitError, add_location

__all__ = ["Records", "SplitRecords"]

# Open files are few on purpose: builds and readers work with a limit of 64.
_MAX_OPEN = 16
_RUN = 128  # records read at a time from the middle of a file


class Records(Sequence[bytes], abc.ABC):
    """Serialized examples by position: what an `ExampleReader` reads from."""

    @abc.abstractmethod
    def __getitem__(self, index: int) -> bytes:  # type: ignore[override]
        """The record at a position from 0 on."""

    @abc.abstractmethod
    def add_place(self, error: BaseException, index: int) -> None:
        """Say in which record an error happened."""

    def read(self, positions: npt.NDArray[np.int64]) -> list[bytes]:
        """The records at many positions, in that order."""
        return [self[index] for index in positions.tolist()]

    def lengths(self, positions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64] | None:
        """How many bytes the records at many positions have; None where that is not known."""
        return None

    def is_front(self, position: int) -> bool:
        """Whether `runs` from that position on costs no more than what it gives."""
        return False

    def runs(self, start: int = 0) -> Iterator[list[bytes]]:
        """All records from a position on, in order, some at a time."""
        return ([self[index]] for index in range(start, len(self)))


class SplitRecords(Records):
    """Serialized examples, shard after shard. Threads may share it, and forked processes.

    Args:
        pieces: Which records of which files, in order.
        file_format: How the files are stored.

    Raises:
        UnsupportedError: The format cannot be read.
    """

    def __init__(self, pieces: Sequence[FileInstruction], file_format: str = "tfrecord") -> None:
        check_format(file_format)
        self._pieces = tuple(_with_what_there_is(pieces, file_format))
        self._format = file_format
        # The same twice: as a list for one record, as an array for many.
        self._starts = [0, *itertools.accumulate(piece.take for piece in self._pieces)]
        self._offsets = np.array(self._starts, np.int64)
        self._open = self._opener()

    def _opener(self) -> functools._lru_cache_wrapper[Shard]:
        # A file is closed when nobody reads from it any more, not when it leaves the cache.
        # The cache is made in C: no lock that a fork could find taken.
        return functools.lru_cache(_MAX_OPEN)(_Opener(self._pieces, self._format))

    def __len__(self) -> int:
        """Number of records, as the metadata says."""
        return self._starts[-1]

    def __getitem__(self, index: int) -> bytes:  # type: ignore[override]
        """The record at a position."""
        number, position = self._find(index)
        return self._open(number).one(position)

    def read(self, positions: npt.NDArray[np.int64]) -> list[bytes]:
        """The records at many positions, in that order; each file is asked once."""
        numbers, inner = self._find_all(positions)
        if len(numbers) and (numbers == numbers[0]).all():
            return self._open(int(numbers[0])).read(inner)
        found: list[bytes] = [b""] * len(positions)
        for number in np.unique(numbers).tolist():
            there = np.flatnonzero(numbers == number)
            for place, record in zip(
                there.tolist(), self._open(number).read(inner[there]), strict=True
            ):
                found[place] = record
        return found

    def lengths(self, positions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64] | None:
        """How many bytes the records at many positions have; None where that is not known."""
        numbers, inner = self._find_all(positions)
        result = np.empty(len(positions), np.int64)
        for number in np.unique(numbers).tolist():
            there = numbers == number
            lengths = self._open(number).lengths(inner[there])
            if lengths is None:
                return None
            result[there] = lengths
        return result

    def locate(self, index: int) -> tuple[FileInstruction, int]:
        """The piece that holds a record, and the record's number in that file."""
        number, position = self._find(index)
        return self._pieces[number], position

    def _find(self, index: int) -> tuple[int, int]:
        number = bisect.bisect_right(self._starts, index) - 1
        return number, self._pieces[number].skip + index - self._starts[number]

    def _find_all(
        self, positions: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The pieces of many records, and the records' numbers in those files."""
        numbers = np.searchsorted(self._offsets, positions, "right") - 1
        return numbers, self._skips[numbers] + positions - self._offsets[numbers]

    @functools.cached_property
    def _skips(self) -> npt.NDArray[np.int64]:
        return np.array([piece.skip for piece in self._pieces], np.int64)

    @property
    def file_ranges(self) -> list[range]:
        """The positions of the records of each piece."""
        return [range(*bounds) for bounds in itertools.pairwise(self._starts)]

    def is_front(self, position: int) -> bool:
        """Whether a file can be read from its front on to get the record at that position."""
        return position < len(self) and self._find(position)[1] == 0

    def scan(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """Read records in order, each file from front to back."""
        stop = len(self) if stop is None else stop
        return itertools.islice(itertools.chain.from_iterable(self.runs(start)), stop - start)

    def runs(self, start: int = 0) -> Iterator[list[bytes]]:
        """All records from a position on, in order, some at a time.

        The number of records of a file is checked where its end is reached.
        """
        for number, (piece, records) in enumerate(zip(self._pieces, self.file_ranges, strict=True)):
            if records.stop <= start:
                continue
            skip = piece.skip + max(start - records.start, 0)
            yield from self._piece_runs(number, skip, piece.skip + piece.take)

    def _piece_runs(self, number: int, start: int, stop: int) -> Iterator[list[bytes]]:
        """Records `start` to `stop` of a file."""
        shard = self._open(number)
        if start:
            for first in range(start, stop, _RUN):
                yield shard.read(range(first, min(first + _RUN, stop)))
            return
        left = stop
        for run in shard.runs():
            # What comes behind the piece is read too where the file is read whole: its end
            # tells whether it has the right number of records.
            if left > 0:
                yield run[:left] if len(run) > left else run
            left -= len(run)
            if left <= 0 and not self._pieces[number].takes_all:
                return

    def add_place(self, error: BaseException, index: int) -> None:
        """Say in which file and record an error happened."""
        piece, position = self.locate(index)
        if isinstance(error, FeatureKitError) and error.record is not None:
            error.record = None  # the position in a batch says nothing to people
        add_location(error, file=piece.filename, record=position)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without the open files."""
        return {name: value for name, value in self.__dict__.items() if name != "_open"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickle; files are opened when they are first needed."""
        self.__dict__.update(state)
        self._open = self._opener()


def _with_what_there_is(
    pieces: Sequence[FileInstruction], file_format: str
) -> Iterator[FileInstruction]:
    for piece in pieces:
        if file_format == "parquet" and piece.examples_in_shard != rows_kept(
            piece.examples_in_shard
        ):
            shard = open_shard(piece.filename, piece.examples_in_shard, file_format, {})
            piece = clip(piece, len(shard))
        yield piece


class _Opener:
    """Opens the file of a piece; keeps the indexes of all, however few files are open."""

    def __init__(self, pieces: Sequence[FileInstruction], file_format: str) -> None:
        self._pieces = pieces
        self._format = file_format
        self._kept: dict[Any, Any] = {}

    def __call__(self, number: int) -> Shard:
        piece = self._pieces[number]
        return open_shard(piece.filename, piece.examples_in_shard, self._format, self._kept)
