"""FeaturesDict: named features, nested and at the top of an example."""

import types

import numpy as np
import pytest

from featurekit.connector import Documentation, FeatureConnector
from featurekit.connectors.class_label import ClassLabel
from featurekit.connectors.features_dict import FeaturesDict, to_feature
from featurekit.connectors.sequence import Sequence
from featurekit.connectors.tensor import Tensor
from featurekit.connectors.text import Text
from featurekit.errors import (
    DecodeError,
    EncodeError,
    EncodeTypeError,
    FeatureKeyError,
    InvalidNameError,
    InvalidTypeError,
    ParseError,
    SchemaError,
)
from featurekit.io.columns import read_example, write_example
from featurekit.testing import Bad, Case, ConnectorSuite, assert_same

NAME = "tensorflow_datasets.core.features.features_dict.FeaturesDict"
SEQUENCE = "tensorflow_datasets.core.features.sequence_feature.Sequence"
TENSOR = "tensorflow_datasets.core.features.tensor_feature.Tensor"
TEXT = "tensorflow_datasets.core.features.text_feature.Text"


class TestNested(ConnectorSuite):
    connector = FeaturesDict(
        {"n": np.int32, "in": {"text": Text(), "label": ClassLabel(names=["a", "b"])}}
    )
    valid = (
        Case(
            {"n": 1, "in": {"text": "x", "label": "b"}},
            {"n": np.int32(1), "in": {"text": b"x", "label": np.int64(1)}},
            stored={"n": [1], "in/text": [b"x"], "in/label": [1]},
        ),
        Case(
            types.MappingProxyType({"in": {"label": 0, "text": b""}, "n": np.int64(2)}),
            {"n": np.int32(2), "in": {"text": b"", "label": np.int64(0)}},
            id="another mapping, another order",
        ),
    )
    invalid = (
        Bad(
            {"n": 1, "on": 2},
            FeatureKeyError,
            "the example lacks 'in', and has 'on', which is not declared\n"
            "  hint: yield every feature that is declared; one that may be missing needs "
            "optional=True, and None where it is",
        ),
        Bad(
            {"n": 1},
            FeatureKeyError,
            "the example lacks 'in'\n"
            "  hint: yield every feature that is declared; one that may be missing needs "
            "optional=True, and None where it is",
        ),
        Bad(
            {},
            FeatureKeyError,
            "the example lacks 'n', 'in'\n"
            "  hint: yield every feature that is declared; one that may be missing needs "
            "optional=True, and None where it is",
        ),
        Bad(
            {"n": 1, "in": {"text": "x", "label": 0}, "nn": 2},
            FeatureKeyError,
            "the example has 'nn', which the features do not declare; did you mean 'n'?\n"
            "  hint: declare the feature, or leave the value out",
            id="one too many",
        ),
        Bad(
            [1, 2],
            EncodeTypeError,
            "expected a dict with 'n', 'in', got list [1, 2]\n"
            "  hint: give a value for every feature, by its name",
        ),
        Bad(
            {"n": 1, "in": {"text": "x", "label": "c"}},
            EncodeError,
            "'c' is not one of the 2 classes ('a', 'b')\n"
            "  at: in.label (ClassLabel)\n"
            "  hint: fix the value, or add the class to names=",
            id="wrong label",
        ),
        Bad(None, EncodeTypeError, match="got NoneType None"),
        Bad(
            {"n": 1, "in": None}, EncodeTypeError, match=r"(?s)got NoneType.*at: in \(FeaturesDict"
        ),
    )
    unequal = (
        FeaturesDict({"n": np.int32}),
        FeaturesDict(
            {"n": np.int64, "in": {"text": Text(), "label": ClassLabel(names=["a", "b"])}}
        ),
        FeaturesDict({"n": np.int32, "in": {"text": Text(), "label": ClassLabel(num_classes=2)}}),
    )
    files = {"x-in-label.labels.txt": "a\nb\n"}
    tfds_repr = (
        "FeaturesDict({\n"
        "    'in': FeaturesDict({\n"
        "        'label': ClassLabel(shape=(), dtype=int64, num_classes=2),\n"
        "        'text': Text(shape=(), dtype=string),\n"
        "    }),\n"
        "    'n': int32,\n"
        "})"
    )


