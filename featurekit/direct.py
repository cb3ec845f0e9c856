"""Features whose encoding only checks a value, and the compiled kernel that does it at once.

A table of numbers, text and arrays has nothing to encode: every value is checked and
written. The kernel does that for a whole dict in one step, or gives None for what the
connectors must decide: values that are wrong, or right in a less usual way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from featurekit.native import kernel
from featurekit.tensor_info import Shape
from featurekit.wire_values import kind_of

if TYPE_CHECKING:
    from featurekit.native.direct_encoder import DirectEncoder

__all__ = ["DirectSpec", "direct_encoder"]


class DirectSpec(NamedTuple):
    """What a feature takes whose encoding only checks that.

    Attributes:
        dtype: Of the value.
        shape: Of the value.
        limits: The least and the greatest integer; by default those of the dtype.
    """

    dtype: np.dtype[Any]
    shape: Shape
    limits: tuple[int, int] | None = None


def direct_encoder(specs: Mapping[str, DirectSpec | None]) -> DirectEncoder | None:
    """What encodes dicts of such values; None where that takes more than a check.

    Args:
        specs: What each feature takes, by name; None where its encoding does more.
    """
    module = kernel("direct_encoder")
    if module is None or not specs:
        return None
    arguments = [
        None if spec is None else _kernel_arguments(name, spec) for name, spec in specs.items()
    ]
    if None in arguments:
        return None
    encoder: DirectEncoder = module.DirectEncoder(arguments)
    return encoder


def _kernel_arguments(name: str, spec: DirectSpec) -> tuple[Any, ...] | None:
    """The kernel's arguments for one feature; None where it is not for the kernel."""
    dtype, shape = np.dtype(spec.dtype.name), spec.shape
    is_array = shape != ()
    known = {"b": "?", "i": dtype.char, "u": dtype.char, "f": "f" if is_array else "fd", "O": "O"}
    if dtype.char not in known.get(dtype.kind, "") or (is_array and dtype.kind == "O"):
        return None
    if shape.count(None) > 1 or (None in shape and 0 in shape):
        return None
    sizes = tuple(-1 if dim is None else dim for dim in shape) if is_array else None
    return (name, int(kind_of(dtype)), dtype.num, sizes, *(spec.limits or _limits(dtype)))


def _limits(dtype: np.dtype[Any]) -> tuple[int, int]:
    if dtype.kind not in "iu":
        return 0, 1
    limits = np.iinfo(dtype)
    return int(limits.min), min(int(limits.max), 2**63 - 1)
