"""Tensor: which arrays it takes, how they are stored, and what comes back."""

import zlib

import ml_dtypes
import numpy as np
import pytest

from featurekit.connector import FeatureConnector
from featurekit.connectors.features_dict import FeaturesDict
from featurekit.connectors.sequence import Sequence
from featurekit.connectors.tensor import Encoding, Tensor
from featurekit.errors import (
    DecodeError,
    EncodeError,
    EncodeTypeError,
    InvalidArgumentError,
    InvalidTypeError,
    UnsupportedError,
)
from featurekit.io.columns import write_example
from featurekit.testing import Bad, Case, ConnectorSuite, assert_same

NAME = "tensorflow_datasets.core.features.tensor_feature.Tensor"
NAN, INF = float("nan"), float("inf")


def tfds_json(shape, dtype, **others):
    dims = {"dimensions": shape} if shape else {}
    return {
        "pythonClassName": NAME,
        "tensor": {"shape": dims, "dtype": dtype, "encoding": "none"} | others,
    }


class TestInt32(ConnectorSuite):
    connector = Tensor(shape=(2,), dtype=np.int32)
    valid = (
        Case(np.array([1, -2], np.int32), stored=[1, -2]),
        Case([1, 2], np.array([1, 2], np.int32), stored=[1, 2]),
        Case((np.int64(1), np.uint8(2)), np.array([1, 2], np.int32)),
        Case([True, False], np.array([1, 0], np.int32)),
        Case([2**31 - 1, -(2**31)], np.array([2**31 - 1, -(2**31)], np.int32)),
        Case([1.0, 2.0], np.array([1, 2], np.int32), id="whole floats"),
    )
    invalid = (
        Bad(
            [1, 2, 3],
            EncodeError,
            "expected shape (2,), got (3,)\n"
            "  hint: fix the value, or declare the shape that it has (None for a varying size)",
        ),
        Bad(
            np.array([1, 2]),
            EncodeError,
            "expected an array of dtype int32, got one of dtype int64\n"
            "  hint: convert it with array.astype(np.int32), or declare the dtype that it has",
        ),
        Bad(
            [1.7, 2],
            EncodeError,
            "1.7 is not an integer, and the feature is int32\n"
            "  hint: round the value yourself, or declare a float dtype",
        ),
        Bad(
            [2**31, 0],
            EncodeError,
            "2147483648 does not fit int32\n  hint: fix the value, or declare a wider dtype",
        ),
        Bad(
            ["1", "2"],
            EncodeTypeError,
            "expected int32, got str '1'\n"
            "  hint: convert the value first; a value that may be missing needs optional=True",
        ),
        Bad([NAN, 1], EncodeError, match="nan is not an integer"),
        Bad([INF, 1], EncodeError, match="inf is not an integer"),
        Bad([2**64, 1], EncodeError, match="18446744073709551616 does not fit int32"),
        Bad([1e300, 1], EncodeError, match="does not fit int32", id="huge whole float"),
        Bad([None, 1], EncodeTypeError, match="expected int32, got NoneType None"),
        Bad([[1], [2, 3]], EncodeError, match="rows of different lengths"),
        Bad([[1, 2]], EncodeError, match=r"expected shape \(2,\), got \(1, 2\)"),
        Bad(np.array([1, 2], ">i4"), EncodeError, match="got one of dtype >i4"),
        Bad({"a": 1}, EncodeTypeError, match="expected int32, got dict"),
        Bad(5, EncodeError, match=r"expected shape \(2,\), got \(\)"),
        Bad(None, EncodeTypeError, match="expected int32, got NoneType None"),
    )
    unequal = (
        Tensor(shape=(3,), dtype=np.int32),
        Tensor(shape=(2,), dtype=np.int64),
        Tensor(shape=(2,), dtype=np.int32, encoding="bytes"),
        Tensor(shape=(2,), dtype=np.int32, maximum=5),
        Tensor(shape=(2,), dtype=np.int32, optional=True),
        Tensor(shape=(2,), dtype=np.int32, doc="said otherwise"),
    )
    tfds_json = tfds_json(["2"], "int32")
    tfds_repr = "Tensor(shape=(2,), dtype=int32)"


