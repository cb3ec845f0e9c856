"""DatasetInfo: what is written, what is read, and what is refused."""

import json

import golden
import numpy as np
import pytest

import featurekit as fk
from featurekit.dataset.identity import DatasetIdentity
from featurekit.dataset.info import format_size
from featurekit.dataset.info_json import read_info, write_info
from featurekit.errors import DatasetInfoError, DatasetNotFoundError, InvalidArgumentError

FEATURES = fk.FeaturesDict({"x": np.int64, "label": fk.ClassLabel(names=["a", "b"])})


def make(**arguments):
    identity = DatasetIdentity("pets", fk.Version("1.2.3"), data_dir="/data/pets/1.2.3")
    arguments.setdefault("features", FEATURES)
    return fk.DatasetInfo(identity=identity, **arguments)


def test_all_fields_come_back(tmp_path):
    identity = DatasetIdentity(
        "pets",
        fk.Version("1.2.3"),
        config_name="small",
        config_description="Few of them.",
        config_tags=("t1", "t2"),
        release_notes={"1.2.3": "Cats."},
        module_name="pets_dataset_builder",
        data_dir=str(tmp_path),
    )
    info = fk.DatasetInfo(
        identity=identity,
        features=FEATURES,
        description="""
        Pets of
          all kinds.
        """,
        supervised_keys=({"input": "x"}, "label"),
        homepage="https://example.org",
        citation="@misc{pets}",
        license="MIT",
        metadata={"hello": [1, 2]},
        disable_shuffling=True,
        nondeterministic_order=True,
        download_size=12345,
    )
    write_info(info, str(tmp_path))
    again = read_info(str(tmp_path), features=FEATURES)
    assert again.identity == identity
    assert repr(again) == repr(info)
    assert again.description == "Pets of\n  all kinds."
    assert again.metadata == {"hello": [1, 2]}
    assert (tmp_path / "LICENSE").read_text() == "MIT"
    assert (tmp_path / "label.labels.txt").read_text() == "a\nb\n"
    assert (tmp_path / "metadata.json").read_text() == '{"hello": [1, 2]}'


def test_empty_metadata_is_written_only_where_it_was_given(tmp_path):
    write_info(make(), str(tmp_path))
    assert not (tmp_path / "metadata.json").exists()
    write_info(make(metadata=fk.MetadataDict()), str(tmp_path))
    assert (tmp_path / "metadata.json").read_text() == "{}"


def test_the_repr_is_that_of_tfds():
    for expected in golden.datasets("configs", "sharding"):
        info = fk.builder_from_directory(expected.folder).info
        wanted = expected.json["info"]["info_repr"]
        # TFDS prints the license as a protocol buffer.
        if not info.license:
            ours = repr(info).replace(str(expected.folder), "<DIR>")
            assert "tfds.core." + ours == wanted


@pytest.mark.parametrize(
    "keys", ["x", ("x",), ("x", "label", "x", "x"), ("x", 3), (["x"], "label")]
)
def test_supervised_keys_that_make_no_sense(keys):
    with pytest.raises(InvalidArgumentError):
        make(supervised_keys=keys)


@pytest.mark.parametrize(
    "features", [fk.Text(), fk.Tensor(shape=(2,), dtype=np.int32), {"x": np.int64}]
)
def test_features_must_be_those_of_an_example(features):
    with pytest.raises(TypeError) as error:
        make(features=features)
    assert str(error.value) == (
        f"features must be a connector of whole examples, got {type(features).__name__}\n"
        "  hint: write FeaturesDict({'name': feature, ...})"
    )


def test_a_sequence_of_dicts_may_be_the_whole_example():
    assert make(features=fk.Sequence({"a": np.int64})).features.shape == {"a": (None,)}


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "Unknown size"), (700, "700 bytes"), (2232, "2.18 KiB"), (5 * 2**30, "5.00 GiB")],
)
def test_sizes(size, text):
    assert format_size(size) == text


def test_a_folder_without_a_dataset(tmp_path):
    with pytest.raises(DatasetNotFoundError) as error:
        fk.builder_from_directory(tmp_path)
    assert str(error.value) == (
        "there is no dataset_info.json, so this is not the folder of a dataset's version\n"
        f"  at: {tmp_path}\n"
        "  hint: give the folder of one version, such as .../mnist/3.0.1, or build it again"
    )
    assert isinstance(error.value, FileNotFoundError)


GOOD = {"name": "toy", "version": "1.0.0", "splits": []}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"splits": 3}, "field 'splits'"),
        ({"splits": [3]}, "expected an object for a split, got 3"),
        ({"splits": [{"name": 3}]}, "field 'name'"),
        ({"splits": [{"name": "a"}, {"name": "a"}]}, "two splits called 'a'"),
        ({"splits": [{"name": "a", "shardLengths": ["x"]}]}, "field 'shardLengths'"),
        ({"splits": [{"name": "a", "shardLengths": ["9" * 30]}]}, "no dataset is as large"),
        ({"splits": [{"name": "a", "shardLengths": ["-1"]}]}, "integers from 0 on, got -1"),
        ({"splits": [{"name": "a", "numBytes": True}]}, "field 'numBytes'"),
        ({"description": 1}, "field 'description'"),
        ({"version": "1.0"}, "'1.0'"),
        ({"fileFormat": "csv"}, "there is no file format 'csv'"),
        ({"supervisedKeys": {"tuple": {"items": [{"nothing": 1}]}}}, "supervisedKeys"),
        ({"releaseNotes": [1]}, "field 'releaseNotes'"),
        ({"location": {"urls": 1}}, "field 'location'"),
    ],
)
def test_damaged_metadata_is_refused(tmp_path, change, text):
    (tmp_path / "dataset_info.json").write_text(json.dumps(GOOD | change))
    with pytest.raises(ValueError) as error:  # noqa: PT011
        fk.builder_from_directory(tmp_path)
    assert text in str(error.value)
    assert f"{tmp_path}/dataset_info.json" in str(error.value)


@pytest.mark.parametrize("text", ["{not json", "[]", "[" * 100_000, ""])
def test_what_is_no_json_object_is_refused(tmp_path, text):
    (tmp_path / "dataset_info.json").write_text(text)
    with pytest.raises(DatasetInfoError):
        fk.builder_from_directory(tmp_path)


def test_the_smallest_metadata(tmp_path):
    (tmp_path / "dataset_info.json").write_text(json.dumps(GOOD))
    info = fk.builder_from_directory(tmp_path).info
    assert (info.name, info.version, len(info.splits), info.features) == ("toy", "1.0.0", 0, None)


@pytest.mark.parametrize("row", golden.table("naming")["load_by_name"], ids=lambda row: row["name"])
def test_names_find_the_folders_that_tfds_finds(row):
    data_dir, result = golden.ROOT / row["data_dir"], row["result"]
    if not data_dir.exists():
        pytest.skip(f"{row['data_dir']} is not among the test data")
    if result.get("t") == "error":
        with pytest.raises(ValueError):  # noqa: PT011
            fk.builder(row["name"], data_dir=data_dir)
        return
    reader = fk.builder(row["name"], data_dir=data_dir)
    assert reader.info.full_name == result["full_name"]
    assert reader.data_dir == str(data_dir / result["path"])
