"""What people give for a feature, as the values that an Example holds.

| given | becomes |
| --- | --- |
| bool, int, `IntEnum`, NumPy ints and bools | int64 |
| float, NumPy floats | float32 |
| str (as UTF-8), bytes | bytes |

One value, or a flat list or array of them. Nothing changes on the way, except that
floats are rounded to the nearest float32.

Source: the table of types in TensorFlow's tutorial on TFRecord and tf.train.Example.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from featurekit.errors import EncodeError, EncodeTypeError, short_repr

__all__ = [
    "as_bytes_values",
    "as_float_values",
    "as_int64_values",
    "as_values_of_any_kind",
    "untyped_error",
]

Array = npt.NDArray[Any]

_INT_TYPES = (int, np.integer, np.bool_)  # a bool and an IntEnum are ints
_NUMBER_TYPES = (*_INT_TYPES, float, np.floating)
_TEXT_TYPES = (str, bytes, bytearray, memoryview)


def as_bytes_values(value: Any) -> list[bytes]:
    """Texts or bytes as a list of bytes."""
    return [_as_bytes(item) for item in _items(value)]


def as_float_values(value: Any) -> npt.NDArray[np.float32]:
    """Numbers as `(n,)` float32, rounded to the nearest."""
    items = _items(value)
    if not (isinstance(items, np.ndarray) and _casts(items.dtype, np.float32)):
        _check_types(items, _NUMBER_TYPES, "floats", "bytes_feature takes text")
        try:
            items = np.array(list(items), np.float64)
        except OverflowError as error:
            raise EncodeError("expected numbers within float32, got an int beyond it") from error
    with np.errstate(over="ignore"):
        values = items.astype(np.float32, copy=False)
    lost = np.isinf(values) & ~np.isinf(items)
    if lost.any():
        raise EncodeError(
            f"expected numbers within float32, got {items[lost][0]}, which would become inf",
            hint="scale the values, or store the float64 bytes with bytes_feature",
        )
    return values


def as_int64_values(value: Any) -> npt.NDArray[np.int64]:
    """Ints or bools as `(n,)` int64."""
    items = _items(value)
    if isinstance(items, np.ndarray) and _casts(items.dtype, np.int64):
        if items.dtype != np.uint64:
            return items.astype(np.int64, copy=False)
        items = items.tolist()
    _check_types(items, _INT_TYPES, "ints", "float_feature takes floats, bytes_feature text")
    ints = [int(item) for item in items]  # Python's: NumPy's would wrap
    try:
        return np.array(ints, np.int64)
    except OverflowError as error:
        beyond = next(item for item in ints if not -(2**63) <= item < 2**63)
        raise EncodeError(
            f"expected ints of 64 bits with a sign, got {beyond}",
            hint="store it as bytes, or as two ints",
        ) from error


def as_values_of_any_kind(value: Any) -> Array | list[bytes]:
    """Values of the kind that their types call for.

    A list with both ints and floats becomes floats. An empty array is of its dtype's kind.

    Raises:
        EncodeTypeError: They are of no kind, of several, or an empty list has none.
    """
    items = _items(value)
    if isinstance(items, np.ndarray) and _casts(items.dtype, np.int64):
        return as_int64_values(items)
    if isinstance(items, np.ndarray) and _casts(items.dtype, np.float32):
        return as_float_values(items)
    if not len(items) and not isinstance(items, np.ndarray):
        raise untyped_error()
    if all(isinstance(item, _TEXT_TYPES) for item in items):
        return as_bytes_values(items)
    if all(isinstance(item, _INT_TYPES) for item in items):
        return as_int64_values(items)
    _check_types(items, _NUMBER_TYPES, "ints, floats, text or bytes, all of one kind", None)
    return as_float_values(items)


def untyped_error() -> EncodeTypeError:
    """An empty list where nothing says what it is a list of."""
    return EncodeTypeError(
        "an empty list does not say what it is a list of",
        hint="give an empty array with a dtype (int64, float32 or object for bytes), "
        "or int64_feature([]), float_feature([]) or bytes_feature([])",
    )


def _items(value: Any) -> Array | Sequence[Any]:
    """The values one by one: a 1-D array, or a sequence of plain values."""
    if isinstance(value, _TEXT_TYPES):
        return [value]
    if hasattr(value, "__array__"):
        array = np.asarray(value)
        if array.ndim > 1:
            raise EncodeTypeError(
                f"expected one value or a flat list, got the shape {array.shape}",
                hint="flatten it, and store the shape as another feature",
            )
        array = array.reshape(-1)
        return array.tolist() if array.dtype.kind in "OSU" and array.size else array
    if isinstance(value, Sequence):
        return [_plain(item) for item in value]
    return [value]


def _plain(item: Any) -> Any:
    """A scalar that came as an array of rank 0, taken out."""
    if hasattr(item, "__array__") and not isinstance(item, np.generic):
        array = np.asarray(item)
        return array[()] if array.ndim == 0 else item
    return item


def _casts(dtype: np.dtype[Any], to: type[np.generic]) -> bool:
    return dtype.kind not in "mM" and np.can_cast(dtype, to, "same_kind")


def _check_types(
    items: Iterable[Any], types: tuple[type, ...], expected: str, hint: str | None
) -> None:
    if isinstance(items, np.ndarray) and items.dtype != object:
        raise EncodeTypeError(
            f"expected {expected}, got an array of dtype {items.dtype}", hint=hint
        )
    for item in items:
        if not isinstance(item, types):
            raise EncodeTypeError(
                f"expected {expected}, got {short_repr(item)} ({type(item).__name__})", hint=hint
            )


def _as_bytes(item: Any) -> bytes:
    if isinstance(item, str):
        try:
            return item.encode()
        except UnicodeEncodeError as error:
            raise EncodeError(f"text {item!r} cannot be written as UTF-8") from error
    if isinstance(item, (bytes, bytearray, memoryview)):
        return bytes(item)
    raise EncodeTypeError(
        f"expected text or bytes, got {short_repr(item)} ({type(item).__name__})",
        hint="int64_feature takes ints, float_feature floats",
    )