class TestFloat32OfUnknownLength(ConnectorSuite):
    connector = Tensor(shape=(2, None), dtype=np.float32)
    valid = (
        Case([[1, 2, 3], [4, 5, 6]], np.array([[1, 2, 3], [4, 5, 6]], np.float32)),
        Case(
            np.array([[NAN], [-0.0]], np.float32),
            stored=[NAN, -0.0],
            id="not a number, minus zero",
        ),
        Case(np.array([[INF], [-INF]], np.float32), stored=[INF, -INF], id="infinity"),
        Case(np.zeros((2, 0), np.float32), stored=[]),
        Case([[True], [np.int8(3)]], np.array([[1], [3]], np.float32)),
        Case(np.arange(6, dtype=np.float32).reshape(3, 2).T, id="transposed"),
    )
    invalid = (
        Bad(np.zeros((2, 1)), EncodeError, match="got one of dtype float64"),
        Bad([[1e300], [0]], EncodeError, match="1e\\+300 is too large for float32"),
        Bad([[1j], [0]], EncodeTypeError, match="expected float32, got list"),
        Bad([["1.5"], ["2"]], EncodeTypeError, match="expected float32, got list"),
        Bad([[None], [1.0]], EncodeTypeError, match="expected float32, got NoneType None"),
        Bad(np.zeros((3, 1), np.float32), EncodeError, match=r"\(2, None\), got \(3, 1\)"),
    )
    in_sequence = False  # a plain list cannot tell two unknown dimensions
    in_nested_sequence = False
    tfds_json = tfds_json(["2", "-1"], "float32")
    tfds_repr = "Tensor(shape=(2, None), dtype=float32)"


class TestUint64(ConnectorSuite):
    connector = Tensor(shape=(), dtype=np.uint64)
    valid = (
        Case(2**64 - 1, np.uint64(2**64 - 1), stored=[-1]),
        Case(np.uint64(2**63), stored=[-(2**63)]),
        Case(0, np.uint64(0), stored=[0]),
        Case(np.array(3, np.uint64), np.uint64(3), id="array of no dimensions"),
    )
    invalid = (
        Bad(-1, EncodeError, match="-1 does not fit uint64"),
        Bad(2**64, EncodeError, match="18446744073709551616 does not fit uint64"),
    )
    tfds_json = tfds_json([], "uint64")


class TestBool(ConnectorSuite):
    connector = Tensor(shape=(None,), dtype=np.bool_)
    valid = (
        Case([True, False], np.array([True, False]), stored=[1, 0]),
        Case([1, 0], np.array([True, False])),
        Case(np.array([], bool), stored=[]),
        Case([], np.array([], bool), id="empty list"),
    )
    invalid = (
        Bad(
            [2],
            EncodeError,
            "2 is neither true (1) nor false (0)\n  hint: give a bool",
        ),
        Bad(["true"], EncodeTypeError, match="expected bool, got str 'true'"),
        Bad([0.5], EncodeError, match="0.5 is not an integer, and the feature is bool"),
    )
    in_sequence = False
    in_nested_sequence = False


class TestText(ConnectorSuite):
    connector = Tensor(shape=(2,), dtype=np.str_)
    valid = (
        Case(["a", b"\xff\x00"], np.array([b"a", b"\xff\x00"], object), stored=[b"a", b"\xff\x00"]),
        Case(np.array(["é", ""], object), np.array(["é".encode(), b""], object)),
    )
    invalid = (
        Bad(
            ["a", 5],
            EncodeTypeError,
            "expected text or bytes, got int 5\n"
            "  hint: give str or bytes; convert other values with str() first",
        ),
        Bad(["a", "\ud800"], EncodeError, match="cannot be written as UTF-8"),
        Bad(["a", None], EncodeTypeError, match="got NoneType None"),
        Bad(["a", ["b"]], EncodeError, match="different lengths|expected text or bytes"),
        Bad("ab", EncodeError, match=r"expected shape \(2,\), got \(\)"),
        Bad(bytearray(b"ab"), EncodeTypeError, match="expected text or bytes, got bytearray"),
    )
    tfds_json = tfds_json(["2"], "string")
    tfds_repr = "Tensor(shape=(2,), dtype=string)"


class TestBytesEncoding(ConnectorSuite):
    connector = Tensor(shape=(2, None), dtype=np.int16, encoding="bytes")
    valid = (
        Case(
            np.array([[1, 2], [3, -1]], np.int16),
            stored=[b"\x01\x00\x02\x00\x03\x00\xff\xff"],
        ),
        Case([[5], [6]], np.array([[5], [6]], np.int16)),
        Case(np.zeros((2, 0), np.int16), stored=[b""]),
    )
    invalid = (
        Bad([[1.9], [1]], EncodeError, match="1.9 is not an integer"),
        Bad(np.zeros((2, 1), np.int32), EncodeError, match="got one of dtype int32"),
    )
    tfds_json = tfds_json(["2", "-1"], "int16", encoding="bytes")


