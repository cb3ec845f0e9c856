"""ClassLabel: numbers and names of classes, and the files of names."""

import logging

import numpy as np
import pytest

from featurekit.connector import FeatureConnector
from featurekit.connectors.class_label import ClassLabel
from featurekit.connectors.features_dict import FeaturesDict
from featurekit.connectors.sequence import Sequence
from featurekit.errors import (
    EncodeError,
    EncodeTypeError,
    InvalidArgumentError,
    InvalidTypeError,
    MissingFileError,
    SchemaError,
    UnknownNameError,
)
from featurekit.testing import Bad, Case, ConnectorSuite

NAME = "tensorflow_datasets.core.features.class_label_feature.ClassLabel"


class TestNamed(ConnectorSuite):
    connector = ClassLabel(names=["bird", "cat", "dog"])
    valid = (
        Case("cat", np.int64(1), stored=[1]),
        Case(b"dog", np.int64(2), stored=[2]),
        Case(0, np.int64(0), stored=[0]),
        Case(np.uint8(2), np.int64(2)),
        Case(np.array(1), np.int64(1)),
        Case(-1, np.int64(-1), stored=[-1], id="no label"),
    )
    invalid = (
        Bad(
            "caat",
            EncodeError,
            "'caat' is not one of the 3 classes ('bird', 'cat', 'dog'); did you mean 'cat'?\n"
            "  hint: fix the value, or add the class to names=",
        ),
        Bad(
            3,
            EncodeError,
            "3 is not a class: there are 3, from 0\n  hint: use -1 for an example without a label",
        ),
        Bad(
            0.5,
            EncodeTypeError,
            "expected the number or name of a class, got float 0.5\n"
            "  hint: give an int, or a name as str",
        ),
        Bad(-2, EncodeError, match="-2 is not a class: there are 3, from 0"),
        Bad("zzz", EncodeError, match=r"'zzz' is not one of the 3 classes \('bird'"),
        Bad("1", EncodeError, match="'1' is not one of the 3 classes"),
        Bad(b"\xff", EncodeError, match="is not one of the 3 classes"),
        Bad(True, EncodeTypeError, match="got bool True"),
        Bad(np.True_, EncodeTypeError, match="got bool"),
        Bad(1.0, EncodeTypeError, match=r"got float 1\.0"),
        Bad(None, EncodeTypeError, match="got NoneType None"),
        Bad([1], EncodeTypeError, match=r"got list \[1\]"),
        Bad(np.array([1]), EncodeTypeError, match="got ndarray"),
    )
    unequal = (
        ClassLabel(num_classes=3),
        ClassLabel(names=["bird", "cat", "fish"]),
        ClassLabel(names=["bird", "dog", "cat"]),
    )
    files = {"x.labels.txt": "bird\ncat\ndog\n"}
    tfds_json = {"pythonClassName": NAME, "classLabel": {"numClasses": "3"}}
    tfds_repr = "ClassLabel(shape=(), dtype=int64, num_classes=3)"


class TestNumbered(ConnectorSuite):
    connector = ClassLabel(num_classes=3, doc="how many")
    valid = (
        Case(2, np.int64(2), stored=[2]),
        Case("1", np.int64(1)),
        Case(-1, np.int64(-1)),
    )
    invalid = (
        Bad("3", EncodeError, match=r"'3' is not one of the 3 classes \('0', '1', '2'\)"),
        Bad("x", EncodeError, match="'x' is not one of the 3 classes"),
        Bad("-1", EncodeError, match="'-1' is not one of the 3 classes"),
        Bad("\N{ARABIC-INDIC DIGIT ONE}", EncodeError, match="is not one of the 3 classes"),
        Bad(3, EncodeError, match="3 is not a class"),
        Bad(2**63, EncodeError, match="9223372036854775808 is not a class"),
        Bad(1.5, EncodeTypeError, match=r"got float 1\.5"),
    )
    unequal = (ClassLabel(num_classes=4), ClassLabel(num_classes=3), ClassLabel())
    tfds_json = {
        "pythonClassName": NAME,
        "classLabel": {"numClasses": "3"},
        "description": "how many",
    }
    tfds_repr = "ClassLabel(shape=(), dtype=int64, num_classes=3)"


class TestNoClasses(ConnectorSuite):
    connector = ClassLabel(num_classes=0)
    valid = (Case(-1, np.int64(-1)),)
    invalid = (Bad(0, EncodeError, match="0 is not a class: there are 0, from 0"),)
    tfds_json = {"pythonClassName": NAME, "classLabel": {}}


