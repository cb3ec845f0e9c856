"""The dtypes a feature may have, their names in `features.json` and their wire kind.

Strings are NumPy `object` arrays of `bytes`, and are called `string`, as in TFDS.

Source: the NumPy and TensorFlow dtype names that TFDS writes in `features.json`.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from featurekit.errors import InvalidTypeError, did_you_mean, short_repr
from featurekit.optional import import_optional

__all__ = ["STRING", "as_dtype", "dtype_name", "is_string", "narrowest_value"]

STRING = np.dtype(object)

_STRING_NAMES = frozenset({"string", "str", "bytes", "object", "object_", "str_", "bytes_"})
_NAMES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128", "bfloat16", "string"),
)
_PYTHON_TYPES = (bool, int, float, complex)


def as_dtype(value: Any) -> np.dtype[Any]:
    """Turn what people write for a dtype into a NumPy dtype.

    Args:
        value: A NumPy dtype or scalar type, a name as in `features.json`, or a TensorFlow
            dtype (recognised by its attributes; TensorFlow is not imported).

    Raises:
        InvalidTypeError: It is none of the dtypes that a feature can have.

    >>> as_dtype("uint8")
    dtype('uint8')
    >>> as_dtype(np.str_) is STRING
    True
    """
    if isinstance(value, np.dtype):
        return _checked(value, value)
    if isinstance(value, str):
        return _from_name(value)
    if not isinstance(value, type) and hasattr(value, "as_numpy_dtype"):
        return _from_name(value.name)
    if value in (str, bytes, object) or value in (np.str_, np.bytes_, np.object_):
        return STRING
    # NumPy takes any other class for the dtype object.
    if isinstance(value, type) and (issubclass(value, np.generic) or value in _PYTHON_TYPES):
        dtype: np.dtype[Any] = np.dtype(value)
        return _checked(dtype, value)
    raise _unknown(value)


@functools.cache
def _from_name(name: str) -> np.dtype[Any]:
    if name in _STRING_NAMES:
        return STRING
    if name == "bfloat16":
        # NumPy knows no bfloat16 of its own.
        ml_dtypes = import_optional("ml_dtypes", extra="bfloat16", purpose="the dtype bfloat16")
        bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
        return bfloat16
    try:
        return _checked(np.dtype(name), name)
    except (TypeError, ValueError, SyntaxError):  # NumPy evaluates what looks like Python
        raise _unknown(name) from None


def _checked(dtype: np.dtype[Any], given: Any) -> np.dtype[Any]:
    if dtype.kind in "OSU":
        return STRING
    if dtype.name not in _NAMES:
        raise _unknown(given)
    native: np.dtype[Any] = np.dtype(dtype.newbyteorder("="))
    return native


def _unknown(value: Any) -> InvalidTypeError:
    return InvalidTypeError(
        f"{short_repr(value)} is not the dtype of a feature{did_you_mean(value, _NAMES, limit=16)}",
        hint="use a NumPy dtype such as np.int64, or np.str_ for text and bytes",
    )


def dtype_name(dtype: np.dtype[Any]) -> str:
    """The name that `features.json` uses: NumPy's, but `string` for text and bytes.

    >>> dtype_name(np.dtype(object)), dtype_name(np.dtype("int32"))
    ('string', 'int32')
    """
    return "string" if dtype.kind == "O" else dtype.name


def is_string(dtype: np.dtype[Any]) -> bool:
    """Whether values are text or bytes."""
    return dtype.kind == "O"


def narrowest_value(dtype: np.dtype[Any]) -> Any:
    """What TensorFlow's path of TFDS gives for a missing optional value of this dtype.

    The smallest integer of the dtype, the lowest finite float (`-inf` for float64, which is
    stored in 32 bits), `False`, or `b""`.
    """
    if is_string(dtype):
        return b""
    if dtype.kind == "b":
        return np.False_
    if dtype.kind in "iu":
        return dtype.type(np.iinfo(dtype).min)
    if dtype == np.float64:
        return np.float64("-inf")
    return dtype.type(np.finfo(dtype).min)
