"""Scalar: one number, bool or text."""

from __future__ import annotations

from typing import Any, Self

from featurekit.connector import Documentation
from featurekit.connectors.tensor import Encoding, Tensor, tensor_arguments

__all__ = ["Scalar"]


class Scalar(Tensor):
    """One value of a dtype: a `Tensor` of shape `()`.

    Args:
        dtype: NumPy dtype; `np.str_` or `np.object_` for text and bytes.
        encoding: As for `Tensor`.
        doc: What the feature means.
        minimum: Smallest legal value.
        maximum: Largest legal value.
        optional: Whether `None` is legal.

    Example:
        >>> import numpy as np
        >>> Scalar(np.int64, doc="Seconds since the epoch")
        Scalar(shape=(), dtype=int64, description=Seconds since the epoch)
    """

    tfds_name = "tensorflow_datasets.core.features.scalar.Scalar"

    def __init__(
        self,
        dtype: Any,
        *,
        encoding: str | Encoding = Encoding.NONE,
        doc: Documentation | str | None = None,
        minimum: Any = None,
        maximum: Any = None,
        optional: bool = False,
    ) -> None:
        super().__init__(
            shape=(),
            dtype=dtype,
            encoding=encoding,
            doc=doc,
            minimum=minimum,
            maximum=maximum,
            optional=optional,
        )

    @classmethod
    def from_json_content(cls, value: Any) -> Self:
        """Make a `Scalar` from what TFDS wrote."""
        arguments = tensor_arguments(value)
        del arguments["shape"]
        return cls(**arguments)
