import enum
import os
import pickle
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import featurekit.io as io
from featurekit.errors import EncodeError, EncodeTypeError, InvalidTypeError, ParseError
from featurekit.io import message_size
from featurekit.io.columns import write_example
from featurekit.io.example import (
    BytesList,
    Example,
    Feature,
    FeatureList,
    FeatureLists,
    Features,
    FloatList,
    Int64List,
    SequenceExample,
    bytes_feature,
    example_to_dict,
    float_feature,
    int64_feature,
    make_example,
    make_sequence_example,
    sequence_example_to_dict,
    serialize,
)


class Colour(enum.IntEnum):
    RED = 7


def ints(*values):
    return Feature(int64_list=Int64List(value=values))


def floats(*values):
    return Feature(float_list=FloatList(value=values))


def texts(*values):
    return Feature(bytes_list=BytesList(value=values))


# One Feature.

INTS = {
    "int": (4, [4]),
    "bool": (True, [1]),
    "enum": (Colour.RED, [7]),
    "smallest": (-(2**63), [-(2**63)]),
    "numpy int": (np.int32(-3), [-3]),
    "numpy uint64": (np.uint64(2**63 - 1), [2**63 - 1]),
    "numpy bool": (np.False_, [0]),
    "list": ([1, True, np.int8(2), Colour.RED], [1, 1, 2, 7]),
    "tuple": ((1, 2), [1, 2]),
    "range": (range(3), [0, 1, 2]),
    "array": (np.array([1, 2], np.uint8), [1, 2]),
    "array of rank 0": (np.array(5), [5]),
    "array of bools": (np.array([True, False]), [1, 0]),
    "array of objects": (np.array([1, True], object), [1, 1]),
    "arrays of rank 0": ([np.array(5), np.array(True)], [5, 1]),
    "big endian": (np.array([1], ">i4"), [1]),
    "nothing": ([], []),
    "no floats": (np.array([], np.int16), []),
}


@pytest.mark.parametrize(("value", "wanted"), INTS.values(), ids=INTS)
def test_int64_feature(value, wanted):
    feature = int64_feature(value)
    assert feature.WhichOneof("kind") == "int64_list"
    assert list(feature.int64_list.value) == wanted


FLOATS = {
    "float": (0.5, [0.5]),
    "int": (3, [3]),
    "bool": (True, [1]),
    "rounded": (0.1, [float(np.float32(0.1))]),
    "special": ([np.inf, -np.inf, -0.0], [np.inf, -np.inf, -0.0]),
    "numpy": (np.float16(0.5), [0.5]),
    "bfloat16": (np.array([1.5], ml_dtypes.bfloat16), [1.5]),
    "mixed": ([1, 2.5, np.float64(3)], [1, 2.5, 3]),
    "array": (np.array([1.5, 2.5]), [1.5, 2.5]),
    "array of ints": (np.array([1, 2]), [1, 2]),
    "largest": (3.4028234663852886e38, [3.4028234663852886e38]),
    "nothing": ([], []),
}


@pytest.mark.parametrize(("value", "wanted"), FLOATS.values(), ids=FLOATS)
def test_float_feature(value, wanted):
    feature = float_feature(value)
    assert feature.WhichOneof("kind") == "float_list"
    assert list(feature.float_list.value) == wanted


def test_nan_keeps_its_payload():
    bits = np.array([0x7FC12345], np.uint32)
    example = make_example({"x": bits.view(np.float32)})
    assert example_to_dict(serialize(example))["x"].view(np.uint32) == bits


TEXTS = {
    "text": ("é", ["é".encode()]),
    "bytes": (b"\xff\0", [b"\xff\0"]),
    "bytearray": (bytearray(b"ab"), [b"ab"]),
    "memoryview": (memoryview(b"ab"), [b"ab"]),
    "numpy text": (np.str_("a"), [b"a"]),
    "numpy bytes": (np.bytes_(b"a"), [b"a"]),
    "list": (["a", b"b"], [b"a", b"b"]),
    "array of text": (np.array(["a", "bc"]), [b"a", b"bc"]),
    "array of objects": (np.array(["a", b"b\0"], object), [b"a", b"b\0"]),
    "array of rank 0": (np.array("a"), [b"a"]),
    "nothing": ([], []),
}


@pytest.mark.parametrize(("value", "wanted"), TEXTS.values(), ids=TEXTS)
def test_bytes_feature(value, wanted):
    feature = bytes_feature(value)
    assert feature.WhichOneof("kind") == "bytes_list"
    assert list(feature.bytes_list.value) == wanted