class TestOfSequences(ConnectorSuite):
    connector = FeaturesDict(
        {"ids": Sequence(np.int64), "size": Tensor(shape=(2,), dtype=np.uint8)}
    )
    valid = (
        Case(
            {"ids": [1, 2, 3], "size": [4, 5]},
            {"ids": np.array([1, 2, 3]), "size": np.array([4, 5], np.uint8)},
            stored={"ids": [1, 2, 3], "size": [4, 5]},
        ),
        Case(
            {"ids": [], "size": [0, 0]},
            {"ids": np.array([], np.int64), "size": np.array([0, 0], np.uint8)},
            stored={"ids": [], "size": [0, 0]},
        ),
    )
    invalid = (
        Bad({"ids": [1, 1.5], "size": [0, 0]}, EncodeError, match=r"(?s)1\.5 is not.*at: ids\[1\]"),
    )
    tfds_json = {
        "pythonClassName": NAME,
        "featuresDict": {
            "features": {
                "ids": {
                    "pythonClassName": SEQUENCE,
                    "sequence": {
                        "feature": {
                            "pythonClassName": TENSOR,
                            "tensor": {"shape": {}, "dtype": "int64", "encoding": "none"},
                        },
                        "length": "-1",
                    },
                },
                "size": {
                    "pythonClassName": TENSOR,
                    "tensor": {
                        "shape": {"dimensions": ["2"]},
                        "dtype": "uint8",
                        "encoding": "none",
                    },
                },
            }
        },
    }


class TestOptionalFeatures(ConnectorSuite):
    connector = FeaturesDict({"a": Tensor(shape=(), dtype=np.int8, optional=True), "b": np.bool_})
    valid = (
        Case({"a": None, "b": True}, {"a": None, "b": np.True_}, stored={"b": [1]}),
        Case({"a": 1, "b": 0}, {"a": np.int8(1), "b": np.False_}, stored={"a": [1], "b": [0]}),
    )
    invalid = (
        Bad({"a": 1, "b": None}, EncodeTypeError, match="expected bool, got NoneType None"),
        Bad({"b": True}, FeatureKeyError, match="the example lacks 'a'"),
    )
    in_sequence = False  # a list of numbers has no place for a missing one
    in_nested_sequence = False


def test_of_no_features():
    features = FeaturesDict({"x": FeaturesDict({}), "y": np.int64})
    record = features.serialize_example({"x": {}, "y": 1})
    assert list(read_example(record)) == ["y"]
    assert_same(features.deserialize_example(record), {"x": {}, "y": np.int64(1)})
    assert repr(FeaturesDict({})) == "FeaturesDict({\n})"


# A mapping.


def test_it_is_a_mapping_of_its_features():
    features = FeaturesDict({"b": np.int64, "a": Text()})
    assert list(features) == list(features.keys()) == ["b", "a"]
    assert features["a"] == Text()
    assert (len(features), "a" in features, "c" in features) == (2, True, False)
    assert [type(feature) for feature in features.values()] == [Tensor, Text]
    assert dict(features.items()) == {**features}


def test_an_unknown_name_names_the_closest():
    with pytest.raises(KeyError) as caught:
        FeaturesDict({"image": np.int64})["imag"]
    assert str(caught.value) == "there is no feature 'imag'; did you mean 'image'?"


def test_shapes_and_dtypes_are_dicts():
    features = FeaturesDict({"a": np.int64, "b": {"c": Tensor(shape=(None, 2), dtype=np.str_)}})
    assert features.shape == {"a": (), "b": {"c": (None, 2)}}
    assert features.dtype == {"a": np.int64, "b": {"c": np.object_}}


# What stands for a feature.


