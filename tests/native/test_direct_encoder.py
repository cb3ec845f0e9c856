"""The kernel that encodes whole dicts at once: the connectors' bytes, or no answer."""

import datetime
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import featurekit as fk
from featurekit.errors import EncodeError
from featurekit.native import kernel

pytestmark = pytest.mark.skipif(kernel("direct_encoder") is None, reason="no compiled kernels")

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FEATURES = fk.FeaturesDict(
    {
        **{f"one_{dtype}": fk.Scalar(dtype) for dtype in [*INTEGERS, "float32", "float64", "bool"]},
        **{f"row_{d}": fk.Tensor(shape=(None,), dtype=d) for d in [*INTEGERS, "float32", "bool"]},
        "matrix": fk.Tensor(shape=(2, None), dtype=np.int16),
        "text": fk.Text(),
        "é/b": fk.Scalar(np.object_),
        "label": fk.ClassLabel(names=["a", "b"]),
        "optional": fk.Scalar(np.int64, optional=True),
    }
)
BASE = {
    **{f"one_{dtype}": 1 for dtype in INTEGERS},
    **{f"row_{dtype}": np.array([1, 0], dtype) for dtype in [*INTEGERS, "float32", "bool"]},
    "one_float32": 0.1,
    "one_float64": 0.1,
    "one_bool": True,
    "matrix": np.zeros((2, 3), np.int16),
    "text": "é",
    "é/b": b"\xff",
    "label": 1,
    "optional": 5,
}


def by_connectors(example):
    return FEATURES.layout.serialize(FEATURES.encode_example(example))


def check(example):
    """The kernel gives what the connectors give, and takes nothing that they refuse."""
    got = FEATURES._direct_encoder.encode(example)
    expected, refused = outcome(by_connectors, example)
    assert got in (None, expected)
    record, error = outcome(FEATURES.serialize_example, example)
    assert record == expected
    assert (type(error), str(error)) == (type(refused), str(refused))
    return got is not None


def outcome(function, example):
    try:
        return function(example), None
    except EncodeError as error:
        return None, error


def values_of(dtype):
    limits = np.iinfo(dtype)
    cast = np.dtype(dtype).type
    return [0, -1, limits.min, limits.max, limits.min - 1, limits.max + 1, cast(limits.max),
            np.int64(7), np.uint64(7)]  # fmt: skip


CASES = {
    **{f"one_{dtype}": values_of(dtype) for dtype in INTEGERS},
    "one_float32": [0.0, -0.0, 0.1, 1e-45, 3.4028234663852886e38, 3.4028235677973366e38, 1e39,
                    float("inf"), float("nan"), np.float32(0.1), np.float64(0.1), np.float16(1),
                    np.float64(1e39), np.float32("-inf"), 1, 2**70, True, "1", None],
    "one_float64": [0.1, 1e39, -1e300, float("-inf"), np.float32(0.1), np.float64(0.1), 3],
    "one_bool": [True, False, np.True_, 0, 1, 2, 1.0, "True"],
    "text": ["", "x" * 300, "\ud800", b"", b"\x00\xff", np.str_("a"), np.bytes_(b"a"), 1, None,
             ["a"], np.array("a", object), bytearray(b"a")],
    "é/b": ["a", b"b", np.array(b"c", object), None],
    "label": ["a", "b", "c", 0, 1, 2, -1, -2, True, np.int32(1), 1.0, None],
    "optional": [None, 0, -(2**63), 2**63],
    "matrix": [np.zeros((2, 0), np.int16), np.zeros((3, 2), np.int16), np.zeros((2, 2), np.int32),
               np.arange(6, dtype=np.int16).reshape(3, 2).T, [[1, 2], [3, 4]], [[1], [2, 3]],
               np.arange(12, dtype=np.int16).reshape(2, 6)[:, ::2],
               np.arange(6, dtype=">i2").reshape(2, 3)],
    "one_int64": [np.timedelta64(5), datetime.timedelta(5), 1.0, 1.5, True, "1", None, [1],
                  np.array(3), np.array([3])],
    "row_int64": [np.array([], np.int64), [], [1, 2], (1, 2), np.arange(3, dtype=np.int32),
                  np.array([-1, 2**62]), np.array(1), np.arange(1000), np.arange(3).view("M8[s]"),
                  np.arange(6)[::-2], np.ma.array([1, 2]), np.array([1], "longlong")],
    "row_uint64": [np.array([2**64 - 1, 0], np.uint64)],
    "row_int8": [np.array([-128, 127], np.int8)],
    "row_float32": [np.array([np.nan, np.inf, -0.0], np.float32), np.array([0.1]), [0.1]],
    "row_bool": [np.array([True, False]), [True], np.array([1, 0], np.uint8)],
}  # fmt: skip


