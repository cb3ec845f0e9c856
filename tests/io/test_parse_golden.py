"""The parse functions against what TensorFlow answered, case by case."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest

from featurekit.errors import FeatureKitError
from featurekit.io import parse, specs
from featurekit.io.ragged import RaggedTensor
from featurekit.io.sparse import SparseTensor

DATA = Path(__file__).parents[1] / "data" / "parse"
CASES = [
    case for file in sorted(DATA.glob("*.json")) for case in json.loads(file.read_text())["cases"]
]
DTYPES = {"int64": np.int64, "float32": np.float32, "string": np.str_}
ERRORS = {"InvalidArgumentError": ValueError, "ValueError": ValueError, "TypeError": TypeError}


def test_all_cases_are_there():
    assert len(CASES) == 739


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_parses_as_tensorflow(case):
    expect = expected_outcome(case)
    if expect["status"] == "error":
        with pytest.raises(FeatureKitError) as caught:
            call(case)
        assert isinstance(caught.value, ERRORS.get(expect.get("class"), (ValueError, TypeError)))
        assert_names_the_place(caught.value, case)
        return
    result = call(case)
    if "outputs" in expect:
        check_all(result, expect["outputs"])
        return
    parts = [expect["context"], expect["sequence"]]
    if case["op"] == "parse_sequence_example":
        parts.append(expect["lengths"])
    assert len(result) == len(parts)
    for got, part in zip(result, parts, strict=True):
        check_all(got, part)


def expected_outcome(case):
    if "unknown_field_in_map_entry" in case["name"]:
        # Protobuf drops such an entry, value and all; TensorFlow refuses it, and so do we.
        return case["expect"]
    if "wanted" in case:
        return case["wanted"]
    if case["protobuf"] == "rejects":
        return {"status": "error"}
    return case["expect_canonical"] if case["protobuf"] == "differs" else case["expect"]


def assert_names_the_place(error, case):
    """Where TensorFlow's text names the example, so does ours."""
    names = case.get("example_names")
    blamed = [name for name in names or [] if f"Name: {name}," in case["expect"].get("message", "")]
    if blamed and isinstance(names, list):
        assert repr(blamed[0]) in str(error)


def call(case):
    function = getattr(parse, case["op"])
    arguments = [from_base64(case["serialized"])]
    if "features" in case:
        arguments.append(features_of(case["features"]))
    else:
        arguments += [features_of(case.get(f"{part}_features")) for part in ("context", "sequence")]
    return function(*arguments, case.get("example_names"))


def from_base64(value):
    return base64.b64decode(value) if isinstance(value, str) else [from_base64(v) for v in value]


def features_of(features):
    return features and {key: spec_of(spec) for key, spec in features.items()}


def spec_of(spec):
    arguments = dict(spec)
    kind = arguments.pop("type")
    if kind == "NotAFeature":
        return "not a feature"
    if "dtype" in arguments:
        arguments["dtype"] = DTYPES.get(arguments["dtype"], arguments["dtype"])
    if "default_value" in arguments:
        arguments["default_value"] = default_of(arguments["default_value"])
    if "partitions" in arguments:
        arguments["partitions"] = [partition_of(p) for p in arguments["partitions"]]
    return getattr(specs, kind)(**arguments)


def default_of(value):
    if isinstance(value, list):
        return [default_of(item) for item in value]
    if isinstance(value, dict):
        return base64.b64decode(value["b64"]) if "b64" in value else float(value["float"])
    return value


def partition_of(partition):
    arguments = dict(partition)
    kind = arguments.pop("type")
    return (
        "not a partition" if kind == "Unknown" else getattr(specs.RaggedFeature, kind)(**arguments)
    )


def check_all(got, expected):
    assert sorted(got) == sorted(expected)
    for key, tensor in expected.items():
        check(got[key], tensor)


def check(got, expected):
    {"dense": check_dense, "sparse": check_sparse, "ragged": check_ragged}[expected["type"]](
        got, expected
    )


def check_dense(got, expected):
    if expected["dtype"] == "string" and not expected["shape"]:
        assert isinstance(got, bytes)
        assert got == base64.b64decode(expected["values"][0])
        return
    assert isinstance(got, np.ndarray | np.generic)
    assert got.shape == tuple(expected["shape"])
    check_values(got.reshape(-1), expected)


def check_values(got, expected):
    if expected["dtype"] == "string":
        assert got.dtype == object
        assert got.tolist() == [base64.b64decode(value) for value in expected["values"]]
        return
    assert got.dtype == np.dtype(expected["dtype"])
    wanted = np.array(
        [float(v) if isinstance(v, str) else v for v in expected["values"]], got.dtype
    )
    np.testing.assert_array_equal(got, wanted)
    if got.dtype.kind == "f":
        number = ~np.isnan(wanted)
        np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(wanted[number]))


def check_sparse(got, expected):
    assert isinstance(got, SparseTensor)
    assert got.indices.dtype == np.int64
    assert got.indices.shape == (len(expected["values"]), len(expected["dense_shape"]))
    assert got.indices.tolist() == expected["indices"]
    assert got.dense_shape.tolist() == expected["dense_shape"]
    check_values(got.values, expected)


def check_ragged(got, expected):
    splits, lengths = [], []
    while isinstance(got, RaggedTensor):
        splits.append(got.row_splits.tolist())
        lengths.append(got.uniform_row_length)
        assert got.row_splits.dtype == np.dtype(expected["row_splits_dtype"])
        got = got.values
    assert splits == expected["nested_row_splits"]
    assert lengths == expected["uniform_row_lengths"]
    check_dense(got, expected["flat_values"])
