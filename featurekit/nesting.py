"""The elements of nested sequences, in one row and back in their lists.

Connectors decode all elements of a value at once. A nested sequence is therefore taken
apart into its elements, whichever mixture of ragged lists and array axes holds them, and
the decoded elements are put back into lists of the same lengths.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from featurekit.errors import DecodeError
from featurekit.io.ragged import RaggedTensor
from featurekit.tensor_info import TensorInfo, Tree, map_tree, zip_trees

__all__ = ["common_length", "map_nested", "stack", "take_apart", "unstack"]


def take_apart(stored: Any, inner_rank: int) -> tuple[np.ndarray[Any, Any], Callable[[Any], Any]]:
    """Get the elements of a nested sequence, and the function that nests others likewise.

    Args:
        stored: A `RaggedTensor`, or an array whose leading axes are sequences.
        inner_rank: Number of dimensions of one element.

    Returns:
        The elements along one leading axis; and a function from as many other elements (an
        array, or a list where their shapes differ) to the lists they belong in.
    """
    splits = []
    while isinstance(stored, RaggedTensor):
        splits.append(stored.row_splits)
        stored = stored.values
    axes = stored.shape[: stored.ndim - inner_rank]
    flat = stored.reshape((int(np.prod(axes, dtype=np.int64)), *stored.shape[len(axes) :]))

    def nest(elements: Any) -> Any:
        if isinstance(elements, np.ndarray):
            value: Any = elements.reshape((*axes, *elements.shape[1:]))
            for row_splits in reversed(splits):
                value = RaggedTensor(value, row_splits)
            return value
        value = elements
        for size in reversed(axes[1:]):
            value = [value[i : i + size] for i in range(0, len(value), size)]
        for row_splits in reversed(splits):
            value = [value[a:b] for a, b in itertools.pairwise(row_splits)]
        return value

    return flat, nest


def map_nested(
    function: Callable[[Any], Any], infos: Tree[TensorInfo], stored: Tree[Any]
) -> Tree[Any]:
    """Apply a function to all elements of nested sequences at once.

    Args:
        function: Takes the elements along one leading axis, and gives as many.
        infos: What one stored element looks like.
        stored: The nested sequences: for each leaf of `infos` what `take_apart` takes.

    Returns:
        What the function gave, in the lists of the first leaf.
    """
    nests = []

    def flatten(info: TensorInfo, value: Any) -> Any:
        flat, nest = take_apart(value, len(info.shape))
        nests.append(nest)
        return flat

    flat = zip_trees(flatten, infos, stored)
    return map_tree(nests[0], function(flat))


def unstack(stored: Any) -> Sequence[Any]:
    """The elements of a sequence of stored values; of dicts of arrays, the dicts."""
    if isinstance(stored, np.ma.MaskedArray):
        masks = np.ma.getmaskarray(stored).reshape((len(stored), -1))
        missing: list[bool] = np.all(masks, axis=1).tolist()
        return [None if gone else item for item, gone in zip(stored.data, missing, strict=True)]
    if not isinstance(stored, Mapping):
        return stored  # type: ignore[no-any-return]
    columns = {key: unstack(value) for key, value in stored.items()}
    count = min((len(column) for column in columns.values()), default=0)
    return [{key: column[i] for key, column in columns.items()} for i in range(count)]


def stack(elements: Sequence[Any], info: Tree[TensorInfo]) -> Any:
    """Join decoded elements into an array; into a list where their shapes differ.

    Args:
        elements: Decoded values.
        info: What one of them looks like; gives shape and dtype where there are none.
    """
    if isinstance(info, Mapping):
        return {key: stack([item[key] for item in elements], info[key]) for key in info}
    if not elements:
        return np.empty((0, *(dim or 0 for dim in info.shape)), info.dtype)
    if any(element is None for element in elements) or _shapes_differ(elements):
        return list(elements)
    if info.dtype.kind == "O":
        array = np.empty((len(elements), *np.shape(elements[0])), object)
        array[:] = elements
        return array
    return np.stack(elements)


def _shapes_differ(elements: Sequence[Any]) -> bool:
    return len({np.shape(element) for element in elements}) > 1


def common_length(stored: Any, what: str) -> int:
    """The number of elements of nested dicts of sequences, the same in all of them.

    Args:
        stored: A sequence, or nested dicts of sequences.
        what: What the elements are called, for the message.

    Raises:
        DecodeError: The sequences have different lengths.
    """
    counts = dict(_counts(stored))
    if len(set(counts.values())) > 1:
        shown = ", ".join(f"{count} of {key!r}" for key, count in sorted(counts.items()))
        raise DecodeError(
            f"the {what} have different numbers of values: {shown}",
            hint="the record is damaged; write it again",
        )
    return next(iter(counts.values()), 0)


def _counts(columns: Any, key: str = "") -> Iterator[tuple[str, int]]:
    if isinstance(columns, Mapping):
        for name, column in columns.items():
            yield from _counts(column, f"{key}/{name}" if key else name)
    elif columns is not None:
        yield key, len(columns)