@pytest.mark.parametrize(
    ("key", "value"),
    [
        pytest.param(key, value, id=f"{key}-{index}")
        for key, values in CASES.items()
        for index, value in enumerate(values)
    ],
)
def test_every_value_is_encoded_as_by_the_connectors(key, value):
    check(BASE | {key: value})


def test_the_usual_is_taken():
    assert check(BASE)
    for key, values in {
        "one_int8": [-128, 127, np.int8(3)],
        "one_uint64": [0, 2**63 - 1],
        "one_float32": [0.5, float("nan"), np.float32(2), np.float64(2)],
        "one_bool": [True, False],
        "text": ["a", b"b"],
        "label": [-1, 0, 1],
        "row_uint8": [np.array([0, 255], np.uint8), np.array([], np.uint8)],
    }.items():
        assert all(check(BASE | {key: value}) for value in values), key


@pytest.mark.parametrize(
    "example",
    [
        {},
        {key: BASE[key] for key in list(BASE)[1:]},
        BASE | {"more": 1},
        {**{key: BASE[key] for key in list(BASE)[1:]}, "other": 1},
        None,
        7,
        list(BASE.items()),
    ],
)
def test_what_is_no_such_dict_is_left_to_the_connectors(example):
    assert not check(example)


def test_other_mappings_are_left_to_the_connectors():
    class Own(dict):
        pass

    assert FEATURES._direct_encoder.encode(Own(BASE)) is None
    assert FEATURES.serialize_example(Own(BASE)) == by_connectors(BASE)


def test_features_that_need_more_have_no_kernel():
    class Doubled(fk.Scalar):
        def encode_example(self, value):
            return super().encode_example(2 * value)

    class Words(fk.Text):
        pass

    class Renamed(fk.FeaturesDict):
        def encode_example(self, value):
            return super().encode_example({"x": value})

    for feature in [
        Doubled(np.int64),
        Words(),
        fk.Scalar(np.int64, minimum=0),
        fk.Scalar(np.int64, encoding="bytes"),
        fk.Scalar(np.float16),
        fk.Tensor(shape=(2,), dtype=np.float64),
        fk.Tensor(shape=(2,), dtype=np.str_),
        fk.Tensor(shape=(None, 0), dtype=np.int64),
        fk.ClassLabel(),
        fk.Sequence(np.int64),
        fk.FeaturesDict({"y": np.int64}),
        fk.Image(),
    ]:
        assert fk.FeaturesDict({"x": feature})._direct_encoder is None, feature
    assert fk.FeaturesDict({})._direct_encoder is None
    assert Renamed({"x": np.int64})._direct_encoder is None


def test_many_features():
    for count in (64, 65):
        features = fk.FeaturesDict({f"x{index}": np.int64 for index in range(count)})
        example = {f"x{index}": index for index in range(count)}
        record = features.serialize_example(example)
        assert record == features.layout.serialize(features.encode_example(example))


def test_connectors_with_a_kernel_are_pickled():
    again = pickle.loads(pickle.dumps(FEATURES))
    assert again.serialize_example(BASE) == FEATURES.serialize_example(BASE)
    encoder = pickle.loads(pickle.dumps(FEATURES._direct_encoder))
    assert encoder.encode(BASE) == FEATURES.serialize_example(BASE)


scalars = st.one_of(
    st.integers(-(2**65), 2**65),
    st.floats(allow_nan=True),
    st.text(max_size=5),
    st.binary(max_size=5),
    st.booleans(),
    st.none(),
)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(BASE)), scalars, max_size=4))
def test_random_values(changes):
    check(BASE | changes)