WRONG_TYPES = {
    "float in ints": (int64_feature, 1.0, "expected ints, got 1.0 (float)"),
    "floats in ints": (int64_feature, [1, 1.0], "expected ints, got 1.0 (float)"),
    "float array in ints": (
        int64_feature,
        np.array([1.0]),
        "expected ints, got an array of dtype float64",
    ),
    "text in ints": (int64_feature, "1", "expected ints, got '1' (str)"),
    "None in ints": (int64_feature, None, "expected ints, got None (NoneType)"),
    "time in ints": (
        int64_feature,
        np.array([1], "m8[s]"),
        "expected ints, got an array of dtype timedelta64[s]",
    ),
    "text in floats": (float_feature, "1.0", "expected floats, got '1.0' (str)"),
    "complex in floats": (float_feature, 1j, "expected floats, got 1j (complex)"),
    "complex array in floats": (
        float_feature,
        np.array([1j]),
        "expected floats, got an array of dtype complex128",
    ),
    "int in bytes": (bytes_feature, 1, "expected text or bytes, got 1 (int)"),
    "None in bytes": (bytes_feature, [b"a", None], "expected text or bytes, got None (NoneType)"),
    "ints in bytes": (
        bytes_feature,
        np.array([1], np.uint8),
        "expected text or bytes, got np.uint8(1) (uint8)",
    ),
    "list of lists": (int64_feature, [[1, 2]], "expected ints, got [1, 2] (list)"),
    "array of rank 2": (
        int64_feature,
        np.zeros((1, 2), int),
        "expected one value or a flat list, got the shape (1, 2)",
    ),
}


@pytest.mark.parametrize(("make", "value", "message"), WRONG_TYPES.values(), ids=WRONG_TYPES)
def test_values_of_another_type(make, value, message):
    with pytest.raises(EncodeTypeError) as info:
        make(value)
    assert info.value.message == message


OUT_OF_RANGE = {
    "int": (int64_feature, 2**63, "expected ints of 64 bits with a sign, got 9223372036854775808"),
    "negative int": (
        int64_feature,
        [0, -(2**63) - 1],
        "expected ints of 64 bits with a sign, got -9223372036854775809",
    ),
    "uint64": (
        int64_feature,
        np.array([2**64 - 1], np.uint64),
        "expected ints of 64 bits with a sign, got 18446744073709551615",
    ),
    "uint64 in a list": (
        int64_feature,
        [np.uint64(2**63)],
        "expected ints of 64 bits with a sign, got 9223372036854775808",
    ),
    "float": (
        float_feature,
        1e39,
        "expected numbers within float32, got 1e+39, which would become inf",
    ),
    "float in an array": (
        float_feature,
        np.array([0, -1e300]),
        "expected numbers within float32, got -1e+300, which would become inf",
    ),
    "int in floats": (
        float_feature,
        10**400,
        "expected numbers within float32, got an int beyond it",
    ),
    "text": (bytes_feature, "\ud800", "text '\\ud800' cannot be written as UTF-8"),
}


@pytest.mark.parametrize(("make", "value", "message"), OUT_OF_RANGE.values(), ids=OUT_OF_RANGE)
def test_values_out_of_range(make, value, message):
    with pytest.raises(EncodeError) as info:
        make(value)
    assert info.value.message == message


# Examples.

KINDS = {
    "int": (4, ints(4)),
    "bools": ([True, False], ints(1, 0)),
    "float": (0.5, floats(0.5)),
    "ints and floats": ([1, 0.5], floats(1, 0.5)),
    "text": ("é", texts("é".encode())),
    "list": (["a", b"b"], texts(b"a", b"b")),
    "array": (np.array([1, 2], np.int8), ints(1, 2)),
    "array of text": (np.array(["a"]), texts(b"a")),
    "objects": (np.array([b"a", b"b"], object), texts(b"a", b"b")),
    "empty ints": (np.array([], np.int64), ints()),
    "empty floats": (np.array([], np.float32), floats()),
    "empty objects": (np.array([], object), texts()),
    "feature": (texts(b"x"), texts(b"x")),
    "no kind": (None, Feature()),
}


@pytest.mark.parametrize(("value", "wanted"), KINDS.values(), ids=KINDS)
def test_the_kind_follows_the_type(value, wanted):
    assert make_example({"x": value}) == Example(features=Features(feature={"x": wanted}))


