"""The dataset that is shipped, against its source."""

import csv
import gzip
import importlib.resources

import numpy as np
import pytest

import featurekit as fk
from featurekit.builders.catalog.digits import Digits


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    builder = Digits(data_dir=tmp_path_factory.mktemp("digits"))
    builder.download_and_prepare(quiet=True)
    return builder


@pytest.fixture(scope="module")
def table():
    """`(1797, 65)`: 64 pixels and the label."""
    source = importlib.resources.files("featurekit.builders.catalog") / "data/digits.csv.gz"
    with source.open("rb") as packed, gzip.open(packed, "rt") as text:
        return np.array([list(map(int, row)) for row in csv.reader(text)])


def test_every_image_is_there_once(digits, table):
    examples = list(digits.as_data_source("train"))
    assert len(examples) == len(table) == 1797
    assert {(e["image"].shape, e["image"].dtype, type(e["label"])) for e in examples} == {
        ((8, 8, 1), np.dtype(np.uint8), np.int64)
    }
    got = sorted(
        (*example["image"].reshape(-1).tolist(), int(example["label"])) for example in examples
    )
    assert got == sorted(map(tuple, table.tolist()))


def test_labels_and_ink(digits, table):
    examples = list(digits.as_data_source("train"))
    labels = np.array([example["label"] for example in examples])
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert np.bincount(labels).tolist() == np.bincount(table[:, 64]).tolist()
    ink = [int(example["image"].sum()) for example in examples]
    assert sum(ink) == int(table[:, :64].sum()) == 561718
    assert max(int(example["image"].max()) for example in examples) == 16


def test_what_is_said_about_it(digits):
    info = fk.builder_from_directory(digits.data_dir).info
    assert info.full_name == "digits/1.0.0"
    assert info.supervised_keys == ("image", "label")
    assert info.license == "CC BY 4.0"
    assert info.splits["train"].num_shards == 1
    assert info.features["label"].num_classes == 10
    assert info.module_name == "featurekit.builders.catalog.digits"


def test_the_order_is_that_of_the_keys_hashes(digits, table):
    from featurekit.builders.keys import hash_key

    order = sorted(range(1797), key=lambda key: hash_key("train", key))
    labels = [int(example["label"]) for example in digits.as_data_source("train")]
    assert labels == table[order, 64].tolist()
