"""TensorFlow's dtypes, as far as features have them."""

from __future__ import annotations

from typing import Any

import numpy as np

from featurekit.dtypes import as_dtype, is_string

__all__ = ["DType", "as_dtype_of_tensorflow"]


class DType:
    """A dtype of TensorFlow: equal to its NumPy dtype, and taken wherever one is expected.

    Args:
        name: TensorFlow's name, such as `int64` or `string`.

    Example:
        >>> DType("float32"), DType("float32") == np.float32, DType("string").as_numpy_dtype
        (tf.float32, True, <class 'numpy.object_'>)
    """

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def as_numpy_dtype(self) -> type[Any]:
        """The NumPy scalar type."""
        return as_dtype(self.name).type

    @property
    def as_datatype_name(self) -> str:
        """The name."""
        return self.name

    @property
    def is_integer(self) -> bool:
        """Whether values are whole numbers."""
        return as_dtype(self.name).kind in "iu"

    @property
    def is_floating(self) -> bool:
        """Whether values are floating-point numbers."""
        return self.name == "bfloat16" or as_dtype(self.name).kind == "f"

    @property
    def size(self) -> int:
        """Bytes of one value."""
        return as_dtype(self.name).itemsize

    @property
    def min(self) -> Any:
        """The smallest value."""
        dtype = as_dtype(self.name)
        return np.iinfo(dtype).min if self.is_integer else np.finfo(dtype).min

    @property
    def max(self) -> Any:
        """The largest value."""
        dtype = as_dtype(self.name)
        return np.iinfo(dtype).max if self.is_integer else np.finfo(dtype).max

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self.name == other.name
        try:
            return as_dtype(self.name) == as_dtype(other)
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(as_dtype(self.name))

    def __repr__(self) -> str:
        return f"tf.{self.name}"


def as_dtype_of_tensorflow(value: Any) -> DType:
    """The dtype of TensorFlow for any dtype; `tf.as_dtype`."""
    dtype = as_dtype(value)
    return DType("string" if is_string(dtype) else dtype.name)


bool_ = DType("bool")
uint8, uint16, uint32, uint64 = (DType(f"uint{bits}") for bits in (8, 16, 32, 64))
int8, int16, int32, int64 = (DType(f"int{bits}") for bits in (8, 16, 32, 64))
float16, float32, float64 = (DType(f"float{bits}") for bits in (16, 32, 64))
half, double = float16, float64
bfloat16 = DType("bfloat16")
complex64, complex128 = DType("complex64"), DType("complex128")
string = DType("string")
