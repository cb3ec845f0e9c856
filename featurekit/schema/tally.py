"""How often values occur, in memory that does not grow with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

__all__ = ["Tally"]

_MAX_VALUES = 10_000
_MAX_BYTES = 100  # longer values are seldom the same twice
_TOP = 10


class Tally:
    """Counts values; two can be merged.

    Args:
        limit: Keep so many different values; the rarest ones beyond are forgotten. None keeps
            all.

    Attributes:
        exact: Whether none was forgotten.

    Example:
        >>> tally = Tally()
        >>> tally.add(np.array([3, 1, 3]))
        >>> tally.top()
        [(3, 2), (1, 1)]
    """

    def __init__(self, limit: int | None = _MAX_VALUES) -> None:
        self.exact = True
        self._limit = limit
        self._counts: Counter[Any] = Counter()

    def add(self, values: np.ndarray[Any, Any]) -> None:
        """Count values: integers, bools or bytes."""
        if values.dtype.kind == "O":
            short = [value for value in values.flat if len(value) <= _MAX_BYTES]
            self.exact = self.exact and len(short) == values.size
            self._count(Counter(short).items())
            return
        found, counts = np.unique(values, return_counts=True)
        self._count(zip(found.tolist(), counts.tolist(), strict=True))

    def merge(self, other: Tally) -> None:
        """Take in what another one has counted."""
        self.exact = self.exact and other.exact
        self._count(other._counts.items())

    def top(self, count: int | None = _TOP) -> list[tuple[Any, int]]:
        """The commonest values and how often they occur; all of them for None."""
        return sorted(self._counts.items(), key=lambda item: (-item[1], item[0]))[:count]

    @property
    def distinct(self) -> int | None:
        """Number of different values; None where some were forgotten."""
        return len(self._counts) if self.exact else None

    def _count(self, items: Iterable[tuple[Any, int]]) -> None:
        for value, count in items:
            self._counts[value] += count
        if self._limit is not None and len(self._counts) > 2 * self._limit:
            self._counts = Counter(dict(self.top(self._limit)))
            self.exact = False
