import json

import numpy as np
import pytest

import featurekit as fk
from featurekit.dataset.file_template import ShardedFileTemplate
from featurekit.dataset.splits import SplitInfo
from featurekit.errors import (
    BuildError,
    CorruptRecordError,
    DatasetInfoError,
    DecodeError,
    EmptySplitError,
    MissingFileError,
)

FEATURES = fk.FeaturesDict({"x": np.int64, "name": fk.Text()})


def record(index):
    return FEATURES.serialize_example({"x": index, "name": f"number {index}"})


def write_files(folder, files, **options):
    """Write files of consecutive records, as many as each name is given."""
    start = 0
    for name, count in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with fk.io.TFRecordWriter(path, **options) as writer:
            for index in range(start, start + count):
                writer.write(record(index))
        start += count


def numbers(source):
    return [int(example["x"]) for example in source]


DEFAULT = {
    "my_ds-test.tfrecord-00000-of-00001": 2,
    "my_ds-train.tfrecord-00000-of-00002": 3,
    "my_ds-train.tfrecord-00001-of-00002": 4,
}


def test_tfds_names_need_no_template(tmp_path):
    folder = tmp_path / "my_ds/2.0.1"
    write_files(folder, DEFAULT)
    (folder / "notes.txt").write_text("no shard")
    reader = fk.write_metadata(folder, FEATURES, description="Found files.")
    assert reader.info.full_name == "my_ds/2.0.1"
    assert json.loads((folder / "dataset_info.json").read_text()) == {
        "description": "Found files.",
        "fileFormat": "tfrecord",
        "name": "my_ds",
        "splits": [
            {
                "filepathTemplate": "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}",
                "name": "test",
                "numBytes": str(sum(len(record(i)) for i in range(2))),
                "shardLengths": ["2"],
            },
            {
                "filepathTemplate": "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}",
                "name": "train",
                "numBytes": str(sum(len(record(i)) for i in range(2, 9))),
                "shardLengths": ["3", "4"],
            },
        ],
        "version": "2.0.1",
    }
    assert numbers(fk.load("my_ds", "test+train", data_dir=tmp_path)) == list(range(9))


@pytest.mark.parametrize(
    ("template", "files"),
    [
        ("{SPLIT}-{SHARD_X_OF_Y}.tfrecord", {"a-00000-of-00002.tfrecord": 2,
                                             "a-00001-of-00002.tfrecord": 3}),
        ("{SPLIT}/part{SHARD_INDEX}", {"a/part00000": 1, "a/part00001": 0, "a/part00002": 4}),
        ("{SPLIT}.rec", {"a.rec": 5}),
        (ShardedFileTemplate("part-{SHARD_INDEX}", split="a"), {"part-00000": 4, "part-00001": 1}),
    ],
)  # fmt: skip
def test_other_names_need_a_template(tmp_path, template, files):
    write_files(tmp_path, files)
    reader = fk.write_metadata(tmp_path, FEATURES, filename_template=template)
    assert reader.info.splits["a"].shard_lengths == list(files.values())
    assert (reader.info.name, str(reader.info.version)) == ("", "1.0.0")
    opened = fk.builder_from_directory(tmp_path)
    assert numbers(opened.as_data_source("a")) == list(range(5))


def failure(folder, error, *args, **options):
    with pytest.raises(error) as caught:
        fk.write_metadata(folder, FEATURES, *args, **options)
    assert not (folder / "dataset_info.json").exists()
    assert not (folder / "features.json").exists()
    return str(caught.value).replace(str(folder), "DIR")


def test_names_that_do_not_match_are_refused(tmp_path):
    assert failure(tmp_path, MissingFileError) == (
        "no file is called as the template '{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}' says; "
        "there are none\n"
        "  at: DIR\n"
        "  hint: give filename_template=, such as '{SPLIT}-{SHARD_X_OF_Y}.tfrecord'"
    )
    write_files(tmp_path, {"train.rec": 1, "sub/my_ds-train.tfrecord-00000-of-00001": 1})
    assert "there are 'train.rec'\n" in failure(tmp_path, MissingFileError)


