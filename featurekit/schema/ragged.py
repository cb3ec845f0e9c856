"""Lists of lists in Examples, in the form that TFDS stores them in.

The values of a feature `x` lie in `x/ragged_flat_values`, the lengths of the lists of each
inner level in `x/ragged_row_lengths_0`, `x/ragged_row_lengths_1`, ...
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["RaggedStatistics", "ragged_keys", "ragged_parts"]

_FLAT, _LENGTHS = "/ragged_flat_values", "/ragged_row_lengths_"

Values = npt.NDArray[Any]


class RaggedStatistics:
    """Whether what looks like lists of lists is always that.

    Attributes:
        name: Of the feature.
        records: Number of records with it.
        levels: Number of levels of lists, the outermost included.
        inner_size: Number of values of one element; None where no record tells.
        fits: Whether all records had lengths that fit, and the same levels and inner size.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.records = 0
        self.levels = 0
        self.inner_size: int | None = None
        self.fits = True

    def add(self, flat: Values, rows: list[Values]) -> None:
        """Take one record in."""
        self.records += 1
        levels = len(rows) + 1
        self.levels = self.levels or levels
        inner = _inner_size(flat, rows)
        if inner is None or levels != self.levels or levels < 2:
            self.fits = False
        elif inner:
            self.fits = self.fits and self.inner_size in (None, inner)
            self.inner_size = inner

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys it is stored under: of the values, and of the lengths of each level."""
        return ragged_keys(self.name, self.levels)


def ragged_keys(name: str, levels: int) -> tuple[str, ...]:
    """The keys of a feature of lists of lists.

    >>> ragged_keys("x", 2)
    ('x/ragged_flat_values', 'x/ragged_row_lengths_0')
    """
    return (f"{name}{_FLAT}", *(f"{name}{_LENGTHS}{level}" for level in range(levels - 1)))


def ragged_parts(
    example: Mapping[str, Values | None],
) -> Iterator[tuple[str, tuple[Values, list[Values]]]]:
    """The features of an Example that look like lists of lists, with values and lengths."""
    for key, flat in example.items():
        if key.endswith(_FLAT) and flat is not None:
            name = key[: -len(_FLAT)]
            rows: list[Values] = []
            while (row := example.get(f"{name}{_LENGTHS}{len(rows)}")) is not None:
                rows.append(row)
            yield name, (flat, rows)


def _inner_size(flat: Values, rows: list[Values]) -> int | None:
    """Number of values of one element, 0 where there are no elements; None if nothing fits."""
    count: int | None = None
    for row in rows:
        if row.dtype != np.int64 or (row < 0).any() or count not in (None, len(row)):
            return None
        count = sum(row.tolist())  # Python's integers do not wrap around
    if not count:
        return None if len(flat) else 0
    inner, rest = divmod(len(flat), count)
    return None if rest or not inner else inner
