"""Builds in other formats than TFRecord: the same records, in the same order and shards."""

import json
import os

import numpy as np
import pytest

import featurekit as fk
from featurekit.builders.metadata import write_metadata
from featurekit.builders.sequential import SequentialWriter
from featurekit.builders.shard_based import ShardBasedBuilder
from featurekit.dataset.identity import DatasetIdentity
from featurekit.errors import BuildError, DatasetInfoError, InvalidArgumentError

PACKAGES = {"array_record": "array_record", "parquet": "pyarrow"}
FEATURES = fk.FeaturesDict({"i": np.int64, "t": fk.Text()})


@pytest.fixture(params=["array_record", "parquet"])
def file_format(request):
    pytest.importorskip(PACKAGES[request.param])
    return request.param


def examples(count):
    for i in range(count):
        yield f"key {i}", {"i": i, "t": f"number {i}" * (i % 5)}


class Numbers(fk.GeneratorBasedBuilder, skip_registration=True):
    VERSION = "1.0.0"

    def _info(self):
        return fk.DatasetInfo(builder=self, features=FEATURES)

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples(250), "test": self._generate_examples(7)}

    def _generate_examples(self, count):
        return examples(count)


def files(folder):
    return sorted(name for name in os.listdir(folder) if "-of-" in name)


def stored(folder):
    with open(os.path.join(folder, "dataset_info.json")) as file:
        return json.load(file)


@pytest.mark.parametrize("num_processes", [1, 2])
def test_a_builder(tmp_path, file_format, num_processes):
    plain = Numbers(data_dir=tmp_path / "plain")
    other = Numbers(data_dir=tmp_path / "other", file_format=file_format)
    for builder in (plain, other):
        builder.download_and_prepare(num_shards=3, num_processes=num_processes, quiet=True)
    assert files(other.data_dir) == [
        name.replace("tfrecord", file_format) for name in files(plain.data_dir)
    ]
    assert other.info.file_format == file_format
    assert stored(other.data_dir) == stored(plain.data_dir) | {"fileFormat": file_format}
    for split in ("train", "test", "train[33:170]"):
        records = list(plain.as_data_source(split).serialized())
        source = other.as_data_source(split)
        assert list(source.serialized()) == records
        assert [int(e["i"]) for e in source] == [int(e["i"]) for e in plain.as_data_source(split)]
    again = fk.builder_from_directory(other.data_dir)
    assert again.info.file_format == file_format
    assert len(again.as_data_source("train")) == 250


def test_the_info_of_a_builder_can_say_the_format(tmp_path, file_format):
    class Other(Numbers, skip_registration=True):
        def _info(self):
            return fk.DatasetInfo(builder=self, features=FEATURES, file_format=file_format)

    builder = Other(data_dir=tmp_path)
    builder.download_and_prepare(quiet=True)
    assert builder.info.file_format == file_format
    assert all(f".{file_format}-" in name for name in files(builder.data_dir))
    plain = Other(data_dir=tmp_path / "plain", file_format="tfrecord")
    plain.download_and_prepare(quiet=True)
    assert all(".tfrecord-" in name for name in files(plain.data_dir))


def test_the_build_can_say_the_format(tmp_path, file_format):
    builder = Numbers(data_dir=tmp_path)
    builder.download_and_prepare(file_format=file_format, quiet=True)
    assert builder.info.file_format == file_format
    assert len(list(builder.as_data_source("test"))) == 7


def test_a_dataset_that_is_there_in_another_format(tmp_path):
    Numbers(data_dir=tmp_path).download_and_prepare(quiet=True)
    builder = Numbers(data_dir=tmp_path, file_format="parquet")
    for use in (lambda: builder.info, builder.download_and_prepare):
        with pytest.raises(DatasetInfoError, match=r"is not stored as parquet, but as tfrecord"):
            use()
    with pytest.raises(DatasetInfoError, match=r"is not stored as parquet, but as tfrecord"):
        Numbers(data_dir=tmp_path).download_and_prepare(file_format="parquet")
    Numbers(data_dir=tmp_path, file_format="tfrecord").download_and_prepare()


def test_a_format_that_there_is_not(tmp_path):
    with pytest.raises(InvalidArgumentError, match="did you mean 'parquet'"):
        Numbers(data_dir=tmp_path, file_format="parkett")


def test_write_dataset(tmp_path, file_format):
    options = {"num_shards": 2, "file_format": file_format}
    builder = fk.write_dataset("n", {"train": examples(40)}, FEATURES, tmp_path, **options)
    assert builder.info.file_format == file_format
    assert sorted(int(e["i"]) for e in builder.as_data_source("train")) == list(range(40))


def test_a_shard_based_builder(tmp_path, file_format):
    class Shards(ShardBasedBuilder, skip_registration=True):
        VERSION = "1.0.0"

        def _info(self):
            return fk.DatasetInfo(builder=self, features=FEATURES)

        def _shard_iterators_per_split(self, dl_manager):
            return {"train": [lambda: examples(3), lambda: examples(2)]}

    builder = Shards(data_dir=tmp_path, file_format=file_format)
    builder.download_and_prepare(quiet=True)
    assert [int(e["i"]) for e in builder.as_data_source("train")] == [0, 1, 2, 0, 1]


def test_a_sequential_writer(tmp_path, file_format):
    def write(values, **options):
        identity = DatasetIdentity(name="log", version=fk.Version("1.0.0"), data_dir=str(tmp_path))
        info = fk.DatasetInfo(builder=identity, features=fk.FeaturesDict({"i": np.int64}))
        with SequentialWriter(info, 3, **options) as writer:
            writer.initialize_splits(["train"], fail_if_exists=False)
            writer.add_examples({"train": [{"i": i} for i in values]})

    write(range(4), file_format=file_format)
    write(range(4, 6), file_format=file_format, overwrite=False)
    builder = fk.builder_from_directory(tmp_path)
    assert builder.info.file_format == file_format
    assert builder.info.splits["train"].shard_lengths == [3, 1, 2]
    assert [int(e["i"]) for e in builder.as_data_source("train")] == list(range(6))
    with pytest.raises(BuildError, match=f"is stored as {file_format}, not as tfrecord"):
        write([6], overwrite=False)


def test_metadata_beside_files(tmp_path, file_format):
    made = fk.write_dataset(
        "n", {"train": examples(9)}, FEATURES, tmp_path, file_format=file_format
    )
    os.remove(os.path.join(made.data_dir, "dataset_info.json"))
    builder = write_metadata(made.data_dir, FEATURES, file_format=file_format)
    assert builder.info.file_format == file_format
    assert builder.info.splits["train"].shard_lengths == [9]
    assert len(list(builder.as_data_source("train"))) == 9
