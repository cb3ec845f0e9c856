"""Connectors of authors: short ones, subclasses, and the ones that files name."""

import importlib.metadata
import json
import logging
import sys

import numpy as np
import pytest

from featurekit import registry
from featurekit.connector import FeatureConnector
from featurekit.connectors.class_label import ClassLabel
from featurekit.connectors.dataset import Dataset
from featurekit.connectors.features_dict import FeaturesDict
from featurekit.connectors.opaque import Opaque
from featurekit.connectors.sequence import Sequence
from featurekit.connectors.tensor import Tensor
from featurekit.connectors.text import Text
from featurekit.errors import EncodeError, InvalidTypeError, SchemaError
from featurekit.io.columns import write_example
from featurekit.io.ragged import RaggedTensor
from featurekit.tensor_info import TensorInfo
from featurekit.testing import Bad, Case, ConnectorSuite, assert_same


class Percent(FeatureConnector):
    """Whole percents, in ten lines: no argument, another dtype stored than given."""

    def get_tensor_info(self):
        return TensorInfo((), np.float32)

    def get_serialized_info(self):
        return TensorInfo((), np.int64)

    def encode_example(self, value):
        return round(value * 100)

    def decode_example(self, stored):
        return np.float32(stored / 100)


class TestPercent(ConnectorSuite):
    connector = Percent()
    valid = (
        Case(0.25, np.float32(0.25), stored=[25]),
        Case(0, np.float32(0), stored=[0]),
        Case(1.0, np.float32(1), stored=[100]),
    )
    # An author's own exceptions keep type and text; a note says where.
    invalid = (Bad("a lot", TypeError, match="type str doesn't define __round__"),)
    tfds_json = {
        "pythonClassName": f"{__name__}.Percent",
        "jsonFeature": {"json": "{}"},
    }
    tfds_repr = "Percent(shape=(), dtype=float32)"


class Complex(FeatureConnector):
    """Two numbers stored under one feature, and an argument that JSON keeps."""

    def __init__(self, *, unit="V", doc=None):
        super().__init__(doc=doc)
        self.unit = unit

    def get_tensor_info(self):
        return TensorInfo((), np.complex64)

    def get_serialized_info(self):
        part = TensorInfo((), np.float32)
        return {"real": part, "imag": part}

    def encode_example(self, value):
        return {"real": np.float32(value.real), "imag": np.float32(value.imag)}

    def decode_example(self, stored):
        return np.complex64(complex(stored["real"], stored["imag"]))

    def to_json_content(self):
        return {"unit": self.unit}


class TestComplex(ConnectorSuite):
    connector = Complex(unit="mV")
    valid = (
        Case(1 + 2j, np.complex64(1 + 2j), stored={"real": [1.0], "imag": [2.0]}),
        Case(3.0, np.complex64(3), stored={"real": [3.0], "imag": [0.0]}),
    )
    invalid = (Bad("x", AttributeError, match="'str' object has no attribute 'real'"),)
    unequal = (Complex(), Complex(unit="kV"))
    tfds_json = {
        "pythonClassName": f"{__name__}.Complex",
        "jsonFeature": {"json": json.dumps({"unit": "mV"})},
    }


class Words(FeatureConnector):
    """A text that is stored as its words, and read as one text."""

    def get_tensor_info(self):
        return TensorInfo((), np.object_)

    def get_serialized_info(self):
        return TensorInfo((None,), np.object_)

    def encode_example(self, value):
        return [word.encode() for word in value.split()]

    def decode_example(self, stored):
        return b" ".join(stored)


class TestWords(ConnectorSuite):
    connector = Words()
    valid = (
        Case("a  bc", b"a bc", stored=["a", "bc"]),
        Case("", b"", stored=[]),
    )
    invalid = (Bad(5, AttributeError, match="'int' object has no attribute 'split'"),)
    in_sequence = False  # two unknown sizes
    in_nested_sequence = False


class Unit(Tensor):
    """A subclass of Tensor that adds a rule, and changes what is read."""

    def __init__(self, *, size, doc=None):
        super().__init__(shape=(size,), dtype=np.float32, doc=doc)
        self.size = size

    def encode_example(self, value):
        array = super().encode_example(value)
        if not np.isclose(np.linalg.norm(array), 1):
            raise EncodeError(f"a unit vector has length 1, not {np.linalg.norm(array)}")
        return array

    def decode_example(self, stored):
        return super().decode_example(stored) / np.linalg.norm(stored)

    def to_json_content(self):
        return {"size": self.size}

    @classmethod
    def from_json_content(cls, value):
        return cls(**value)


