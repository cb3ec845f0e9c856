"""The suite for authors: it passes for a good connector, and each of its tests finds its fault."""

import functools
import inspect
import itertools
import pathlib
import random
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from featurekit.connector import Documentation, FeatureConnector
from featurekit.connectors.tensor import Tensor
from featurekit.errors import EncodeError, InvalidArgumentError
from featurekit.tensor_info import TensorInfo
from featurekit.testing import Bad, Case, ConnectorSuite
from featurekit.testing.base import SuiteBase


class Good(FeatureConnector):
    """Twice the value is stored."""

    def __init__(self, *, factor=2, doc=None):
        super().__init__(doc=doc)
        self.factor = factor

    def get_tensor_info(self):
        return TensorInfo((), np.int64)

    def encode_example(self, value):
        if not isinstance(value, int):
            raise EncodeError(f"expected an int, got {value!r}")
        return value * self.factor

    def decode_example(self, stored):
        return stored // self.factor

    def to_json_content(self):
        return {"factor": self.factor}


class SuiteOfGood(ConnectorSuite):
    connector = Good()
    valid = (Case(3, np.int64(3), stored=[6]), Case(0, np.int64(0), stored=[0]))
    invalid = (Bad("x", EncodeError, "expected an int, got 'x'"),)
    unequal = (Good(factor=3),)


def run(suite, tmp_path):
    """The names of the tests that fail."""
    failed, counter = set(), itertools.count()
    for name, test in inspect.getmembers(suite(), inspect.ismethod):
        if not name.startswith("test_"):
            continue
        needs = inspect.signature(test).parameters
        axes = {"case": suite.valid, "bad": suite.invalid}
        for values in itertools.product(*(axes[need] for need in needs if need in axes)):
            arguments = dict(zip([need for need in needs if need in axes], values, strict=True))
            if "tmp_path" in needs:
                arguments["tmp_path"] = tmp_path / str(next(counter))
                arguments["tmp_path"].mkdir()
            try:
                test(**arguments)
            except Exception:
                failed.add(name)
    return failed


def test_a_good_connector_passes(tmp_path):
    assert run(SuiteOfGood, tmp_path) == set()


# Connectors with one fault each, and a test that finds it.


class WrongDtype(Good):
    def decode_example(self, stored):
        return np.int32(super().decode_example(stored))


class PythonValue(Good):
    def decode_example(self, stored):
        return int(super().decode_example(stored))


class StoresOther(Good):
    def get_serialized_info(self):
        return TensorInfo((), np.int8)

    def encode_example(self, value):
        return np.array(super().encode_example(value), np.int64)


class LosesArgument(Good):
    def to_json_content(self):
        return {}


class JsonOfTuples(Good):
    def to_json_content(self):
        return {"factor": self.factor, "unused": (1, 2)}

    @classmethod
    def from_json_content(cls, value):
        return cls(factor=value["factor"] if isinstance(value["unused"], tuple) else 7)


class Unpicklable(Good):
    def __init__(self, **arguments):
        super().__init__(**arguments)
        self.convert = lambda value: value


class Random(Good):
    def encode_example(self, value):
        super().encode_example(value)
        return value * 4 + random.choice([0, 1, 2, 3])

    def decode_example(self, stored):
        return stored // 4


class NeverEqual(Good):
    def __eq__(self, other):
        return self is other

    __hash__ = Good.__hash__


class AlwaysEqual(Good):
    def __eq__(self, other):
        return isinstance(other, Good)

    __hash__ = Good.__hash__


class HashOfIdentity(Good):
    __eq__ = Good.__eq__

    def __hash__(self):
        return id(self)


class OddRepr(Good):
    def __repr__(self):
        return f"<connector at {id(self):x}>"


class RawHtml(Good):
    def repr_html(self, value):
        return f"<script>{value}</script>"


class BatchDiffers(Good):
    def decode_batch_example(self, stored):
        return np.asarray(stored)


class BatchIsList(Good):
    def decode_batch_example(self, stored):
        return [self.decode_example(item) for item in stored]


class TakesAnything(Good):
    def encode_example(self, value):
        return super().encode_example(value if isinstance(value, int) else 0)


class HidesPlace(Good):
    def encode_batch_example(self, values):
        try:
            return super().encode_batch_example(values)
        except EncodeError as error:
            raise EncodeError(error.message) from None


class LosesDoc(Good):
    @property
    def doc(self):
        return Documentation()


class WritesFiles(Good):
    def save_metadata(self, data_dir, feature_name):
        (pathlib.Path(data_dir) / "more.txt").write_text("x")


@pytest.mark.parametrize(
    ("cls", "found_by"),
    [
        (WrongDtype, "test_is_read_back"),
        (WrongDtype, "test_decoded_value_fits_the_tensor_info"),
        (PythonValue, "test_decodes_what_it_encodes"),
        (PythonValue, "test_is_read_back_within_a_dict"),
        (StoresOther, "test_encoded_value_fits_the_serialized_info"),
        (
            functools.partial(LosesArgument, factor=3),
            "test_restored_connector_stores_and_reads_the_same",
        ),
        (functools.partial(JsonOfTuples, factor=3), "test_json_gives_the_connector_back"),
        (Unpicklable, "test_pickle_gives_the_connector_back"),
        (Random, "test_same_value_gives_same_bytes"),
        (NeverEqual, "test_equality_and_hash"),
        (AlwaysEqual, "test_equality_and_hash"),
        (HashOfIdentity, "test_equality_and_hash"),
        (OddRepr, "test_repr"),
        (RawHtml, "test_is_shown_as_html"),
        (BatchDiffers, "test_sequence_of_all_values"),
        (BatchDiffers, "test_batch"),
        (BatchDiffers, "test_sequence_of_fixed_length"),
        (BatchDiffers, "test_sequence_of_sequences"),
        (BatchIsList, "test_sequence_of_all_values"),
        (TakesAnything, "test_bad_value_is_refused"),
        (HidesPlace, "test_error_names_the_element"),
        (LosesDoc, "test_documentation_is_kept"),
        (WritesFiles, "test_files_are_as_stated"),
    ],
)
def test_a_fault_is_found(cls, found_by, tmp_path):
    random.seed(0)
    suite = type("SuiteOfBad", (SuiteOfGood,), {"connector": staticmethod(lambda: cls())})
    assert found_by in run(suite, tmp_path)


