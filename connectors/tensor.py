"""Tensor: an array of numbers, bools or text, of a declared shape and dtype."""

from __future__ import annotations

import enum
import functools
import warnings
import zlib
from typing import Any, Self

import numpy as np

from featurekit import registry
from featurekit.connector import Documentation, FeatureConnector
from featurekit.direct import DirectSpec
from featurekit.dtypes import as_dtype, dtype_name, is_string
from featurekit.errors import (
    DecodeError,
    EncodeError,
    FeatureKitWarning,
    InvalidArgumentError,
    InvalidTypeError,
    UnsupportedError,
    did_you_mean,
)
from featurekit.feature_json import ProtoContent
from featurekit.tensor_info import Shape, TensorInfo, Tree, as_shape
from featurekit.values import as_array, narrow_float

__all__ = ["Encoding", "Tensor"]


class Encoding(enum.Enum):
    """How an array is stored.

    `NONE`: as a list of numbers. `BYTES`: its C-order little-endian bytes. `ZLIB`: the same
    as a zlib stream (RFC 1950).
    """

    NONE = "none"
    BYTES = "bytes"
    ZLIB = "zlib"

    @classmethod
    def of(cls, value: Encoding | str) -> Encoding:
        """Find an encoding by its name, in any case.

        Raises:
            InvalidArgumentError: There is none of that name.
        """
        if isinstance(value, Encoding):
            return value
        try:
            return cls(value.lower())
        except (ValueError, AttributeError):
            names = [encoding.value for encoding in cls]
            raise InvalidArgumentError(
                f"{value!r} is not an encoding{did_you_mean(value, names)}"
            ) from None


