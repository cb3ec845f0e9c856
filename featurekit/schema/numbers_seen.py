"""What some numbers are like: range, mean, spread and quantiles, in one pass."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from featurekit.schema.quantiles import Quantiles

__all__ = ["FRACTIONS", "NumbersSeen"]

FRACTIONS = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


class NumbersSeen:
    """Sees numbers once, and tells what they are like; two can be merged.

    NaN and infinite numbers are counted, and left out of all else.

    Args:
        quantiles: Whether to find quantiles too, which takes most of the time.

    Attributes:
        count: Number of finite numbers.
        nan: Number of NaNs.
        infinite: Number of infinite numbers.
        minimum: The lowest, None where there is none.
        maximum: The highest.
        mean: Their mean.
    """

    def __init__(self, *, quantiles: bool = True) -> None:
        self.count = self.nan = self.infinite = 0
        self.minimum: Any = None
        self.maximum: Any = None
        self.mean = 0.0
        self._squares = 0.0  # the sum of squared distances from the mean
        self._quantiles = Quantiles() if quantiles else None

    @property
    def has_quantiles(self) -> bool:
        """Whether it finds quantiles too."""
        return self._quantiles is not None

    @property
    def std(self) -> float:
        """Their standard deviation, as `numpy.std` has it."""
        return math.sqrt(self._squares / self.count) if self.count else 0.0

    def add(self, values: np.ndarray[Any, Any]) -> None:
        """Take numbers in."""
        values = values.reshape(-1)
        if values.dtype.kind == "f":
            finite = np.isfinite(values)
            if not finite.all():
                nan = int(np.count_nonzero(np.isnan(values)))
                self.nan += nan
                self.infinite += len(values) - int(np.count_nonzero(finite)) - nan
                values = values[finite]
        if not len(values):
            return
        floats = values.astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):  # of the largest floats there are
            mean = float(floats.mean())
            self._combine(len(values), mean, float(np.square(floats - mean).sum()))
        self._widen(values.min().item(), values.max().item())
        if self._quantiles is not None:
            self._quantiles.add(floats)

    def merge(self, other: NumbersSeen) -> None:
        """Take in what another one has seen."""
        self.nan += other.nan
        self.infinite += other.infinite
        if other.count:
            self._combine(other.count, other.mean, other._squares)
            self._widen(other.minimum, other.maximum)
        if self._quantiles is not None and other._quantiles is not None:
            self._quantiles.merge(other._quantiles)

    def _combine(self, count: int, mean: float, squares: float) -> None:
        # Chan, Golub and LeVeque (1979): exact where sums of squares would cancel.
        total = self.count + count
        delta = mean - self.mean
        self._squares += squares + delta * delta * self.count * count / total
        self.mean += delta * count / total
        self.count = total

    def _widen(self, low: Any, high: Any) -> None:
        self.minimum = low if self.minimum is None else min(self.minimum, low)
        self.maximum = high if self.maximum is None else max(self.maximum, high)

    def as_json(self) -> dict[str, Any]:
        """All of it, as JSON values."""
        result: dict[str, Any] = {"count": self.count}
        if self.nan or self.infinite:
            result |= {"nan": self.nan, "infinite": self.infinite}
        if self.count:
            result |= {
                "min": self.minimum,
                "max": self.maximum,
                "mean": _finite(self.mean),
                "std": _finite(self.std),
            }
        if self.count and self._quantiles is not None:
            values = self._quantiles.at(FRACTIONS)
            result["quantiles"] = {f"{f:g}": v for f, v in zip(FRACTIONS, values, strict=True)}
            result["quantiles_exact"] = self._quantiles.exact
        return result


def _finite(value: float) -> float | None:
    """None for what overflowed: JSON has no infinity."""
    return value if math.isfinite(value) else None
