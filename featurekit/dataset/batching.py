"""Batches of examples whose shapes differ, as TFDS pads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from featurekit.dtypes import is_string
from featurekit.errors import UnsupportedError, add_path
from featurekit.tensor_info import TensorInfo, Tree

__all__ = ["padded"]


def padded(values: Sequence[Any], infos: Tree[TensorInfo] | tuple[Any, ...]) -> Any:
    """Join values along a new first axis; where shapes differ, fill up with zeros or `b""`.

    Args:
        values: Decoded values, or nested dicts and tuples of them.
        infos: What one of them looks like.

    Returns:
        An array, or nested dicts and tuples of them.

    Raises:
        UnsupportedError: They are ragged, or steps of a `Dataset`.

    Example:
        >>> padded([np.ones(2, np.int32), np.ones(3, np.int32)], TensorInfo((None,), np.int32))
        array([[1, 1, 0],
               [1, 1, 1]], dtype=int32)
    """
    if isinstance(infos, tuple):
        columns = zip(*values, strict=True)
        return tuple(padded(c, info) for c, info in zip(columns, infos, strict=True))
    if isinstance(infos, Mapping) and isinstance(values[0], Mapping):
        return {key: _at([value[key] for value in values], infos, key) for key in values[0]}
    if isinstance(infos, Mapping) or any(hasattr(value, "row_splits") for value in values):
        raise UnsupportedError(
            f"values of the type {type(values[0]).__name__} cannot be padded to one shape",
            hint="read them without batch_size, or open the dataset with featurekit.load",
        )
    return _padded_arrays([np.asarray(v, object if _is_text(infos) else None) for v in values])


def _at(values: list[Any], infos: Mapping[str, Any], key: str) -> Any:
    try:
        return padded(values, infos.get(key, TensorInfo((), object)))
    except UnsupportedError as error:
        add_path(error, key)
        raise


def _is_text(infos: Tree[TensorInfo]) -> bool:
    return isinstance(infos, TensorInfo) and is_string(infos.dtype)


def _padded_arrays(arrays: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    shape = np.max([array.shape for array in arrays], axis=0).astype(int)
    fill: Any = b"" if arrays[0].dtype.kind == "O" else 0
    result: np.ndarray[Any, Any] = np.full((len(arrays), *shape), fill, arrays[0].dtype)
    for index, array in enumerate(arrays):
        corner: tuple[Any, ...] = tuple(slice(size) for size in array.shape)
        result[(index, *corner)] = array
    return result