class TestZlibEncodingOfUnknownShape(ConnectorSuite):
    connector = Tensor(shape=(None, None, 3), dtype=np.uint8, encoding="ZLIB")
    valid = (
        Case(
            np.arange(12, dtype=np.uint8).reshape(2, 2, 3),
            stored={"shape": [2, 2, 3], "value": [zlib.compress(bytes(range(12)))]},
        ),
        Case(
            np.zeros((0, 7, 3), np.uint8),
            stored={"shape": [0, 7, 3], "value": [zlib.compress(b"")]},
        ),
        Case([[[1, 2, 3]]], np.array([[[1, 2, 3]]], np.uint8)),
    )
    invalid = (Bad([[[1, 2]]], EncodeError, match=r"\(None, None, 3\), got \(1, 1, 2\)"),)
    tfds_json = tfds_json(["-1", "-1", "3"], "uint8", encoding="zlib")


class TestBfloat16(ConnectorSuite):
    connector = Tensor(shape=(2,), dtype=ml_dtypes.bfloat16, encoding="bytes")
    valid = (
        Case(np.array([1, -2], ml_dtypes.bfloat16), stored=[b"\x80\x3f\x00\xc0"]),
        Case([1, 0.5], np.array([1, 0.5], ml_dtypes.bfloat16)),
    )
    invalid = (Bad([1e300, 0], EncodeError, match="too large for bfloat16"),)


class TestComplex(ConnectorSuite):
    connector = Tensor(shape=(), dtype=np.complex64, encoding="zlib")
    valid = (
        Case(np.complex64(1 + 2j), stored=[zlib.compress(np.complex64(1 + 2j).tobytes())]),
        Case(1j, np.complex64(1j)),
        Case(2, np.complex64(2)),
    )
    invalid = (Bad("1j", EncodeTypeError, match="expected complex64, got str '1j'"),)


class TestBounds(ConnectorSuite):
    connector = Tensor(shape=(2,), dtype=np.int32, minimum=-1, maximum=9)
    valid = (Case([-1, 9], np.array([-1, 9], np.int32), stored=[-1, 9]),)
    invalid = (
        Bad(
            [0, 10],
            EncodeError,
            "10 is above the maximum 9\n  hint: fix the value, or declare other bounds",
        ),
        Bad(
            [-2, 0],
            EncodeError,
            "-2 is below the minimum -1\n  hint: fix the value, or declare other bounds",
        ),
        Bad(np.array([0, 99], np.int32), EncodeError, match="99 is above the maximum 9"),
    )
    tfds_json = tfds_json(["2"], "int32", minimum="-1", maximum="9")
    tfds_repr = "Tensor(shape=(2,), dtype=int32)"


class TestOptional(ConnectorSuite):
    connector = Tensor(shape=(2,), dtype=np.float32, optional=True)
    valid = (
        Case([1, 2], np.array([1, 2], np.float32), stored=[1.0, 2.0]),
        Case(None, stored={}),
    )
    invalid = (Bad([None, 1], EncodeTypeError, match="got NoneType None"),)
    tfds_json = tfds_json(["2"], "float32", optional=True)


class TestOptionalEncoded(ConnectorSuite):
    connector = Tensor(shape=(None, None), dtype=np.int8, encoding="bytes", optional=True)
    valid = (
        Case([[1, 2]], np.array([[1, 2]], np.int8), stored={"shape": [1, 2], "value": [b"\1\2"]}),
        Case(None, stored={}),
    )
    invalid = (Bad([1], EncodeError, match=r"expected shape \(None, None\), got \(1,\)"),)


class TestOptionalBytes(ConnectorSuite):
    connector = Tensor(shape=(2,), dtype=np.int8, encoding="zlib", optional=True)
    valid = (Case([1, 2], np.array([1, 2], np.int8)), Case(None, stored={}))
    invalid = (Bad([1], EncodeError, match=r"expected shape \(2,\), got \(1,\)"),)


class TestNoElements(ConnectorSuite):
    connector = Tensor(shape=(0, 3), dtype=np.int64)
    valid = (Case(np.zeros((0, 3), np.int64), stored=[]),)
    in_sequence = False  # a list of no values cannot tell how many elements there were
    in_nested_sequence = False
    invalid = (Bad(np.zeros((1, 3), np.int64), EncodeError, match=r"\(0, 3\), got \(1, 3\)"),)
    tfds_json = tfds_json(["0", "3"], "int64")


# Platform integers: Python numbers and NumPy scalars of any width that fits, arrays as declared.