class TestUnit(ConnectorSuite):
    connector = Unit(size=2)
    valid = (
        Case([0, 1], np.array([0, 1], np.float32), stored=[0.0, 1.0]),
        Case(np.array([-1, 0], np.float32)),
    )
    invalid = (
        Bad([1, 1], EncodeError, match=r"a unit vector has length 1, not 1\.41"),
        Bad([1], EncodeError, match=r"expected shape \(2,\), got \(1,\)"),
    )
    unequal = (Unit(size=3),)
    tfds_repr = "Unit(shape=(2,), dtype=float32)"

    def test_elements_of_an_array_are_checked_too(self):
        with pytest.raises(EncodeError, match="a unit vector has length 1"):
            Sequence(self.make()).encode_example(np.ones((1, 2), np.float32))


class Interval(FeaturesDict):
    """A subclass of FeaturesDict: takes a pair, is stored as a dict, reads as a pair."""

    def __init__(self, *, doc=None):
        super().__init__({"start": np.int32, "stop": np.int32}, doc=doc)

    def get_tensor_info(self):
        return TensorInfo((2,), np.int32)

    def encode_example(self, value):
        start, stop = value
        return super().encode_example({"start": start, "stop": stop})

    def decode_example(self, stored):
        value = super().decode_example(stored)
        return np.array([value["start"], value["stop"]])

    def to_json_content(self):
        return {}

    @classmethod
    def from_json_content(cls, value):
        return cls(**value)

    def __repr__(self):
        return "Interval()"


class TestInterval(ConnectorSuite):
    connector = Interval()
    valid = (
        Case((1, 5), np.array([1, 5], np.int32), stored={"start": [1], "stop": [5]}),
        Case([2, 2], np.array([2, 2], np.int32)),
    )
    invalid = (
        Bad((1, "x"), TypeError, match=r"(?s)expected int32, got str 'x'.*at: stop \(Tensor\)"),
        Bad(3, TypeError, match="cannot unpack non-iterable int object"),
    )
    tfds_json = {"pythonClassName": f"{__name__}.Interval", "jsonFeature": {"json": "{}"}}


class Vocabulary(FeatureConnector):
    """A connector that keeps a file of its own beside features.json."""

    def __init__(self, words=(), *, doc=None):
        super().__init__(doc=doc)
        self.words = list(words)

    def get_tensor_info(self):
        return TensorInfo((), np.object_)

    def get_serialized_info(self):
        return TensorInfo((), np.int64)

    def encode_example(self, value):
        return self.words.index(value)

    def decode_example(self, stored):
        return self.words[stored].encode()

    def save_metadata(self, data_dir, feature_name):
        (data_dir / f"{feature_name}.words.json").write_text(json.dumps(self.words))

    def load_metadata(self, data_dir, feature_name):
        self.words = json.loads((data_dir / f"{feature_name}.words.json").read_text())


class TestVocabulary(ConnectorSuite):
    connector = Vocabulary(["a", "b"])
    valid = (Case("b", b"b", stored=[1]),)
    invalid = (Bad("c", ValueError, match="is not in list"),)
    files = {"x.words.json": '["a", "b"]'}


# Everywhere that one of featurekit's own works.


def test_a_custom_connector_works_in_every_container(tmp_path):
    features = FeaturesDict(
        {
            "one": Percent(),
            "many": Sequence(Percent()),
            "rows": Sequence(Sequence(Percent())),
            "dicts": Sequence({"p": Percent(), "label": ClassLabel(names=["a"])}),
            "steps": Dataset({"p": Percent(), "z": Complex()}),
        }
    )
    features.save_config(tmp_path)
    features = FeatureConnector.from_config(tmp_path)
    record = features.serialize_example(
        {
            "one": 0.5,
            "many": [0.1, 0.2],
            "rows": [[0.1], [], [0.2, 0.3]],
            "dicts": [{"p": 0.5, "label": "a"}],
            "steps": [{"p": 0.25, "z": 1j}, {"p": 0.75, "z": 2}],
        }
    )
    decoded = features.deserialize_example(record)
    ten, twenty, thirty = (np.float32(n / 100) for n in (10, 20, 30))
    assert_same(
        decoded,
        {
            "one": np.float32(0.5),
            "many": np.array([ten, twenty]),
            "rows": RaggedTensor.from_row_lengths(np.array([ten, twenty, thirty]), [1, 0, 2]),
            "dicts": {"p": np.array([0.5], np.float32), "label": np.array([0])},
            "steps": [
                {"p": np.float32(0.25), "z": np.complex64(1j)},
                {"p": np.float32(0.75), "z": np.complex64(2)},
            ],
        },
    )


