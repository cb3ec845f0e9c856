"""Examples of a split, read and decoded some at a time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from featurekit.connector import FeatureConnector
from featurekit.dataset.item_reader import Chunk, ItemReader, numbers_from
from featurekit.dataset.order import Order
from featurekit.dataset.prefetch import map_ahead
from featurekit.dataset.records import Records
from featurekit.tensor_info import TensorInfo, Tree

__all__ = ["ExampleReader"]

Positions: TypeAlias = npt.NDArray[np.int64]

# Examples that are asked for one by one are decoded together in chunks of up to this many, and
# of about this many bytes as they are stored.
_CHUNK_RECORDS = 128
_CHUNK_BYTES = 1 << 18
_FEW = 16  # where only reading can tell how large records are


class ExampleReader(ItemReader):
    """Reads examples of a split, one, several or a batch.

    Args:
        records: The records of the split.
        features: Decode them.
    """

    def __init__(self, records: Records, features: FeatureConnector) -> None:
        self.records = records
        self.features = features

    @property
    def infos(self) -> Tree[TensorInfo]:
        """What an example looks like."""
        return self.features.get_tensor_info()

    @property
    def decodes(self) -> bool:
        """Whether values differ from what is stored."""
        return not self.features.is_plain

    def one(self, number: int) -> Any:
        """One example."""
        return self._decode(self.records[number], number)

    def several(self, numbers: Positions) -> list[Any]:
        """Several examples."""
        examples, error = self._examples(Chunk(0, numbers))
        if error is not None:
            raise error
        return examples

    def batch(self, chunk: Chunk) -> Any:
        """Several examples, joined along a new first axis."""
        records = chunk.records
        try:
            if records is None:
                records = self.records.read(chunk.numbers)
            return self.features.deserialize_batch(records)
        except Exception:
            # One by one, this says which of them it is.
            _, error = self._one_by_one(chunk._replace(records=records))
            if error is not None:
                raise error from None
            raise

    def stream(
        self, order: Order, threads: int, epoch: int, start: int
    ) -> Iterator[tuple[Any, int]]:
        """Examples one by one from a position on, and the position behind each.

        Where an example cannot be read, those before it come first.
        """
        chunks = self._small_chunks(order, epoch, start)
        for chunk, (examples, error) in map_ahead(
            lambda chunk: (chunk, self._examples(chunk)), chunks, threads, 2 * threads
        ):
            yield from zip(examples, range(chunk.start + 1, chunk.stop + 1), strict=False)
            if error is not None:
                raise error

    def serialized(self, order: Order, epoch: int) -> Iterator[bytes]:
        """The records, one by one."""
        for chunk in self._small_chunks(order, epoch, 0):
            records = chunk.records
            yield from self.records.read(chunk.numbers) if records is None else records

    def chunks(self, order: Order, epoch: int, start: int, size: int) -> Iterator[Chunk]:
        """Chunks of one size from a position on; the last one may be smaller.

        Examples that lie in the files as they are wanted are read here, from front to back.
        """
        front = _Front(self.records)
        while len(numbers := numbers_from(order, epoch, start, size)):
            records = None
            if front.has(numbers):
                records, error = front.take(len(numbers))
                if error is not None:
                    raise error
            yield Chunk(start, numbers, records)
            start += len(numbers)
        front.finish()

    def _small_chunks(self, order: Order, epoch: int, start: int) -> Iterator[Chunk]:
        """Chunks for single examples: the first is small, so that it comes at once."""
        front = _Front(self.records)
        size = 1
        while len(numbers := numbers_from(order, epoch, start, size)):
            records: list[bytes] | None = None
            error: Exception | None = None
            if front.has(numbers):
                records, error = front.take(len(numbers), _CHUNK_BYTES)
                numbers = numbers[: len(records)]
            else:
                numbers = self._fitting(numbers)
            if len(numbers):
                yield Chunk(start, numbers, records)
            if error is not None:
                raise error
            start += len(numbers)
            size = min(2 * size, _CHUNK_RECORDS)
        front.finish()

    def _fitting(self, numbers: Positions) -> Positions:
        """As many of the examples as are worked on at a time, one at least."""
        if len(numbers) == 1:
            return numbers
        try:
            lengths = self.records.lengths(numbers)
        except Exception:  # whose file it is will show when it is read
            return numbers[:1]
        if lengths is None:
            return numbers[:_FEW]
        return numbers[: max(int(np.searchsorted(np.cumsum(lengths), _CHUNK_BYTES)), 1)]

    def _examples(self, chunk: Chunk) -> tuple[list[Any], Exception | None]:
        """The examples of a chunk, up to the first that cannot be read; what is wrong with it."""
        records = chunk.records
        try:
            if records is None:
                records = self.records.read(chunk.numbers)
            return self.features.deserialize_each(records), None
        except Exception:  # one by one, this says which it is
            return self._one_by_one(chunk._replace(records=records))

    def _one_by_one(self, chunk: Chunk) -> tuple[list[Any], Exception | None]:
        examples = []
        for place, number in enumerate(chunk.numbers.tolist()):
            try:
                record = self.records[number] if chunk.records is None else chunk.records[place]
                examples.append(self._decode(record, number))
            except Exception as error:
                return examples, error
        return examples, None

    def _decode(self, record: bytes, number: int) -> Any:
        try:
            return self.features.deserialize_example(record)
        except Exception as error:
            self.records.add_place(error, number)
            raise


class _Front:
    """How far the files have been read from front to back."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._next = -1  # number of the record that comes next
        self._runs: Iterator[list[bytes]] = iter(())
        self._run: list[bytes] = []
        self._used = 0  # of the run

    def has(self, numbers: Positions) -> bool:
        """Whether these records are the next ones, or those at the front of a file."""
        first = int(numbers[0])
        if int(numbers[-1]) - first != len(numbers) - 1 or (np.diff(numbers) != 1).any():
            return False
        if first != self._next:
            if not self._records.is_front(first):
                return False
            self._next, self._run, self._used = first, [], 0
            self._runs = self._records.runs(first)
        return True

    def take(
        self, count: int, max_bytes: int = sys.maxsize
    ) -> tuple[list[bytes], Exception | None]:
        """The next records: as many as wanted, or fewer that reach a number of bytes.

        Returns:
            The records; and what is wrong with the one behind them, if that is why there are
            fewer.
        """
        taken: list[bytes] = []
        while len(taken) < count and max_bytes > 0:
            if self._used == len(self._run):
                try:
                    self._run, self._used = next(self._runs), 0
                except Exception as error:
                    self._next = -1
                    return taken, error
            part = self._run[self._used : self._used + count - len(taken)]
            if max_bytes < sys.maxsize:
                part = part[: _fitting(part, max_bytes)]
                max_bytes -= sum(map(len, part))
            taken += part
            self._used += len(part)
        self._next += len(taken)
        return taken, None

    def finish(self) -> None:
        """Have the last file checked for records that should not be there."""
        if self._next == len(self._records):
            next(self._runs, None)


def _fitting(records: list[bytes], max_bytes: int) -> int:
    """How many records reach a number of bytes."""
    size = 0
    for count, record in enumerate(records, 1):
        size += len(record)
        if size >= max_bytes:
            return count
    return len(records)
