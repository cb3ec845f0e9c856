"""Datasets in several folders, opened as one."""

import numpy as np
import pytest
from golden import ROOT, table, value

import featurekit as fk
from featurekit.dataset.multi_dir import builder_from_directories
from featurekit.dataset.read_config import ReadConfig
from featurekit.errors import DatasetInfoError, InvalidArgumentError, SplitError

ROWS = table("multi_dir")["rows"]


def open_(row):
    return builder_from_directories(ROOT / "multi_dir" / folder for folder in row["dirs"])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "+".join(d[:5] for d in row["dirs"]))
def test_splits_are_joined_in_the_order_of_the_folders(row):
    builder = open_(row)
    assert {
        name: {
            "num_examples": split.num_examples,
            "shard_lengths": split.shard_lengths,
            "num_bytes": split.num_bytes,
            "filepaths": [path.split("multi_dir/")[1] for path in split.filepaths],
        }
        for name, split in builder.info.splits.items()
    } == row["splits"]


@pytest.mark.parametrize(
    ("row", "read"),
    [(row, read) for row in ROWS for read in row["reads"]],
    ids=lambda item: item.get("split") or "+".join(d[:5] for d in item["dirs"]),
)
def test_what_is_read_is_what_tfds_reads(row, read):
    builder = open_(row)
    config = ReadConfig(add_tfds_id=True)
    if "error" in read:
        if "corresponds to no data" in value(read["error"])[1]:
            assert list(builder.as_dataset(read["split"])) == []  # it is no error here
            return
        with pytest.raises(SplitError):
            builder.as_dataset(read["split"], read_config=config)
        return
    examples = list(builder.as_dataset(read["split"], read_config=config))
    if "ids_sorted" in read:
        assert sorted(example["id"] for example in examples) == read["ids_sorted"]
        return
    assert [example["id"] for example in examples] == read["ids"]
    if read.get("first_tfds_ids"):
        assert [e["tfds_id"].decode() for e in examples[:3]] == read["first_tfds_ids"]
    in_order = builder.as_data_source(read["split"])
    assert [e["id"] for e in in_order] == read.get("ids_sequential", read["ids"])


def test_folders_of_other_datasets_are_refused(tmp_path):
    folders = [
        fk.write_dataset(
            name, {"train": [{"x": 1}]}, fk.FeaturesDict({"x": dtype}), tmp_path
        ).data_dir
        for name, dtype in (("one", np.int64), ("two", np.int32))
    ]
    with pytest.raises(DatasetInfoError, match="features"):
        builder_from_directories(folders)


def test_no_folder_is_refused():
    with pytest.raises(InvalidArgumentError, match="no folder"):
        builder_from_directories([])
