"""Serialized tensors: round trips, the wire form, and messages that lie."""

import ml_dtypes
import numpy as np
import pytest

from featurekit.errors import (
    EncodeTypeError,
    InvalidArgumentError,
    InvalidTypeError,
    ParseError,
    UnsupportedError,
)
from featurekit.io.tensor_proto import parse_tensor, serialize_tensor
from featurekit.proto.tensor_pb2 import TensorProto

NUMBERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NUMBERS += ["float16", "float32", "float64", "complex64", "complex128", "bool"]
EXTRA = ["bfloat16", "float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz"]
EXTRA += ["float8_e5m2fnuz"]
NUMBER_OF = {"float32": 1, "int32": 3, "uint8": 4, "string": 7, "bool": 10, "int64": 9}


def dtype_of(name):
    return np.dtype(getattr(ml_dtypes, name)) if name in EXTRA else np.dtype(name)


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3)])
@pytest.mark.parametrize("name", NUMBERS + EXTRA)
def test_numbers_come_back(name, shape):
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype_of(name))
    got = parse_tensor(serialize_tensor(array), name)
    assert got.dtype == array.dtype
    assert got.shape == shape
    assert got.tobytes() == array.tobytes()


@pytest.mark.parametrize(
    "array",
    [
        np.array([b"a\0", b"", b"\xff"], object),
        np.array([["a", "é"]]),
        np.array([], object),
        np.zeros((2, 0), object),
        [b"trailing\0", "text"],
    ],
    ids=repr,
)
def test_strings_come_back(array):
    wanted = np.array(array, object)
    got = parse_tensor(serialize_tensor(array), np.str_)
    assert got.shape == wanted.shape
    assert got.dtype == object
    as_bytes = [x.encode() if isinstance(x, str) else x for x in wanted.reshape(-1)]
    assert got.reshape(-1).tolist() == as_bytes


def test_a_scalar_string_is_bytes():
    assert parse_tensor(serialize_tensor(b"q\0"), "string") == b"q\0"
    assert parse_tensor(serialize_tensor("q"), bytes) == b"q"


def test_results_can_be_written_to():
    got = parse_tensor(serialize_tensor(np.zeros(2)), np.float64)
    got[0] = 1
    assert got.tolist() == [1, 0]


@pytest.mark.parametrize("order", ["C", "F", ">", "strided"])
def test_memory_layout_does_not_matter(order):
    plain = np.arange(6, dtype=np.int32).reshape(2, 3)
    layouts = {
        "C": plain,
        "F": np.asfortranarray(plain),
        ">": plain.astype(">i4"),
        "strided": np.repeat(plain, 2, axis=1)[:, ::2],
    }
    assert serialize_tensor(layouts[order]) == serialize_tensor(plain)


def message(name, shape, **fields):
    proto = TensorProto(dtype=NUMBER_OF[name], **fields)
    for size in shape:
        proto.tensor_shape.dim.add(size=size)
    return proto.SerializeToString()


@pytest.mark.parametrize(
    ("data", "dtype", "wanted"),
    [
        (message("int32", [2, 2], int_val=[7]), np.int32, [[7, 7], [7, 7]]),
        (message("int32", [2, 2], int_val=[7, 8]), np.int32, [[7, 8], [8, 8]]),
        (message("int32", [2]), np.int32, [0, 0]),
        (message("bool", [2], bool_val=[True]), np.bool_, [True, True]),
        (message("string", [2], string_val=[b"a"]), bytes, [b"a", b"a"]),
        (message("string", [2]), bytes, [b"", b""]),
        (message("string", [2], tensor_content=b"\1\2abb"), bytes, [b"a", b"bb"]),
    ],
    ids=str,
)
def test_other_forms_of_the_message(data, dtype, wanted):
    assert parse_tensor(data, dtype).tolist() == wanted


HUGE = 1 << 40


@pytest.mark.parametrize(
    ("data", "dtype", "text"),
    [
        (b"\xff", np.int32, "expected a serialized TensorProto"),
        (b"", np.int32, "expected a tensor of int32, got dtype number 0"),
        (message("int32", [1], int_val=[5]), np.int64, "expected a tensor of int64, got int32"),
        (message("int32", [2], tensor_content=b"\1\2"), np.int32, "expected 8 bytes"),
        (
            message("int32", [HUGE], tensor_content=b"\1\2"),
            np.int32,
            "expected 4398046511104 bytes",
        ),
        (message("int32", [HUGE], int_val=[1]), np.int32, "filled up only to 67108864 bytes"),
        (message("int32", [HUGE]), np.int32, "filled up only to"),
        (message("string", [HUGE]), bytes, "filled up only to"),
        (message("string", [HUGE], tensor_content=b"\1a"), bytes, f"expected {HUGE} strings"),
        (message("string", [1], tensor_content=b"\xff" * 20), bytes, "no whole varint"),
        (message("string", [1], tensor_content=b"\x7fab"), bytes, "content of another length"),
        (message("int32", [HUGE, HUGE, HUGE]), np.int32, "no array has the shape"),
        (message("int32", [0, HUGE, HUGE, HUGE]), np.int32, "no array has the shape"),
        (message("int32", [1] * 100, int_val=[1]), np.int32, "no array has the shape"),
        (message("int32", [-1], int_val=[1]), np.int32, "expected a known shape"),
        (
            message("int32", [1], int_val=[1, 2]),
            np.int32,
            "expected 1 values for shape (1,), got 2",
        ),
        (message("uint8", [1], int_val=[300]), np.uint8, "value 300 is out of range for uint8"),
        (message("uint8", [1], int_val=[-1]), np.uint8, "value -1 is out of range for uint8"),
        (message("bool", [1], tensor_content=b"\2"), np.bool_, "expected bytes of 0 and 1"),
    ],
    ids=lambda value: None if isinstance(value, type) else str(value)[:40],
)
def test_messages_that_lie_are_refused(data, dtype, text):
    with pytest.raises(ParseError) as caught:
        parse_tensor(data, dtype)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("tensor", "error", "text"),
    [
        (np.array([1, None], object), EncodeTypeError, "expected bytes or str, got 1"),
        ([[1], [2, 3]], EncodeTypeError, "nested lists of equal lengths"),
        (np.ma.masked_equal([1, 2], 2), EncodeTypeError, "mask would be lost"),
        (np.zeros(1, "M8[s]"), InvalidArgumentError, "expected a dtype of TensorFlow"),
        (np.zeros(1, ml_dtypes.int4), UnsupportedError, "tensors of int4 are not supported"),
    ],
)
def test_what_cannot_be_serialized(tensor, error, text):
    with pytest.raises(error) as caught:
        serialize_tensor(tensor)
    assert text in str(caught.value)


def test_quantised_types_are_named():
    data = TensorProto(dtype=11).SerializeToString()
    with pytest.raises(ParseError, match="expected a tensor of int8, got qint8"):
        parse_tensor(data, np.int8)
    with pytest.raises(UnsupportedError, match="tensors of qint8 are not supported"):
        parse_tensor(data, "qint8")


def test_only_bytes_are_parsed():
    with pytest.raises(InvalidTypeError, match="expected the bytes of one tensor, got 'x'"):
        parse_tensor("x", np.int8)
