"""Sequence: lists of values, of dicts, of lists."""

import numpy as np
import pytest

from featurekit.connectors.class_label import ClassLabel
from featurekit.connectors.features_dict import FeaturesDict
from featurekit.connectors.sequence import Sequence
from featurekit.connectors.tensor import Tensor
from featurekit.connectors.text import Text
from featurekit.errors import (
    DecodeError,
    EncodeError,
    EncodeTypeError,
    FeatureKeyError,
    InvalidArgumentError,
    InvalidTypeError,
    UnsupportedError,
)
from featurekit.io.columns import read_example, write_example
from featurekit.io.ragged import RaggedTensor
from featurekit.testing import Bad, Case, ConnectorSuite, assert_same

NAME = "tensorflow_datasets.core.features.sequence_feature.Sequence"
INT32 = {
    "pythonClassName": "tensorflow_datasets.core.features.tensor_feature.Tensor",
    "tensor": {"shape": {}, "dtype": "int32", "encoding": "none"},
}


def ragged(values, *lengths):
    return RaggedTensor.from_nested_row_lengths(values, lengths)


class TestOfNumbers(ConnectorSuite):
    connector = Sequence(np.int32)
    valid = (
        Case([1, 2, 3], np.array([1, 2, 3], np.int32), stored=[1, 2, 3]),
        Case((1,), np.array([1], np.int32)),
        Case(np.array([4, 5], np.int32), stored=[4, 5]),
        Case(np.array([4, 5], np.int64), np.array([4, 5], np.int32), id="array of another dtype"),
        Case([], np.array([], np.int32), stored=[]),
    )
    invalid = (
        Bad(
            5,
            EncodeTypeError,
            "expected a list, got int 5\n  hint: give a list, a tuple or an array",
        ),
        Bad(
            [1, "x"],
            EncodeTypeError,
            "expected int32, got str 'x'\n"
            "  at: [1] (Tensor)\n"
            "  hint: convert the value first; a value that may be missing needs optional=True",
        ),
        Bad(
            np.array([1, 2**40]),
            EncodeError,
            "1099511627776 does not fit int32\n"
            "  at: [1] (Tensor)\n"
            "  hint: fix the value, or declare a wider dtype",
        ),
        Bad(np.array([1.5]), EncodeError, match=r"1\.5 is not an integer"),
        Bad(None, EncodeTypeError, match="expected a list, got NoneType None"),
        Bad("abc", EncodeTypeError, match="expected a list, got str 'abc'"),
        Bad(b"abc", EncodeTypeError, match="expected a list, got bytes"),
        Bad({"a": [1]}, EncodeTypeError, match="expected a list, got dict"),
        Bad({1, 2}, EncodeTypeError, match="expected a list, got set"),
        Bad(np.array(1, np.int32), EncodeTypeError, match="expected a list, got ndarray"),
        Bad([[1], [2]], EncodeError, match=r"expected shape \(\), got \(1,\)"),
        Bad(np.zeros((2, 2), np.int32), EncodeError, match=r"expected shape \(\), got \(2,\)"),
        Bad([1, None], EncodeTypeError, match="got NoneType None"),
    )
    unequal = (Sequence(np.int64), Sequence(np.int32, length=3), Sequence(Sequence(np.int32)))
    tfds_json = {"pythonClassName": NAME, "sequence": {"feature": INT32, "length": "-1"}}
    tfds_repr = "Sequence(int32)"


class TestOfFixedLength(ConnectorSuite):
    connector = Sequence(np.int32, length=2)
    valid = (Case([1, 2], np.array([1, 2], np.int32), stored=[1, 2]),)
    invalid = (
        Bad(
            [1],
            EncodeError,
            "expected 2 elements, got 1\n"
            "  hint: fix the value, or declare the Sequence without a length",
        ),
        Bad([1, 2, 3], EncodeError, match="expected 2 elements, got 3"),
        Bad([], EncodeError, match="expected 2 elements, got 0"),
    )
    tfds_json = {"pythonClassName": NAME, "sequence": {"feature": INT32, "length": "2"}}
    tfds_repr = "Sequence(int32)"


