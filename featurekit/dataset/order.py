"""In which order the examples of a split are read: computed position by position.

An order is made of smaller ones: the split itself, a part of an order, an order shuffled, an
order repeated. None holds a list of all examples (but for lists that the user gave), so a
shuffled dataset of any size costs nothing to make, to copy or to send to another process.
"""

from __future__ import annotations

import abc
import functools
import hashlib
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from featurekit.dataset.permutation import Permutation
from featurekit.errors import InvalidArgumentError

__all__ = ["Order", "Part", "Repeated", "Shuffled", "Span"]

Positions: TypeAlias = npt.NDArray[np.int64]


class Order(abc.ABC):
    """Gives for each position in it the example of the split that is read there.

    Attributes:
        size: Number of positions; None where there is no end.
    """

    size: int | None

    @abc.abstractmethod
    def at(self, positions: Positions, epoch: int) -> Positions:
        """The examples' numbers in the split, for positions from 0 on."""

    @abc.abstractmethod
    def __repr__(self) -> str:
        """What it is; equal for equal orders."""

    def one(self, position: int, epoch: int) -> int:
        """The example's number at one position."""
        return int(self.at(np.array([position]), epoch)[0])


class Span(Order):
    """Examples of the split that a range counts.

    Args:
        span: Of their numbers.
        name: Of the split.
    """

    def __init__(self, span: range, name: str) -> None:
        self.span = span
        self.name = name
        self.size = len(span)

    def at(self, positions: Positions, epoch: int) -> Positions:
        """The examples' numbers."""
        return self.span.start + self.span.step * positions

    def one(self, position: int, epoch: int) -> int:
        """The example's number."""
        return self.span[position]

    def __repr__(self) -> str:
        return f"{self.name}[{self.span.start}:{self.span.stop}:{self.span.step}]"


class Part(Order):
    """Some positions of another order.

    Args:
        whole: The other order.
        chosen: Its positions.
    """

    def __init__(self, whole: Order, chosen: range | Positions) -> None:
        self._whole = whole
        self._chosen = chosen
        self.size = len(chosen)

    @staticmethod
    def of(whole: Order, chosen: range | Sequence[int]) -> Order:
        """A part of an order, in its simplest form."""
        if not isinstance(chosen, range):
            return Part(whole, np.array(chosen, np.int64))
        if isinstance(whole, Span):
            first, step = whole.span.start, whole.span.step
            span = range(
                first + chosen.start * step, first + chosen.stop * step, chosen.step * step
            )
            return Span(span, whole.name)
        return Part(whole, chosen)

    def at(self, positions: Positions, epoch: int) -> Positions:
        """The examples' numbers."""
        if isinstance(self._chosen, range):
            positions = self._chosen.start + self._chosen.step * positions
        else:
            positions = self._chosen[positions]
        return self._whole.at(positions, epoch)

    def one(self, position: int, epoch: int) -> int:
        """The example's number."""
        return self._whole.one(int(self._chosen[position]), epoch)

    @functools.cached_property
    def _text(self) -> str:
        if isinstance(self._chosen, range):
            return f"{self._whole!r}[{self._chosen.start}:{self._chosen.stop}:{self._chosen.step}]"
        digest = hashlib.blake2b(self._chosen.astype("<i8").tobytes(), digest_size=8)
        return f"{self._whole!r}[{len(self._chosen)} positions {digest.hexdigest()}]"

    def __repr__(self) -> str:
        return self._text


class Shuffled(Order):
    """Another order in random order, another one in each epoch.

    Args:
        whole: The other order.
        seed: Any integer.

    Raises:
        InvalidArgumentError: The other order has no end, or the seed is no integer.
    """

    def __init__(self, whole: Order, seed: int) -> None:
        if whole.size is None:
            raise InvalidArgumentError(
                "what is repeated without end cannot be shuffled",
                hint="shuffle first, then repeat: every epoch gets an order of its own",
            )
        self._whole = whole
        self._seed = seed
        self.size: int = whole.size
        self._permutation(0)

    def _permutation(self, epoch: int) -> Permutation:
        return _permutation(self.size, self._seed, epoch)

    def at(self, positions: Positions, epoch: int) -> Positions:
        """The examples' numbers."""
        return self._whole.at(self._permutation(epoch).at(positions), epoch)

    def one(self, position: int, epoch: int) -> int:
        """The example's number."""
        return self._whole.one(self._permutation(epoch)[position], epoch)

    def __repr__(self) -> str:
        return f"{self._whole!r}.shuffle({self._seed})"


_permutation = functools.lru_cache(maxsize=16)(Permutation)


class Repeated(Order):
    """Another order several times, each time in its next epoch.

    Args:
        whole: The other order.
        times: How often; None is without end.

    Raises:
        InvalidArgumentError: The number is negative, or the other order has no end.
    """

    def __init__(self, whole: Order, times: int | None) -> None:
        if whole.size is None:
            raise InvalidArgumentError("what is repeated without end cannot be repeated")
        if times is not None and times < 0:
            raise InvalidArgumentError(f"expected a number of epochs from 0 on, got {times}")
        self._whole = whole
        self._inner: int = whole.size
        self._times = times
        # Nothing, repeated for ever, is nothing.
        self.size = None if times is None and whole.size else whole.size * (times or 0)

    def at(self, positions: Positions, epoch: int) -> Positions:
        """The examples' numbers."""
        first = epoch * (self._times or 0)
        epochs, inner = np.divmod(positions, self._inner)
        result = np.empty_like(positions)
        for number in np.unique(epochs).tolist():
            there = epochs == number
            result[there] = self._whole.at(inner[there], first + number)
        return result

    def __repr__(self) -> str:
        return f"{self._whole!r}.repeat({self._times})"
