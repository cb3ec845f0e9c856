"""JAX: batches as arrays on devices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from featurekit.dataset.batches import Batches
from featurekit.dataset.iteration import ResumableIterator
from featurekit.errors import InvalidArgumentError, UnsupportedError, add_path
from featurekit.io.ragged import RaggedTensor
from featurekit.optional import import_optional

__all__ = ["device_batches", "to_arrays"]


def device_batches(
    batches: Batches, sharding: Any, transform: Callable[[Any], Any] | None
) -> ResumableIterator:
    """The batches as JAX arrays; see `Batches.to_jax`."""
    import_optional("jax", extra="jax", purpose="to_jax")  # at once, not at the first batch

    def convert(batch: Any) -> Any:
        return to_arrays(batch if transform is None else transform(batch), sharding)

    return iter(batches).mapped(convert)


def to_arrays(value: Any, sharding: Any = None) -> Any:
    """NumPy values as JAX arrays, in nested dicts; text stays what it is.

    Args:
        value: A batch.
        sharding: A `jax.sharding.Sharding`: how the whole batch lies on all devices, of which
            this process has its own part; None for the default device.

    Raises:
        InvalidArgumentError: A 64-bit integer does not fit the 32 bits that JAX keeps by
            default.
        UnsupportedError: Values are ragged, or optional ones missing.
    """
    if isinstance(value, Mapping):
        return {key: _at(key, item, sharding) for key, item in value.items()}
    if isinstance(value, np.ma.MaskedArray) and np.ma.getmaskarray(value).any():
        raise UnsupportedError(
            "an optional value is missing, and an array of JAX has no way to say so",
            hint="fill it in, in a function given as transform=",
        )
    if isinstance(value, (RaggedTensor, list)):
        raise UnsupportedError(
            "the examples' shapes differ, and an array of JAX has one shape",
            hint='read batches with ragged="pad", or make them equal in transform=',
        )
    array = np.ma.getdata(value)
    return value if array.dtype.kind in "OSU" else _put(array, sharding)


def _at(key: str, value: Any, sharding: Any) -> Any:
    try:
        return to_arrays(value, sharding)
    except (InvalidArgumentError, UnsupportedError) as error:
        add_path(error, key)
        raise


def _put(array: np.ndarray[Any, Any], sharding: Any) -> Any:
    jax = import_optional("jax", extra="jax", purpose="to_jax")
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and not jax.config.jax_enable_x64:
        array = _narrow(array)
    if sharding is None:
        return jax.device_put(array)
    return jax.make_array_from_process_local_data(sharding, array)


def _narrow(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """64-bit integers as the 32 bits that JAX would keep of them."""
    narrow = np.dtype(f"{array.dtype.kind}4")
    limits = np.iinfo(narrow)
    if array.size and (array.min() < limits.min or array.max() > limits.max):
        raise InvalidArgumentError(
            f"values from {array.min()} to {array.max()} do not fit {narrow}, which JAX has for "
            f"{array.dtype}",
            hint='call jax.config.update("jax_enable_x64", True)',
        )
    return array.astype(narrow)