@pytest.mark.parametrize("value", [0, -1, "x"])
def test_a_label_without_classes_takes_nothing(value):
    with pytest.raises(EncodeError) as caught:
        FeaturesDict({"y": ClassLabel()}).encode_example({"y": value})
    assert str(caught.value) == (
        "this ClassLabel has no classes\n"
        "  at: y (ClassLabel)\n"
        "  hint: declare it with num_classes=, names= or names_file="
    )


# Names and numbers.


def test_names_and_numbers():
    label = ClassLabel(names=["a", b"b", "é"])
    assert label.names == ["a", "b", "é"]
    assert [label.str2int(name) for name in ("é", b"a")] == [2, 0]
    assert [label.int2str(number) for number in (0, np.int64(2))] == ["a", "é"]
    label.names.append("d")  # a copy
    assert label.num_classes == 3


def test_numbers_are_names_where_there_are_none():
    label = ClassLabel(num_classes=2)
    assert label.names == ["0", "1"]
    assert (label.str2int("1"), label.int2str(1)) == (1, "1")


@pytest.mark.parametrize("number", [-1, 2, 10])
def test_a_number_that_is_no_class_has_no_name(number):
    with pytest.raises(InvalidArgumentError, match=f"{number} is not the number of one of the 2"):
        ClassLabel(num_classes=2).int2str(number)


def test_an_unknown_name_has_no_number():
    with pytest.raises(UnknownNameError) as caught:
        ClassLabel(names=["yes", "no"]).str2int("yess")
    assert str(caught.value) == (
        "'yess' is not one of the 2 classes ('yes', 'no'); did you mean 'yes'?\n"
        "  hint: fix the name, or add it to names="
    )


def test_of_many_names_some_are_shown():
    label = ClassLabel(names=[f"class {i}" for i in range(100)])
    with pytest.raises(EncodeError) as caught:
        label.encode_example("nothing like it")
    assert "'class 9', ...)" in str(caught.value)
    assert "'class 10'" not in str(caught.value)


def test_names_can_be_set_once():
    label = ClassLabel()
    label.names = ["a", "b"]
    assert label.num_classes == 2
    label.names = ["a", "b"]
    with pytest.raises(InvalidArgumentError, match="already named") as caught:
        label.names = ["b", "a"]
    assert "hint: make a new ClassLabel" in str(caught.value)


def test_names_cannot_contradict_the_number_of_classes():
    label = ClassLabel(num_classes=3)
    with pytest.raises(InvalidArgumentError) as caught:
        label.names = ["a", "b"]
    assert str(caught.value) == (
        "there are 3 classes, got 2 names\n  hint: give a name for every class"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"num_classes": 2, "names": ["a", "b"]},
            "a ClassLabel takes one of num_classes=, names= and names_file=\n"
            "  hint: names= alone also says how many classes there are",
        ),
        (
            {"names": ["a", "b", "a"]},
            "class name 'a' is there twice\n  hint: every class needs its own name",
        ),
        ({"num_classes": -1}, "num_classes must be an integer >= 0, got -1"),
        ({"num_classes": 2.0}, "num_classes must be an integer >= 0, got 2.0"),
        ({"num_classes": True}, "num_classes must be an integer >= 0, got True"),
        (
            {"names": ["a", "b\nc"]},
            "class name 'b\\nc' cannot be a line of a file\n"
            "  hint: datasets keep class names one a line: a name needs a character and no line "
            "break",
        ),
        ({"names": ["a", "b\r"]}, "class name 'b\\r' cannot be a line of a file"),
        ({"names": ["a", " "]}, "class name ' ' cannot be a line of a file"),
        ({"names": ["\ufeffa", "b"]}, "class name '\\ufeffa' begins with a byte order mark"),
        ({"names": ["a", ""]}, "class name '' cannot be a line of a file"),
        ({"names": ["a", " a"]}, "class name 'a' is there twice"),
        ({"names": [b"\xff"]}, "class name b'\\xff' is not UTF-8"),
        ({"names": ["\ud800"]}, "class name '\\ud800' is not UTF-8"),
    ],
)
def test_arguments_that_make_no_sense(arguments, message):
    with pytest.raises(InvalidArgumentError) as caught:
        ClassLabel(**arguments)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("ab", "names must be a list of names, got str 'ab'\n  hint: write names=['ab']"),
        (
            [1, 2],
            "a class name must be str, got int 1\n"
            "  hint: use num_classes= for classes without names",
        ),
    ],
)
def test_names_of_another_type(names, message):
    with pytest.raises(InvalidTypeError) as caught:
        ClassLabel(names=names)
    assert str(caught.value) == message


