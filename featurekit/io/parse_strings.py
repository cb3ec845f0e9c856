"""Strings in parsed results: bytes as they are, or text in NumPy's StringDType."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from featurekit.errors import DecodeError, InvalidArgumentError, UnsupportedError, short_repr
from featurekit.io.ragged import RaggedTensor
from featurekit.io.sparse import SparseTensor

__all__ = ["Strings", "check_strings", "convert_strings"]

Strings: TypeAlias = Literal["object", "StringDType"]


def check_strings(strings: str) -> None:
    """Refuse what is not one of `Strings`, or not to be had from this NumPy.

    Raises:
        InvalidArgumentError: It is neither "object" nor "StringDType".
        UnsupportedError: NumPy is older than 2.0.
    """
    if strings not in ("object", "StringDType"):
        raise InvalidArgumentError(f"strings: expected 'object' or 'StringDType', got {strings!r}")
    if strings == "StringDType" and not hasattr(np.dtypes, "StringDType"):
        raise UnsupportedError(
            f"strings='StringDType' needs NumPy 2.0 or later, this is {np.__version__}"
        )


def convert_strings(results: dict[str, Any], strings: Strings) -> dict[str, Any]:
    """The results with their strings in the form asked for.

    Raises:
        DecodeError: A string is not UTF-8, which StringDType must hold.
    """
    if strings == "object":
        return results
    return {name: _as_text(value, name) for name, value in results.items()}


def _as_text(value: Any, name: str) -> Any:
    if isinstance(value, SparseTensor):
        return SparseTensor(value.indices, _as_text(value.values, name), value.dense_shape)
    if isinstance(value, RaggedTensor):
        return RaggedTensor(
            _as_text(value.values, name),
            value.row_splits,
            uniform_row_length=value.uniform_row_length,
            validate=False,
        )
    if isinstance(value, bytes):
        return _decode(value, name)
    if isinstance(value, np.ndarray) and value.dtype == object:
        return _text_array(value, name)
    return value


def _text_array(array: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    text = [_decode(item, name) for item in array.reshape(-1)]
    return np.array(text, np.dtypes.StringDType()).reshape(array.shape)


def _decode(value: bytes, name: str) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise DecodeError(
            f"expected text in UTF-8, got {short_repr(value)}",
            hint="keep the bytes with strings='object'",
            path=[name],
        ) from error
