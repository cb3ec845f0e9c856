import os

import numpy as np
import pytest

import featurekit as fk
from featurekit.errors import (
    BuildError,
    DuplicateKeyError,
    EmptySplitError,
    EncodeError,
    InvalidNameError,
    InvalidTypeError,
)

FEATURES = fk.FeaturesDict({"x": np.int64})


def squares(count):
    return [{"x": index * index} for index in range(count)]


def values(reader, split="train"):
    return [int(example["x"]) for example in reader.as_data_source(split)]


def test_examples_get_their_index_as_key(tmp_path):
    plain = fk.write_dataset("a", {"train": squares(9)}, FEATURES, tmp_path)
    keyed = fk.write_dataset("b", {"train": enumerate(squares(9))}, FEATURES, tmp_path)
    assert values(plain) == values(keyed) == [36, 25, 16, 0, 64, 9, 1, 81 - 32, 4]


@pytest.mark.parametrize("num_processes", [1, 2])
def test_iterators_of_several_splits(tmp_path, num_processes):
    splits = {"train": iter(squares(5)), "test": (("k", {"x": 7}) for _ in range(1))}
    reader = fk.write_dataset("a", splits, FEATURES, tmp_path, num_processes=num_processes)
    assert {name: split.num_examples for name, split in reader.info.splits.items()} == {
        "train": 5,
        "test": 1,
    }
    assert values(reader, "test") == [7]


def test_what_is_said_about_the_dataset_is_kept(tmp_path):
    said = {
        "description": "Squares.",
        "homepage": "https://example.org/squares",
        "citation": "@misc{squares}",
        "license": "MIT",
        "supervised_keys": ("x", "x"),
        "disable_shuffling": True,
        "metadata": {"origin": [1, 2]},
    }
    fk.write_dataset(
        "squares",
        {"train": squares(7)},
        FEATURES,
        tmp_path,
        version="1.2.3",
        config=fk.BuilderConfig("small", description="Few.", tags=["t"]),
        release_notes={"1.2.3": "More."},
        num_shards=3,
        **said,
    )
    train, info = fk.load("squares/small", "train", data_dir=tmp_path, with_info=True)
    assert [int(example["x"]) for example in train] == [0, 1, 4, 9, 16, 25, 36]
    assert {name: getattr(info, name) for name in said} == said
    assert info.full_name == "squares/small/1.2.3"
    assert (info.config_description, info.config_tags) == ("Few.", ["t"])
    assert info.release_notes == {"1.2.3": "More."}
    assert info.splits["train"].shard_lengths == [2, 3, 2]
    assert info.features == FEATURES


@pytest.mark.parametrize(
    ("splits", "error", "message"),
    [
        ({}, BuildError, "d/1.0.0 has no splits"),
        ({"train": []}, EmptySplitError, "split 'train' has no examples"),
        ({"train": {"x": 1}}, InvalidTypeError, "split 'train' is no iterable of (key, example)"),
        ({"train": 7}, InvalidTypeError, "split 'train' is no iterable of (key, example)"),
        ({"all": squares(1)}, InvalidNameError, "a split cannot be called 'all'"),
        ({"train": [{"y": 1}]}, EncodeError, "the example lacks 'x'"),
        ({"train": [(1, {"x": 1}), {"x": 1}]}, InvalidTypeError, "expected (key, example), got"),
        ({"train": [(1, {"x": 1}), (1, {"x": 2})]}, DuplicateKeyError, "two examples of split"),
    ],
)
def test_what_cannot_be_written_is_refused(tmp_path, splits, error, message):
    with pytest.raises(error) as caught:
        fk.write_dataset("d", splits, FEATURES, tmp_path)
    assert str(caught.value).startswith(message)
    assert not os.path.exists(tmp_path / "d/1.0.0")


def test_a_dataset_is_replaced_on_request_only(tmp_path):
    fk.write_dataset("d", {"train": squares(3)}, FEATURES, tmp_path)
    with pytest.raises(BuildError, match="there is a dataset already"):
        fk.write_dataset("d", {"train": squares(4)}, FEATURES, tmp_path)
    fk.write_dataset("d", {"train": squares(4)}, FEATURES, tmp_path, overwrite=True)
    assert len(fk.load("d", "train", data_dir=tmp_path)) == 4


@pytest.mark.parametrize(
    ("name", "version", "config"),
    [("my-data", "1.0.0", None), ("d", "1.0", None), ("d", "1.0.0", "../up")],
)
def test_names_are_checked(tmp_path, name, version, config):
    with pytest.raises(InvalidNameError):
        fk.write_dataset(
            name, {"train": squares(1)}, FEATURES, tmp_path, version=version, config=config
        )
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("splits", [None, [{"x": 1}]])
def test_splits_are_a_dict(tmp_path, splits):
    with pytest.raises(InvalidTypeError) as caught:
        fk.write_dataset("a", splits, FEATURES, tmp_path)
    assert str(caught.value) == (
        f"splits must be a dict of examples, got {splits!r}\n  hint: give {{'train': examples}}"
    )