def test_white_space_at_the_ends_of_names_is_said_to_be_lost(tmp_path, caplog):
    with caplog.at_level(logging.WARNING, "featurekit"):
        features = FeaturesDict({"y": ClassLabel(names=["with space", " lead"])})
    assert [record.getMessage() for record in caplog.records] == [
        "class name ' lead' has white space at an end, which the dataset's file of names loses"
    ]
    assert features["y"].str2int(" lead") == 1
    features.save_config(tmp_path)
    assert FeatureConnector.from_config(tmp_path)["y"].names == ["with space", "lead"]


# Files of names.


@pytest.mark.parametrize(
    ("data", "names"),
    [
        (b"cat \r\n\r\n dog\t\r\nbird\r\n\r\n", ["cat", "dog", "bird"]),
        ("chat\nchien à poil\n日本\n".encode(), ["chat", "chien à poil", "日本"]),
        (b"\xef\xbb\xbfcat\ndog\n", ["cat", "dog"]),
        (b"cat\ndog", ["cat", "dog"]),
        (b"", []),
    ],
)
def test_a_file_of_names(tmp_path, data, names, caplog):
    path = tmp_path / "names.txt"
    path.write_bytes(data)
    with caplog.at_level(logging.WARNING, "featurekit"):
        label = ClassLabel(names_file=path)
    assert label.names == names
    assert label.num_classes == len(names)
    inner_gap = b"\r\n\r\n " in data
    assert [record.getMessage() for record in caplog.records] == (
        [f"{path}: line 2 is empty and not counted as a class"] if inner_gap else []
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a\na\nb\n", "class name 'a' is there twice"),
        (
            "café\n".encode("latin-1"),
            "the file of class names is not UTF-8: invalid continuation byte at byte 3",
        ),
    ],
)
def test_a_file_of_names_that_is_wrong(tmp_path, data, message):
    path = tmp_path / "names.txt"
    path.write_bytes(data)
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        ClassLabel(names_file=path)
    assert f"at: {path}" in str(caught.value)


def test_a_file_of_names_that_is_missing(tmp_path):
    with pytest.raises(MissingFileError) as caught:
        ClassLabel(names_file=tmp_path / "no.txt")
    assert str(caught.value).startswith("the file of class names does not exist\n  at: /")


def test_files_are_named_after_the_path_of_the_feature(tmp_path):
    features = FeaturesDict(
        {
            "y": ClassLabel(names=["a"]),
            "z": ClassLabel(num_classes=2),
            "objects": Sequence({"label": ClassLabel(names=["b"]), "a/b": ClassLabel(names=["c"])}),
        }
    )
    features.save_config(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "features.json",
        "objects-a.b.labels.txt",
        "objects-label.labels.txt",
        "y.labels.txt",
    ]
    again = FeatureConnector.from_config(tmp_path)
    assert again == features
    assert again["objects"]["label"].names == ["b"]


def test_a_file_that_contradicts_features_json_is_refused(tmp_path):
    features = FeaturesDict({"y": ClassLabel(names=["a", "b"])})
    features.save_config(tmp_path)
    (tmp_path / "y.labels.txt").write_text("a\n")
    with pytest.raises(SchemaError) as caught:
        FeatureConnector.from_config(tmp_path)
    assert str(caught.value) == (
        "the classes are not those of features.json: there are 2 classes, got 1 names\n"
        f"  at: {tmp_path / 'y.labels.txt'}\n"
        "  hint: restore the file from where the dataset was built"
    )


@pytest.mark.parametrize("content", [{"num_classes": 2}, {"names": ["a", "b"]}])
def test_legacy_json_is_read(content):
    label = FeatureConnector.from_json({"type": NAME, "content": content})
    assert label.num_classes == 2


@pytest.mark.parametrize(
    ("label", "value", "shown"),
    [
        (ClassLabel(names=["<a>", "b"]), np.int64(0), "0 (&lt;a&gt;)"),
        (ClassLabel(num_classes=2), 1, "1"),
        (ClassLabel(num_classes=2), -1, "-"),
    ],
)
def test_html_shows_number_and_name(label, value, shown):
    assert label.repr_html(value) == shown
