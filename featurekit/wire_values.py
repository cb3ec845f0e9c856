"""Values of a declared dtype and shape, to and from the three kinds of lists of an Example.

Integers and bools are int64 lists (uint64 by its bits), floats 32-bit float lists, text and
bytes are bytes lists. What does not fit the declared dtype on the way back is an error.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from featurekit.dtypes import dtype_name, is_string
from featurekit.errors import DecodeError, UnsupportedError
from featurekit.io.columns import Kind
from featurekit.tensor_info import Shape
from featurekit.values import narrow_float

__all__ = ["from_wire", "kind_of", "solve_shape", "to_wire"]

Array = np.ndarray[Any, Any]


def kind_of(dtype: np.dtype[Any]) -> Kind:
    """The kind of list that holds values of a dtype.

    Raises:
        UnsupportedError: None does.
    """
    if is_string(dtype):
        return Kind.BYTES
    if dtype.kind in "biu":
        return Kind.INT64
    if dtype.kind == "f":
        return Kind.FLOAT
    raise UnsupportedError(
        f"a tf.train.Example has no list for {dtype_name(dtype)}",
        hint="declare the feature with encoding='bytes' or encoding='zlib'",
    )


_OF_LISTS = frozenset(kind.dtype for kind in Kind)


def to_wire(array: Array) -> Array:
    """The values of an array in the dtype of their kind of list."""
    dtype = array.dtype
    if dtype in _OF_LISTS:
        return array
    if dtype == np.uint64:
        return np.ascontiguousarray(array).view(np.int64)
    if dtype == np.float64:
        return narrow_float(array, np.float32)
    return array.astype(np.float32 if dtype.kind == "f" else np.int64)


def from_wire(values: Array, dtype: np.dtype[Any]) -> Array:
    """Stored values in the declared dtype.

    Raises:
        DecodeError: A stored integer does not fit it.
    """
    if values.dtype == dtype:
        return values
    if dtype == np.uint64:
        return values.view(np.uint64)
    if dtype.kind in "iu" and values.size:
        limits = np.iinfo(dtype)
        low, high = values.min(), values.max()
        if low < limits.min or high > limits.max:
            raise DecodeError(
                f"stored value {low if low < limits.min else high} does not fit "
                f"{dtype_name(dtype)}",
                hint="the record was written with another dtype; check features.json",
            )
    return values.astype(dtype)


def solve_shape(shape: Shape, size: int, key: str) -> tuple[int, ...]:
    """Fill the one unknown dimension in, from the number of values there are.

    Raises:
        DecodeError: The values do not fill the shape.
    """
    known = 1
    for dim in shape:
        known *= 1 if dim is None else dim
    if None in shape:
        fits = size % known == 0 if known else size == 0
        unknown = size // known if known else 0
    else:
        fits, unknown = size == known, 0
    if not fits:
        raise DecodeError(
            f"entry {key!r} has {size} values, which do not fill shape {shape}",
            hint="the record is damaged, or was written with other features",
        )
    return tuple(unknown if dim is None else dim for dim in shape)
