"""Datasets that TFDS wrote: metadata, order and values, and what we write from the same inputs."""

import importlib.util
import json

import golden
import numpy as np
import pytest

import featurekit as fk
from featurekit.connector import FeatureConnector
from featurekit.dataset.info_json import to_json
from featurekit.tensor_info import TensorInfo

LIBRARIES = {"array_record": "array_record", "parquet": "pyarrow"}


def param(expected):
    """A dataset, skipped where the package that reads its format is not installed."""
    library = LIBRARIES.get(expected.entry["file_format"])
    absent = library is not None and importlib.util.find_spec(library) is None
    return pytest.param(
        expected,
        id=f"{expected.topic}-{expected.folder.parent.name}-{expected.folder.name}",
        marks=[pytest.mark.skip(f"{library} is not installed")] if absent else [],
    )


# One lacks rows: tests/dataset/test_formats.py.
every_dataset = pytest.mark.parametrize(
    "expected", [param(e) for e in golden.datasets() if e.name != "fmt_parquet_250"]
)

INFO_FIELDS = (
    *("name", "full_name", "config_name", "config_description", "config_tags", "description"),
    *("homepage", "citation", "license", "release_notes", "file_format", "disable_shuffling"),
    *("alternative_file_formats", "download_size", "dataset_size", "metadata", "module_name"),
)
SPLIT_FIELDS = ("num_examples", "num_bytes", "num_shards", "shard_lengths", "filenames")


def open_dataset(expected):
    return fk.builder_from_directory(expected.folder)


def find(feature, path):
    """The feature at a path whose keys may contain `/` themselves."""
    if not path:
        return feature
    key = next(key for key in feature.keys() if f"{path}/".startswith(f"{key}/"))  # noqa: SIM118
    return find(feature[key], path[len(key) + 1 :])


@every_dataset
def test_metadata(expected):
    info = open_dataset(expected).info
    wanted = expected.json["info"]
    assert {f: getattr(info, f) for f in INFO_FIELDS} == {f: wanted[f] for f in INFO_FIELDS}
    assert info.version == wanted["version"]
    assert info.supervised_keys == expected.value(wanted["supervised_keys"])
    assert info.splits.total_num_examples == wanted["total_num_examples"]
    for name, split in wanted["splits"].items():
        found = info.splits[name]
        assert {f: getattr(found, f) for f in SPLIT_FIELDS} == {f: split[f] for f in SPLIT_FIELDS}
        assert repr(found) == split["repr"]
    assert repr(info.features) == wanted["features_repr"]
    for path, label in wanted["labels"].items():
        feature = find(info.features, path)
        assert feature.num_classes == label["num_classes"]
        assert feature.names == label["names"]


@every_dataset
def test_metadata_is_written_as_tfds_writes_it(expected, tmp_path):
    if expected.topic == "legacy":
        pytest.skip("old forms are read, not written")
    info = open_dataset(expected).info
    stored = json.loads((expected.folder / "dataset_info.json").read_text())
    if stored.get("redistributionInfo") == {}:
        del stored["redistributionInfo"]  # an empty message says nothing
    assert to_json(info) == stored
    info.features.save_config(tmp_path)
    for path in tmp_path.iterdir():
        given, ours = (expected.folder / path.name).read_text(), path.read_text()
        if path.suffix == ".json":
            given, ours = json.loads(given), json.loads(ours)
        else:  # blanks around names and empty lines do not survive being read
            given = "".join(f"{line.strip()}\n" for line in given.split("\n") if line.strip())
        assert ours == given
    assert FeatureConnector.from_config(tmp_path) == info.features


def as_tensor_info(expected, node):
    if "shape" not in node or isinstance(node["shape"], dict):
        return {key: as_tensor_info(expected, item) for key, item in node.items()}
    names = ("shape", "dtype", "sequence_rank", "dataset_lvl", "optional")
    bounds = {name: node[name] for name in ("minimum", "maximum")}
    bounds = {name: expected.value(bound) for name, bound in bounds.items() if bound is not None}
    return TensorInfo(**{name: node[name] for name in names}, **bounds)


@every_dataset
def test_tensor_infos(expected):
    features = open_dataset(expected).info.features
    assert features.get_tensor_info() == as_tensor_info(expected, expected.json["tensor_info"])
    assert features.get_serialized_info() == as_tensor_info(
        expected, expected.json["serialized_info"]
    )


@every_dataset
def test_values(expected):
    builder = open_dataset(expected)
    for split in expected.json["examples"]:
        wanted = expected.examples(split)
        source = builder.as_data_source(split)
        assert len(source) == len(wanted)
        for position, (want, got) in enumerate(zip(wanted, source, strict=True)):
            if not expected.tensorflow_reads(split):
                assert golden.difference(golden.as_input(want), golden.as_input(got)) is None
                continue
            assert golden.difference(adapt(expected, want, got), got) is None, position


def none_where_missing(want, got):
    """A missing optional value is None; TensorFlow gives the lowest value of the dtype."""
    if isinstance(want, dict) and isinstance(got, dict):
        return {key: none_where_missing(want[key], got.get(key)) for key in want}
    return None if got is None else want


def adapt(expected, want, got):
    """Put our decision where TensorFlow's value is not the right one."""
    if expected.topic in ("optional", "mixtures"):
        return none_where_missing(want, got)
    if expected.name == "scalars_all_dtypes" and want["a_float64"] == 0:
        # TensorFlow flushes the smallest 32-bit floats to zero when it widens them.
        return want | {"a_float64": np.float64(want["a_float32"])}
    return want


@every_dataset
def test_random_access_gives_the_same(expected):
    builder = open_dataset(expected)
    for split in builder.info.splits:
        source = builder.as_data_source(split)
        in_order = list(source)
        for position in {0, len(source) // 2, len(source) - 1}:
            assert golden.difference(in_order[position], source[position]) is None
