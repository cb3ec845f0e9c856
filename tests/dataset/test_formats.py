"""Datasets in other formats than TFRecord, in several formats, and with rows that TFDS lost."""

import itertools
import json
import logging
import os
import shutil

import golden
import numpy as np
import pytest

import featurekit as fk
from featurekit.dataset.lost_rows import rows_kept
from featurekit.errors import (
    DatasetInfoError,
    InvalidArgumentError,
    MissingFileError,
    UnsupportedError,
)
from featurekit.io.record_files import open_records, open_writer

LOSSY = golden.ROOT / "formats" / "fmt_parquet_250" / "1.0.0"


def batches_of_an_iterator_that_goes_on(rows, size=100):
    """What TFDS's Parquet writer keeps of the rows of a shard."""
    rows, start, kept = iter(rows), 0, []
    while batch := list(itertools.islice(rows, start, start + size)):
        kept += batch
        start += size
    return kept


@pytest.mark.parametrize(
    "count", [0, 1, 99, 100, 101, 199, 200, 201, 250, 300, 301, 599, 700, 9999]
)
def test_rows_that_tfds_keeps(count):
    assert rows_kept(count) == len(batches_of_an_iterator_that_goes_on(range(count)))


def test_shards_that_lack_rows_give_what_they_have(caplog):
    pytest.importorskip("pyarrow")
    expected = next(e for e in golden.datasets("formats") if e.name == "fmt_parquet_250")
    stored = [
        expected.inputs("train")[i][1]["id"]
        for i in expected.json["written"]["train"]["input_index"]
    ]
    kept = batches_of_an_iterator_that_goes_on(stored)
    builder = fk.builder_from_directory(LOSSY)
    with caplog.at_level(logging.WARNING, "featurekit"):
        source = builder.as_data_source("train")
    assert [record.getMessage() for record in caplog.records] == [
        f"{LOSSY}/fmt_parquet_250-train.parquet-00000-of-00001 has 150 of 250 examples: TFDS lost "
        "the others when it wrote the file. Build the dataset again to have them"
    ]
    assert len(source) == 150
    assert [example["id"] for example in source] == kept
    assert source[149]["id"] == kept[149]
    assert [e["id"] for e in builder.as_data_source("train[90:200]")] == kept[90:]
    assert len(builder.as_data_source("train[200:]")) == 0


@pytest.mark.parametrize("rows", [100, 149, 151, 249, 251])
def test_other_counts_are_refused(tmp_path, rows):
    pytest.importorskip("pyarrow")
    folder = shutil.copytree(LOSSY, tmp_path / "1.0.0")
    path = str(folder / "fmt_parquet_250-train.parquet-00000-of-00001")
    record = open_records(path, "parquet")[0]
    writer = open_writer(path, "parquet")
    for _ in range(rows):
        writer.write(record)
    writer.close()
    source = fk.builder_from_directory(folder).as_data_source("train")
    for read in (lambda: source[0], lambda: list(source)):
        with pytest.raises(DatasetInfoError) as caught:
            read()
        assert str(caught.value) == (
            f"expected 250 records, got {rows}\n  at: {path}\n"
            "  hint: the shard is cut, or not the one that dataset_info.json describes; "
            "copy it again"
        )


FEATURES = fk.FeaturesDict({"i": np.int64, "t": fk.Text()})
EXAMPLES = [{"i": i, "t": f"number {i}"} for i in range(120)]


@pytest.fixture
def both(tmp_path):
    """A dataset in TFRecord files and, beside them, in Parquet files; and its numbers."""
    pytest.importorskip("pyarrow")
    builder = fk.write_dataset("numbers", {"train": EXAMPLES}, FEATURES, tmp_path, num_shards=2)
    split = builder.info.splits["train"]
    for path in split.filepaths:
        writer = open_writer(path.replace("tfrecord", "parquet"), "parquet")
        for record in open_records(path):
            writer.write(record)
        writer.close()
    path = os.path.join(builder.data_dir, "dataset_info.json")
    with open(path) as file:
        info = json.load(file) | {"alternativeFileFormats": ["parquet"]}
    with open(path, "w") as file:
        json.dump(info, file)
    return builder.data_dir, [int(e["i"]) for e in builder.as_data_source("train")]


def test_an_alternative_format_is_chosen(both):
    folder, numbers = both
    for chosen, other in (("tfrecord", "parquet"), ("parquet", "tfrecord")):
        for builder in (
            fk.builder_from_directory(folder, file_format=chosen),
            fk.builder(folder, file_format=chosen),
        ):
            assert builder.info.file_format == chosen
            assert builder.info.alternative_file_formats == [other]
            assert all(f".{chosen}-" in path for path in builder.info.splits["train"].filenames)
            source = builder.as_data_source("train")
            assert [int(e["i"]) for e in source] == numbers
            assert int(source[77]["i"]) == numbers[77]
        assert len(fk.load(folder, "train[:10]", file_format=chosen)) == 10
    assert fk.builder_from_directory(folder).info.file_format == "tfrecord"


def test_a_format_that_is_not_there(both):
    with pytest.raises(DatasetInfoError) as caught:
        fk.builder_from_directory(both[0], file_format="array_record")
    assert str(caught.value) == (
        "numbers/1.0.0 is not stored as array_record, but as tfrecord, parquet\n"
        f"  at: {both[0]}\n"
        "  hint: leave file_format= out, or convert it: featurekit convert FOLDER --to array_record"
    )
    with pytest.raises(InvalidArgumentError, match="did you mean 'parquet'"):
        fk.builder_from_directory(both[0], file_format="parket")


def test_a_template_that_does_not_say_the_format(both):
    folder, _ = both
    path = os.path.join(folder, "dataset_info.json")
    with open(path) as file:
        text = file.read().replace(".{FILEFORMAT}", ".tfrecord")
    with open(path, "w") as file:
        file.write(text)
    with pytest.raises(UnsupportedError) as caught:
        fk.builder_from_directory(folder, file_format="parquet")
    assert str(caught.value) == (
        "the files of the split 'train' are called '{DATASET}-{SPLIT}.tfrecord-{SHARD_X_OF_Y}', "
        f"whatever their format\n  at: {folder}\n"
        "  hint: put {FILEFORMAT} into the file name template"
    )


def test_a_missing_parquet_shard(both):
    folder, _ = both
    path = os.path.join(folder, "numbers-train.parquet-00001-of-00002")
    os.remove(path)
    with pytest.raises(MissingFileError, match="a shard of the dataset does not exist") as caught:
        list(fk.load(folder, "train", file_format="parquet"))
    assert caught.value.file == path


def test_riegeli_is_not_read(tmp_path):
    folder = fk.write_dataset("numbers", {"train": EXAMPLES}, FEATURES, tmp_path).data_dir
    path = os.path.join(folder, "dataset_info.json")
    with open(path) as file:
        text = file.read().replace('"tfrecord"', '"riegeli"')
    with open(path, "w") as file:
        file.write(text)
    builder = fk.builder_from_directory(folder)
    with pytest.raises(UnsupportedError, match="format 'riegeli' can be neither read nor written"):
        builder.as_data_source("train")