class TestOfArrays(ConnectorSuite):
    connector = Sequence(Tensor(shape=(2, 1), dtype=np.float32))
    valid = (
        Case([[[1], [2]], [[3], [4]]], np.array([[[1], [2]], [[3], [4]]], np.float32)),
        Case(np.zeros((3, 2, 1), np.float32), stored=[0.0] * 6),
        Case([], np.zeros((0, 2, 1), np.float32), stored=[]),
        Case(np.zeros((0, 2, 1), np.float32), stored=[], id="array without rows"),
    )
    invalid = (
        Bad([[[1], [2]], [[3]]], EncodeError, match=r"(?s)shape \(2, 1\), got \(1, 1\).*at: \[1\]"),
        Bad(np.zeros((1, 2, 2), np.float32), EncodeError, match=r"\(2, 1\), got \(2, 2\)"),
    )


class TestOfTexts(ConnectorSuite):
    connector = Sequence(Text())
    valid = (
        Case(["a", b"\xff", ""], np.array([b"a", b"\xff", b""], object), stored=["a", b"\xff", ""]),
        Case(np.array(["é"], object), np.array(["é".encode()], object)),
        Case([], np.array([], object), stored=[]),
    )
    invalid = (
        Bad("text", EncodeTypeError, match="expected a list, got str 'text'"),
        Bad(["a", 1], EncodeTypeError, match=r"(?s)got int 1.*at: \[1\] \(Text\)"),
    )


class TestOfLabels(ConnectorSuite):
    connector = Sequence(ClassLabel(names=["a", "b"]), doc="tags")
    valid = (Case(["b", 0, -1], np.array([1, 0, -1]), stored=[1, 0, -1]),)
    invalid = (Bad(["a", "c"], EncodeError, match=r"(?s)'c' is not one of.*at: \[1\] \(ClassL"),)
    files = {"x.labels.txt": "a\nb\n"}
    tfds_repr = "Sequence(ClassLabel(shape=(), dtype=int64, num_classes=2))"

    def test_attributes_of_the_feature_are_at_hand(self):
        sequence = self.make()
        assert sequence.names == ["a", "b"]
        assert sequence.feature.num_classes == sequence.num_classes == 2
        with pytest.raises(AttributeError, match="'ClassLabel' object has no attribute 'colour'"):
            sequence.colour  # noqa: B018


class TestOfDicts(ConnectorSuite):
    connector = Sequence({"a": np.int64, "b": Text()})
    valid = (
        Case(
            [{"a": 1, "b": "x"}, {"a": 2, "b": "yé"}],
            {"a": np.array([1, 2]), "b": np.array([b"x", "yé".encode()], object)},
            stored={"a": [1, 2], "b": ["x", "yé"]},
        ),
        Case(
            {"a": [1, 2], "b": ["x", "yé"]},
            {"a": np.array([1, 2]), "b": np.array([b"x", "yé".encode()], object)},
            stored={"a": [1, 2], "b": ["x", "yé"]},
        ),
        Case(
            {"a": np.array([7]), "b": ("z",)}, {"a": np.array([7]), "b": np.array([b"z"], object)}
        ),
        Case(
            [], {"a": np.array([], np.int64), "b": np.array([], object)}, stored={"a": [], "b": []}
        ),
    )
    invalid = (
        Bad(
            {"a": [1, 2], "b": ["x"]},
            EncodeError,
            "the lists have different lengths: 2 (a) != 1 (b)\n"
            "  hint: every key needs a value for every element",
        ),
        Bad(
            [{"a": 1, "b": "x"}, {"a": 2}],
            FeatureKeyError,
            "the example lacks 'b'\n"
            "  at: [1] (FeaturesDict)\n"
            "  hint: yield every feature that is declared; one that may be missing needs "
            "optional=True, and None where it is",
        ),
        Bad({"a": [1]}, FeatureKeyError, match="the example lacks 'b'"),
        Bad({}, FeatureKeyError, match="the example lacks 'a', 'b'"),
        Bad([{"a": 1, "b": "x", "c": 2}], FeatureKeyError, match="has 'c', which"),
        Bad({"a": [1], "b": ["x"], "c": [2]}, FeatureKeyError, match="has 'c', which"),
        Bad({"a": 1, "b": "x"}, EncodeTypeError, match="expected a list for 'a', got int 1"),
        Bad({"a": [1], "b": "x"}, EncodeTypeError, match="expected a list for 'b', got str 'x'"),
        Bad([1, 2], EncodeTypeError, match=r"(?s)expected a dict with 'a', 'b', got int 1.*\[0\]"),
    )
    tfds_repr = "Sequence({\n    'a': int64,\n    'b': Text(shape=(), dtype=string),\n})"

    def test_the_features_are_at_hand(self):
        sequence = self.make()
        assert sequence["b"] == Text()
        assert "b" in sequence
        assert "c" not in sequence


