"""Whether values have the shapes and dtypes that a `TensorInfo` promises."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from featurekit.errors import short_repr
from featurekit.io.ragged import RaggedTensor
from featurekit.steps import Steps
from featurekit.tensor_info import Shape, TensorInfo, Tree
from featurekit.values import as_array

__all__ = ["check_decoded", "check_encoded"]


def check_decoded(value: Any, info: Tree[TensorInfo], what: str = "value") -> None:
    """Raise an `AssertionError` unless a decoded value is what the tensor info says."""
    if isinstance(value, Steps):  # the info of a Dataset is that of one step
        for index, step in enumerate(value):
            check_decoded(step, info, f"{what}[{index}]")
    elif isinstance(info, Mapping):
        _require(isinstance(value, Mapping) and value.keys() == info.keys(), value, info, what)
        for key, inner in info.items():
            check_decoded(value[key], inner, f"{what}[{key!r}]")
    elif value is None:
        _require(info.optional, value, info, what)
    elif isinstance(value, (list, RaggedTensor)):
        _require(bool(info.sequence_rank) and _fits(len(value), info.shape[0]), value, info, what)
        for index, item in enumerate(value):
            check_decoded(item, _inner(info), f"{what}[{index}]")
    else:
        dtype = np.dtype(object) if isinstance(value, bytes) else getattr(value, "dtype", None)
        _require(dtype == info.dtype, value, info, what)
        shape = np.shape(value)
        _require(
            len(shape) == len(info.shape) and all(map(_fits, shape, info.shape)), value, info, what
        )


def check_encoded(value: Any, info: Tree[TensorInfo], what: str = "value") -> None:
    """Raise an `AssertionError` unless an encoded value is what the serialized info says."""
    if isinstance(info, Mapping):
        _require(isinstance(value, Mapping) and value.keys() == info.keys(), value, info, what)
        for key, inner in info.items():
            check_encoded(value[key], inner, f"{what}[{key!r}]")
    elif value is None:
        _require(info.optional, value, info, what)
    elif info.sequence_rank:
        _require(_fits(len(value), info.shape[0]), value, info, what)
        for index, item in enumerate(value):
            check_encoded(item, _inner(info), f"{what}[{index}]")
    else:
        as_array(value, info.dtype, info.shape)


def _inner(info: TensorInfo) -> TensorInfo:
    """The info of an element of a sequence."""
    return info.replace(shape=info.shape[1:], sequence_rank=info.sequence_rank - 1)


def _fits(size: int, dim: Shape | int | None) -> bool:
    return dim is None or size == dim


def _require(holds: bool, value: Any, info: Any, what: str) -> None:
    if not holds:
        raise AssertionError(f"{what}: expected {info}, got {short_repr(value, 200)}")
