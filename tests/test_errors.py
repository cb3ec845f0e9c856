"""The exceptions: their text, what they are instances of, and how places are added."""

import copy
import pickle

import numpy as np
import pytest

from featurekit import errors
from featurekit.errors import (
    BuildError,
    DuplicateKeyError,
    EncodeError,
    FeatureKeyError,
    FeatureKitError,
    MissingDependencyError,
    MissingFileError,
    OutOfRangeError,
    RecordIndexError,
    UnknownNameError,
    WriteError,
    add_context,
    add_location,
    add_path,
    did_you_mean,
    format_path,
    short_repr,
)

ALL = [
    item
    for item in vars(errors).values()
    if isinstance(item, type) and issubclass(item, FeatureKitError)
]


def test_the_whole_text():
    error = EncodeError("'caat' is not a class", hint="fix the value")
    add_path(error, "label", "ClassLabel")
    add_path(error, 2, "FeaturesDict")
    add_path(error, "objects", "Sequence")
    add_location(error, file="train-00000", record=5, byte=70)
    add_context(error, "while building pets:1.0.0, split train, key 'img_0042'")
    assert str(error) == (
        "'caat' is not a class\n"
        "  at: objects[2].label (ClassLabel), train-00000, record 5, byte 70\n"
        "  hint: fix the value\n"
        "  while building pets:1.0.0, split train, key 'img_0042'"
    )
    assert error.path == ("objects", 2, "label")
    assert error.connector == "ClassLabel"
    assert (error.file, error.record, error.byte) == ("train-00000", 5, 70)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "what"),
        ({"hint": "how"}, "what\n  hint: how"),
        ({"path": ["a", 0]}, "what\n  at: a[0]"),
        ({"connector": "Text"}, "what\n  at: Text"),
        ({"record": 0}, "what\n  at: record 0"),
        ({"file": "f", "byte": 0}, "what\n  at: f, byte 0"),
    ],
)
def test_only_what_is_known_is_said(arguments, text):
    assert str(FeatureKitError("what", **arguments)) == text


@pytest.mark.parametrize("cls", ALL)
def test_every_error_keeps_its_text(cls):
    # A KeyError would print its text quoted, an OSError its number.
    error = cls("what\nand more", hint="how")
    assert str(error) == "what\nand more\n  hint: how"


@pytest.mark.parametrize("cls", ALL)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_every_error_survives_pickling(cls, protocol):
    error = cls("what", hint="how", path=("a", 1), connector="C", file="f", record=2, byte=3)
    add_context(error, "while testing")
    for again in (pickle.loads(pickle.dumps(error, protocol)), copy.copy(error)):
        assert type(again) is cls
        assert str(again) == str(error)
        assert (again.path, again.record, again.context) == (("a", 1), 2, ("while testing",))


def test_a_duplicate_key_keeps_its_examples_through_pickle():
    error = DuplicateKeyError("twice")
    error.keys, error.positions, error.payloads = (1, 1), (0, 7), (b"a", b"b")
    again = pickle.loads(pickle.dumps(error))
    assert (again.keys, again.positions, again.payloads) == ((1, 1), (0, 7), (b"a", b"b"))


@pytest.mark.parametrize(
    ("cls", "builtin"),
    [
        (EncodeError, ValueError),
        (errors.EncodeTypeError, TypeError),
        (FeatureKeyError, KeyError),
        (FeatureKeyError, EncodeError),
        (errors.DecodeError, ValueError),
        (errors.ParseError, ValueError),
        (errors.CorruptRecordError, ValueError),
        (MissingFileError, FileNotFoundError),
        (WriteError, OSError),
        (RecordIndexError, IndexError),
        (errors.SchemaError, ValueError),
        (errors.DatasetNotFoundError, FileNotFoundError),
        (UnknownNameError, KeyError),
        (UnknownNameError, ValueError),
        (errors.SplitError, ValueError),
        (errors.InvalidArgumentError, ValueError),
        (errors.InvalidTypeError, TypeError),
        (errors.UnsupportedError, NotImplementedError),
        (BuildError, RuntimeError),
        (DuplicateKeyError, BuildError),
        (MissingDependencyError, ImportError),
        (OutOfRangeError, EOFError),
    ],
)
def test_errors_are_what_callers_expect(cls, builtin):
    assert issubclass(cls, builtin)
    assert issubclass(cls, FeatureKitError)


def test_all_errors_are_listed():
    assert {cls.__name__ for cls in ALL} <= set(errors.__all__)


# Errors that are not ours keep type and text.


def test_a_foreign_error_gets_its_place_as_a_note():
    error = ZeroDivisionError("division by zero")
    add_path(error, "x", "Percent")
    add_path(error, 3, "Sequence")
    add_path(error, "list")
    add_location(error, file="f", record=1)
    add_context(error, "while building")
    assert str(error) == "division by zero"
    assert error.__notes__ == [
        "  at: list[3].x (Percent)",
        "  in: f, record 1",
        "  while building",
    ]


def test_a_foreign_error_keeps_its_own_notes():
    error = ValueError("v")
    error.add_note("mine")
    add_path(error, "x")
    add_path(error, "y")
    assert error.__notes__ == ["mine", "  at: y.x"]


def test_the_first_location_counts():
    error = EncodeError("what", file="first", record=1)
    add_location(error, file="second", record=2, byte=3)
    assert (error.file, error.record, error.byte) == ("first", 1, 3)


# Pieces of messages.


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b", 0, 1, "c"], "a.b[0][1].c"),
        ([0, "a"], "[0].a"),
        (["a/b"], "a/b"),
    ],
)
def test_paths(path, text):
    assert format_path(path) == text


@pytest.mark.parametrize(
    ("name", "choices", "text"),
    [
        ("caat", ["cat", "dog"], "; did you mean 'cat'?"),
        ("x", ["cat", "dog"], "; there are 'cat', 'dog'"),
        ("x", [], ""),
        (3, ["a"], "; there are 'a'"),
        ("x", [f"name{i:02}" for i in range(12)], "'name09' and 2 more"),
    ],
)
def test_the_right_names_are_listed(name, choices, text):
    assert did_you_mean(name, choices).endswith(text)


class Unshowable:
    def __repr__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.zeros((3, 3)), "array of shape (3, 3) and dtype float64"),
        (np.arange(3), "array([0, 1, 2])"),
        (np.int64(3), "np.int64(3)"),
        (np.int64, "<class 'numpy.int64'>"),
        (np.datetime64, "<class 'numpy.datetime64'>"),
        (b"x" * 100, "100 bytes beginning b'xxxxxxxxxxxxxxxx'"),
        ("y" * 100, f"'{'y' * 40}'... (100 characters)"),
        (list(range(100)), f"{str(list(range(100)))[:77]}..."),
        (None, "None"),
        ({"x": np.zeros((2, 2), int)}, "{'x': array([[0, 0], [0, 0]])}"),
        (Unshowable(), "a Unshowable that cannot be shown"),
    ],
)
def test_values_are_shown_shortly(value, text):
    assert short_repr(value) == text
