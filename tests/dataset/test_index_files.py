"""Index files: written, believed, and noticed when they are stale or damaged."""

import os
import pickle

import numpy as np
import pytest

import featurekit as fk
from featurekit.dataset import index_files
from featurekit.dataset.index_files import INDEX_SUFFIX, index_path, load_index, write_index
from featurekit.errors import DatasetInfoError, WriteError
from featurekit.io.files import open_file
from featurekit.io.index import scan

RECORDS = [bytes([65 + i % 26]) * (i % 50) for i in range(300)]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FEATUREKIT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(index_files, "_SMALL", 0)
    return tmp_path / "cache"


@pytest.fixture
def scans(monkeypatch):
    """The files that were looked through."""
    found = []

    def counted(file):
        found.append(file.path)
        return scan(file)

    monkeypatch.setattr(index_files, "scan", counted)
    return found


@pytest.fixture
def path(tmp_path):
    return write(tmp_path / "a.tfrecord", RECORDS)


def write(path, records):
    with fk.io.TFRecordWriter(path) as writer:
        for record in records:
            writer.write(record)
    return str(path)


def lengths(path, count=300):
    return load_index(open_file(path), count).lengths.tolist()


def beside(path):
    write_index(path + INDEX_SUFFIX, open_file(path), scan(path))


EXPECTED = [len(record) for record in RECORDS]


def test_a_file_is_looked_through_once(path, scans, cache):
    assert lengths(path) == lengths(path) == lengths(path) == EXPECTED
    assert scans == [path]
    assert os.listdir(cache / "index") == [os.path.basename(index_path(path))]


def test_an_index_beside_the_file(path, scans, cache):
    beside(path)
    assert lengths(path) == EXPECTED
    assert scans == []
    assert not cache.exists()


@pytest.mark.parametrize("damage", [
    lambda data: data[:-1], lambda data: b"", lambda data: data + b"x", lambda data: data[:9],
    lambda data: bytes([data[0] ^ 1]) + data[1:], lambda data: data[:-2] + b"\x09" + data[-1:],
    lambda data: data[:12] + bytes([5]) + data[13:],
])  # fmt: skip
@pytest.mark.parametrize("where", ["cache", "beside"])
def test_a_damaged_index_is_made_anew(path, scans, damage, where):
    place = index_path(path) if where == "cache" else path + INDEX_SUFFIX
    write_index(place, open_file(path), scan(path))
    with open(place, "rb") as file:
        data = file.read()
    with open(place, "wb") as file:
        file.write(damage(data))
    assert lengths(path) == EXPECTED
    assert scans == [path]
    assert lengths(path) == EXPECTED  # now from the cache
    assert scans == [path]


@pytest.mark.parametrize("change", [
    lambda path: write(path, RECORDS[:-1] + [b"another size"]),
    lambda path: os.utime(path, ns=(1, 1)),
    lambda path: write(path, RECORDS[::-1]) and os.utime(path, ns=(2, 2)),
])  # fmt: skip
@pytest.mark.parametrize("where", ["cache", "beside"])
def test_a_stale_index_is_made_anew(path, scans, change, where):
    write_index(
        index_path(path) if where == "cache" else path + INDEX_SUFFIX, open_file(path), scan(path)
    )
    change(path)
    assert lengths(path) == [len(record) for record in fk.io.TFRecordReader(path)]
    assert scans == [path]


def test_an_index_with_another_number_of_records_is_not_believed(path, scans):
    beside(path)
    assert lengths(path, 299) == EXPECTED
    assert scans == [path]
    assert not os.path.exists(index_path(path))  # nor is that kept, which contradicts metadata


def test_long_records(path, tmp_path):
    index = fk.io.TFRecordReader(path)._indexed()
    index.lengths[0] = 2**33
    place = str(tmp_path / "long")
    write_index(place, open_file(path), index)
    assert os.path.getsize(place) > 8 * 300


def test_small_files_are_not_worth_it(path, monkeypatch, cache):
    monkeypatch.setattr(index_files, "_SMALL", 1 << 20)
    assert lengths(path) == EXPECTED
    assert not cache.exists()


def test_no_cache(path, monkeypatch, scans):
    monkeypatch.setenv("FEATUREKIT_CACHE_DIR", "")
    assert index_path(path) is None
    assert lengths(path) == lengths(path) == EXPECTED
    assert scans == [path, path]


def test_a_cache_that_cannot_be_written_to(path, monkeypatch, tmp_path):
    monkeypatch.setenv("FEATUREKIT_CACHE_DIR", write(tmp_path / "file", []))
    assert lengths(path) == EXPECTED
    with pytest.raises(WriteError, match="the index cannot be written"):
        write_index(index_path(path), open_file(path), scan(path))


@pytest.fixture
def source(tmp_path):
    features = fk.FeaturesDict({"id": np.int64})
    examples = [(i, {"id": i}) for i in range(200)]
    fk.write_dataset("many", {"train": examples}, features, tmp_path, num_shards=40, quiet=True)
    return fk.load("many", "train", data_dir=tmp_path)


def test_a_dataset_of_many_files(source, scans):
    def ids(examples):
        return sorted(int(example["id"]) for example in examples)

    assert ids(source.shuffle(0)) == list(range(200))
    assert len(scans) == 40  # however few files are open at a time
    again = pickle.loads(pickle.dumps(source))
    assert ids(again.shuffle(1)) == list(range(200))
    assert len(scans) == 40
    assert ids(source) == list(range(200))
    assert len(scans) == 40  # from front to back no index is needed


def test_a_shard_that_is_replaced(source, scans):
    list(source.shuffle(0))
    path, _ = source.locate(50)
    write(path, [b""] * 3)
    again = pickle.loads(pickle.dumps(source))
    with pytest.raises(DatasetInfoError, match="expected 5 records, got 3"):
        list(again.shuffle(0))