def test_dtypes_and_dicts_stand_for_features():
    assert to_feature(np.int64) == to_feature(np.dtype("int64")) == Tensor(shape=(), dtype=np.int64)
    assert to_feature({"a": np.str_}) == FeaturesDict({"a": Tensor(shape=(), dtype=np.str_)})
    text = Text()
    assert to_feature(text) is text


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            int,
            "expected a connector or a NumPy dtype, got <class 'int'>\n"
            "  at: x\n"
            "  hint: use np.int64, np.float32, np.bool_, np.str_, or Text()",
        ),
        (
            Text,
            "expected a connector, got the class Text\n  at: x\n  hint: write Text(...)",
        ),
        (
            3,
            "expected a connector, a NumPy dtype or a dict, got 3\n"
            "  at: x\n"
            "  hint: use a connector such as Text(), or a dtype such as np.int64",
        ),
        (None, "expected a connector, a NumPy dtype or a dict, got None"),
        ([np.int64], "expected a connector or a NumPy dtype, got [<class 'numpy.int64'>]"),
        ("integer", "expected a connector or a NumPy dtype, got 'integer'"),
    ],
)
def test_what_is_no_feature_is_refused(value, message):
    with pytest.raises(InvalidTypeError) as caught:
        FeaturesDict({"x": value})
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("argument", [None, [("a", np.int64)], "a"])
def test_features_are_a_dict(argument):
    with pytest.raises(InvalidTypeError) as caught:
        FeaturesDict(argument)
    assert str(caught.value) == (
        f"expected a dict of features, got {type(argument).__name__}\n"
        "  hint: write FeaturesDict({'name': feature, ...})"
    )


def test_names_are_text():
    with pytest.raises(InvalidTypeError, match="a feature's name must be str, got 1"):
        FeaturesDict({1: np.int64})


def test_names_that_make_one_key_are_refused():
    features = FeaturesDict({"a/b": np.int64, "a": {"b": np.int64}})
    with pytest.raises(SchemaError) as caught:
        features.layout  # noqa: B018
    assert str(caught.value) == (
        "two features are stored under the key 'a/b'\n"
        "  at: a.b\n"
        "  hint: rename one of them; a '/' in a name counts as nesting"
    )


# Records that do not fit.


def test_a_record_without_the_entry_names_it():
    features = FeaturesDict({"a": {"b": np.int64}})
    with pytest.raises(DecodeError) as caught:
        features.deserialize_example(write_example({}))
    assert str(caught.value) == (
        "the record has no entry 'a/b'\n"
        "  at: a.b\n"
        "  hint: the record was written with other features; check features.json"
    )


def test_an_entry_of_another_kind_is_named():
    features = FeaturesDict({"a": np.int64})
    with pytest.raises(ParseError, match="'a'"):
        features.deserialize_example(write_example({"a": [b"text"]}))


@pytest.mark.parametrize("record", [b"\xff", b"\x0a\x05", b"\x0a\x03\x0a\x01"])
def test_bytes_that_are_no_example_are_refused(record):
    with pytest.raises(ParseError):
        FeaturesDict({"a": np.int64}).deserialize_example(record)


def test_a_stored_number_that_the_dtype_cannot_hold_is_refused():
    features = FeaturesDict({"a": np.uint8})
    with pytest.raises(DecodeError) as caught:
        features.deserialize_example(write_example({"a": np.array([300])}))
    assert str(caught.value) == (
        "stored value 300 does not fit uint8\n"
        "  at: a\n"
        "  hint: the record was written with another dtype; check features.json"
    )


def test_an_entry_that_is_not_declared_is_skipped():
    record = write_example({"a": np.array([1]), "more": [b"x"]})
    assert_same(FeaturesDict({"a": np.int64}).deserialize_example(record), {"a": np.int64(1)})


# JSON.


def test_documentation_of_every_level_is_kept():
    features = FeaturesDict(
        {"a": Text(doc="inner"), "b": FeaturesDict({}, doc=Documentation("d", "r"))}, doc="outer"
    )
    again = FeatureConnector.from_json(features.to_feature_json())
    assert again == features
    assert again.doc == Documentation("outer")
    assert (again["a"].doc.desc, again["b"].doc.value_range) == ("inner", "r")


def test_an_error_in_the_json_names_the_feature():
    json = {
        "pythonClassName": NAME,
        "featuresDict": {
            "features": {
                "a": {
                    "pythonClassName": NAME,
                    "featuresDict": {"features": {"b": {"pythonClassName": TENSOR, "tensor": {}}}},
                }
            }
        },
    }
    with pytest.raises(InvalidTypeError) as caught:
        FeatureConnector.from_json(json)
    assert "'' is not the dtype of a feature" in str(caught.value)
    assert "\n  at: a.b" in str(caught.value)


def test_a_name_that_is_not_utf8_is_refused():
    with pytest.raises(InvalidNameError) as caught:
        FeaturesDict({"\ud800": np.int64})
    assert str(caught.value) == (
        "a feature's name must be UTF-8, got '\\ud800'\n"
        "  hint: decode it with its own encoding first"
    )
