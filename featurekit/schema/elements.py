"""The elements of a feature in many records, in one row, and where each of them is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from featurekit.io.ragged import RaggedTensor
from featurekit.nesting import take_apart

__all__ = ["element_counts", "element_indices", "flat_elements", "missing_count"]

Array = np.ndarray[Any, Any]


def flat_elements(stored: Any, inner_rank: int) -> Array:
    """The elements of a batch of stored values, along one axis; missing ones are left out.

    Args:
        stored: What `Layout.deserialize_batch` gives for one feature: an array, a masked
            one, a `RaggedTensor`, or a list with one value a record.
        inner_rank: Number of dimensions of one element. Where elements differ in shape, their
            parts along the first dimension, or single values, stand for them.

    Example:
        >>> flat_elements(RaggedTensor(np.array([5, 6, 7]), [0, 1, 1, 3]), 0)
        array([5, 6, 7])
    """
    if isinstance(stored, list):
        parts = [flat_elements(_row(v, inner_rank), inner_rank) for v in stored if v is not None]
        return _concatenated(parts)
    if isinstance(stored, np.ma.MaskedArray):
        stored = stored.data[_present(stored)]
    return take_apart(stored, _dense_rank(stored, inner_rank))[0]


def element_indices(stored: Any, inner_rank: int, flat: int) -> tuple[int, ...]:
    """Where in a batch the element number `flat` of `flat_elements` is.

    Returns:
        The record's index in the batch, and one index for each sequence that it is in.

    Example:
        >>> element_indices(RaggedTensor(np.array([5, 6, 7]), [0, 1, 1, 3]), 0, 2)
        (2, 1)
    """
    if isinstance(stored, list):
        record = 0
        for record, value in enumerate(stored):
            row = None if value is None else _row(value, inner_rank)
            count = 0 if row is None else len(flat_elements(row, inner_rank))
            if flat < count:
                inner = element_indices(row, inner_rank, flat)
                return (record,) if row is not value else (record, *inner)
            flat -= count
        return (record,)
    if isinstance(stored, np.ma.MaskedArray):
        return (int(np.flatnonzero(_present(stored))[flat]),)
    splits = []
    while isinstance(stored, RaggedTensor):
        splits.append(stored.row_splits)
        stored = stored.values
    axes = stored.shape[: stored.ndim - _dense_rank(stored, inner_rank)]
    row_number, *within = (int(index) for index in np.unravel_index(flat, axes))
    for row_splits in reversed(splits):
        outer = int(np.searchsorted(row_splits, row_number, side="right")) - 1
        within.insert(0, row_number - int(row_splits[outer]))
        row_number = outer
    return (row_number, *within)


def element_counts(stored: Any) -> Array:
    """The number of elements in each record of a batch; missing ones are left out.

    >>> element_counts(RaggedTensor(np.array([5, 6, 7]), [0, 1, 1, 3]))
    array([1, 0, 2])
    """
    if isinstance(stored, Mapping):  # a tensor that is stored with its shape
        return element_counts(stored["value"] if "value" in stored else next(iter(stored.values())))
    if isinstance(stored, RaggedTensor):
        return np.diff(stored.row_splits)
    return np.array([len(value) for value in stored if value is not None], np.int64)


def missing_count(stored: Any) -> int:
    """The number of records in a batch that have no value."""
    if isinstance(stored, list):
        return sum(value is None for value in stored)
    if isinstance(stored, np.ma.MaskedArray):
        return len(stored) - int(np.count_nonzero(_present(stored)))
    return 0


def _dense_rank(stored: Any, inner_rank: int) -> int:
    """The number of dimensions of what an element is made of, in the dense part of `stored`."""
    while isinstance(stored, RaggedTensor):
        stored = stored.values
    return min(inner_rank, np.ndim(stored) - 1)


def _row(value: Any, inner_rank: int) -> Any:
    """One record's elements: the value itself where it is a sequence of them."""
    if isinstance(value, RaggedTensor) or (np.ndim(value) > inner_rank):
        return value
    row = np.empty((1, *np.shape(value)), getattr(value, "dtype", object))
    row[0] = value
    return row


def _concatenated(parts: list[Array]) -> Array:
    if not parts:
        return np.empty(0, object)
    if len({part.shape[1:] for part in parts}) > 1:
        parts = [part.reshape(-1) for part in parts]
    return np.concatenate(parts)


def _present(stored: np.ma.MaskedArray[Any, Any]) -> Array:
    """Which records have a value."""
    masks = np.ma.getmaskarray(stored).reshape((len(stored), -1))
    present: Array = ~np.all(masks, axis=1)
    return present
