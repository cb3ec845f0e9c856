"""Datasets behind URLs: read in ranges, whatever the order."""

import os
import pickle
import random

import golden
import numpy as np
import pytest

import featurekit as fk
from featurekit.dataset import index_files
from featurekit.errors import (
    CorruptRecordError,
    DatasetNotFoundError,
    MissingFileError,
    SchemaError,
)
from featurekit.io import files

fsspec = pytest.importorskip("fsspec")
from fsspec.implementations.memory import MemoryFileSystem  # noqa: E402


@pytest.fixture
def bucket(monkeypatch, tmp_path):
    """An empty store; and which bytes of which files are read from it."""
    monkeypatch.setenv("FEATUREKIT_CACHE_DIR", str(tmp_path / "cache"))
    filesystem = MemoryFileSystem()
    reads = []
    cat_file = MemoryFileSystem.cat_file

    def counted(self, path, start=None, end=None, **options):
        data = cat_file(self, path, start=start, end=end, **options)
        reads.append((os.path.basename(path), len(data)))
        return data

    monkeypatch.setattr(MemoryFileSystem, "cat_file", counted)
    filesystem.rm("/", recursive=True)
    yield filesystem, reads
    filesystem.rm("/", recursive=True)


@pytest.fixture
def folder(tmp_path):
    features = fk.FeaturesDict(
        {"id": np.int64, "data": fk.Text(), "kind": fk.ClassLabel(names=["a", "b"])}
    )
    examples = [(i, {"id": i, "data": bytes(5000), "kind": i % 2}) for i in range(100)]
    fk.write_dataset("many", {"train": examples}, features, tmp_path, num_shards=3, quiet=True)
    return tmp_path


@pytest.fixture
def source(folder, bucket):
    bucket[0].put(str(folder / "many"), "/data/", recursive=True)
    return fk.load("many", "train", data_dir="memory://data")


def ids(examples):
    return [int(one["id"]) for one in examples]


def shard_reads(reads):
    return [size for name, size in reads if "tfrecord" in name and not name.endswith("fkindex")]


def test_the_same_examples(source, folder):
    local = fk.load("many", "train", data_dir=folder)
    assert ids(source) == ids(local)
    assert ids(source.shuffle(1)) == ids(local.shuffle(1))
    assert source.features == local.features
    assert source.features["kind"].names == ["a", "b"]
    assert source[5]["data"] == bytes(5000)
    batches = zip(source.batches(16, threads=2), local.batches(16), strict=True)
    assert all((a["id"] == b["id"]).all() for a, b in batches)
    assert ids(pickle.loads(pickle.dumps(source))[90:]) == ids(local)[90:]


def test_by_the_url_of_a_version(source):
    same = fk.load("memory://data/many/1.0.0/", "train")
    assert ids(same) == ids(source)
    assert same.info.data_dir == "memory://data/many/1.0.0"
    assert fk.builder_from_directory("memory://data/many/1.0.0").info.name == "many"


def test_from_front_to_back_each_byte_is_fetched_once(source, bucket):
    bucket[1].clear()
    assert len(ids(source)) == 100
    sizes = shard_reads(bucket[1])
    stored = [bucket[0].size(path) for path in bucket[0].glob("/data/**/*tfrecord*")]
    assert sizes == stored  # one request a file, since they are smaller than what is read ahead