def test_an_error_of_an_author_keeps_its_type_and_gets_a_place():
    features = FeaturesDict({"a": Sequence({"b": Percent()})})
    with pytest.raises(TypeError) as caught:
        features.encode_example({"a": [{"b": 0.5}, {"b": "x"}]})
    assert caught.value.__notes__ == ["  at: a[1].b (Percent)"]


def test_a_connector_that_returns_another_dict_than_it_declared_is_told():
    class Wrong(Complex):
        def encode_example(self, value):
            return {"real": np.float32(0)}

    with pytest.raises(EncodeError) as caught:
        FeaturesDict({"z": Wrong()}).serialize_example({"z": 1j})
    assert "the encoded example has no 'z.imag'" in str(caught.value)
    assert "encode_example must return what get_serialized_info declares" in str(caught.value)


def test_the_base_class_needs_its_two_methods():
    class Incomplete(FeatureConnector):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Incomplete()


# Classes that features.json names.

CUSTOM = "hostile_package.connectors.Custom"


def named(class_name, content="{}"):
    return {"pythonClassName": class_name, "jsonFeature": {"json": content}}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package that is installed and not imported; importing it leaves a trace."""
    folder = tmp_path / "hostile_package"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "connectors.py").write_text(
        "import numpy as np\n"
        "from featurekit.connector import FeatureConnector\n"
        "from featurekit.tensor_info import TensorInfo\n"
        "class Custom(FeatureConnector):\n"
        "    def __init__(self, factor=2):\n"
        "        super().__init__()\n"
        "        self.factor = factor\n"
        "    def get_tensor_info(self):\n"
        "        return TensorInfo((), np.int64)\n"
        "    def encode_example(self, value):\n"
        "        return value // self.factor\n"
        "    def decode_example(self, stored):\n"
        "        return stored * self.factor\n"
        "    def to_json_content(self):\n"
        "        return {'factor': self.factor}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    yield folder
    for name in [name for name in sys.modules if name.startswith("hostile_package")]:
        del sys.modules[name]


def test_a_class_that_is_not_trusted_is_not_imported(package, caplog):
    with caplog.at_level(logging.WARNING, "featurekit"):
        features = FeatureConnector.from_json(
            FeaturesDict({}).to_feature_json()
            | {
                "featuresDict": {
                    "features": {"x": named(CUSTOM, '{"factor": 3}'), "y": named(CUSTOM)}
                }
            }
        )
    assert not [name for name in sys.modules if name.startswith("hostile_package")]
    assert isinstance(features["x"], Opaque)
    assert repr(features["x"]) == f"Opaque({CUSTOM})"
    assert caplog.records[0].getMessage() == (
        f"the connector class {CUSTOM} is neither imported nor trusted: its feature gives the "
        "stored values; import it first, or pass trust=['hostile_package']"
    )


def test_an_opaque_feature_gives_the_stored_values(package):
    features = FeatureConnector.from_json(
        FeaturesDict({}).to_feature_json()
        | {"featuresDict": {"features": {"x": named(CUSTOM), "n": named(f"{CUSTOM}2")}}}
    )
    record = write_example(
        {"x": np.array([5]), "n/a": [b"b"], "n/b/c": np.array([0.5], np.float32), "other": [b""]}
    )
    assert_same(
        features.deserialize_example(record),
        {
            "x": np.array([5]),
            "n": {"a": np.array([b"b"], object), "b/c": np.array([0.5], np.float32)},
        },
    )


def test_an_opaque_feature_keeps_its_json_and_takes_no_values(package):
    written = named(CUSTOM, '{"factor": 3}') | {"description": "d"}
    feature = FeatureConnector.from_json(written)
    assert feature.to_feature_json() == written
    with pytest.raises(EncodeError) as caught:
        FeaturesDict({"x": feature}).encode_example({"x": 1})
    assert str(caught.value) == (
        f"values of the unknown connector {CUSTOM} cannot be stored\n"
        "  at: x (Opaque)\n"
        "  hint: import it first, or pass trust=['hostile_package']"
    )


def test_a_trusted_package_is_imported(package):
    feature = FeatureConnector.from_json(named(CUSTOM, '{"factor": 3}'), trust=["hostile_package"])
    assert (type(feature).__name__, feature.factor) == ("Custom", 3)
    assert feature.deserialize_example(feature.serialize_example(7)) == 6


@pytest.mark.parametrize("trust", ["hostile", "hostile_packag", "connectors", "*"])
def test_trust_is_for_a_whole_package_name(package, trust):
    assert isinstance(FeatureConnector.from_json(named(CUSTOM), trust=[trust]), Opaque)


def test_a_trusted_package_without_the_class_is_an_error(package):
    with pytest.raises(SchemaError) as caught:
        FeatureConnector.from_json(
            named("hostile_package.connectors.Missing"), trust=["hostile_package"]
        )
    assert str(caught.value) == (
        "cannot import the connector 'hostile_package.connectors.Missing': module "
        "'hostile_package.connectors' has no attribute 'Missing'\n"
        "  hint: install the package that defines it, or add its folder to PYTHONPATH; without "
        "trust= the feature gives the stored values"
    )


@pytest.mark.parametrize("name", ["hostile_package.os.system", "hostile_package.connectors.np"])
def test_what_is_no_connector_is_never_made(package, name):
    with pytest.raises(SchemaError):
        FeatureConnector.from_json(named(name), trust=["hostile_package"])


@pytest.mark.parametrize(
    "name", ["os.system", "builtins.eval", "subprocess.Popen", "pathlib.Path", "json.tool.main"]
)
def test_names_of_the_standard_library_stay_opaque(name):
    before = set(sys.modules)
    assert isinstance(FeatureConnector.from_json(named(name, '{"args": ["false"]}')), Opaque)
    assert {module for module in set(sys.modules) - before if "featurekit" not in module} == set()


def test_an_entry_point_offers_a_class(package, monkeypatch):
    entry = importlib.metadata.EntryPoint(
        name=CUSTOM, value="hostile_package.connectors:Custom", group="featurekit.connectors"
    )

    def entry_points(*, group, name):
        return [entry] if (group, name) == (entry.group, entry.name) else []

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    assert type(FeatureConnector.from_json(named(CUSTOM))).__name__ == "Custom"


def test_a_class_can_be_registered_under_another_name(monkeypatch):
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    registry.register(Percent, "old_package.percent.Percent")
    feature = FeatureConnector.from_json(named("old_package.percent.Percent"))
    assert feature == Percent()


def test_wrong_content_of_a_custom_connector_is_told():
    with pytest.raises(SchemaError) as caught:
        FeatureConnector.from_json(named(f"{__name__}.Complex", '{"colour": 1}'))
    assert str(caught.value).startswith(
        f"the content of a {__name__}.Complex does not fit it: TypeError: "
    )
    assert "unexpected keyword argument 'colour'" in str(caught.value)


def test_html_of_a_custom_value_is_escaped():
    assert Percent().repr_html("<b>") == "&lt;b&gt;"
    assert Text().repr_html(b"<b>") == "&lt;b&gt;"
    assert Percent().repr_html(np.zeros((2, 3))) == "array of shape (2, 3), float64"


def test_a_class_of_a_script_says_that_no_package_has_it():
    feature = Opaque(class_name="__main__.Celsius", content={})
    with pytest.raises(EncodeError) as caught:
        feature.encode_example(1.0)
    assert str(caught.value) == (
        "values of the unknown connector __main__.Celsius cannot be stored\n"
        "  hint: a script or a notebook defined it: define it first, or build with it in a module"
    )


@pytest.mark.parametrize("trust", ["my_package", 3, [3]])
def test_trust_is_a_list_of_packages(trust):
    with pytest.raises(InvalidTypeError) as caught:
        FeatureConnector.from_json(Text().to_json(), trust=trust)
    assert str(caught.value) == (
        f"trust must be a list of packages, got {trust!r}\n"
        "  hint: write for example trust=['my_package']"
    )