class TestOfSequences(ConnectorSuite):
    connector = Sequence(Sequence(np.int64))
    valid = (
        Case(
            [[1, 2, 3], [], [4, 5]],
            ragged([1, 2, 3, 4, 5], [3, 0, 2]),
            stored={"ragged_flat_values": [1, 2, 3, 4, 5], "ragged_row_lengths_0": [3, 0, 2]},
        ),
        Case(
            [[], []],
            ragged(np.array([], np.int64), [0, 0]),
            stored={"ragged_flat_values": [], "ragged_row_lengths_0": [0, 0]},
        ),
        Case(
            [],
            ragged(np.array([], np.int64), []),
            stored={"ragged_flat_values": [], "ragged_row_lengths_0": []},
        ),
        Case([np.array([1]), (2, 3)], ragged([1, 2, 3], [1, 2])),
        Case(np.array([[1, 2], [3, 4]]), ragged([1, 2, 3, 4], [2, 2])),
    )
    invalid = (
        Bad(
            [[1], 2],
            EncodeTypeError,
            "expected a list, got int 2\n"
            "  at: [1] (Sequence)\n"
            "  hint: give a list, a tuple or an array",
        ),
        Bad([[1, "x"]], EncodeTypeError, match=r"at: \[0\]\[1\] \(Tensor\)"),
        Bad([[1], [2, [3]]], EncodeError, match=r"at: \[1\]\[1\] \(Tensor\)"),
        Bad([None], EncodeTypeError, match=r"at: \[0\] \(Sequence\)"),
    )
    tfds_repr = "Sequence(Sequence(int64))"


class TestOfSequencesOfSequences(ConnectorSuite):
    connector = Sequence(Sequence(Sequence(Tensor(shape=(2,), dtype=np.uint8))))
    valid = (
        Case(
            [[[[1, 2], [3, 4]], []], [], [[[5, 6]]]],
            ragged(np.array([[1, 2], [3, 4], [5, 6]], np.uint8), [2, 0, 1], [2, 0, 1]),
            stored={
                "ragged_flat_values": [1, 2, 3, 4, 5, 6],
                "ragged_row_lengths_0": [2, 0, 1],
                "ragged_row_lengths_1": [2, 0, 1],
            },
        ),
    )
    invalid = (Bad([[[[1]]]], EncodeError, match=r"at: \[0\]\[0\]\[0\] \(Tensor\)"),)


class TestOfLabelsOfRows(ConnectorSuite):
    connector = Sequence(Sequence(ClassLabel(names=["a", "b"])))
    valid = (Case([[], ["b"]], ragged([1], [0, 1])),)
    invalid = (Bad([[], ["c"]], EncodeError, match=r"at: \[1\]\[0\] \(ClassLabel\)"),)
    files = {"x.labels.txt": "a\nb\n"}


class TestOfSequencesOfFixedLength(ConnectorSuite):
    connector = Sequence(Sequence(np.int64, length=2))
    valid = (
        Case(
            [[1, 2], [3, 4]],
            np.array([[1, 2], [3, 4]]),
            stored={"ragged_flat_values": [1, 2, 3, 4], "ragged_row_lengths_0": [2, 2]},
        ),
        Case([], np.zeros((0, 2), np.int64)),
    )
    invalid = (Bad([[1, 2], [3]], EncodeError, match=r"(?s)expected 2 elements.*at: \[1\]"),)