@pytest.mark.parametrize(
    ("files", "error", "message"),
    [
        (
            {"my_ds-train.tfrecord-00000-of-00002": 1},
            MissingFileError,
            "a shard of split 'train' is missing\n  at: DIR/my_ds-train.tfrecord-00001-of-00002",
        ),
        (
            DEFAULT | {"my_ds-train.tfrecord-00002-of-00003": 1},
            BuildError,
            "split 'train' has shards of 2 and of 3\n  at: DIR\n"
            "  hint: remove the files that are left from another build",
        ),
        (
            DEFAULT | {"other-train.tfrecord-00000-of-00001": 1},
            BuildError,
            "the files belong to several datasets: 'my_ds', 'other'\n  at: DIR\n"
            "  hint: move each dataset to a folder of its own",
        ),
        (
            {"my_ds-train.tfrecord-00000-of-00001": 0},
            EmptySplitError,
            "split 'train' has no examples\n  at: DIR",
        ),
    ],
)
def test_files_that_are_no_dataset_are_refused(tmp_path, files, error, message):
    write_files(tmp_path, files)
    assert failure(tmp_path, error) == message


def test_a_split_must_be_told(tmp_path):
    write_files(tmp_path, {"part-00000": 1})
    assert failure(tmp_path, BuildError, filename_template="part-{SHARD_INDEX}") == (
        "the names of the files do not tell the split\n  at: DIR\n"
        "  hint: give filename_template=ShardedFileTemplate('...', split='train')"
    )


def test_stated_lengths_are_compared(tmp_path):
    write_files(tmp_path, DEFAULT)
    good = [SplitInfo("train", [3, 4]), SplitInfo("test", [2])]
    reader = fk.write_metadata(tmp_path, FEATURES, good)
    assert list(reader.info.splits) == ["train", "test"]
    (tmp_path / "dataset_info.json").unlink()
    (tmp_path / "features.json").unlink()
    assert failure(tmp_path, DatasetInfoError, [SplitInfo("train", [4, 3])]) == (
        "split 'train' shall have 4 examples in this shard, it has 3\n"
        "  at: DIR/my_ds-train.tfrecord-00000-of-00002\n"
        "  hint: correct split_infos, or leave them out to have the records counted"
    )
    assert failure(tmp_path, MissingFileError, [SplitInfo("valid", [1])]) == (
        "a shard of split 'valid' is missing\n  at: DIR/my_ds-valid.tfrecord-00000-of-00001"
    )


def test_other_features_are_noticed(tmp_path):
    write_files(tmp_path, DEFAULT)
    other = fk.FeaturesDict({"y": np.int64})
    with pytest.raises(DecodeError) as caught:
        fk.write_metadata(tmp_path, other)
    assert str(caught.value).replace(str(tmp_path), "DIR") == (
        "the record has no entry 'y'\n"
        "  at: y, DIR/my_ds-test.tfrecord-00000-of-00001, record 0\n"
        "  hint: the record was written with other features; check features.json"
    )
    fk.write_metadata(tmp_path, other, check_data=False)


def test_compressed_and_damaged_files_are_refused(tmp_path):
    write_files(tmp_path, DEFAULT, compression="GZIP")
    failure(tmp_path, CorruptRecordError)
    write_files(tmp_path, DEFAULT)
    path = tmp_path / "my_ds-train.tfrecord-00001-of-00002"
    path.write_bytes(path.read_bytes()[:-1])
    assert "DIR/my_ds-train.tfrecord-00001-of-00002, record 3" in failure(
        tmp_path, CorruptRecordError
    )


def test_metadata_is_replaced_on_request_only(tmp_path):
    write_files(tmp_path, DEFAULT)
    fk.write_metadata(tmp_path, FEATURES)
    with pytest.raises(BuildError) as caught:
        fk.write_metadata(tmp_path, FEATURES)
    assert str(caught.value) == (
        f"there is a dataset_info.json already\n  at: {tmp_path}\n"
        "  hint: give overwrite=True to replace it"
    )
    reader = fk.write_metadata(tmp_path, FEATURES, overwrite=True, license="MIT")
    assert reader.info.license == "MIT"