# Every attribute that a suite states is looked at.


@pytest.mark.parametrize(
    ("attribute", "value", "found_by"),
    [
        ("connector", Good(factor=5), "test_is_stored_as_stated"),
        ("valid", (Case(3, np.int64(4)),), "test_is_read_back"),
        ("valid", (Case(3, np.int64(3), stored=[7]),), "test_is_stored_as_stated"),
        ("valid", (Case(3, np.int64(3), stored={"a": [6]}),), "test_is_stored_as_stated"),
        ("valid", (Case(3, np.int64(3), stored=[6.0]),), "test_is_stored_as_stated"),
        ("valid", (Case(3, np.int64(3), stored={}),), "test_is_stored_as_stated"),
        ("invalid", (Bad(3, EncodeError, match="."),), "test_bad_value_is_refused"),
        ("invalid", (Bad("x", KeyError, match="."),), "test_bad_value_is_refused"),
        ("invalid", (Bad("x", EncodeError, "expected"),), "test_bad_value_is_refused"),
        ("invalid", (Bad("x", EncodeError, match="^got"),), "test_bad_value_is_refused"),
        ("unequal", (Good(),), "test_equality_and_hash"),
        ("tfds_json", {"pythonClassName": "x.Y"}, "test_json_is_what_tfds_writes"),
        ("tfds_repr", "Good()", "test_repr"),
        ("files", {"x.txt": ""}, "test_files_are_as_stated"),
        ("in_sequence", False, "test_sequences_are_as_stated"),
        ("in_nested_sequence", False, "test_sequences_are_as_stated"),
    ],
)
def test_what_is_stated_is_looked_at(attribute, value, found_by, tmp_path):
    suite = type("Suite", (SuiteOfGood,), {attribute: value})
    assert found_by in run(suite, tmp_path)


def test_these_are_all_attributes():
    stated = set(SuiteBase.__annotations__)
    (mark,) = test_what_is_stated_is_looked_at.pytestmark
    assert stated == {row[0] for row in mark.args[1]}


def test_a_connector_that_writes_to_its_input_is_found(tmp_path):
    class Clears(Tensor):
        def encode_example(self, value):
            array = super().encode_example(value).copy()
            value[:] = 0
            return array

    class Suite(ConnectorSuite):
        connector = Clears(shape=(2,), dtype=np.int64)
        valid = (Case(np.array([1, 2]), np.array([1, 2])),)

    assert "test_encoding_leaves_the_value_alone" in run(Suite, tmp_path)


def test_a_sequence_that_cannot_be_is_found(tmp_path):
    class Suite(ConnectorSuite):
        connector = Tensor(shape=(None,), dtype=np.int64)
        valid = (Case(np.array([1, 2])),)

    assert "test_sequences_are_as_stated" in run(Suite, tmp_path)


def test_a_sequence_that_cannot_be_is_stated(tmp_path):
    class Suite(ConnectorSuite):
        connector = Tensor(shape=(None,), dtype=np.int64)
        valid = (Case(np.array([1, 2])),)
        in_sequence = in_nested_sequence = False

    assert run(Suite, tmp_path) == set()


# In pytest.


def collected(tmp_path, body):
    """The result of pytest on a file of tests, in a process of its own."""
    (tmp_path / "test_percent.py").write_text(textwrap.dedent(body))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    return done.returncode, done.stdout


SUITE = """
    import numpy as np
    from featurekit.connectors.scalar import Scalar
    from featurekit.errors import EncodeError
    from featurekit.testing import Bad, Case, ConnectorSuite

    class TestByte(ConnectorSuite):
        connector = Scalar(np.uint8)
        valid = ({valid})
        invalid = (Bad(300, EncodeError, match="300 does not fit"),)
"""


def test_pytest_collects_a_test_for_every_value(tmp_path):
    body = SUITE.format(valid="Case(7, np.uint8(7)), Case(8, np.uint8(8), id='eight'),")
    code, output = collected(tmp_path, body)
    assert code == 0
    cases = [n for n, f in inspect.getmembers(ConnectorSuite) if n.startswith("test_")]
    per_case = [
        n for n in cases if "case" in inspect.signature(getattr(ConnectorSuite, n)).parameters
    ]
    assert f"{len(cases) + len(per_case)} passed" in output


def test_a_suite_without_values_is_an_error(tmp_path):
    code, output = collected(tmp_path, SUITE.format(valid=""))
    assert code != 0
    assert "TestByte states no valid value" in output


def test_a_bad_value_states_its_text():
    with pytest.raises(InvalidArgumentError) as caught:
        Bad(1, ValueError)
    assert str(caught.value) == (
        "a Bad value states the text of its error\n  hint: give message= or match="
    )
