"""One name for each dtype, however it is given."""

from __future__ import annotations

from typing import Any

import numpy as np

from featurekit.errors import short_repr

__all__ = ["dtype_name"]


def dtype_name(dtype: Any) -> str:
    """The name of a dtype of NumPy, Python or TensorFlow; `"string"` for all kinds of text.

    What is no dtype gives a text that is no dtype's name.

    >>> [dtype_name(dtype) for dtype in (np.int64, "<f4", bytes, np.str_)]
    ['int64', 'float32', 'string', 'string']
    """
    if hasattr(dtype, "as_numpy_dtype"):  # TensorFlow's, without importing it
        return str(dtype.name)
    if dtype is None:
        return "None"  # NumPy would take it for float64
    try:
        known = np.dtype(dtype)
    except TypeError:
        return dtype if isinstance(dtype, str) else short_repr(dtype)
    return "string" if known.kind in "OSTU" else known.name
