"""Quantiles of any number of values in memory that does not grow with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Quantiles"]

_LEVEL_VALUES = 1 << 14

Floats = npt.NDArray[np.float64]


class Quantiles:
    """Sees values once, and tells their quantiles; two can be merged.

    All values are kept up to 32,768: till then quantiles are exact, those of `numpy.quantile`.
    Beyond, every second one of sorted values stands for two, and so on: of a million values
    a quantile's rank is wrong by 0.03 % at most, of a thousand million by 0.1 %.

    Source: the multi-level sampling of Manku, Rajagopalan and Lindsay (1998).

    Example:
        >>> quantiles = Quantiles()
        >>> quantiles.add(np.arange(101.0))
        >>> quantiles.at([0.25, 0.5])
        [25.0, 50.0]
    """

    def __init__(self) -> None:
        # Values of level i stand for 2**i each.
        self._levels: list[list[Floats]] = [[]]
        self._odd: list[bool] = [False]

    @property
    def exact(self) -> bool:
        """Whether all values are still there."""
        return len(self._levels) == 1

    def add(self, values: Floats) -> None:
        """Take values in."""
        for start in range(0, len(values), _LEVEL_VALUES):
            self._levels[0].append(np.asarray(values[start : start + _LEVEL_VALUES], np.float64))
            self._compress()

    def merge(self, other: Quantiles) -> None:
        """Take in what another one has seen."""
        for level, parts in enumerate(other._levels):
            self._reach(level)
            self._levels[level] += parts
        self._compress()

    def at(self, fractions: Sequence[float]) -> list[float]:
        """The values at some fractions of all; an empty list where there are no values."""
        values = np.concatenate([np.empty(0), *(part for level in self._levels for part in level)])
        if not len(values):
            return []
        if self.exact:
            found: Any = np.quantile(values, fractions).tolist()
            return list(found)
        weights = np.concatenate(
            [np.full(len(part), 2.0**i) for i, level in enumerate(self._levels) for part in level]
        )
        order = np.argsort(values, kind="stable")
        ends = np.cumsum(weights[order])
        middles = (ends - weights[order] / 2) / ends[-1]
        return list(map(float, np.interp(fractions, middles, values[order])))

    def _reach(self, level: int) -> None:
        while len(self._levels) <= level:
            self._levels.append([])
            self._odd.append(False)

    def _compress(self) -> None:
        """Let every second value of a full level stand for two, on the next."""
        level = 0
        while level < len(self._levels):
            parts = self._levels[level]
            if sum(map(len, parts)) > 2 * _LEVEL_VALUES:
                values = np.sort(np.concatenate(parts))
                # An odd one out stays; the other half is taken in turn, so that errors cancel.
                rest = len(values) % 2
                self._levels[level] = [values[len(values) - rest :]]
                self._reach(level + 1)
                start = int(self._odd[level])
                self._odd[level] = not self._odd[level]
                self._levels[level + 1].append(values[: len(values) - rest][start::2])
            level += 1
