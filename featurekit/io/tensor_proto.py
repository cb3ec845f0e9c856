"""Arrays as serialized TensorProtos, the form of `tf.io.serialize_tensor`."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from featurekit.errors import (
    EncodeError,
    EncodeTypeError,
    InvalidArgumentError,
    InvalidTypeError,
    ParseError,
    UnsupportedError,
    did_you_mean,
    short_repr,
)
from featurekit.io.column_errors import wire_error
from featurekit.io.dtype_names import dtype_name
from featurekit.io.message_size import MAX_MESSAGE_BYTES
from featurekit.optional import import_optional
from featurekit.proto.tensor_pb2 import TensorProto

__all__ = ["parse_tensor", "serialize_tensor", "tensor_header"]


class _Type(NamedTuple):
    """A dtype on the wire: its number, and the field of values given one by one."""

    number: int
    field: str
    is_extra: bool = False  # in ml_dtypes, not in NumPy


_TYPES = {
    "float32": _Type(1, "float_val"),
    "float64": _Type(2, "double_val"),
    "int32": _Type(3, "int_val"),
    "uint8": _Type(4, "int_val"),
    "int16": _Type(5, "int_val"),
    "int8": _Type(6, "int_val"),
    "string": _Type(7, "string_val"),
    "complex64": _Type(8, "scomplex_val"),
    "int64": _Type(9, "int64_val"),
    "bool": _Type(10, "bool_val"),
    "bfloat16": _Type(14, "half_val", is_extra=True),
    "uint16": _Type(17, "int_val"),
    "complex128": _Type(18, "dcomplex_val"),
    "float16": _Type(19, "half_val"),
    "uint32": _Type(22, "uint32_val"),
    "uint64": _Type(23, "uint64_val"),
    "float8_e5m2": _Type(24, "float8_val", is_extra=True),
    "float8_e4m3fn": _Type(25, "float8_val", is_extra=True),
    "float8_e4m3fnuz": _Type(26, "float8_val", is_extra=True),
    "float8_e4m3b11fnuz": _Type(27, "float8_val", is_extra=True),
    "float8_e5m2fnuz": _Type(28, "float8_val", is_extra=True),
}
_NAMES = {known.number: name for name, known in _TYPES.items()}
_NAMES |= {11: "qint8", 12: "quint8", 13: "qint32", 15: "qint16", 16: "quint16"}
_NAMES |= {20: "resource", 21: "variant", 29: "int4", 30: "uint4", 31: "int2", 32: "uint2"}
_NAMES |= {33: "float4_e2m1fn"}

MOST_REPEATED_BYTES = 1 << 26
"""The largest array made by repeating a value: a few bytes could ask for any size."""


def serialize_tensor(tensor: npt.ArrayLike, name: str | None = None) -> bytes:
    r"""The bytes of a TensorProto that holds an array.

    They are those of `tf.io.serialize_tensor` for the same array.

    Args:
        tensor: An array of numbers, bool or complex numbers, or of bytes or str. Python
            numbers get NumPy's dtypes, which are int64 and float64.
        name: Taken for TensorFlow's sake; has no effect.

    Raises:
        UnsupportedError: A TensorProto has no such dtype, or it is quantised or below 8 bits.
        EncodeTypeError: An object array holds something else than bytes and str.
        EncodeError: The message would pass 2**31 - 1 bytes.

    >>> serialize_tensor(np.int32([3]))
    b'\x08\x03\x12\x04\x12\x02\x08\x01"\x04\x03\x00\x00\x00'

    Source: the documentation of tf.io.serialize_tensor and of the TensorProto message.
    """
    if isinstance(tensor, np.ma.MaskedArray):
        raise EncodeTypeError(
            "expected an array, got a masked one, whose mask would be lost",
            hint="use filled()",
        )
    array = _as_array(tensor)
    proto = TensorProto(dtype=_type_of(dtype_name(array.dtype)).number)
    proto.tensor_shape.SetInParent()
    for size in array.shape:
        proto.tensor_shape.dim.add(size=size)
    values = _as_bytes(array) if array.dtype.kind in "OSTU" else []
    length = array.nbytes if not values else sum(map(len, values)) + 6 * len(values)
    if length > MAX_MESSAGE_BYTES - 1024:  # what is left is for the shape
        raise EncodeError(
            f"a tensor of {length} bytes does not fit in a message, which ends at "
            f"{MAX_MESSAGE_BYTES} bytes",
            hint="cut it in pieces",
        )
    if values:
        proto.string_val.extend(values)
    elif array.dtype.kind not in "OSTU" and array.size:
        proto.tensor_content = _native(array).tobytes()
    return proto.SerializeToString(deterministic=True)


def parse_tensor(serialized: bytes, out_type: Any, name: str | None = None) -> Any:
    r"""The array in a serialized TensorProto.

    Args:
        serialized: The message.
        out_type: The dtype that it must hold, of NumPy or TensorFlow, or a name; bfloat16
            and the 8-bit floats need the package ml_dtypes.
        name: Taken for TensorFlow's sake; has no effect.

    Returns:
        The array, for strings an object array of bytes; a scalar, or bytes, for shape ().

    Raises:
        ParseError: The bytes are no TensorProto, its dtype is another, or it does not
            hold what its shape says.
        UnsupportedError: `out_type` is quantised or below 8 bits.
        InvalidTypeError: `serialized` is not bytes.
        MissingDependencyError: ml_dtypes is needed and not installed.

    >>> parse_tensor(serialize_tensor(np.int32([[1, 2], [3, 4]])), np.int32)
    array([[1, 2],
           [3, 4]], dtype=int32)

    Source: the documentation of tf.io.parse_tensor and of the TensorProto message.
    """
    if not isinstance(serialized, (bytes, bytearray, memoryview)):
        raise InvalidTypeError(f"expected the bytes of one tensor, got {short_repr(serialized)}")
    expected = dtype_name(out_type)
    known = _type_of(expected)
    proto = _message(bytes(serialized))
    if proto.dtype != known.number:
        got = _NAMES.get(proto.dtype, f"dtype number {proto.dtype}")
        raise ParseError(f"expected a tensor of {expected}, got {got}")
    shape = _shape(proto)
    if expected == "string":
        return _strings(proto, shape)
    dtype = _numpy_dtype(expected, known)
    if proto.tensor_content:
        return _content(proto.tensor_content, dtype, shape)
    return _fill(_listed_values(proto, known, dtype), shape)


def _as_array(tensor: Any) -> npt.NDArray[Any]:
    try:
        array = np.asarray(tensor)
    except ValueError as error:
        raise EncodeTypeError(
            f"expected an array or nested lists of equal lengths, got {short_repr(tensor)}"
        ) from error
    if array.dtype.kind in "SU" and not isinstance(tensor, (np.ndarray, np.generic)):
        return np.asarray(tensor, dtype=object)  # S and U lose trailing NULs
    return array


def _type_of(name: str) -> _Type:
    if name in _TYPES:
        return _TYPES[name]
    if name in _NAMES.values():
        raise UnsupportedError(
            f"tensors of {name} are not supported: NumPy has no such dtype, or not in one byte "
            f"a value",
            hint="convert it with TensorFlow first",
        )
    raise InvalidArgumentError(
        f"expected a dtype of TensorFlow, got {name}{did_you_mean(name, _TYPES, limit=32)}"
    )


def _as_bytes(array: npt.NDArray[Any]) -> list[bytes]:
    values = array.reshape(-1).tolist()
    for place, value in enumerate(values):
        if not isinstance(value, (bytes, str)):
            raise EncodeTypeError(f"expected bytes or str, got {short_repr(value)}")
        if isinstance(value, str):
            values[place] = value.encode()
    return values


def _native(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The array in this machine's byte order, little-endian on all that NumPy has wheels for."""
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _message(serialized: bytes) -> TensorProto:
    try:
        return TensorProto.FromString(serialized)
    except (DecodeError, UnicodeDecodeError) as error:
        raise wire_error("TensorProto", serialized) from error


