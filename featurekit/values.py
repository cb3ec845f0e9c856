"""From what people give for a value to an array of exactly the declared dtype and shape.

The rule is that no value changes silently. NumPy arrays must have the declared dtype;
Python and NumPy scalars, and lists of them, are taken where they fit. Text is never a
number, a fractional float never an integer, and a finite number never becomes infinite.
Rounding to the nearest float is not a change. `bool` counts as 0 or 1.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from featurekit.dtypes import dtype_name, is_string
from featurekit.errors import EncodeError, EncodeTypeError, short_repr
from featurekit.tensor_info import Shape

__all__ = ["as_array", "check_shape", "narrow_float"]


def as_array(value: Any, dtype: np.dtype[Any], shape: Shape) -> np.ndarray[Any, Any]:
    """Convert a value to an array, or say why it does not fit.

    Args:
        value: An array of exactly `dtype`, or a scalar or nested list that fits it.
        dtype: The declared dtype; `object` means text or bytes, which become `bytes`.
        shape: The declared shape; `None` dimensions fit any size.

    Returns:
        An array of `dtype` whose shape fits `shape`. An array that fits is not copied.

    Raises:
        EncodeTypeError: The value has a type that the dtype does not take.
        EncodeError: Its values, dtype or shape do not fit.

    Example:
        >>> as_array([1, 2], np.dtype("uint8"), (None,))
        array([1, 2], dtype=uint8)
    """
    if isinstance(value, np.ndarray):
        array = _checked_array(value, dtype)
    elif shape == () and _surely_fits(value, dtype):
        return np.array(value, dtype)
    elif is_string(dtype):
        array = _strings(value)
    else:
        array = _numbers(value, dtype)
    check_shape(array.shape, shape)
    return array


# What a Python scalar may be to fit a dtype, and do so without further ado: of which type,
# and between which bounds.
_RANGES: dict[str, tuple[type, Any, Any]] = {
    **{code: (int, int(np.iinfo(code).min), int(np.iinfo(code).max)) for code in "bBhHiIlLqQ"},
    **{code: (float, float(np.finfo(code).min), float(np.finfo(code).max)) for code in "efd"},
}


def _surely_fits(value: Any, dtype: np.dtype[Any]) -> bool:
    """Whether a scalar is of the commonest kind; else the rules below decide."""
    found = _RANGES.get(dtype.char)
    return found is not None and type(value) is found[0] and found[1] <= value <= found[2]


def check_shape(got: tuple[int, ...], expected: Shape) -> None:
    """Raise an `EncodeError` where a shape does not fit the declared one."""
    if got == expected:
        return
    fits = len(got) == len(expected) and all(
        want is None or want == size for size, want in zip(got, expected, strict=True)
    )
    if not fits:
        raise EncodeError(
            f"expected shape {expected}, got {got}",
            hint="fix the value, or declare the shape that it has (None for a varying size)",
        )


def narrow_float(array: np.ndarray[Any, Any], dtype: Any) -> np.ndarray[Any, Any]:
    """Round floats to a narrower float dtype; a finite value that becomes infinite is an error."""
    with np.errstate(over="ignore"):
        narrow = array.astype(dtype)
    lost = np.isinf(narrow) & np.isfinite(array)
    if lost.any():
        raise EncodeError(
            f"{array[lost].flat[0]} is too large for {np.dtype(dtype).name}",
            hint="scale the value, or declare a wider dtype (float64 with encoding='bytes')",
        )
    return narrow


def _checked_array(value: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    if value.dtype != dtype:
        cure = "object" if is_string(dtype) else f"np.{dtype_name(dtype)}"
        raise EncodeError(
            f"expected an array of dtype {dtype_name(dtype)}, got one of dtype {value.dtype}",
            hint=f"convert it with array.astype({cure}), or declare the dtype that it has",
        )
    return _strings(value) if is_string(dtype) else value


# Text and bytes.


def _strings(value: Any) -> np.ndarray[Any, Any]:
    if isinstance(value, (str, bytes)):
        scalar = np.empty((), object)
        scalar[()] = _as_bytes(value)
        return scalar
    nested = value if isinstance(value, np.ndarray) else _object_array(value)
    if nested.ndim == 0 and type(nested.item()) is bytes:
        return nested
    array = np.empty(nested.shape, object)
    for index, item in enumerate(nested.flat):
        array.flat[index] = _as_bytes(item)
    return array


def _object_array(value: Any) -> np.ndarray[Any, Any]:
    if not isinstance(value, (list, tuple)):
        raise _not_a_string(value)
    try:
        return np.array(value, dtype=object)
    except ValueError:
        raise EncodeError(
            f"{short_repr(value)} has rows of different lengths",
            hint="declare a Sequence where the lengths vary",
        ) from None


def _as_bytes(item: Any) -> bytes:
    if isinstance(item, str):
        try:
            return item.encode()
        except UnicodeEncodeError:
            raise EncodeError(
                f"{short_repr(item)} cannot be written as UTF-8",
                hint="give bytes, or text without lone surrogates",
            ) from None
    if isinstance(item, bytes):
        return bytes(item)
    if isinstance(item, np.ndarray) and item.dtype.kind == "O" and item.ndim == 0:
        return _as_bytes(item[()])  # an encoded element of a sequence
    raise _not_a_string(item)


def _not_a_string(value: Any) -> EncodeTypeError:
    return EncodeTypeError(
        f"expected text or bytes, got {type(value).__name__} {short_repr(value)}",
        hint="give str or bytes; convert other values with str() first",
    )


# Numbers.


def _numbers(value: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    try:
        inferred = np.array(value)
    except ValueError:
        raise EncodeError(
            f"{short_repr(value)} has rows of different lengths, or no numbers",
            hint="declare a Sequence where the lengths vary",
        ) from None
    if inferred.size == 0 and inferred.dtype.kind == "f":
        return inferred.astype(dtype)  # an empty list has no dtype of its own
    if inferred.dtype == dtype:
        return inferred
    if inferred.dtype.kind in "iu" and dtype.kind in "iu":
        return _fit_integers(inferred, dtype)
    if dtype.kind in "iub":
        return _exact_integers(value, inferred, dtype)
    return _fit_floats(value, inferred, dtype)


def _fit_integers(array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    limits = np.iinfo(dtype)
    if array.size and (array.min() < limits.min or array.max() > limits.max):
        worst = array.min() if array.min() < limits.min else array.max()
        raise _out_of_range(int(worst), dtype)
    return array.astype(dtype)


def _exact_integers(
    value: Any, inferred: np.ndarray[Any, Any], dtype: np.dtype[Any]
) -> np.ndarray[Any, Any]:
    """One by one, since NumPy may have inferred floats from integers of 64 bits."""
    items = np.array(value, dtype=object)
    if items.shape != inferred.shape:
        raise _not_a_number(value, dtype)
    result = np.empty(items.shape, dtype)
    low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    for index, item in enumerate(items.flat):
        number = _as_integer(item, dtype)
        if not low <= number <= high:
            raise _out_of_range(number, dtype)
        result.flat[index] = number
    return result


def _as_integer(item: Any, dtype: np.dtype[Any]) -> int:
    if isinstance(item, (bool, np.bool_)):
        return int(item)
    if isinstance(item, (float, np.floating)):
        if not np.isfinite(item) or item != int(item):
            raise EncodeError(
                f"{item} is not an integer, and the feature is {dtype_name(dtype)}",
                hint="round the value yourself, or declare a float dtype",
            )
        return int(item)
    try:
        return operator.index(item)
    except TypeError:
        raise _not_a_number(item, dtype) from None


def _fit_floats(
    value: Any, inferred: np.ndarray[Any, Any], dtype: np.dtype[Any]
) -> np.ndarray[Any, Any]:
    if inferred.dtype.kind == "O":
        inferred = _floats_from_objects(inferred, dtype)
    takes = "biufV" if dtype.kind in "fV" else "biufcV"
    if inferred.dtype.kind not in takes:
        raise _not_a_number(value, dtype)
    if dtype.kind == "c" or inferred.dtype.kind == "V":
        return inferred.astype(dtype)
    return narrow_float(inferred.astype(np.float64), dtype)


def _floats_from_objects(array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> Any:
    for item in array.flat:
        if not isinstance(item, (int, float, complex, np.number, np.bool_)):
            raise _not_a_number(item, dtype)
    try:
        return array.astype(np.complex128 if dtype.kind == "c" else np.float64)
    except (OverflowError, TypeError):
        raise _out_of_range(array.flat[0], dtype) from None


def _not_a_number(value: Any, dtype: np.dtype[Any]) -> EncodeTypeError:
    return EncodeTypeError(
        f"expected {dtype_name(dtype)}, got {type(value).__name__} {short_repr(value)}",
        hint="convert the value first; a value that may be missing needs optional=True",
    )


def _out_of_range(number: Any, dtype: np.dtype[Any]) -> EncodeError:
    if dtype.kind == "b":
        return EncodeError(f"{number} is neither true (1) nor false (0)", hint="give a bool")
    return EncodeError(
        f"{number} does not fit {dtype_name(dtype)}",
        hint="fix the value, or declare a wider dtype",
    )
