"""Values at some cells of an array that is otherwise empty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from featurekit.errors import InvalidArgumentError, InvalidTypeError, short_repr
from featurekit.io.arrays import as_values, fill_value, same_array
from featurekit.optional import import_optional

__all__ = ["SparseTensor"]

Array = npt.NDArray[Any]


class SparseTensor:
    """Values at some cells of an array, in coordinate form. To be treated as immutable.

    As in TensorFlow, neither the order of the cells, nor their range, nor that each occurs
    once is checked here, since the parser may give such; `to_dense` refuses cells outside
    the shape and repeated ones.

    Two are equal when indices, values (with their dtype) and shape are; NaN equals NaN.

    Args:
        indices: `(n, rank)` int64, the cell of each value.
        values: `(n,)` array; text is `object` (of bytes).
        dense_shape: `(rank,)` int64.

    Raises:
        InvalidArgumentError: The shapes do not fit each other, or `dense_shape` is negative.
        InvalidTypeError: Indices or shape are not integers.

    Example:
        >>> sparse = SparseTensor([[0, 0], [0, 1], [2, 0]], np.float32([1, 2, 3]), [3, 2])
        >>> sparse.to_dense()
        array([[1., 2.],
               [0., 0.],
               [3., 0.]], dtype=float32)

    Source: the coordinate form of tf.sparse.SparseTensor.
    """

    __slots__ = ("_dense_shape", "_indices", "_values")

    def __init__(
        self,
        indices: Array | Sequence[Sequence[int]],
        values: Array | Sequence[Any],
        dense_shape: Array | Sequence[int],
    ) -> None:
        self._values = as_values(values)
        self._dense_shape = _as_int64(dense_shape, "dense_shape")
        self._indices = _as_int64(indices, "indices")
        if self._indices.shape == (0,):
            self._indices = self._indices.reshape(0, len(self._dense_shape))
        _check(self._indices, self._values, self._dense_shape)

    @property
    def indices(self) -> npt.NDArray[np.int64]:
        """The cell of each value, `(n, rank)` int64."""
        return self._indices

    @property
    def values(self) -> Array:
        """The values, `(n,)`."""
        return self._values

    @property
    def dense_shape(self) -> npt.NDArray[np.int64]:
        """The shape of the whole array, `(rank,)` int64."""
        return self._dense_shape

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the whole array, as a tuple."""
        return tuple(self._dense_shape.tolist())

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the values."""
        return self._values.dtype

    def to_dense(self, default_value: Any = None) -> Array:
        """The whole array.

        Args:
            default_value: What is in the other cells; by default 0, False or `b""`.

        Raises:
            InvalidArgumentError: A cell is outside the shape, or occurs twice.
        """
        fill = fill_value(default_value, self.dtype)
        self._check_cells()
        dense = np.full(self.shape, fill, self.dtype)
        dense[tuple(self._indices.T)] = self._values
        return dense

    def _check_cells(self) -> None:
        outside = ((self._indices < 0) | (self._indices >= self._dense_shape)).any(axis=1)
        if outside.any():
            cell = self._indices[outside][0].tolist()
            raise InvalidArgumentError(f"cell {cell} is outside of the shape {self.shape}")
        cells, counts = np.unique(self._indices, axis=0, return_counts=True)
        if len(cells) < len(self._indices):
            cell = cells[counts > 1][0].tolist()
            raise InvalidArgumentError(f"cell {cell} has more than one value")

    def to_scipy(self) -> Any:
        """A `scipy.sparse.coo_array` over the same memory.

        Raises:
            InvalidArgumentError: The rank is not 2.
            InvalidTypeError: The values are strings.
            MissingDependencyError: The package scipy is not installed.
        """
        if len(self._dense_shape) != 2:
            raise InvalidArgumentError(f"expected rank 2, got the shape {self.shape}")
        if self.dtype == object:
            raise InvalidTypeError("expected numbers, got strings, which SciPy cannot hold")
        scipy_sparse = import_optional("scipy.sparse", extra="scipy", purpose="to_scipy")
        return scipy_sparse.coo_array((self._values, tuple(self._indices.T)), shape=self.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        # Without this NumPy would make an object array of one SparseTensor.
        raise InvalidTypeError("a SparseTensor is not an array", hint="use to_dense()")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SparseTensor):
            return NotImplemented
        return (
            self.shape == other.shape
            and same_array(self._indices, other._indices)
            and same_array(self._values, other._values)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        dtype = "string" if self.dtype == object else self.dtype
        if len(self._values) > 8:
            return f"SparseTensor({len(self._values)} values, shape={self.shape}, dtype={dtype})"
        cells = zip(map(tuple, self._indices.tolist()), self._values.tolist(), strict=True)
        text = ", ".join(f"{cell}: {value!r}" for cell, value in cells)
        return f"SparseTensor({{{text}}}, shape={self.shape}, dtype={dtype})"


def _as_int64(values: Any, what: str) -> npt.NDArray[np.int64]:
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iu":
        raise InvalidTypeError(f"expected {what} as integers, got {short_repr(values)}")
    return array.astype(np.int64, copy=False)


def _check(indices: Array, values: Array, dense_shape: Array) -> None:
    if dense_shape.ndim != 1 or (dense_shape < 0).any():
        raise InvalidArgumentError(
            f"expected dense_shape as a list of sizes >= 0, got {short_repr(dense_shape)}"
        )
    if values.ndim != 1:
        raise InvalidArgumentError(f"expected values of rank 1, got the shape {values.shape}")
    if indices.shape != (len(values), len(dense_shape)):
        raise InvalidArgumentError(
            f"expected indices of the shape {(len(values), len(dense_shape))} (values, rank), "
            f"got {indices.shape}"
        )
