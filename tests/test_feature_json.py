"""The JSON of features: what TFDS writes we write, and what it reads we read."""

import logging

import golden
import pytest
import schemas

import featurekit as fk
from featurekit.connector import FeatureConnector
from featurekit.errors import FeatureKitError, InvalidTypeError, SchemaError, UnsupportedError
from featurekit.tensor_info import TensorInfo

TABLE = golden.table("feature_json")
PREFIX = "tensorflow_datasets.core.features"
TENSOR = f"{PREFIX}.tensor_feature.Tensor"


def name_of(row):
    return f"{row['id']}-{row['schema']['kind']}"


every_row = pytest.mark.parametrize("row", TABLE["rows"], ids=name_of)
ROWS_WITH_JSON = [row for row in TABLE["rows"] if "t" not in row["features_json"]]
every_row_with_json = pytest.mark.parametrize("row", ROWS_WITH_JSON, ids=name_of)


def infos(node):
    """The tensor infos of a table, with what their equality does not look at."""
    if "sequence_rank" not in node:
        return {key: infos(item) for key, item in node.items()}
    bounds = {
        name: None if node[name] is None else golden.value(node[name])
        for name in ("minimum", "maximum")
    }
    info = TensorInfo(node["shape"], node["dtype"], optional=node["optional"], **bounds)
    return (info, node["sequence_rank"], node["dataset_lvl"])


def with_ranks(info):
    if not isinstance(info, TensorInfo):
        return {key: with_ranks(item) for key, item in info.items()}
    return (info, info.sequence_rank, info.dataset_lvl)


def as_tuples(shapes):
    return (
        {k: as_tuples(v) for k, v in shapes.items()} if isinstance(shapes, dict) else tuple(shapes)
    )


@every_row
def test_description(row):
    feature = schemas.feature(row["schema"])
    assert type(feature).__name__ == row["class"]
    assert repr(feature) == row["repr"]
    assert with_ranks(feature.get_tensor_info()) == infos(row["tensor_info"])
    if "t" not in row["tf_example_spec"]:
        assert with_ranks(feature.get_serialized_info()) == infos(row["serialized_info"])
    assert feature.shape == as_tuples(row["shape"])
    assert feature.np_dtype == schemas.dtypes(row["np_dtype"])


@every_row
def test_keys_of_the_example(row):
    # TFDS finds out that it cannot store a bfloat16 when it writes the first example.
    features = fk.FeaturesDict({"x": schemas.feature(row["schema"])})
    if "t" in row["tf_example_spec"] or row["schema"].get("dtype") == "bfloat16":
        with pytest.raises(UnsupportedError):
            features.layout  # noqa: B018
        return
    assert row["tf_example_spec"].keys() <= set(features.layout.keys)


@every_row_with_json
def test_written(row):
    feature = schemas.feature(row["schema"])
    assert feature.to_json() == row["to_json"]
    assert feature.to_feature_json() == row["features_json"]


@every_row_with_json
def test_reloaded(row):
    feature = FeatureConnector.from_json(row["features_json"])
    assert repr(feature) == row["reloaded"]["repr"]
    assert feature.to_feature_json() == row["reloaded"]["features_json"]
    older = FeatureConnector.from_json(row["to_json"])
    assert older.to_json() == row["to_json"]
    for restored in (feature, older):
        assert with_ranks(restored.get_tensor_info()) == infos(row["reloaded"]["tensor_info"])


def test_float_bounds_cannot_be_written():
    (row,) = [row for row in TABLE["rows"] if row not in ROWS_WITH_JSON]
    with pytest.raises(InvalidTypeError, match=r"features\.json keeps integer bounds only"):
        schemas.feature(row["schema"]).to_json()


# Loading what other programs, other releases and people wrote.

# Where TFDS refuses and we do not, and why: nothing is left to guess.
LENIENT = {
    28: "an Audio without an encoding has none",
    40: "a legacy Image without a dtype has the one that all had then",
    52: "the legacy form of a Scalar says all there is",
}


@pytest.mark.parametrize("row", TABLE["loads"], ids=lambda row: str(row["id"]))
def test_loads(row):
    if "error" in row and row["id"] not in LENIENT:
        with pytest.raises(FeatureKitError) as caught:
            FeatureConnector.from_json(row["json"])
        assert isinstance(caught.value, (ValueError, TypeError))
        return
    feature = FeatureConnector.from_json(row["json"])
    if row["id"] not in LENIENT:
        assert repr(feature) == row["repr"]
        assert feature.to_feature_json() == row["features_json"]


