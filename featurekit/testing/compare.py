"""Whether two values are the same: structure, types, dtypes, shapes and bits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from featurekit.errors import short_repr
from featurekit.io.ragged import RaggedTensor

__all__ = ["assert_same"]


def assert_same(got: Any, expected: Any, what: str = "value") -> None:
    """Raise an `AssertionError` unless two decoded values are the same.

    Arrays and NumPy scalars are the same when dtype, shape and bits are (so NaN is NaN, and
    0.0 is not -0.0). A list stands for anything with a length and indices but an array, such
    as the value of a `Dataset`. Python values are the same when type and value are.

    Args:
        got: The value that is looked at.
        expected: The value that it should be.
        what: What it is, for the message.

    Raises:
        AssertionError: Says where they first differ.

    Example:
        >>> assert_same({"x": np.float32(1)}, {"x": np.float32(1)})
        >>> assert_same({"x": np.float32(1)}, {"x": np.float64(1)})
        Traceback (most recent call last):
        AssertionError: value['x']: expected np.float64(1.0), got np.float32(1.0)
    """
    if isinstance(expected, Mapping):
        _same_mapping(got, expected, what)
    elif isinstance(expected, RaggedTensor):
        _check(isinstance(got, RaggedTensor), got, expected, what)
        assert_same(got.row_splits, expected.row_splits, f"{what}.row_splits")
        assert_same(got.values, expected.values, f"{what}.values")
    elif isinstance(expected, (list, tuple)):
        _same_items(got, expected, what)
    elif isinstance(expected, (np.ndarray, np.generic)):
        _same_array(got, expected, what)
    else:
        _check(type(got) is type(expected), got, expected, what)
        _check(got == expected or repr(got) == repr(expected) == "nan", got, expected, what)


def _same_mapping(got: Any, expected: Mapping[Any, Any], what: str) -> None:
    _check(isinstance(got, Mapping), got, expected, what)
    _check(got.keys() == expected.keys(), sorted(got), sorted(expected), f"keys of {what}")
    for key, value in expected.items():
        assert_same(got[key], value, f"{what}[{key!r}]")


def _same_items(got: Any, expected: list[Any] | tuple[Any, ...], what: str) -> None:
    indexed = hasattr(got, "__len__") and hasattr(got, "__getitem__")
    other = isinstance(got, (np.ndarray, RaggedTensor, str, bytes, Mapping))
    _check(indexed and not other, got, expected, what)
    _check(len(got) == len(expected), len(got), len(expected), f"length of {what}")
    for index, value in enumerate(expected):
        assert_same(got[index], value, f"{what}[{index}]")


def _same_array(got: Any, expected: Any, what: str) -> None:
    both_arrays = isinstance(got, np.ndarray) == isinstance(expected, np.ndarray)
    _check(both_arrays and isinstance(got, (np.ndarray, np.generic)), got, expected, what)
    _check(got.dtype == expected.dtype, got, expected, what)
    _check(got.shape == expected.shape, got.shape, expected.shape, f"shape of {what}")
    if expected.dtype.kind == "O":
        for index, value in enumerate(expected.flat):
            assert_same(got.flat[index], value, f"{what}.flat[{index}]")
    elif got.tobytes() != expected.tobytes():
        position = _first_difference(got, expected)
        where = f"{what}[{', '.join(map(str, position))}]" if position else what
        _check(False, got[position], expected[position], where)


def _first_difference(got: Any, expected: Any) -> tuple[int, ...]:
    pairs = zip(np.ndindex(expected.shape), got.flat, expected.flat, strict=True)
    return next(index for index, a, b in pairs if a.tobytes() != b.tobytes())


def _check(holds: bool, got: Any, expected: Any, what: str) -> None:
    if not holds:
        raise AssertionError(
            f"{what}: expected {short_repr(expected, 200)}, got {short_repr(got, 200)}"
        )
