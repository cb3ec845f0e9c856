"""`featurekit index`: what it writes, and that it is used."""

import numpy as np
import pytest
from click.testing import CliRunner

import featurekit as fk
from featurekit.cli import main
from featurekit.dataset import index_files


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FEATUREKIT_CACHE_DIR", str(tmp_path / "cache"))
    features = fk.FeaturesDict({"id": np.int64})
    splits = {name: [(i, {"id": i}) for i in range(n)] for name, n in (("train", 90), ("test", 5))}
    reader = fk.write_dataset("many", splits, features, tmp_path, num_shards=3, quiet=True)
    return reader.data_dir


def run(*arguments):
    return CliRunner().invoke(main, ["index", *map(str, arguments)])


def test_indexes_beside_the_files(folder, tmp_path, monkeypatch):
    result = run(folder)
    assert result.output == "many/1.0.0: indexed 95 records in 6 files\n"
    assert len(list(tmp_path.glob("many/1.0.0/*.fkindex"))) == 6
    monkeypatch.setattr(index_files, "scan", None)  # nobody looks through the files
    source = fk.builder_from_directory(folder).as_data_source("train")
    assert sorted(int(example["id"]) for example in source.shuffle(0)) == list(range(90))


def test_indexes_of_one_split_in_the_cache(folder, tmp_path):
    result = run("many", "--data-dir", tmp_path, "--split", "test", "--cache")
    assert result.output == "many/1.0.0: indexed 5 records in 3 files\n"
    assert len(list(tmp_path.glob("cache/index/*.fkindex"))) == 3
    assert not list(tmp_path.glob("many/1.0.0/*.fkindex"))


def test_what_it_refuses(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("FEATUREKIT_CACHE_DIR", "")
    result = run(folder, "--cache")
    assert result.exit_code == 1
    assert result.output.startswith("InvalidArgumentError: the cache is switched off")
    path = next(tmp_path.glob("many/1.0.0/*-train.tfrecord-00001*"))
    path.write_bytes(b"")
    result = run(folder)
    assert result.exit_code == 1
    assert result.output.startswith("DatasetInfoError: expected 30 records, got 0\n  at: ")
