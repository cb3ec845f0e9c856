"""Row splits: where the rows of a ragged tensor begin and end in its values."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from featurekit.errors import InvalidArgumentError, InvalidTypeError, short_repr

__all__ = ["as_integers", "as_splits", "check_splits", "splits_of"]

Array: TypeAlias = npt.NDArray[Any]


def as_integers(values: Any, what: str) -> Array:
    """A 1-D int64 or int32 array; `what` names it in errors."""
    array = np.asarray(values)
    if array.size == 0 and array.dtype.kind not in "iu":  # an empty list
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise InvalidTypeError(f"expected {what} as 1-D integers, got {short_repr(values)}")
    return array if array.dtype in (np.int64, np.int32) else array.astype(np.int64)


def as_splits(row_splits: Any) -> Array:
    """Row splits as an array, not checked against any values."""
    return as_integers(row_splits, "row splits")


def splits_of(lengths: Array) -> Array:
    """The row splits of rows of these lengths, in their dtype."""
    splits = np.zeros(len(lengths) + 1, lengths.dtype)
    np.cumsum(lengths, out=splits[1:])
    return splits


def check_splits(splits: Array, total: int, uniform_row_length: int | None) -> None:
    """Refuse row splits that do not cover `total` values in order."""
    if not len(splits):
        raise InvalidArgumentError("expected one row split or more, got none")
    lengths = np.diff(splits)
    if splits[0] != 0:
        raise InvalidArgumentError(f"expected row splits that begin at 0, got {splits[0]}")
    if (lengths < 0).any():
        row = int(np.argmax(lengths < 0))
        raise InvalidArgumentError(
            f"expected row splits that never fall, got {splits[row]} then {splits[row + 1]} "
            f"for row {row}"
        )
    if splits[-1] != total:
        raise InvalidArgumentError(
            f"expected row splits that end at the number of values, {total}, got {splits[-1]}"
        )
    if uniform_row_length is not None and (lengths != uniform_row_length).any():
        raise InvalidArgumentError(
            f"expected rows of length {uniform_row_length}, got {short_repr(lengths)}"
        )
