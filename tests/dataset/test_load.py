"""What `load` says where its argument leads nowhere."""

import numpy as np
import pytest

import featurekit as fk
from featurekit.errors import (
    DatasetNotFoundError,
    InvalidArgumentError,
    InvalidTypeError,
    SchemaError,
)


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    features = fk.FeaturesDict({"x": np.int64})
    fk.write_dataset("a", {"train": [{"x": i} for i in range(5)]}, features, "data")
    return tmp_path / "data"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "data/b/1.0.0",
            "there is no such folder\n"
            "  at: data/b/1.0.0\n"
            "  hint: give the folder of a dataset's version, or its name: name[/config][:version]",
        ),
        (
            "data/../data",
            "the folder has no dataset_info.json\n"
            "  at: data/../data\n"
            "  hint: give the folder of a dataset's version, or its name: name[/config][:version]",
        ),
        (
            "data/a",
            "this folder has versions of a dataset, but is not one: it has no dataset_info.json\n"
            "  at: data/a\n"
            "  hint: give the folder of one version: 'data/a/1.0.0'",
        ),
        (
            "data/a/1.0.0/features.json",
            "this is a file, not the folder of a dataset's version\n"
            "  at: data/a/1.0.0/features.json\n"
            "  hint: give the folder that holds it, if it is a file of a dataset",
        ),
        (
            "b",
            "there is no dataset 'b'; there are 'a'\n"
            "  at: data\n"
            "  hint: build it first, or give the folder of your datasets as data_dir=",
        ),
    ],
)
def test_paths_and_names_that_lead_nowhere(data, name, message):
    with pytest.raises(DatasetNotFoundError) as caught:
        fk.load(name, data_dir="data")
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"name": None},
            "expected the name or the folder of a dataset, got None\n"
            "  hint: write for example 'mnist:3.0.1' or 'data/mnist/3.0.1'",
        ),
        (
            {"name": "a", "data_dir": 3},
            "data_dir must be a path, got 3\n  hint: give the folder that holds the datasets",
        ),
        (
            {"name": "data/a/1.0.0", "trust": "os"},
            "trust must be a list of packages, got 'os'\n"
            "  hint: write for example trust=['my_package']",
        ),
    ],
)
def test_arguments_of_another_type(data, arguments, message):
    with pytest.raises(InvalidTypeError) as caught:
        fk.load(**arguments)
    assert str(caught.value) == message


def test_a_folder_for_a_file(data):
    path = data / "a/1.0.0/features.json"
    path.unlink()
    path.mkdir()
    (path / "x").touch()
    with pytest.raises(SchemaError) as caught:
        fk.load("a", data_dir=data)
    assert str(caught.value) == f"features.json cannot be read: Is a directory\n  at: {path}"


@pytest.mark.parametrize("count", [-1, 1.5, None])
@pytest.mark.parametrize("method", ["take", "skip"])
def test_numbers_of_examples(data, method, count):
    examples = fk.load("a", split="train", data_dir=data)
    with pytest.raises(InvalidArgumentError) as caught:
        getattr(examples, method)(count)
    assert str(caught.value) == (
        f"a number of examples must be an integer from 0 on, got {count}\n"
        "  hint: write examples[:-1] to leave out the last one"
    )
