"""Serialized tensors and JSON Examples against TensorFlow, both ways."""

import numpy as np
import pytest

from featurekit.io.columns import read_example, write_example
from featurekit.io.json_example import decode_json_example, encode_json_example
from featurekit.io.tensor_proto import parse_tensor, serialize_tensor

tf = pytest.importorskip("tensorflow", reason="compares with TensorFlow")

NUMBERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NUMBERS += ["float16", "float32", "float64", "complex64", "complex128", "bool", "bfloat16"]


def array_of(name, shape):
    dtype = tf.dtypes.as_dtype(name).as_numpy_dtype
    return (np.arange(np.prod(shape, dtype=int)).reshape(shape) - 1).astype(dtype)


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3)])
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(name, shape):
    array = array_of(name, shape)
    serialized = tf.io.serialize_tensor(tf.constant(array)).numpy()
    assert serialize_tensor(array) == serialized
    got = parse_tensor(serialized, tf.dtypes.as_dtype(name))
    assert got.dtype == array.dtype
    assert got.shape == shape
    assert got.tobytes() == array.tobytes()


@pytest.mark.parametrize(
    "value", [b"q", [b"a", b"", b"\xff\0"], [[b"x"], [b"y" * 300]], []], ids=str
)
def test_strings(value):
    array = np.array(value, object)
    serialized = tf.io.serialize_tensor(tf.constant(value, tf.string)).numpy()
    assert serialize_tensor(array) == serialized
    got = parse_tensor(serialized, tf.string)
    np.testing.assert_array_equal(np.array(got, object), array)


@pytest.mark.parametrize("name", NUMBERS)
def test_values_in_fields(name):
    """The other form of the message; the last of too few values is repeated."""
    for array in (array_of(name, (3,)), np.full((2, 2), 1).astype(array_of(name, (1,)).dtype)):
        proto = tf.make_tensor_proto(array)
        proto = type(proto)(dtype=proto.dtype, tensor_shape=proto.tensor_shape)
        for value in array.reshape(-1)[:2]:
            add_value(proto, value)
        data = proto.SerializeToString()
        theirs = tf.io.parse_tensor(data, tf.dtypes.as_dtype(name)).numpy()
        ours = parse_tensor(data, name)
        assert ours.dtype == theirs.dtype
        assert ours.tobytes() == theirs.tobytes()


def add_value(proto, value):
    dtype = tf.dtypes.as_dtype(proto.dtype)
    if dtype.is_complex:
        field = proto.scomplex_val if dtype == tf.complex64 else proto.dcomplex_val
        field.extend([value.real, value.imag])
    elif dtype in (tf.float16, tf.bfloat16):
        proto.half_val.append(int(value.view(np.uint16)))
    else:
        fields = {
            tf.float32: proto.float_val,
            tf.float64: proto.double_val,
            tf.int64: proto.int64_val,
            tf.bool: proto.bool_val,
            tf.uint32: proto.uint32_val,
            tf.uint64: proto.uint64_val,
        }
        fields.get(dtype, proto.int_val).append(value.item())


def test_json_examples():
    example = write_example(
        {
            "b": [b"\xff\0", b""],
            "f": np.array([np.nan, np.inf, -0.0, 1.1, 1e-37, 3.4e38], np.float32),
            "i": np.array([2**63 - 1, -(2**63)]),
            "é": None,
            "": np.array([], np.float32),
        }
    )
    text = encode_json_example(example)
    theirs = tf.io.decode_json_example(text).numpy()
    assert write_example(read_example(theirs)) == example
    assert decode_json_example(text) == example


@pytest.mark.parametrize(
    "value",
    ['"int64List": {"value": ["1", 1.0, "2e3", "-0"]}', '"int64_list": {"value": []}']
    + ['"bytesList": {"value": ["_-8=", "_-8", "YQ"]}', '"floatList": {"value": ["1e3", 1, "NaN"]}']
    + ['"floatList": null', '"int64List": {"value": [1.5]}', '"bytesList": {"value": ["*"]}']
    + ['"floatList": {"value": [1e300]}', '"int64List": {"value": [" 1"]}', '"other": 1']
    + ['"int64List": {"value": [9223372036854775808]}', '"int64List": {"value": [true]}'],
)
def test_json_forms(value):
    text = f'{{"features": {{"feature": {{"a": {{{value}}}}}}}}}'
    try:
        theirs = tf.io.decode_json_example(text).numpy()
    except tf.errors.InvalidArgumentError:
        with pytest.raises(ValueError, match="feature 'a'"):
            decode_json_example(text)
    else:
        assert decode_json_example(text) == write_example(read_example(theirs))
