"""What is known of a value before it is read: shape, dtype and bounds."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias, TypeVar

import numpy as np

from featurekit.dtypes import as_dtype, dtype_name
from featurekit.errors import InvalidArgumentError, short_repr

__all__ = ["Shape", "TensorInfo", "Tree", "as_shape", "map_tree", "zip_trees"]

Shape = tuple[int | None, ...]
_MAX_VALUES = 2**56  # of every dtype NumPy can count their bytes
_T = TypeVar("_T")
_U = TypeVar("_U")

# A value for each leaf of a feature: a leaf's own, or a dict that mirrors a nested feature.
Tree: TypeAlias = _T | Mapping[str, Any]


@dataclasses.dataclass(frozen=True, init=False, repr=False)
class TensorInfo:
    """Shape, dtype and bounds of one value, as decoded or as stored.

    Two are equal when shape, dtype, default, bounds and `optional` are.

    Args:
        shape: One entry a dimension; `None` where it is only known with the value.
        dtype: Anything `featurekit.dtypes.as_dtype` takes; text and bytes are `object`.
        default_value: What an old record that lacks the entry reads as.
        sequence_rank: How many `Sequence` levels the leading dimensions come from.
        dataset_lvl: How many `Dataset` levels are above.
        minimum: Smallest value that is legal, or None.
        maximum: Largest value that is legal, or None.
        optional: Whether the value may be missing (`None`).
        may_be_absent: Whether a record that lacks the entry reads as None although the
            metadata cannot say `optional` (`Text`, whose flag the format does not keep).

    Raises:
        InvalidArgumentError: A dimension is negative or no integer.
        InvalidTypeError: The dtype is none a feature can have.

    Example:
        >>> TensorInfo((2, None), np.int32)
        TensorInfo(shape=(2, None), dtype=int32)
    """

    shape: Shape
    dtype: np.dtype[Any]
    default_value: Any = None
    sequence_rank: int = dataclasses.field(default=0, compare=False)
    dataset_lvl: int = dataclasses.field(default=0, compare=False)
    minimum: Any = None
    maximum: Any = None
    optional: bool = False
    may_be_absent: bool = dataclasses.field(default=False, compare=False)

    def __init__(
        self,
        shape: Iterable[int | None],
        dtype: Any,
        default_value: Any = None,
        sequence_rank: int = 0,
        dataset_lvl: int = 0,
        minimum: Any = None,
        maximum: Any = None,
        optional: bool = False,
        may_be_absent: bool = False,
    ) -> None:
        set_ = object.__setattr__
        set_(self, "shape", as_shape(shape))
        set_(self, "dtype", as_dtype(dtype))
        set_(self, "default_value", default_value)
        set_(self, "sequence_rank", sequence_rank)
        set_(self, "dataset_lvl", dataset_lvl)
        set_(self, "minimum", minimum)
        set_(self, "maximum", maximum)
        set_(self, "optional", optional)
        set_(self, "may_be_absent", may_be_absent)

    @property
    def np_dtype(self) -> np.dtype[Any]:
        """The dtype; TFDS's name for it."""
        return self.dtype

    @classmethod
    def copy_from(cls, tensor_info: TensorInfo) -> TensorInfo:
        """A copy; TFDS's name for it."""
        return tensor_info.replace()

    def replace(self, **changes: Any) -> TensorInfo:
        """A copy with some attributes changed."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return TensorInfo(**(values | changes))

    def __repr__(self) -> str:
        """TFDS's repr."""
        parts = [f"shape={self.shape}", f"dtype={dtype_name(self.dtype)}"]
        if self.minimum is not None:
            parts.append(f"minimum={self.minimum}")
        if self.maximum is not None:
            parts.append(f"maximum={self.maximum}")
        if self.optional:
            parts.append("optional=True")
        return f"{type(self).__name__}({', '.join(parts)})"


def as_shape(shape: Iterable[int | None]) -> Shape:
    """Check a shape and make it a tuple of Python ints and None.

    Raises:
        InvalidArgumentError: A dimension is negative or no integer.

    >>> as_shape([np.int64(2), None])
    (2, None)
    """
    try:
        dims = tuple(shape)
        result = tuple(None if dim is None else int(dim.__index__()) for dim in dims)
    except (TypeError, AttributeError):
        raise _bad_shape(shape) from None
    if any(dim is not None and dim < 0 for dim in result):
        raise _bad_shape(shape)
    if math.prod(dim for dim in result if dim) > _MAX_VALUES:
        raise InvalidArgumentError(
            f"no array can have the shape {short_repr(shape)}: it has more than 2**56 values",
            hint="give None for a dimension that varies",
        )
    return result


def _bad_shape(shape: object) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"{short_repr(shape)} is not a shape",
        hint="give a tuple of integers >= 0, with None for a dimension that varies",
    )


def map_tree(function: Callable[[_T], _U], tree: Tree[_T]) -> Tree[_U]:
    """Apply a function to every leaf of nested dicts."""
    if isinstance(tree, Mapping):
        return {key: map_tree(function, value) for key, value in tree.items()}
    return function(tree)


def zip_trees(function: Callable[[Any, Any], _U], first: Tree[Any], second: Tree[Any]) -> Tree[_U]:
    """Apply a function to the leaves of `first` and what `second` has in their place."""
    if isinstance(first, Mapping):
        return {key: zip_trees(function, value, second[key]) for key, value in first.items()}
    return function(first, second)