NO_KIND = {
    "empty list": ([], "an empty list does not say what it is a list of"),
    "mixed": (
        [1, "a"],
        "expected ints, floats, text or bytes, all of one kind, got 'a' (str)",
    ),
    "dict": (
        {"a": 1},
        "expected ints, floats, text or bytes, all of one kind, got {'a': 1} (dict)",
    ),
    "None in a list": (
        [1, None],
        "expected ints, floats, text or bytes, all of one kind, got None (NoneType)",
    ),
    "complex": (
        np.array([1j]),
        "expected ints, floats, text or bytes, all of one kind, got an array of dtype complex128",
    ),
}


@pytest.mark.parametrize(("value", "message"), NO_KIND.values(), ids=NO_KIND)
def test_values_of_no_kind(value, message):
    with pytest.raises(EncodeTypeError) as info:
        make_example({"a": 1, "x/y": value})
    assert info.value.message == message
    assert info.value.path == ("x/y",)


def test_the_whole_message_for_an_empty_list():
    with pytest.raises(EncodeTypeError) as info:
        make_example({"tags": []})
    assert str(info.value) == (
        "an empty list does not say what it is a list of\n"
        "  at: tags\n"
        "  hint: give an empty array with a dtype (int64, float32 or object for bytes), "
        "or int64_feature([]), float_feature([]) or bytes_feature([])"
    )


@pytest.mark.parametrize("key", [1, b"a", None, "\ud800"])
def test_keys_that_are_no_text(key):
    with pytest.raises(EncodeError, match="key"):
        make_example({key: 1})
    with pytest.raises(EncodeError, match="key"):
        make_sequence_example({}, {key: [1]})


def test_dicts_come_back():
    values = {
        "b": np.array([1, -1]),
        "a": np.float32([0.5]),
        "c": np.array([b"x"], object),
        "d": None,
    }
    example = make_example(values)
    for form in (example, serialize(example)):
        got = example_to_dict(form)
        assert list(got) == ["a", "b", "c", "d"]
        assert got["d"] is None
        for key in "abc":
            assert got[key].dtype == values[key].dtype
            np.testing.assert_array_equal(got[key], values[key])
    assert make_example(got) == example


# SequenceExamples: the example of TensorFlow's own description of the format.

MOVIES = SequenceExample(
    context=Features(
        feature={
            "locale": texts(b"pt_BR"),
            "age": floats(19.0),
            "favorites": texts(b"Majesty Rose", b"Savannah Outen", b"One Direction"),
        }
    ),
    feature_lists=FeatureLists(
        feature_list={
            "movie_ratings": FeatureList(feature=[floats(4.5), floats(5.0)]),
            "movie_names": FeatureList(
                feature=[texts(b"The Shawshank Redemption"), texts(b"Fight Club")]
            ),
            "actors": FeatureList(
                feature=[
                    texts(b"Tim Robbins", b"Morgan Freeman"),
                    texts(b"Brad Pitt", b"Edward Norton", b"Helena Bonham Carter"),
                ]
            ),
        }
    ),
)


def test_the_movie_example():
    example = make_sequence_example(
        {
            "locale": "pt_BR",
            "age": 19.0,
            "favorites": ["Majesty Rose", "Savannah Outen", "One Direction"],
        },
        {
            "movie_ratings": [[4.5], [5.0]],
            "movie_names": [["The Shawshank Redemption"], ["Fight Club"]],
            "actors": [
                ["Tim Robbins", "Morgan Freeman"],
                ["Brad Pitt", "Edward Norton", "Helena Bonham Carter"],
            ],
        },
    )
    assert example == MOVIES
    parsed = sequence_example_to_dict(serialize(example))
    assert parsed["context"]["age"] == [19.0]
    assert [step.tolist() for step in parsed["feature_lists"]["actors"]] == [
        [b"Tim Robbins", b"Morgan Freeman"],
        [b"Brad Pitt", b"Edward Norton", b"Helena Bonham Carter"],
    ]
    assert list(parsed["feature_lists"]) == ["actors", "movie_names", "movie_ratings"]
    assert make_sequence_example(**sequence_example_to_dict(example)) == example


STEPS = {
    "one value a step": ([4.5, 5.0], [floats(4.5), floats(5.0)]),
    "array": (np.array([[1, 2], [3, 4]]), [ints(1, 2), ints(3, 4)]),
    "generator": ((i for i in range(2)), [ints(0), ints(1)]),
    "no steps": ([], []),
    "empty step": ([[], [1], []], [ints(), ints(1), ints()]),
    "step of no kind": ([None, [1]], [Feature(), ints(1)]),
    "features": ([texts(b"a"), "b"], [texts(b"a"), texts(b"b")]),
}