class TestOfDictsOfSequences(ConnectorSuite):
    connector = Sequence({"a": Sequence(np.int32), "in": {"b": Sequence({"c": Text()})}})
    valid = (
        Case(
            [{"a": [1, 2], "in": {"b": [{"c": "x"}]}}, {"a": [], "in": {"b": {"c": ["y", "z"]}}}],
            {
                "a": ragged(np.array([1, 2], np.int32), [2, 0]),
                "in": {"b": {"c": ragged(np.array([b"x", b"y", b"z"], object), [1, 2])}},
            },
            stored={
                "a/ragged_flat_values": [1, 2],
                "a/ragged_row_lengths_0": [2, 0],
                "in/b/c/ragged_flat_values": ["x", "y", "z"],
                "in/b/c/ragged_row_lengths_0": [1, 2],
            },
        ),
    )
    invalid = (
        Bad(
            [{"a": [1], "in": {"b": [{"c": "x"}, {"c": 1}]}}],
            EncodeTypeError,
            match=r"at: \[0\]\.in\.b\[1\]\.c \(Text\)",
        ),
    )


class TestOfEncodedTensors(ConnectorSuite):
    connector = Sequence(Tensor(shape=(None, None), dtype=np.uint8, encoding="zlib"))
    valid = (
        Case(
            [np.zeros((1, 2), np.uint8), np.ones((2, 1), np.uint8)],
            [np.zeros((1, 2), np.uint8), np.ones((2, 1), np.uint8)],
            id="elements of different shapes",
        ),
        Case([np.zeros((1, 2), np.uint8)] * 2, np.zeros((2, 1, 2), np.uint8)),
    )
    invalid = (Bad([[1]], EncodeError, match=r"(?s)shape \(None, None\), got \(1,\).*at: \[0\]"),)


def test_a_generator_is_no_list():
    with pytest.raises(EncodeTypeError, match="expected a list, got generator"):
        Sequence(np.int32).encode_example(i for i in range(3))


# Elements of unknown size.


@pytest.mark.parametrize(
    "feature",
    [
        Sequence(Tensor(shape=(None,), dtype=np.int64)),
        Sequence(Sequence(Tensor(shape=(None,), dtype=np.int64))),
    ],
)
def test_two_unknown_sizes_need_an_encoding(feature):
    with pytest.raises(UnsupportedError) as caught:
        FeaturesDict({"x": feature}).layout  # noqa: B018
    assert "more than one unknown dimension" in str(caught.value)
    assert "at: x\n  hint: use encoding='bytes' or 'zlib'" in str(caught.value)


def test_a_fixed_length_leaves_one_unknown_size():
    feature = Sequence(Tensor(shape=(None,), dtype=np.int64), length=2)
    value = np.array([[1, 2, 3], [4, 5, 6]])
    assert_same(feature.deserialize_example(feature.serialize_example(value)), value)


# Records as other writers make them.


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([[1, 2, 3], [], [4, 5]], [[1, 2, 3], [], [4, 5]]),
        ([[], []], [[], []]),
        ([], []),
    ],
)
def test_ragged_lists_come_back_equal(value, expected):
    features = FeaturesDict({"x": Sequence(Sequence(np.int64))})
    decoded = features.deserialize_example(features.serialize_example({"x": value}))["x"]
    assert isinstance(decoded, RaggedTensor)
    assert decoded.to_list() == expected


def test_three_levels_come_back_equal():
    features = FeaturesDict({"x": Sequence(Sequence(Sequence(np.int64)))})
    value = [[[1, 2], []], [], [[3]]]
    record = features.serialize_example({"x": value})
    assert features.deserialize_example(record)["x"].to_list() == value