def _shape(proto: TensorProto) -> tuple[int, ...]:
    shape = tuple(dim.size for dim in proto.tensor_shape.dim)
    if proto.tensor_shape.unknown_rank or any(size < 0 for size in shape):
        raise ParseError(f"expected a known shape, got {short_repr(shape)}")
    try:
        np.broadcast_to(np.empty((), np.uint8), shape)  # no memory is taken
    except ValueError as error:
        raise ParseError(f"no array has the shape {short_repr(shape)}") from error
    return shape


def _numpy_dtype(name: str, known: _Type) -> np.dtype[Any]:
    if not known.is_extra:
        return np.dtype(name)
    ml_dtypes = import_optional("ml_dtypes", extra="bfloat16", purpose=f"the dtype {name}")
    dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    return dtype


def _content(content: bytes, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
    expected = math.prod(shape) * dtype.itemsize
    if len(content) != expected:
        raise ParseError(
            f"expected {expected} bytes for shape {shape} of {dtype}, got {len(content)}"
        )
    if dtype == np.bool_ and (most := np.frombuffer(content, np.uint8).max(initial=0)) > 1:
        raise ParseError(f"expected bytes of 0 and 1 for bool, got {most}")
    return _as_result(np.frombuffer(content, dtype).reshape(shape).copy())


def _listed_values(proto: TensorProto, known: _Type, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    given = getattr(proto, known.field)
    if known.field == "float8_val":
        return np.frombuffer(given, dtype)
    if known.field == "half_val":
        return _cast(given, np.dtype(np.uint16)).view(dtype)
    if known.field in ("scomplex_val", "dcomplex_val"):
        if len(given) % 2:
            raise ParseError(f"expected pairs of {known.field}, got {len(given)} numbers")
        return np.array(given, np.dtype(f"f{dtype.itemsize // 2}")).view(dtype)
    return _cast(given, dtype)


def _cast(given: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Numbers of a field that may be wider than the dtype."""
    if dtype.kind not in "iu":
        return np.array(given, dtype)
    wide = np.array(
        given, np.uint64 if dtype.kind == "u" and min(given, default=0) >= 0 else np.int64
    )
    values = wide.astype(dtype)
    if (changed := values != wide).any():
        raise ParseError(f"value {wide[changed][0]} is out of range for {dtype}")
    return values


def _strings(proto: TensorProto, shape: tuple[int, ...]) -> Any:
    given = list(proto.string_val)
    if proto.tensor_content:
        given = _packed_strings(proto.tensor_content, math.prod(shape))
    values = np.empty(len(given), object)
    values[:] = given
    return _fill(values, shape)


def _packed_strings(content: bytes, count: int) -> list[bytes]:
    """Strings in tensor_content: the lengths of all as varints, then all their bytes."""
    lengths, begin = [], 0
    if count <= len(content):
        for _ in range(count):
            length, begin = _varint(content, begin)
            lengths.append(length)
    if count > len(content) or begin + sum(lengths) != len(content):
        raise ParseError(f"expected {count} strings, got content of another length")
    strings = []
    for length in lengths:
        strings.append(content[begin : begin + length])
        begin += length
    return strings


def _varint(content: bytes, begin: int) -> tuple[int, int]:
    number = 0
    for place, byte in enumerate(content[begin : begin + 10]):
        number |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return number, begin + place + 1
    raise ParseError("expected the length of a string, got no whole varint")


def _fill(values: npt.NDArray[Any], shape: tuple[int, ...]) -> Any:
    """Values in a shape; where there are fewer, the last is repeated, and none is all 0."""
    total, given = math.prod(shape), len(values)
    if given > total:
        raise ParseError(f"expected {total} values for shape {shape}, got {given}")
    if given < total:
        if total * values.dtype.itemsize > MOST_REPEATED_BYTES:
            raise ParseError(
                f"expected {total} values for shape {shape}, got {given}; a shorter list is "
                f"filled up only to {MOST_REPEATED_BYTES} bytes"
            )
        empty = b"" if values.dtype == object else np.zeros((), values.dtype)[()]
        filled = np.full(total, values[-1] if given else empty, values.dtype)
        filled[:given] = values
        values = filled
    return _as_result(values.reshape(shape))


def _as_result(array: npt.NDArray[Any]) -> Any:
    return array if array.ndim else array[()]


def tensor_header(serialized: bytes) -> tuple[str, tuple[int, ...]]:
    """The dtype's name and the shape of a serialized TensorProto, without making the array.

    Raises:
        ParseError: The bytes are no TensorProto, have fields that it has not, no known dtype
            or shape, or not the values that these need.

    >>> tensor_header(serialize_tensor(np.int32([[1, 2], [3, 4]])))
    ('int32', (2, 2))
    """
    proto = _message(serialized)
    name = _NAMES.get(proto.dtype, "")
    if name not in _TYPES or not proto.HasField("tensor_shape") or len(UnknownFieldSet(proto)):
        raise ParseError("expected a TensorProto with a dtype and a shape, and nothing else")
    shape = _shape(proto)
    values = getattr(proto, _TYPES[name].field)
    if proto.tensor_content and name != "string":
        extra = name.startswith(("bfloat", "float8"))
        itemsize = (1 + (name == "bfloat16")) if extra else np.dtype(name).itemsize
        fits = len(proto.tensor_content) == math.prod(shape) * itemsize
    else:
        fits = bool(values or proto.tensor_content) or math.prod(shape) == 0
    if not fits:
        raise ParseError(f"the values do not fill shape {shape}")
    return name, shape