def test_every_leniency_is_one():
    refused = {row["id"] for row in TABLE["loads"] if "error" in row}
    assert LENIENT.keys() <= refused


def test_unknown_fields_are_ignored_and_logged_once(caplog):
    tensor = {"shape": {}, "dtype": "int32", "encoding": "none", "new": 1}
    child = {"pythonClassName": TENSOR, "tensor": tensor, "newer": {"a": [None]}}
    json = {
        "pythonClassName": f"{PREFIX}.features_dict.FeaturesDict",
        "featuresDict": {"features": {"x": child, "y": child}},
    }
    with caplog.at_level(logging.WARNING, "featurekit"):
        features = FeatureConnector.from_json(json)
    assert repr(features) == "FeaturesDict({\n    'x': int32,\n    'y': int32,\n})"
    assert [record.getMessage() for record in caplog.records] == [
        "the JSON of the features has fields that this version does not know, ignored: "
        "newer, tensor.new"
    ]


@pytest.mark.parametrize(
    ("json", "message"),
    [
        ([], "expected an object for a feature, got []"),
        ("x", "expected an object for a feature, got 'x'"),
        (None, "expected an object for a feature, got None"),
        ({"pythonClassName": 1}, "expected text, got 1"),
        ({"pythonClassName": TENSOR, "tensor": []}, "expected an object for tensor, got []"),
        (
            {"pythonClassName": TENSOR, "tensor": {"dtype": "int32"}, "text": {}},
            "a feature has both 'tensor' and 'text'",
        ),
        (
            {"pythonClassName": TENSOR, "tensor": {"dtype": "int32", "minimum": "x"}},
            "expected an integer, got 'x'",
        ),
        (
            {"pythonClassName": TENSOR, "tensor": {"dtype": "int32", "optional": "true"}},
            "expected true or false, got 'true'",
        ),
        (
            {"pythonClassName": TENSOR, "tensor": {"dtype": "int32", "shape": {"dimensions": "3"}}},
            "expected a list, got '3'",
        ),
        (
            {
                "pythonClassName": TENSOR,
                "tensor": {"dtype": "int32", "shape": {"dimensions": [1.5]}},
            },
            "expected an integer, got 1.5",
        ),
        (
            {
                "pythonClassName": f"{PREFIX}.features_dict.FeaturesDict",
                "featuresDict": {"features": ["x"]},
            },
            "expected an object for features, got ['x']",
        ),
        (
            {"pythonClassName": "my.Own", "jsonFeature": {"json": "{"}},
            "the JSON within a feature cannot be read",
        ),
        ({"type": TENSOR, "content": None}, "has no content"),
        ({"type": TENSOR, "content": 5}, "the content of a tensorflow_datasets"),
        ({"type": TENSOR, "content": {"dtype": "int32", "shape": 3}}, "3 is not a shape"),
    ],
)
def test_json_that_is_no_feature(json, message):
    with pytest.raises(FeatureKitError) as caught:
        FeatureConnector.from_json(json)
    assert isinstance(caught.value, ValueError)
    assert message in str(caught.value)


def test_deep_nesting_is_refused_not_a_crash():
    sequence = f"{PREFIX}.sequence_feature.Sequence"
    json = {"pythonClassName": TENSOR, "tensor": {"dtype": "int32"}}
    for _ in range(100_000):
        json = {"pythonClassName": sequence, "sequence": {"feature": json}}
    with pytest.raises(SchemaError, match="the features are nested too deeply to be read"):
        FeatureConnector.from_json(json)
    while "sequence" in json:  # taken apart here, since freeing it recurses
        json = json["sequence"]["feature"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("class_label_feature.ClassLabel", {"names_file": "/etc/hostname"}),
        (
            "labeled_image.LabeledImage",
            {"labels": "/etc/hostname", "shape": [1, 1, 1], "dtype": "uint8"},
        ),
    ],
)
def test_metadata_never_choose_a_file_to_open(name, content):
    value = {"type": f"tensorflow_datasets.core.features.{name}", "content": content}
    with pytest.raises(SchemaError) as error:
        FeatureConnector.from_json(value)
    assert "names a file" in str(error.value)


def test_a_message_name_that_is_no_text():
    value = {"type": "tensorflow_datasets.core.features.scalar.Scalar", "proto_cls": {"a": 1}}
    with pytest.raises(SchemaError):
        FeatureConnector.from_json(value)