def test_the_entries_of_a_ragged_list():
    features = FeaturesDict({"x": Sequence(Sequence(np.int64))})
    record = write_example(
        {
            "x/ragged_flat_values": np.array([1, 2, 3, 4, 5]),
            "x/ragged_row_lengths_0": np.array([3, 0, 2]),
        }
    )
    assert features.serialize_example({"x": [[1, 2, 3], [], [4, 5]]}) == record
    assert features.deserialize_example(record)["x"].to_list() == [[1, 2, 3], [], [4, 5]]


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (
            {"row_lengths_0": [3, 0, 1]},
            "entry 'x/ragged_row_lengths_0' adds up to 4, and there are 5",
        ),
        ({"row_lengths_0": [6, -1]}, "entry 'x/ragged_row_lengths_0' adds up to 5"),
        ({}, "entry 'x/ragged_row_lengths_0' adds up to 0, and there are 5"),
    ],
)
def test_row_lengths_that_do_not_fit_are_refused(entries, message):
    record = write_example(
        {"x/ragged_flat_values": np.arange(5)}
        | {f"x/ragged_{key}": np.array(value) for key, value in entries.items()}
    )
    with pytest.raises(DecodeError) as caught:
        FeaturesDict({"x": Sequence(Sequence(np.int64))}).deserialize_example(record)
    assert message in str(caught.value)
    assert "at: x" in str(caught.value)


def test_an_absent_list_reads_as_empty():
    features = FeaturesDict({"x": Sequence(np.int64), "y": Sequence(Sequence(np.str_))})
    decoded = features.deserialize_example(write_example({}))
    assert_same(decoded["x"], np.array([], np.int64))
    assert decoded["y"].to_list() == []


def test_a_list_of_the_wrong_length_is_refused():
    features = FeaturesDict({"x": Sequence(np.int64, length=3)})
    with pytest.raises(DecodeError, match="entry 'x' has 2 values, which do not fill shape"):
        features.deserialize_example(write_example({"x": np.array([1, 2])}))


def test_list_of_dicts_and_dict_of_lists_make_one_record():
    features = FeaturesDict({"x": Sequence({"a": np.int64, "b": Text()})})
    first = features.serialize_example({"x": [{"a": 1, "b": "x"}, {"a": 2, "b": "yé"}]})
    second = features.serialize_example({"x": {"a": [1, 2], "b": ["x", "yé"]}})
    assert first == second
    assert sorted(read_example(first)) == ["x/a", "x/b"]


def test_a_sequence_of_no_features_has_no_elements():
    features = FeaturesDict({"x": Sequence(FeaturesDict({}))})
    assert features.deserialize_example(features.serialize_example({"x": []})) == {"x": {}}
    with pytest.raises(EncodeError, match="2 elements without features cannot be stored"):
        features.serialize_example({"x": [{}, {}]})


# What the constructor refuses.


@pytest.mark.parametrize("length", [-1, 1.5, "2", True])
def test_lengths_that_make_no_sense(length):
    with pytest.raises(InvalidArgumentError) as caught:
        Sequence(np.int64, length=length)
    assert str(caught.value) == f"length must be an integer >= 0 or None, got {length!r}"


@pytest.mark.parametrize("feature", [None, 3, int, [np.int64]])
def test_the_elements_need_a_feature(feature):
    with pytest.raises(InvalidTypeError, match="expected a connector"):
        Sequence(feature)


@pytest.mark.parametrize("b", [[1, 2, 3], []], ids=["more", "none"])
def test_a_record_whose_lists_differ_in_length_is_refused(b):
    features = FeaturesDict({"s": Sequence({"a": np.int64, "b": np.int64})})
    record = write_example({"s/a": np.array([1]), "s/b": np.array(b, np.int64)})
    for read in (features.deserialize_example, lambda record: features.deserialize_each([record])):
        with pytest.raises(DecodeError) as error:
            read(record)
        assert str(error.value) == (
            f"the elements have different numbers of values: 1 of 'a', {len(b)} of 'b'\n"
            "  at: s (Sequence)\n"
            "  hint: the record is damaged; write it again"
        )