class Tensor(FeatureConnector):
    """An array of a declared shape and dtype.

    Takes arrays of exactly the dtype, and scalars and nested lists of numbers that fit it;
    no value changes silently. Without an encoding, float64 is stored as float32, as in
    TFDS, and a `FeatureKitWarning` says so once; bfloat16, complex numbers, and more than
    one unknown dimension need an encoding.

    Args:
        shape: One entry a dimension, `None` where the size varies.
        dtype: NumPy dtype; `np.str_` or `np.object_` for text and bytes.
        encoding: `"none"`, `"bytes"` or `"zlib"`.
        doc: What the feature means.
        minimum: Smallest legal value.
        maximum: Largest legal value.
        optional: Whether `None` is legal.

    Raises:
        InvalidArgumentError: An argument makes no sense.
        UnsupportedError: Text with an encoding.

    Example:
        >>> Tensor(shape=(None, 3), dtype=np.float32).encode_example([[1, 2, 3]])
        array([[1., 2., 3.]], dtype=float32)
    """

    tfds_name = "tensorflow_datasets.core.features.tensor_feature.Tensor"

    def __init__(
        self,
        *,
        shape: Shape,
        dtype: Any,
        encoding: str | Encoding = Encoding.NONE,
        doc: Documentation | str | None = None,
        minimum: Any = None,
        maximum: Any = None,
        optional: bool = False,
    ) -> None:
        super().__init__(doc=doc)
        self._shape = as_shape(shape)
        self._dtype = as_dtype(dtype)
        self._encoding = Encoding.of(encoding)
        self._minimum = minimum
        self._maximum = maximum
        self._optional = optional
        if self._encoding is not Encoding.NONE and is_string(self._dtype):
            raise UnsupportedError(
                f"text cannot have encoding={self._encoding.value!r}",
                hint="leave the encoding out: text and bytes are stored as they are",
            )
        self._is_rounded = self._dtype == np.float64 and not self._is_encoded
        if self._is_rounded and not registry.is_loading():
            _warn_of_rounding()

    @property
    def encoding(self) -> Encoding:
        """How the array is stored."""
        return self._encoding

    @property
    def _is_encoded(self) -> bool:
        return self._encoding is not Encoding.NONE

    @property
    def _stores_shape(self) -> bool:
        return self._is_encoded and self._shape.count(None) > 1

    def get_tensor_info(self) -> TensorInfo:
        """The declared shape, dtype and bounds."""
        return TensorInfo(
            self._shape,
            self._dtype,
            minimum=self._minimum,
            maximum=self._maximum,
            optional=self._optional,
        )

    def get_serialized_info(self) -> Tree[TensorInfo]:
        """The same; one bytes item where encoded, beside the shape where that is unknown."""
        if not self._is_encoded:
            return self.get_tensor_info()
        value = TensorInfo((), np.object_, optional=self._optional)
        if not self._stores_shape:
            return value
        shape = TensorInfo((len(self._shape),), np.int32, optional=self._optional)
        return {"shape": shape, "value": value}

    def encode_example(self, value: Any) -> Any:
        """Check a value and make it an array, or its bytes where an encoding is declared."""
        if value is None and self._optional:
            return {"shape": None, "value": None} if self._stores_shape else None
        array = as_array(value, self._dtype, self._shape)
        self._check_range(array)
        if not self._is_encoded:
            return array
        data = self._to_bytes(array)
        if self._stores_shape:
            return {"shape": np.array(array.shape, np.int32), "value": data}
        self._check_recoverable(array.shape)
        return data

    def direct_spec(self) -> DirectSpec | None:
        """Dtype and shape, unless there are an encoding, bounds or an author's own rules."""
        own = (type(self).encode_example, type(self).get_serialized_info)
        if own != (Tensor.encode_example, Tensor.get_serialized_info):
            return None
        bounded = self._minimum is not None or self._maximum is not None
        return None if self._is_encoded or bounded else DirectSpec(self._dtype, self._shape)

    def encode_batch_example(self, values: Any) -> Any:
        """Encode all elements of an array at once where they are stored as they are."""
        by_one = self._is_encoded or type(self).encode_example is not Tensor.encode_example
        if by_one or not isinstance(values, np.ndarray) or values.dtype != self._dtype:
            return super().encode_batch_example(values)
        try:
            array = as_array(values, self._dtype, (None, *self._shape))
            self._check_range(array)
        except EncodeError:
            return super().encode_batch_example(values)  # one by one, to say which
        return array

    def _check_range(self, array: np.ndarray[Any, Any]) -> None:
        if self._is_rounded:
            narrow_float(array, np.float32)  # as it will be stored
        if self._minimum is None and self._maximum is None:
            return
        bounds = (
            (self._minimum, np.less, "below the minimum"),
            (self._maximum, np.greater, "above the maximum"),
        )
        for bound, beyond, words in bounds:
            if bound is not None and (wrong := beyond(array, bound)).any():
                raise EncodeError(
                    f"{array[wrong].flat[0]} is {words} {bound}",
                    hint="fix the value, or declare other bounds",
                )

    def _check_recoverable(self, shape: tuple[int, ...]) -> None:
        """Refuse an empty array whose unknown size could not be read back."""
        if 0 in self._shape and None in self._shape and shape[self._shape.index(None)] != 1:
            raise EncodeError(
                f"an array of shape {shape} has no values, and would read back with 1 as its "
                "unknown size",
                hint="declare the size, or leave the value out",
            )

    def _to_bytes(self, array: np.ndarray[Any, Any]) -> bytes:
        data = array.astype(self._dtype.newbyteorder("<"), copy=False).tobytes()
        return zlib.compress(data) if self._encoding is Encoding.ZLIB else data

    def decode_example(self, stored: Any) -> Any:
        """Give the array: a NumPy scalar where the shape is `()`."""
        if not self._is_encoded:
            return stored
        if self._stores_shape:
            if stored["value"] is None:
                return None
            return self._from_bytes(stored["value"], tuple(int(dim) for dim in stored["shape"]))
        return self._from_bytes(stored, self._shape)

    @property
    def is_plain(self) -> bool:
        """Whether values are what is stored: no encoding, and no author's subclass decodes."""
        return not self._is_encoded and type(self).decode_example is Tensor.decode_example

    def _from_bytes(self, data: bytes, shape: Shape) -> Any:
        fits = len(shape) == len(self._shape) and all(
            want in (None, size) for size, want in zip(shape, self._shape, strict=True)
        )
        if not fits or any(dim is not None and dim < 0 for dim in shape):
            raise DecodeError(
                f"stored shape {shape} does not fit the declared {self._shape}",
                hint="the record is damaged, or was written with other features",
            )
        unknown = None in shape
        stride = self._dtype.itemsize
        for dim in shape:
            stride *= 1 if dim is None else dim
        raw = self._inflate(data, None if unknown else stride)
        if len(raw) % stride if unknown and stride else len(raw) != (0 if unknown else stride):
            raise DecodeError(
                f"{len(raw)} stored bytes do not fill shape {shape} of {dtype_name(self._dtype)}",
                hint="the record is damaged, or was written with other features",
            )
        # Without values the unknown size is lost; TensorFlow reads 1, and so do we.
        count = len(raw) // stride if stride else 1
        array = np.frombuffer(raw, self._dtype.newbyteorder("<")).astype(self._dtype)
        return array.reshape([count if dim is None else dim for dim in shape])[()]

    def _inflate(self, data: bytes, size: int | None) -> bytes:
        """Unpack zlib, to no more than the declared size."""
        if self._encoding is not Encoding.ZLIB:
            return data
        unpacker = zlib.decompressobj()
        try:
            raw = unpacker.decompress(data, 0 if size is None else size + 1)
        except zlib.error as error:
            raise DecodeError(f"the zlib stream is damaged: {error}") from error
        if not unpacker.eof and (size is None or len(raw) <= size):
            raise DecodeError("the zlib stream is cut short", hint="write the record again")
        return raw

    def to_json_content(self) -> Any:
        """Shape, dtype, encoding and bounds, in TFDS's form.

        Raises:
            InvalidTypeError: A bound is no integer; the format keeps integers only.
        """
        return ProtoContent(
            "tensor",
            shape=self._shape,
            dtype=dtype_name(self._dtype),
            encoding=self._encoding.value,
            minimum=_integer_bound(self._minimum),
            maximum=_integer_bound(self._maximum),
            optional=self._optional,
        )

    @classmethod
    def from_json_content(cls, value: Any) -> Self:
        """Make a `Tensor` from what TFDS wrote."""
        return cls(**tensor_arguments(value))


@functools.cache  # once: a program need not be told again
def _warn_of_rounding() -> None:
    warnings.warn(
        "a float64 feature is stored as float32, which rounds its values; "
        "keep them exactly with encoding='bytes'",
        FeatureKitWarning,
        stacklevel=3,
    )


def tensor_arguments(value: Any) -> dict[str, Any]:
    """The constructor's arguments from the JSON content of a tensor."""
    return {
        "shape": value.get("shape") or (),
        "dtype": value["dtype"],
        "encoding": value.get("encoding") or Encoding.NONE,
        "minimum": value.get("minimum"),
        "maximum": value.get("maximum"),
        "optional": bool(value.get("optional")),
    }


def _integer_bound(bound: Any) -> int | None:
    if bound is None:
        return None
    try:
        return int(bound.__index__())
    except (AttributeError, TypeError):
        raise InvalidTypeError(
            f"features.json keeps integer bounds only, got {bound!r}",
            hint="use integers for minimum= and maximum=, or state the range in doc=",
        ) from None
