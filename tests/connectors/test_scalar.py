"""Scalar: one number, bool or text."""

import numpy as np

from featurekit.connector import Documentation
from featurekit.connectors.scalar import Scalar
from featurekit.connectors.tensor import Tensor
from featurekit.errors import EncodeError, EncodeTypeError
from featurekit.testing import Bad, Case, ConnectorSuite

NAME = "tensorflow_datasets.core.features.scalar.Scalar"


class TestUint8(ConnectorSuite):
    connector = Scalar(np.uint8)
    valid = (
        Case(7, np.uint8(7), stored=[7]),
        Case(np.int64(255), np.uint8(255), stored=[255]),
        Case(True, np.uint8(1), stored=[1]),
        Case(3.0, np.uint8(3)),
    )
    invalid = (
        Bad(
            256,
            EncodeError,
            "256 does not fit uint8\n  hint: fix the value, or declare a wider dtype",
        ),
        Bad(-1, EncodeError, match="-1 does not fit uint8"),
        Bad(1.7, EncodeError, match=r"1\.7 is not an integer"),
        Bad("5", EncodeTypeError, match="expected uint8, got str '5'"),
        Bad(b"5", EncodeTypeError, match="expected uint8, got bytes b'5'"),
        Bad(1j, EncodeTypeError, match="expected uint8, got complex 1j"),
        Bad([1], EncodeError, match=r"expected shape \(\), got \(1,\)"),
        Bad(np.array([3], np.uint8), EncodeError, match=r"expected shape \(\), got \(1,\)"),
        Bad(np.array(3), EncodeError, match="got one of dtype int64"),
        Bad(
            None,
            EncodeTypeError,
            "expected uint8, got NoneType None\n"
            "  hint: convert the value first; a value that may be missing needs optional=True",
        ),
    )
    unequal = (Scalar(np.int8), Scalar(np.uint8, optional=True))
    tfds_json = {
        "pythonClassName": NAME,
        "tensor": {"shape": {}, "dtype": "uint8", "encoding": "none"},
    }
    tfds_repr = "Scalar(shape=(), dtype=uint8)"

    def test_it_is_not_the_tensor_of_the_same_shape(self):
        assert self.make() != Tensor(shape=(), dtype=np.uint8)


class TestFloat16(ConnectorSuite):
    connector = Scalar(np.float16, doc=Documentation("d", "0-1"))
    valid = (
        Case(0.1, np.float16(0.1), stored=[float(np.float16(0.1))]),
        Case(float("nan"), np.float16("nan")),
        Case(np.float64("-inf"), np.float16("-inf")),
        Case(65504, np.float16(65504)),
    )
    invalid = (
        Bad(
            1e6,
            EncodeError,
            "1000000.0 is too large for float16\n"
            "  hint: scale the value, or declare a wider dtype (float64 with encoding='bytes')",
        ),
    )
    tfds_json = {
        "pythonClassName": NAME,
        "tensor": {"shape": {}, "dtype": "float16", "encoding": "none"},
        "description": "d",
        "valueRange": "0-1",
    }
    tfds_repr = "Scalar(shape=(), dtype=float16, description=d)"


class TestFloat64(ConnectorSuite):
    connector = Scalar(np.float64)
    valid = (
        Case(0.1, np.float64(np.float32(0.1)), stored=[0.1]),
        Case(2**70, np.float64(2**70), id="large integer"),
    )
    invalid = (
        Bad(1e300, EncodeError, match=r"1e\+300 is too large for float32"),
        Bad("1e5", EncodeTypeError, match="expected float64, got str '1e5'"),
        Bad(10**400, EncodeError, match="does not fit float64", id="10**400"),
    )


class TestBool(ConnectorSuite):
    connector = Scalar(np.bool_)
    valid = (Case(True, np.True_, stored=[1]), Case(0, np.False_, stored=[0]))
    invalid = (
        Bad("true", EncodeTypeError, match="expected bool, got str 'true'"),
        Bad("", EncodeTypeError, match="expected bool, got str ''"),
        Bad(None, EncodeTypeError, match="expected bool, got NoneType None"),
        Bad(2, EncodeError, match=r"2 is neither true \(1\) nor false \(0\)"),
    )


class TestText(ConnectorSuite):
    connector = Scalar(np.str_)
    valid = (Case("é", "é".encode(), stored=["é"]), Case(b"\xff\x00"), Case(np.str_("s"), b"s"))
    invalid = (Bad(5, EncodeTypeError, match="expected text or bytes, got int 5"),)
    tfds_repr = "Scalar(shape=(), dtype=string)"


class TestOptional(ConnectorSuite):
    connector = Scalar(np.int32, optional=True, minimum=0)
    valid = (Case(5, np.int32(5), stored=[5]), Case(None, stored={}))
    invalid = (
        Bad(-1, EncodeError, match="-1 is below the minimum 0"),
        Bad(float("nan"), EncodeError, match="nan is not an integer"),
    )
    tfds_json = {
        "pythonClassName": NAME,
        "tensor": {
            "shape": {},
            "dtype": "int32",
            "encoding": "none",
            "minimum": "0",
            "optional": True,
        },
    }


class TestEncoded(ConnectorSuite):
    connector = Scalar(np.float64, encoding="bytes")
    valid = (Case(1e300, np.float64(1e300), stored=[np.float64(1e300).tobytes()]),)
    invalid = (Bad("x", EncodeTypeError, match="expected float64, got str 'x'"),)
