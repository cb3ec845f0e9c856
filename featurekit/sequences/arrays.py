"""The few operations on arrays that NumPy, PyTorch and JAX need for states.

PyTorch and JAX are never imported here: who has an array of theirs has loaded them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from featurekit.dtypes import dtype_name
from featurekit.errors import InvalidTypeError

__all__ = [
    "dtype_of",
    "gather",
    "is_array",
    "is_traced",
    "join",
    "library",
    "own",
    "select",
    "to_library_of",
    "to_numpy",
    "zeros_like",
]


def library(array: Any) -> str:
    """`"torch"`, `"jax"` or `"numpy"`, the last for everything else.

    >>> library(np.zeros(3))
    'numpy'
    """
    for name, base in (("torch", "Tensor"), ("jax", "Array")):
        module = sys.modules.get(name)
        if module is not None and isinstance(array, getattr(module, base, ())):
            return name
    return "numpy"


def is_array(value: Any) -> bool:
    """Whether it is an array or scalar of NumPy, PyTorch or JAX."""
    return isinstance(value, (np.ndarray, np.generic)) or library(value) != "numpy"


def is_traced(value: Any) -> bool:
    """Whether it stands for an array in a function that JAX traces."""
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(value, jax.core.Tracer)


def dtype_of(array: Any) -> str:
    """The dtype's name, the same for the three libraries; strings are `string`.

    >>> dtype_of(np.zeros(3, np.float32))
    'float32'
    """
    if library(array) == "torch":
        return str(array.dtype).removeprefix("torch.")
    dtype = np.dtype(array.dtype)
    return "string" if dtype.kind in "SU" else dtype_name(dtype)


def to_numpy(value: Any) -> Any:
    """The array as NumPy's; what is not an array is given back."""
    if library(value) == "torch":
        return value.detach().cpu().numpy()
    return np.asarray(value) if is_array(value) else value


def own(array: Any, *, detach: bool = True) -> Any:
    """A copy that later changes of `array` do not reach, on the same device.

    Args:
        array: An array.
        detach: Cut a PyTorch tensor from the graph that made it.
    """
    match library(array):
        case "torch":
            return array.detach().clone() if detach else array.clone()
        case "jax":
            return array  # never changes
    return np.array(array)


def gather(array: Any, rows: Sequence[int]) -> Any:
    """A new array of some rows, on the same device."""
    return array[np.asarray(rows, np.int64)]


def join(pieces: Sequence[Any]) -> Any:
    """The rows of several arrays, one after another.

    NumPy rows join those of PyTorch or JAX, on their device: examples that are new start
    with NumPy's zeros, say, where others have come further.

    Raises:
        InvalidTypeError: There are PyTorch's and JAX's among them.
    """
    if len(pieces) == 1:
        return pieces[0]
    other = {library(piece): piece for piece in pieces}
    other.pop("numpy", None)
    if not other:
        return np.concatenate(pieces)
    if len(other) > 1:
        raise InvalidTypeError("arrays of PyTorch and of JAX cannot be in one batch")
    name, reference = next(iter(other.items()))
    placed = [to_library_of(reference, piece) for piece in pieces]
    module = _functions(name)
    return module.cat(placed) if name == "torch" else module.concatenate(placed)


def to_library_of(reference: Any, array: Any) -> Any:
    """The array as one of the library and on the device of another."""
    name = library(reference)
    if name == library(array) or name == "numpy":
        return array
    module = _functions(name)
    if name == "torch":
        return module.as_tensor(array, device=reference.device)
    return module.asarray(array)


def select(mask: np.ndarray[Any, Any], yes: Any, no: Any) -> Any:
    """Rows of `yes` where the mask `(batch,)` is true, of `no` elsewhere."""
    name = library(yes)
    module = _functions(name)
    cond = mask.reshape((-1,) + (1,) * (len(yes.shape) - 1))
    if name == "torch":
        cond = module.as_tensor(cond, device=yes.device)
    return module.where(cond, yes, no)


def zeros_like(array: Any) -> Any:
    """Zeros of the shape, dtype and device of an array."""
    return _functions(library(array)).zeros_like(array)


def _functions(name: str) -> Any:
    """The module that has a library's functions, which is loaded."""
    match name:
        case "torch":
            return sys.modules["torch"]
        case "jax":
            return sys.modules["jax"].numpy
    return np