@pytest.mark.parametrize(
    ("dtype", "value", "decoded"),
    [
        (np.int64, 7, np.int64(7)),
        (np.int64, np.int32(7), np.int64(7)),
        (np.int32, np.int64(7), np.int32(7)),
        (np.int32, [1, 2, 3], np.array([1, 2, 3], np.int32)),
    ],
)
def test_integers_that_fit_are_taken(dtype, value, decoded):
    feature = FeaturesDict({"n": Tensor(shape=np.shape(value), dtype=dtype)})
    record = feature.serialize_example({"n": value})
    assert_same(feature.deserialize_example(record), {"n": decoded})


@pytest.mark.parametrize(
    ("dtype", "value", "words"),
    [
        (np.int64, np.array([1, 2, 3], np.int32), ["int64", "int32", "astype(np.int64)"]),
        (np.int32, np.array([1, 2, 3], np.int64), ["int32", "int64", "astype(np.int32)"]),
        (np.int64, 1.7, ["1.7", "int64"]),
        (np.int64, NAN, ["nan", "int64"]),
    ],
)
def test_numbers_that_would_change_are_refused(dtype, value, words):
    feature = FeaturesDict({"n": Tensor(shape=np.shape(value), dtype=dtype)})
    with pytest.raises(EncodeError) as caught:
        feature.encode_example({"n": value})
    assert all(word in str(caught.value) for word in ["n (Tensor)", *words])


# Every dtype, at its ends.


@pytest.mark.parametrize("encoding", ["none", "bytes", "zlib"])
@pytest.mark.parametrize(
    "dtype",
    [
        *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
        *(np.float16, np.float32),
    ],
)
def test_the_ends_of_every_dtype_come_back(dtype, encoding):
    limits = np.iinfo(dtype) if np.dtype(dtype).kind in "iu" else np.finfo(dtype)
    value = np.array([limits.min, limits.max, 0], dtype)
    feature = Tensor(shape=(None,), dtype=dtype, encoding=encoding)
    assert_same(feature.deserialize_example(feature.serialize_example(value)), value)


def test_float64_is_rounded_to_float32_unless_it_is_encoded():
    value = np.array([1 / 3, 1e-300])
    plain = Tensor(shape=(2,), dtype=np.float64)
    exact = Tensor(shape=(2,), dtype=np.float64, encoding="bytes")
    stored = plain.deserialize_example(plain.serialize_example(value))
    assert_same(stored, value.astype(np.float32).astype(np.float64))
    assert_same(exact.deserialize_example(exact.serialize_example(value)), value)


def test_a_float64_beyond_float32_is_refused_wherever_it_is():
    features = FeaturesDict({"x": Sequence(np.float64)})
    with pytest.raises(EncodeError) as caught:
        features.serialize_example({"x": [0.0, 1e300]})
    assert str(caught.value) == (
        "1e+300 is too large for float32\n"
        "  at: x[1] (Tensor)\n"
        "  hint: scale the value, or declare a wider dtype (float64 with encoding='bytes')"
    )


def test_float16_overflow_is_refused():
    with pytest.raises(EncodeError, match=r"65520\.0 is too large for float16"):
        Tensor(shape=(), dtype=np.float16).encode_example(65520.0)


# What the constructor refuses.


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"shape": (-1,)},
            InvalidArgumentError,
            "(-1,) is not a shape\n"
            "  hint: give a tuple of integers >= 0, with None for a dimension that varies",
        ),
        ({"shape": 3}, InvalidArgumentError, "3 is not a shape"),
        ({"shape": (1.5,)}, InvalidArgumentError, "(1.5,) is not a shape"),
        (
            {"shape": (2**40, None, 2**40)},
            InvalidArgumentError,
            "no array can have the shape (1099511627776, None, 1099511627776): it has more than "
            "2**56 values",
        ),
        ({"dtype": "9" * 5000}, InvalidTypeError, "is not the dtype of a feature"),
        ({"dtype": "int31"}, InvalidTypeError, "'int31' is not the dtype of a feature"),
        ({"dtype": np.datetime64}, InvalidTypeError, "is not the dtype of a feature"),
        (
            {"encoding": "gzip"},
            InvalidArgumentError,
            "'gzip' is not an encoding; there are 'bytes', 'none', 'zlib'",
        ),
        ({"encoding": None}, InvalidArgumentError, "None is not an encoding"),
        (
            {"dtype": np.str_, "encoding": "bytes"},
            UnsupportedError,
            "text cannot have encoding='bytes'\n"
            "  hint: leave the encoding out: text and bytes are stored as they are",
        ),
    ],
)
def test_arguments_that_make_no_sense(arguments, error, message):
    with pytest.raises(error) as caught:
        Tensor(**({"shape": (2,), "dtype": np.int32} | arguments))
    assert message in str(caught.value)