@pytest.mark.parametrize(("steps", "wanted"), STEPS.values(), ids=STEPS)
def test_steps(steps, wanted):
    lists = make_sequence_example({}, {"x": steps}).feature_lists.feature_list
    assert list(lists) == ["x"]
    assert list(lists["x"].feature) == wanted


BAD_STEPS = {
    "kinds differ": (
        [[4.5], [], [5]],
        ("x", 2),
        "expected the kind of the other steps, float_list, got int64_list",
    ),
    "all empty": ([[], []], ("x",), "an empty list does not say what it is a list of"),
    "no step": ("text", ("x",), "expected a list of steps, got 'text'"),
    "None": (None, ("x",), "expected a list of steps, got None"),
    "of no kind": (
        [[1], [1j]],
        ("x", 1),
        "expected ints, floats, text or bytes, all of one kind, got 1j (complex)",
    ),
}


@pytest.mark.parametrize(("steps", "path", "message"), BAD_STEPS.values(), ids=BAD_STEPS)
def test_steps_that_cannot_be(steps, path, message):
    with pytest.raises(EncodeTypeError) as info:
        make_sequence_example({}, {"x": steps})
    assert info.value.message == message
    assert info.value.path == path


def test_parts_that_are_absent():
    assert serialize(make_sequence_example()) == b""
    assert sequence_example_to_dict(b"") == {"context": {}, "feature_lists": {}}
    assert example_to_dict(b"") == {}


@pytest.mark.parametrize("parse", [example_to_dict, sequence_example_to_dict])
@pytest.mark.parametrize(
    ("data", "error"), [(b"\x0a\x05ab", ParseError), ("text", InvalidTypeError)]
)
def test_what_cannot_be_parsed(parse, data, error):
    with pytest.raises(error, match=r"^expected "):
        parse(data)


# Messages.


@pytest.mark.parametrize("message", [MOVIES, make_example({"x": 1}), floats(1), Features()])
def test_messages_pickle(message):
    assert pickle.loads(pickle.dumps(message)) == message


def test_serializing_does_not_depend_on_order_or_hashes():
    code = (
        "from featurekit.io.example import *;"
        "print(serialize(make_example({str(i): i for i in range(50)})).hex())"
    )
    outputs = {
        subprocess.check_output(
            [sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": str(seed)}
        )
        for seed in range(3)
    }
    backwards = serialize(make_example({str(i): i for i in reversed(range(50))}))
    assert outputs == {f"{backwards.hex()}\n".encode()}


def test_only_messages_are_serialized():
    with pytest.raises(InvalidTypeError, match=r"^expected a protobuf message, got \{\}$"):
        serialize({})


@pytest.mark.parametrize(
    ("message", "biggest"),
    [(make_example({"a": 1, "big": b"x" * 100}), "'big'"), (MOVIES, "'actors'")],
    ids=["Example", "SequenceExample"],
)
def test_the_size_limit_is_exact(monkeypatch, message, biggest):
    size = len(message.SerializeToString())
    monkeypatch.setattr(message_size, "MAX_MESSAGE_BYTES", size)
    assert len(serialize(message)) == size
    monkeypatch.setattr(message_size, "MAX_MESSAGE_BYTES", size - 1)
    with pytest.raises(
        EncodeError, match=f"would take {size} bytes.* biggest feature is {biggest}"
    ):
        serialize(message)


@pytest.mark.parametrize(
    "message",
    [
        io.make_example(dict.fromkeys(["111111", "b", "111", "ab", "a", "é"], 1)),
        io.make_sequence_example(
            {"111111": 1, "111": 1}, {"111111": [[1], [2]], "111": [[1], [2]]}
        ),
        io.make_example({"a": 1}).features,
        io.Example(),
        io.Example(features=io.Features()),
    ],
    ids=["example", "sequence example", "features", "empty", "empty features"],
)
def test_keys_are_sorted_whatever_protobuf_calls_deterministic(message):
    data = io.serialize(message)
    assert type(message).FromString(data) == message
    keys = [part for part in (b"111\x12", b"111111\x12") if part in data]
    assert keys == sorted(keys, key=data.index)
    if isinstance(message, io.Example) and message.features.feature:
        assert data == write_example(io.example_to_dict(message))
