"""What TensorFlow's path of TFDS gives for optional values that are missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from featurekit.dtypes import is_string, narrowest_value
from featurekit.layout import OpaqueInfo
from featurekit.tensor_info import TensorInfo, Tree

__all__ = ["filler"]


def filler(infos: Tree[TensorInfo]) -> Callable[[Any], Any] | None:
    """A function that puts TFDS's values in place of what is missing in an example.

    Such a value is the smallest of its dtype, or empty text; of an array, an array of it.

    Args:
        infos: What an example looks like.

    Returns:
        The function; None where nothing can be missing.
    """
    if not _may_miss(infos):
        return None
    return lambda example: _fill(infos, example)


def _may_miss(infos: Tree[TensorInfo]) -> bool:
    if isinstance(infos, Mapping):
        return any(map(_may_miss, infos.values()))
    return infos.optional or infos.may_be_absent


def _fill(infos: Tree[TensorInfo], value: Any) -> Any:
    if isinstance(infos, Mapping):
        if not isinstance(value, Mapping):  # the steps of a Dataset
            return value
        return {key: _fill(info, value[key]) for key, info in infos.items()}
    if value is not None or isinstance(infos, OpaqueInfo):
        return value
    narrowest = narrowest_value(infos.dtype)
    if not infos.shape:
        return narrowest
    shape = [dim or 0 for dim in infos.shape]
    return np.full(shape, narrowest, object if is_string(infos.dtype) else infos.dtype)
