"""Datasets in another format: the records stay, and so does everything else."""

import json
import os
import pathlib

import golden
import numpy as np
import pytest
from click.testing import CliRunner

import featurekit as fk
from featurekit.builders.convert import convert_dataset
from featurekit.cli import main
from featurekit.errors import (
    BuildError,
    CorruptRecordError,
    DatasetInfoError,
    InvalidArgumentError,
    MissingFileError,
    UnsupportedError,
)

PACKAGES = {"array_record": "array_record", "parquet": "pyarrow"}
FEATURES = fk.FeaturesDict({"i": np.int64, "l": fk.ClassLabel(names=["a", "b"])})


@pytest.fixture(params=["array_record", "parquet"])
def file_format(request):
    pytest.importorskip(PACKAGES[request.param])
    return request.param


@pytest.fixture
def dataset(tmp_path):
    examples = {split: [{"i": i, "l": i % 2} for i in range(n)] for split, n in SIZES.items()}
    return fk.write_dataset(
        "numbers", examples, FEATURES, tmp_path / "data", num_shards=2, license="CC BY",
        metadata={"a": [1]}, description="Numbers.", quiet=True,
    )  # fmt: skip


SIZES = {"train": 250, "test": 7}


def records(builder):
    return {name: list(builder.as_data_source(name).serialized()) for name in builder.info.splits}


def contents(folder):
    folder = pathlib.Path(folder)
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_beside_the_old_files(dataset, file_format):
    before = contents(dataset.data_dir)
    converted = convert_dataset(dataset.data_dir, file_format, quiet=True)
    assert converted.info.file_format == file_format
    assert records(converted) == records(dataset)
    after = contents(dataset.data_dir)
    info = json.loads(after.pop("dataset_info.json"))
    assert info == json.loads(before.pop("dataset_info.json")) | {
        "alternativeFileFormats": [file_format]
    }
    added = {name for name in after if name not in before}
    assert {name.replace(file_format, "tfrecord") for name in added} == {
        name for name in before if ".tfrecord-" in name
    }
    assert {name: after[name] for name in before} == before
    assert records(fk.builder_from_directory(dataset.data_dir)) == records(dataset)


def test_to_another_folder_and_back(dataset, file_format, tmp_path):
    before = contents(dataset.data_dir)
    pathlib.Path(dataset.data_dir, "numbers-train.tfrecord-00000-of-00002.fkindex").touch()
    there = convert_dataset(dataset.data_dir, file_format, tmp_path / "there", quiet=True)
    assert there.info.file_format == file_format
    assert records(there) == records(dataset)
    names = {name.replace("tfrecord", file_format) for name in before}
    assert contents(tmp_path / "there").keys() == names
    back = convert_dataset(tmp_path / "there", "tfrecord", tmp_path / "back", quiet=True)
    assert contents(back.data_dir) == before


def test_all_formats_in_one_folder(dataset):
    for package in PACKAGES.values():
        pytest.importorskip(package)
    for name in PACKAGES:
        convert_dataset(dataset.data_dir, name, quiet=True)
    info = fk.builder_from_directory(dataset.data_dir).info
    assert info.alternative_file_formats == list(PACKAGES)
    for name in PACKAGES:
        assert records(fk.builder_from_directory(dataset.data_dir, file_format=name)) == records(
            dataset
        )


@pytest.mark.parametrize("name", ["class_label", "configs", "template", "nested", "shipped"])
def test_datasets_of_tfds(tmp_path, file_format, name):
    for expected in golden.datasets(name)[:4]:
        target = tmp_path / expected.folder.parent.name / expected.folder.name
        converted = convert_dataset(expected.folder, file_format, target, quiet=True)
        assert records(converted) == records(fk.builder_from_directory(expected.folder))


def test_what_is_there_already_is_refused(dataset, tmp_path):
    with pytest.raises(BuildError) as caught:
        convert_dataset(dataset.data_dir, "tfrecord")
    assert str(caught.value) == (
        f"numbers/1.0.0 is stored as tfrecord already\n  at: {dataset.data_dir}\n"
        "  hint: read it with builder_from_directory(folder, file_format='tfrecord')"
    )
    with pytest.raises(InvalidArgumentError, match="did you mean 'parquet'"):
        convert_dataset(dataset.data_dir, "parket")


def test_an_existing_folder_is_replaced_only_if_asked_for(dataset, file_format, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious").touch()
    with pytest.raises(BuildError, match="there is a folder already, which is no dataset"):
        convert_dataset(dataset.data_dir, file_format, tmp_path / "out")
    assert (tmp_path / "out" / "precious").exists()
    convert_dataset(dataset.data_dir, file_format, tmp_path / "out", overwrite=True, quiet=True)
    assert not (tmp_path / "out" / "precious").exists()


def test_a_fault_leaves_nothing(dataset, file_format, tmp_path):
    path = pathlib.Path(dataset.info.splits["train"].filepaths[1])
    data = bytearray(path.read_bytes())
    data[200] ^= 1
    path.write_bytes(data)
    before = contents(dataset.data_dir)
    for out in (None, tmp_path / "out"):
        with pytest.raises(CorruptRecordError):
            convert_dataset(dataset.data_dir, file_format, out, quiet=True)
        assert contents(dataset.data_dir) == before
    assert not (tmp_path / "out").exists()
    path.write_bytes(b"")
    with pytest.raises(DatasetInfoError, match="expected 125 records, got 0"):
        convert_dataset(dataset.data_dir, file_format, quiet=True)
    path.unlink()
    with pytest.raises(MissingFileError):
        convert_dataset(dataset.data_dir, file_format, quiet=True)


def test_names_without_their_format(dataset, file_format):
    path = os.path.join(dataset.data_dir, "dataset_info.json")
    text = pathlib.Path(path).read_text().replace(".{FILEFORMAT}", ".tfrecord")
    pathlib.Path(path).write_text(text)
    with pytest.raises(UnsupportedError, match="whatever their format"):
        convert_dataset(dataset.data_dir, file_format)


def test_the_command(dataset, file_format, tmp_path):
    def run(*arguments):
        return CliRunner().invoke(main, ["convert", *map(str, arguments)])

    done = run(dataset.data_dir, "--to", file_format, "--out", tmp_path / "out", "-q")
    assert done.exit_code == 0
    assert f"format:     {file_format}" in done.output
    assert records(fk.builder_from_directory(tmp_path / "out")) == records(dataset)
    done = run(dataset.data_dir, "--to", file_format, "-q")
    assert done.exit_code == 0
    done = run(dataset.data_dir, "--to", file_format)
    assert done.exit_code == 1
    assert f"BuildError: numbers/1.0.0 is stored as {file_format} already" in done.output
