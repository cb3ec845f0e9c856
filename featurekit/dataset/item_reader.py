"""What reads the items of something ordered: one, several, or a batch."""

from __future__ import annotations

import abc
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from featurekit.dataset.order import Order
from featurekit.dataset.prefetch import map_ahead
from featurekit.tensor_info import TensorInfo, Tree

__all__ = ["Chunk", "ItemReader", "numbers_from"]

Numbers: TypeAlias = npt.NDArray[np.int64]

_TOGETHER = 16


class Chunk(NamedTuple):
    """Some items, to be worked on together.

    Attributes:
        start: Position of the first in the order.
        numbers: `(n,)` int64, their numbers.
        records: The records that they are in, where those have been read.
    """

    start: int
    numbers: Numbers
    records: list[bytes] | None = None

    @property
    def stop(self) -> int:
        """Position behind the last."""
        return self.start + len(self.numbers)


class ItemReader(abc.ABC):
    """Reads items by their numbers. Threads may share one, and it can be pickled."""

    @property
    @abc.abstractmethod
    def infos(self) -> Tree[TensorInfo]:
        """What an item looks like."""

    @property
    @abc.abstractmethod
    def decodes(self) -> bool:
        """Whether there is work that threads can share."""

    @abc.abstractmethod
    def one(self, number: int) -> Any:
        """One item."""

    @abc.abstractmethod
    def batch(self, chunk: Chunk) -> Any:
        """Several items, joined along a new first axis."""

    def several(self, numbers: Numbers) -> list[Any]:
        """Several items."""
        return [self.one(number) for number in numbers.tolist()]

    def chunks(self, order: Order, epoch: int, start: int, size: int) -> Iterator[Chunk]:
        """Chunks of one size from a position on; the last one may be smaller."""
        while len(numbers := numbers_from(order, epoch, start, size)):
            yield Chunk(start, numbers)
            start += len(numbers)

    def stream(
        self, order: Order, threads: int, epoch: int, start: int
    ) -> Iterator[tuple[Any, int]]:
        """Items one by one from a position on, and the position behind each."""
        size = _TOGETHER if threads else 1
        for chunk, items in map_ahead(
            lambda chunk: (chunk, self.several(chunk.numbers)),
            self.chunks(order, epoch, start, size),
            threads,
            2 * threads,
        ):
            yield from zip(items, range(chunk.start + 1, chunk.stop + 1), strict=True)


def numbers_from(order: Order, epoch: int, start: int, size: int) -> Numbers:
    """The numbers of the next `size` items of an order, fewer at its end."""
    stop = start + size if order.size is None else min(start + size, order.size)
    return order.at(np.arange(start, max(stop, start)), epoch)
