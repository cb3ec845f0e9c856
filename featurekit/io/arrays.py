"""What ragged and sparse tensors share: their values as arrays, and comparing them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from featurekit.errors import InvalidArgumentError, InvalidTypeError

__all__ = ["as_values", "fill_value", "same_array"]


def as_values(values: Any) -> npt.NDArray[Any]:
    """An array of rank 1 or more; text becomes an object array of bytes.

    An array is taken as it is, without a copy.

    Raises:
        InvalidArgumentError: It is a single value.
        InvalidTypeError: It is a list of lists of different lengths.
    """
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InvalidTypeError(f"expected values that form an array: {error}") from error
    if array.dtype.kind in "US":
        array = _bytes_array(values, array.shape)
    if array.ndim == 0:
        raise InvalidArgumentError(f"expected values of rank 1 or more, got {values!r}")
    return array


def _bytes_array(values: Any, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    # Not through the S and U dtypes, which lose trailing NULs.
    array = np.empty(shape, dtype=object)
    array[...] = np.asarray(values, dtype=object)
    flat = array.reshape(-1)
    flat[:] = [item.encode() if isinstance(item, str) else item for item in flat]
    return array


def same_array(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> bool:
    """Whether shape, dtype and values are the same; NaN is the same as NaN."""
    if first.shape != second.shape or first.dtype != second.dtype:
        return False
    return bool(np.array_equal(first, second, equal_nan=first.dtype.kind in "fc"))


def fill_value(value: Any, dtype: np.dtype[Any]) -> Any:
    """What fills the gaps of a dense array; for None it is 0, False or empty bytes.

    Raises:
        InvalidArgumentError: The dtype cannot hold the value.
    """
    if dtype.kind == "O":
        filled = b"" if value is None else value.encode() if isinstance(value, str) else value
        fits = isinstance(filled, bytes)
    else:
        filled = _cast(0 if value is None else value, dtype)
        fits = filled is not None and (dtype.kind not in "biu" or value in (None, filled))
    if not fits:
        name = "string" if dtype.kind == "O" else dtype
        raise InvalidArgumentError(f"expected a default value of dtype {name}, got {value!r}")
    return filled


def _cast(value: Any, dtype: np.dtype[Any]) -> Any:
    try:
        return dtype.type(value)
    except (TypeError, ValueError, OverflowError):
        return None