def test_at_random_only_what_is_wanted_is_fetched(source, bucket, monkeypatch):
    monkeypatch.setattr(files, "_READ_AHEAD", 0)
    source[0]  # makes the index of the first file, whose end is still held after that
    bucket[1].clear()
    source[7]
    assert [size // 1000 for size in shard_reads(bucket[1])] == [5]
    bucket[1].clear()
    source[[3, 9, 4, 5]].batches(4)[0]
    assert sorted(size // 1000 for size in shard_reads(bucket[1])) == [5, 5, 10]


def test_an_index_in_the_store(source, bucket, monkeypatch):
    for path in bucket[0].glob("/data/many/1.0.0/*tfrecord*"):
        file = files.open_file(f"memory:/{path}")
        place = os.path.join(os.environ["FEATUREKIT_CACHE_DIR"], "one")
        index_files.write_index(place, file, index_files.scan(file))
        bucket[0].put(place, path + ".fkindex")
    monkeypatch.setattr(index_files, "scan", None)
    assert sorted(ids(source.shuffle(0))) == list(range(100))


def test_episodes(bucket):
    path = golden.ROOT / "dataset_feature/rlds_episodes"
    bucket[0].put(str(path), "/robots/rlds_episodes", recursive=True)
    windows = fk.episodes(fk.load("rlds_episodes", "train", data_dir="memory://robots")).windows(2)
    local = fk.episodes(fk.load("rlds_episodes", "train", data_dir=path.parent)).windows(2)
    assert len(windows) == len(local)
    for one, other in zip(windows, local, strict=True):
        assert golden.difference(one["steps"], other["steps"]) is None


@pytest.mark.parametrize(
    ("name", "package"), [("fmt_array_record", "array_record"), ("fmt_parquet_250", "pyarrow")]
)
def test_other_formats(bucket, name, package):
    pytest.importorskip(package)
    path = golden.ROOT / "formats" / name
    bucket[0].put(str(path), f"/data/{name}", recursive=True)
    source = fk.load(name, "train", data_dir="memory://data")
    local = fk.load(name, "train", data_dir=path.parent)
    for one, other in zip(source.shuffle(1), local.shuffle(1), strict=True):
        assert golden.difference(one, other) is None
    batch, same = (data.batches(16, threads=2)[0] for data in (source, local))
    assert (batch["id"] == same["id"]).all()
    again = pickle.loads(pickle.dumps(source))
    assert golden.difference(again[len(again) - 1], local[len(local) - 1]) is None


def test_row_groups_are_fetched_once_a_batch(bucket, tmp_path):
    pytest.importorskip("pyarrow")
    features = fk.FeaturesDict({"id": np.int64, "data": fk.Text()})
    rows = [(i, {"id": i, "data": random.Random(i).randbytes(2000)}) for i in range(300)]
    folder = tmp_path / "data"
    fk.write_dataset("rows", {"train": rows}, features, folder, file_format="parquet", quiet=True)
    bucket[0].put(str(folder), "/data", recursive=True)
    source = fk.load("rows", "train", data_dir="memory://data")
    wanted = [250, 10, 150, 290, 20, 110]
    local = fk.load("rows", "train", data_dir=folder)
    expected = [int(local[i]["id"]) for i in wanted]
    bucket[1].clear()
    assert source[wanted].batches(6)[0]["id"].tolist() == expected
    sizes = [size for name, size in bucket[1] if "parquet" in name]
    # The footer, the first group, and the other two in one request.
    assert [round(size, -5) for size in sizes] == [100_000, 200_000, 400_000]


# What cannot be.


def test_what_is_not_there(source, bucket):
    with pytest.raises(DatasetNotFoundError, match="there is no dataset 'some'"):
        fk.load("some", data_dir="memory://data")
    with pytest.raises(DatasetNotFoundError, match="so this is not the folder of a dataset"):
        fk.load("memory://data/many/2.0.0")
    bucket[0].rm(source.locate(50)[0].removeprefix("memory:/"))
    with pytest.raises(MissingFileError, match="a shard of the dataset does not exist"):
        source[50]
    with pytest.raises(MissingFileError, match="there is no such file"):
        files.open_file("memory://nothing/here")


def test_damage_says_where(source, bucket):
    path = "/data/many/1.0.0/features.json"
    good = bucket[0].cat_file(path)
    bucket[0].pipe_file(path, b"{")
    with pytest.raises(SchemaError, match="is not JSON") as error:
        fk.load("many", data_dir="memory://data")
    assert error.value.file == "memory://data/many/1.0.0/features.json"
    bucket[0].pipe_file(path, good)
    url, _ = source.locate(0)
    inner = url.removeprefix("memory:/")
    data = bytearray(bucket[0].cat_file(inner))
    data[100] ^= 1
    bucket[0].pipe_file(inner, bytes(data))
    with pytest.raises(CorruptRecordError) as error:
        list(fk.load("many", "train", data_dir="memory://data"))
    assert error.value.file == url