def test_encodings_by_name_or_member():
    feature = Tensor(shape=(), dtype=np.int32, encoding=Encoding.ZLIB)
    assert feature == Tensor(shape=(), dtype=np.int32, encoding="Zlib")
    assert feature.encoding is Encoding.ZLIB


@pytest.mark.parametrize(
    ("dtype", "shape"), [(ml_dtypes.bfloat16, (2,)), (np.complex64, (2,)), (np.int32, (None, None))]
)
def test_what_no_list_can_hold_needs_an_encoding(dtype, shape):
    with pytest.raises(UnsupportedError, match="encoding='bytes'"):
        FeaturesDict({"x": Tensor(shape=shape, dtype=dtype)}).layout  # noqa: B018


def test_a_bound_that_json_cannot_keep_is_refused_when_saved():
    feature = Tensor(shape=(), dtype=np.float32, minimum=0.5)
    with pytest.raises(EncodeError, match=r"0\.25 is below the minimum 0\.5"):
        feature.encode_example(0.25)
    with pytest.raises(InvalidTypeError) as caught:
        feature.to_json()
    assert str(caught.value) == (
        "features.json keeps integer bounds only, got 0.5\n"
        "  hint: use integers for minimum= and maximum=, or state the range in doc="
    )


def test_an_array_of_elements_is_checked_at_once_and_the_wrong_one_named():
    features = FeaturesDict({"x": Sequence(Tensor(shape=(), dtype=np.int32, maximum=9))})
    good = np.array([1, 9], np.int32)
    assert_same(features.deserialize_example(features.serialize_example({"x": good})), {"x": good})
    with pytest.raises(EncodeError) as caught:
        features.serialize_example({"x": np.array([1, 10], np.int32)})
    assert str(caught.value) == (
        "10 is above the maximum 9\n"
        "  at: x[1] (Tensor)\n"
        "  hint: fix the value, or declare other bounds"
    )


# Damaged records.

RAW = b"\x01\x00\x02\x00"


@pytest.mark.parametrize(
    ("encoding", "shape", "data", "message"),
    [
        ("bytes", (2,), RAW[:3], "3 stored bytes do not fill shape (2,) of int16"),
        ("bytes", (2,), RAW + b"\0", "5 stored bytes do not fill shape (2,) of int16"),
        ("bytes", (None, 2), RAW[:2], "2 stored bytes do not fill shape (None, 2) of int16"),
        ("zlib", (2,), RAW, "the zlib stream is damaged"),
        ("zlib", (2,), zlib.compress(RAW)[:-1], "the zlib stream is cut short"),
        ("zlib", (2,), zlib.compress(RAW)[:6], "the zlib stream is cut short"),
        ("zlib", (2,), zlib.compress(bytes(10**6)), "5 stored bytes do not fill shape (2,)"),
        ("zlib", (None,), zlib.compress(RAW)[:-1], "the zlib stream is cut short"),
        ("zlib", (2,), b"", "the zlib stream is cut short"),
    ],
)
def test_damaged_bytes_are_refused(encoding, shape, data, message):
    feature = FeaturesDict({"x": Tensor(shape=shape, dtype=np.int16, encoding=encoding)})
    with pytest.raises(DecodeError) as caught:
        feature.deserialize_example(write_example({"x": [data]}))
    assert message in str(caught.value)
    assert "x (Tensor)" in str(caught.value)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ([2, 3, 1], "stored shape (2, 3, 1) does not fit the declared (None, None, 3)"),
        ([-1, 4, 3], "stored shape (-1, 4, 3) does not fit the declared (None, None, 3)"),
        ([2, 2**31 - 1, 3], "stored bytes do not fill shape (2, 2147483647, 3) of uint8"),
    ],
)
def test_a_stored_shape_is_not_believed(shape, message):
    feature = Tensor(shape=(None, None, 3), dtype=np.uint8, encoding="bytes")
    record = FeaturesDict({"x": feature}).serialize_example({"x": np.zeros((1, 2, 3), np.uint8)})
    assert_same(
        FeaturesDict({"x": feature}).deserialize_example(record)["x"], np.zeros((1, 2, 3), np.uint8)
    )
    damaged = write_example({"x/shape": np.array(shape, np.int64), "x/value": [bytes(6)]})
    with pytest.raises(DecodeError) as caught:
        FeaturesDict({"x": feature}).deserialize_example(damaged)
    assert message in str(caught.value)


def test_legacy_json_is_read():
    legacy = {"type": NAME, "content": {"shape": [2, None], "dtype": "int32"}}
    assert FeatureConnector.from_json(legacy) == Tensor(shape=(2, None), dtype=np.int32)
