"""What can be read in any order: sliced, shuffled, sharded and repeated without being read."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Sequence
from typing import Any, Self, SupportsIndex, overload

import numpy as np

from featurekit.dataset.batches import Batches
from featurekit.dataset.frameworks import ItemsForFrameworks
from featurekit.dataset.item_reader import ItemReader
from featurekit.dataset.iteration import ResumableIterator
from featurekit.dataset.order import Order, Part, Repeated, Shuffled, Span
from featurekit.dataset.prefetch import available_threads
from featurekit.errors import (
    InvalidArgumentError,
    InvalidTypeError,
    RecordIndexError,
    short_repr,
)

__all__ = ["Ordered"]


class Ordered(ItemsForFrameworks, Sequence[Any]):
    """Examples, or parts of examples, that are read when asked for, in some order.

    Everything that changes the order gives another view of the same, and reads nothing.

    Args:
        reader: Reads them by their numbers.
        count: How many there are.
        name: What they are of, for people, such as the name of a split.
    """

    def __init__(self, reader: ItemReader, count: int, name: str) -> None:
        self._reader = reader
        self._name = name
        self._order: Order = Span(range(count), name)
        self._epoch = 0

    def __len__(self) -> int:
        """Number of examples.

        Raises:
            TypeError: They are repeated for ever.
        """
        if self._order.size is None:
            raise TypeError("the examples are repeated for ever: they have no number")
        return self._order.size

    @overload
    def __getitem__(self, index: SupportsIndex) -> Any: ...
    @overload
    def __getitem__(self, index: slice | Sequence[int]) -> Self: ...
    def __getitem__(self, index: Any) -> Any:
        """One example; for a slice or a list of indices, a view of those."""
        if isinstance(index, slice):
            return self._view(Part.of(self._order, self._range(index)))
        if isinstance(index, (list, tuple, np.ndarray, range)):
            return self._view(Part.of(self._order, [self._position(i) for i in index]))
        return self._reader.one(self._order.one(self._position(index), self._epoch))

    def __getitems__(self, indices: Iterable[int]) -> list[Any]:
        """Several examples at once; what PyTorch's DataLoader asks for."""
        positions = np.array([self._position(i) for i in indices], np.int64)
        return self._reader.several(self._order.at(positions, self._epoch))

    def __iter__(self) -> ResumableIterator:
        """All examples, in order; see `iterate`."""
        return self.iterate(threads=0)

    def iterate(self, *, threads: int | None = None) -> ResumableIterator:
        """All examples, in order; what lies in order in the files is read from front to back.

        Args:
            threads: Number of threads that decode ahead; none for 0, by default as many as
                there are CPUs, where anything needs decoding.

        Returns:
            An iterator that also has `state_dict` and `load_state_dict`, to go on from the
            same place in another process.
        """
        stream = functools.partial(self._reader.stream, self._order, self._threads(threads))
        return ResumableIterator(stream, self.order, self._epoch)

    def batches(
        self,
        size: int,
        *,
        drop_remainder: bool = False,
        ragged: str = "ragged",
        threads: int | None = None,
        ahead: int | None = None,
    ) -> Batches:
        """The examples in batches: a sequence of nested dicts of arrays `(size, ...)`.

        Args:
            size: Number of examples of a batch.
            drop_remainder: Whether to leave out a last batch that is smaller.
            ragged: What a batch holds where the examples' shapes vary: `"ragged"` gives a
                `RaggedTensor` (a list for pictures), `"pad"` an array filled up with zeros
                or `b""`, `"list"` a list of one value an example.
            threads: Number of threads that decode ahead; none for 0, by default as many as
                there are CPUs, where anything needs decoding.
            ahead: Number of batches that are in work or ready at most; by default one more
                than there are threads.

        Raises:
            InvalidArgumentError: A number makes no sense, or there is no such policy.
        """
        return Batches(
            self._reader,
            self._order,
            size,
            epoch=self._epoch,
            drop_remainder=drop_remainder,
            ragged=ragged,
            threads=self._threads(threads),
            ahead=ahead,
        )

    def _threads(self, threads: int | None) -> int:
        if threads is None:
            return available_threads() if self._reader.decodes else 0
        if threads < 0:
            raise InvalidArgumentError(f"expected a number of threads from 0 on, got {threads}")
        return threads

    @property
    def order(self) -> str:
        """What is read and in which order, in words; equal for equal orders."""
        return repr(self._order)

    @property
    def plain_order(self) -> Order:
        """The order, as what computes it."""
        return self._order

    def in_order(self, order: Order) -> Self:
        """The same in another order."""
        return self._view(order)

    @property
    def current_epoch(self) -> int:
        """The epoch that is read."""
        return self._epoch

    def take(self, count: int) -> Self:
        """The first `count` examples.

        Raises:
            InvalidArgumentError: `count` is no integer from 0 on.
        """
        return self[: _check_number(count)]

    def skip(self, count: int) -> Self:
        """All but the first `count` examples.

        Raises:
            InvalidArgumentError: `count` is no integer from 0 on.
        """
        return self[_check_number(count) :]

    def shuffle(self, seed: int) -> Self:
        """The examples in random order: another one for every seed and every epoch.

        The order is computed, not held in a buffer: it is drawn from all examples, starts at
        once, and is the same on every machine.

        Args:
            seed: Any integer.

        Raises:
            InvalidArgumentError: The seed is no integer, or the examples have no end.
        """
        return self._view(Shuffled(self._order, seed))

    def epoch(self, number: int) -> Self:
        """The same in another epoch: what is shuffled is shuffled anew.

        Args:
            number: From 0 on; 0 is what one has without.

        Raises:
            InvalidArgumentError: It is negative.
        """
        if number < 0:
            raise InvalidArgumentError(f"epochs are counted from 0 on, got {number}")
        view = self._view(self._order)
        view._epoch = int(number)
        return view

    def repeat(self, epochs: int | None = None) -> Self:
        """Several epochs one after the other, each shuffled anew; without end for None.

        Raises:
            InvalidArgumentError: The number is negative, or it has no end already.
        """
        return self._view(Repeated(self._order, epochs))

    def shard(self, index: int, count: int) -> Self:
        """One of `count` parts that have no example in common, and all of them together.

        Their numbers of examples differ by at most one. Of a shuffled source, the parts are
        of one order that all share: call it with the same seed everywhere.

        Args:
            index: Which part, from 0 on, such as the number of the host.
            count: Number of parts.

        Raises:
            InvalidArgumentError: There is no such part, or the examples have no end.
        """
        if not 0 <= index < count:
            raise InvalidArgumentError(f"there is no part {index} of {count}")
        if self._order.size is None:
            raise InvalidArgumentError(
                "what is repeated without end has no parts", hint="shard first, then repeat"
            )
        size = self._order.size
        return self[size * index // count : size * (index + 1) // count]

    def _range(self, index: slice) -> range:
        if self._order.size is not None:
            return range(self._order.size)[index]
        start, stop, step = index.start or 0, index.stop, index.step or 1
        if stop is None or min(start, stop) < 0 or step < 1:
            raise InvalidArgumentError(
                "of examples without end a slice needs a start and a stop from 0 on"
            )
        return range(start, stop, step)

    def _position(self, index: SupportsIndex) -> int:
        try:
            position = operator.index(index)
        except TypeError:
            raise InvalidTypeError(
                f"an example's index is an int, a slice or a list of ints, "
                f"not {type(index).__name__}"
            ) from None
        count = self._order.size
        if count is None and position >= 0:
            return position
        if count is None or not -count <= position < count:
            raise RecordIndexError(
                f"there is no example {position}: {self._name!r} has {count} examples"
            )
        return position + count if position < 0 else position

    def _view(self, order: Order) -> Self:
        view = object.__new__(type(self))
        view.__dict__.update(self.__dict__, _order=order)
        return view


def _check_number(count: SupportsIndex) -> int:
    """A number of examples; a negative one would leave examples out unasked."""
    try:
        number = operator.index(count)
    except TypeError:
        number = -1
    if number < 0:
        raise InvalidArgumentError(
            f"a number of examples must be an integer from 0 on, got {short_repr(count)}",
            hint="write examples[:-1] to leave out the last one",
        )
    return number
