"""Rows of different lengths, stored flat."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt

from featurekit.errors import (
    InvalidArgumentError,
    InvalidTypeError,
    RecordIndexError,
    short_repr,
)
from featurekit.io.arrays import as_values, fill_value, same_array
from featurekit.io.row_splits import as_integers, as_splits, check_splits, splits_of
from featurekit.optional import import_optional

__all__ = ["RaggedTensor"]

Array: TypeAlias = npt.NDArray[Any]


class RaggedTensor:
    """Rows of different lengths: all their values in one array, and where each row ends.

    Row `i` is `values[row_splits[i]:row_splits[i + 1]]`. Where `values` is itself a
    RaggedTensor, rows hold rows. Nothing is copied: rows and slices are views. To be
    treated as immutable.

    Two are equal when dtype, rows and values are; NaN equals NaN, and neither the dtype of
    the splits nor `uniform_row_length` matters.

    Args:
        values: `(total, ...)` array, or a RaggedTensor of `total` rows. Text is `object`
            (of bytes).
        row_splits: `(rows + 1,)` int64 or int32, from 0 to `total`, never falling.
        uniform_row_length: The length of every row, where they are known to be equal.
        validate: Whether to check `row_splits`. Rows of splits that do not fit are cut to
            the values there are.

    Raises:
        InvalidArgumentError: `row_splits` do not fit `values` or `uniform_row_length`.
        InvalidTypeError: `row_splits` are not integers.

    Example:
        >>> RaggedTensor([1, 2, 3], [0, 2, 2, 3])
        RaggedTensor([[1, 2], [], [3]], dtype=int64)

    Source: the row-splits encoding of tf.RaggedTensor.
    """

    __slots__ = ("_row_splits", "_uniform_row_length", "_values")

    def __init__(
        self,
        values: Array | RaggedTensor | Sequence[Any],
        row_splits: Array | Sequence[int],
        *,
        uniform_row_length: int | None = None,
        validate: bool = True,
    ) -> None:
        self._values = values if isinstance(values, RaggedTensor) else as_values(values)
        self._row_splits = as_splits(row_splits)
        self._uniform_row_length = uniform_row_length
        if validate:
            check_splits(self._row_splits, len(self._values), uniform_row_length)

    @classmethod
    def from_row_lengths(
        cls, values: Array | RaggedTensor | Sequence[Any], row_lengths: Array | Sequence[int]
    ) -> RaggedTensor:
        """Rows of the given lengths, `(rows,)`.

        >>> RaggedTensor.from_row_lengths([1, 2, 3], [2, 0, 1]).to_list()
        [[1, 2], [], [3]]
        """
        lengths = as_integers(row_lengths, "row lengths")
        return cls(values, splits_of(lengths))

    @classmethod
    def from_uniform_row_length(
        cls,
        values: Array | RaggedTensor | Sequence[Any],
        uniform_row_length: int,
        *,
        rows: int | None = None,
    ) -> RaggedTensor:
        """Rows of one length; `rows` is needed where that length is 0.

        >>> RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2).to_list()
        [[1, 2], [3, 4]]
        """
        values = values if isinstance(values, RaggedTensor) else as_values(values)
        if uniform_row_length < 0:
            raise InvalidArgumentError(f"expected a row length >= 0, got {uniform_row_length}")
        if rows is None:
            rows = len(values) // uniform_row_length if uniform_row_length else 0
        splits = np.arange(rows + 1, dtype=np.int64) * uniform_row_length
        return cls(values, splits, uniform_row_length=uniform_row_length)

    @classmethod
    def from_nested_row_splits(
        cls,
        flat_values: Array | Sequence[Any],
        nested_row_splits: Sequence[Array | Sequence[int]],
    ) -> RaggedTensor:
        """Nested rows, from the splits of each level, outermost first.

        >>> RaggedTensor.from_nested_row_splits([1, 2, 3], [[0, 2, 2], [0, 1, 3]]).to_list()
        [[[1], [2, 3]], []]
        """
        return cls._nested(flat_values, nested_row_splits, cls)

    @classmethod
    def from_nested_row_lengths(
        cls,
        flat_values: Array | Sequence[Any],
        nested_row_lengths: Sequence[Array | Sequence[int]],
    ) -> RaggedTensor:
        """Nested rows, from the lengths of each level, outermost first."""
        return cls._nested(flat_values, nested_row_lengths, cls.from_row_lengths)

    @staticmethod
    def _nested(flat_values: Any, levels: Sequence[Any], make: Any) -> RaggedTensor:
        if not levels:
            raise InvalidArgumentError("expected the rows of one level or more, got none")
        values = flat_values
        for level in reversed(levels):
            values = make(values, level)
        ragged: RaggedTensor = values
        return ragged

    @classmethod
    def from_list(
        cls,
        rows: Iterable[Any],
        dtype: npt.DTypeLike | None = None,
        *,
        ragged_rank: int | None = None,
    ) -> RaggedTensor:
        """Nested lists of values.

        Args:
            rows: Lists of values, or of lists, all of one depth.
            dtype: The dtype of the values; by default NumPy's choice.
            ragged_rank: How many levels of rows there are, where they cannot be counted
                because the deepest are all empty.

        Raises:
            InvalidArgumentError: Lists and values are mixed, or the depth is not
                `ragged_rank`.

        Example:
            >>> RaggedTensor.from_list([[1, 2], [], [3]]).row_splits
            array([0, 2, 2, 3])
        """
        levels, flat = _split_levels(list(rows), ragged_rank)
        values = as_values(flat)
        if dtype is not None:
            values = values.astype(dtype, copy=False)
        return cls.from_nested_row_lengths(values, levels)

    # Parts.

    @property
    def values(self) -> Array | RaggedTensor:
        """All rows, one after another: an array, or a RaggedTensor one level shallower."""
        return self._values

    @property
    def row_splits(self) -> Array:
        """Where rows begin and end in `values`, `(rows + 1,)` int64 or int32."""
        return self._row_splits

    @property
    def uniform_row_length(self) -> int | None:
        """The length of every row, where this level was made with one."""
        return self._uniform_row_length

    @property
    def flat_values(self) -> Array:
        """The values below all levels of rows."""
        return self._levels()[-1]._values  # type: ignore[return-value]

    @property
    def nested_row_splits(self) -> tuple[Array, ...]:
        """The splits of each level, outermost first."""
        return tuple(level._row_splits for level in self._levels())

    def row_lengths(self) -> Array:
        """The length of each row, `(rows,)`, in the dtype of the splits."""
        return np.diff(self._row_splits)

    def nested_row_lengths(self) -> tuple[Array, ...]:
        """The row lengths of each level, outermost first."""
        return tuple(level.row_lengths() for level in self._levels())

    def _levels(self) -> list[RaggedTensor]:
        levels = [self]
        while isinstance(levels[-1]._values, RaggedTensor):
            levels.append(levels[-1]._values)
        return levels

    @property
    def ragged_rank(self) -> int:
        """How many levels of rows there are."""
        return len(self._levels())

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the values."""
        return self.flat_values.dtype

    @property
    def shape(self) -> tuple[int | None, ...]:
        """Number of rows, then one entry for each dimension; None where it is ragged."""
        return (len(self), self._uniform_row_length, *self._values.shape[1:])

    @property
    def ndim(self) -> int:
        """Number of dimensions, that of the rows included."""
        return self.ragged_rank + self.flat_values.ndim

    # Rows.

    def __len__(self) -> int:
        return max(len(self._row_splits) - 1, 0)  # no splits at all pass where unchecked

    def __iter__(self) -> Iterator[Array | RaggedTensor]:
        return (self._row(index) for index in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        """A row for an int; a RaggedTensor for a slice, indices or a boolean mask.

        `ragged[i, j]` is `ragged[i][j]`, for an int `i`.
        """
        if isinstance(index, tuple):
            first, *rest = index
            return self[first] if not rest else self[operator.index(first)][tuple(rest)]
        if isinstance(index, slice):
            return self._slice(*index.indices(len(self)))
        if hasattr(index, "__index__") and not isinstance(index, (bool, np.ndarray)):
            return self._row(self._checked(index))
        chosen = np.asarray(index)
        if chosen.dtype.kind not in "bui" and chosen.size:
            raise InvalidTypeError(f"expected a row's index or a slice, got {short_repr(index)}")
        rows = np.arange(len(self))[chosen if chosen.size else chosen.astype(np.int64)]
        return self._take(np.atleast_1d(rows))

    def _checked(self, index: SupportsIndex) -> int:
        row = operator.index(index)
        if not -len(self) <= row < len(self):
            raise RecordIndexError(f"row {row} does not exist: there are {len(self)}")
        return row % len(self)

    def _row(self, row: int) -> Array | RaggedTensor:
        return self._values[self._row_splits[row] : self._row_splits[row + 1]]

    def _slice(self, start: int, stop: int, step: int) -> RaggedTensor:
        if step != 1:
            return self._take(np.arange(start, stop, step))
        splits = self._row_splits[start : max(start, stop) + 1]
        return self._with(self._values[splits[0] : splits[-1]], splits - splits[0])

    def _take(self, rows: Array) -> RaggedTensor:
        lengths = self.row_lengths()[rows]
        splits = splits_of(lengths)
        moved = np.repeat(self._row_splits[:-1][rows] - splits[:-1], lengths)
        positions = moved + np.arange(splits[-1])
        inner = self._values
        values = inner._take(positions) if isinstance(inner, RaggedTensor) else inner[positions]
        return self._with(values, splits)

    def _with(self, values: Array | RaggedTensor, splits: Array) -> RaggedTensor:
        length = self._uniform_row_length
        return RaggedTensor(values, splits, uniform_row_length=length, validate=False)

    # Other forms.

    def with_flat_values(self, flat_values: Array | Sequence[Any]) -> RaggedTensor:
        """The same rows of other values, as many as there are now.

        Raises:
            InvalidArgumentError: There are more or fewer.
        """
        new = as_values(flat_values)
        if len(new) != len(self.flat_values):
            raise InvalidArgumentError(
                f"expected {len(self.flat_values)} flat values, got {len(new)}"
            )
        return self._over(new)

    def _over(self, flat: Array) -> RaggedTensor:
        inner = self._values
        return self._with(
            inner._over(flat) if isinstance(inner, RaggedTensor) else flat, self._row_splits
        )

    def to_list(self) -> list[Any]:
        """Nested lists of Python values; strings stay bytes."""
        inner = self._values
        flat = inner.to_list() if isinstance(inner, RaggedTensor) else inner.tolist()
        splits = self._row_splits.tolist()
        return [flat[start:stop] for start, stop in itertools.pairwise(splits)]

    def to_dense(self, default_value: Any = None) -> Array:
        """An array with rows padded to the longest at each level.

        Args:
            default_value: What fills short rows; by default 0, False or `b""`.

        Example:
            >>> RaggedTensor([1, 2, 3], [0, 2, 2, 3]).to_dense(-1)
            array([[ 1,  2],
                   [-1, -1],
                   [ 3, -1]])
        """
        default_value = fill_value(default_value, self.dtype)
        inner = self._values
        if isinstance(inner, RaggedTensor):
            inner = inner.to_dense(default_value)
        lengths = self.row_lengths()
        longest = self._uniform_row_length
        if longest is None:
            longest = int(lengths.max(initial=0))
        dense = np.full((len(self), longest, *inner.shape[1:]), default_value, inner.dtype)
        dense[np.arange(longest) < lengths[:, None]] = inner
        return dense

    def to_awkward(self) -> Any:
        """An `awkward.Array` over the same memory (strings are copied).

        Raises:
            MissingDependencyError: The package awkward is not installed.
        """
        awkward = import_optional("awkward", extra="awkward", purpose="to_awkward")
        layout = _awkward_values(awkward, self.flat_values)
        for splits in reversed(self.nested_row_splits):
            offsets = awkward.index.Index(splits)
            layout = awkward.contents.ListOffsetArray(offsets, layout)
        return awkward.Array(layout)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        # Without this NumPy would make an object array of rows.
        raise InvalidTypeError(
            "a RaggedTensor is not an array",
            hint="use to_dense() for a padded array, .flat_values for the values, or to_list()",
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RaggedTensor):
            return NotImplemented
        return (
            self.ragged_rank == other.ragged_rank
            and all(map(np.array_equal, self.nested_row_splits, other.nested_row_splits))
            and same_array(self.flat_values, other.flat_values)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        dtype = "string" if self.dtype == object else self.dtype
        if self.flat_values.size + len(self) > 20:
            return f"RaggedTensor(shape={self.shape}, dtype={dtype})"
        return f"RaggedTensor({self.to_list()}, dtype={dtype})"


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _split_levels(rows: list[Any], ragged_rank: int | None) -> tuple[list[list[int]], list[Any]]:
    """The row lengths of each level of nested lists, and what is left below them."""
    levels: list[list[int]] = []
    flat = rows
    while len(levels) != ragged_rank and any(map(_is_list, flat)):
        if not all(map(_is_list, flat)):
            raise InvalidArgumentError(f"expected rows or values at depth {len(levels)}, got both")
        levels.append([len(row) for row in flat])
        flat = [item for row in flat for item in row]
    wanted = ragged_rank or 1
    if not flat:
        # Nothing is left to tell the depth by: the levels below have no rows.
        levels.extend([] for _ in range(wanted - len(levels)))
    if len(levels) < wanted:
        raise InvalidArgumentError(f"expected rows nested {wanted} deep, got {len(levels)}")
    return levels, flat


def _awkward_values(awkward: Any, values: Array) -> Any:
    if values.dtype != object:
        return awkward.contents.NumpyArray(values)
    flat = values.reshape(-1).tolist()
    data = np.frombuffer(b"".join(flat), np.uint8)
    lengths = np.fromiter(map(len, flat), np.int64, len(flat))
    layout = awkward.contents.ListOffsetArray(
        awkward.index.Index64(splits_of(lengths)),
        awkward.contents.NumpyArray(data, parameters={"__array__": "byte"}),
        parameters={"__array__": "bytestring"},
    )
    for size in reversed(values.shape[1:]):
        layout = awkward.contents.RegularArray(layout, size)
    return layout
