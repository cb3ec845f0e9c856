"""Damaged copies of a dataset that TFDS wrote: what opening and reading them does."""

import json
import shutil

import golden
import pytest

import featurekit as fk
from featurekit.errors import FeatureKitError

READS = golden.table("broken")["reads"]

# Where ours differs from TFDS's by decision, and why.
DIFFERENT = {
    "newField": "unknown fields are ignored and logged",
}


def describe(row):
    change = row["change"]
    parts = [change["op"], change["file"], change.get("path"), change.get("at"), change.get("to")]
    return "-".join(str(part) for part in (*parts, change.get("value")) if part is not None)


def damage(folder, change):
    path = folder / change["file"]
    if change["op"] == "delete":
        path.unlink()
    elif change["op"] == "truncate":
        path.write_bytes(path.read_bytes()[: change["to"]])
    elif change["op"] == "flip":
        data = bytearray(path.read_bytes())
        data[change["at"]] ^= 1
        path.write_bytes(data)
    elif change["op"] == "write":
        path.write_text(change["text"])
    else:
        edit(path, change["path"].split("."), change["value"])


def edit(path, keys, value):
    content = json.loads(path.read_text())
    place = content
    for key in keys[:-1]:
        place = place[int(key) if isinstance(place, list) else key]
    last = int(keys[-1]) if isinstance(place, list) else keys[-1]
    if value == "removed":
        del place[last]
    elif value == "copy of id":
        place[last] = place["id"]
    elif value == "last one dropped":
        place[last] = place[last][:-1]
    elif value in ("+1", "-1"):
        place[last] = str(int(place[last]) + int(value))
    else:
        place[last] = value
    path.write_text(json.dumps(content))


@pytest.mark.parametrize("row", READS, ids=describe)
def test_damage_is_met_with_an_error(row, tmp_path):
    folder = tmp_path / "dataset"
    shutil.copytree(golden.ROOT / row["dataset"], folder)
    damage(folder, row["change"])
    different = row["change"].get("path") in DIFFERENT
    if row["outcome"] == "error" and not different:
        with pytest.raises(FeatureKitError) as error:
            list(fk.builder_from_directory(folder).as_data_source("train"))
        if row["stage"] == "open":
            assert isinstance(error.value, (ValueError, OSError))
        return
    examples = list(fk.builder_from_directory(folder).as_data_source("train"))
    assert len(examples) == row.get("num_read", 100)
    if "first" in row:
        # TFDS's first example in interleaved order is the first of the first shard.
        assert set(examples[0]) == set(row["first"]["v"])
        want = {key: golden._array(node, {}) for key, node in row["first"]["v"].items()}
        assert golden.difference(want, examples[0]) is None


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "shard_str_keys"
    shutil.copytree(golden.ROOT / "sharding/shard_str_keys/1.0.0", folder)
    return folder


def message(folder, read=list):
    with pytest.raises(FeatureKitError) as error:
        read(fk.builder_from_directory(folder).as_data_source("train"))
    return str(error.value).replace(str(folder), "<DIR>")


def test_a_missing_shard_is_named(folder):
    (folder / "shard_str_keys-train.tfrecord-00001-of-00007").unlink()
    assert message(folder) == (
        "a shard of the dataset does not exist\n"
        "  at: <DIR>/shard_str_keys-train.tfrecord-00001-of-00007\n"
        "  hint: copy the dataset's folder again: all files that its metadata names"
    )


@pytest.mark.parametrize("read", [list, lambda source: source[20]], ids=["all", "one"])
def test_a_shard_cut_between_records_is_noticed(folder, read):
    path = folder / "shard_str_keys-train.tfrecord-00001-of-00007"
    path.write_bytes(path.read_bytes()[:0])
    assert message(folder, read) == (
        "expected 15 records, got 0\n"
        "  at: <DIR>/shard_str_keys-train.tfrecord-00001-of-00007\n"
        "  hint: the shard is cut, or not the one that dataset_info.json describes; copy it again"
    )


def collect(source, examples):
    for example in source:
        examples.append(example)  # one by one, so that those before an error are there


def test_good_examples_come_before_the_error(folder):
    path = folder / "shard_str_keys-train.tfrecord-00001-of-00007"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    source = fk.builder_from_directory(folder).as_data_source("train")
    first = source.info.splits["train"].shard_lengths[:2]
    examples = []
    with pytest.raises(fk.errors.CorruptRecordError) as error:
        collect(source, examples)
    assert len(examples) == sum(first) - 1
    assert error.value.record == first[1] - 1
    assert error.value.file == str(path)


def test_a_record_that_does_not_decode_is_named(folder):
    edit(folder / "features.json", ["featuresDict", "features", "id", "tensor", "dtype"], "string")
    assert message(folder) == (
        "feature 'id': expected bytes_list, got int64_list\n"
        "  at: <DIR>/shard_str_keys-train.tfrecord-00000-of-00007, record 0\n"
        "  hint: read it with the dtype it was written with"
    )


def test_no_features_json_says_what_to_do(folder):
    (folder / "features.json").unlink()
    assert message(folder) == (
        "there is no features.json\n"
        "  at: <DIR>/features.json\n"
        "  hint: a dataset this old has its features only in its code: pass features="
    )
    features = fk.FeaturesDict({"id": fk.Scalar("int64"), "key": fk.Text()})
    reader = fk.builder_from_directory(folder, features=features)
    assert len(list(reader.as_data_source("train"))) == 100


def test_unknown_fields_are_logged_once(folder, caplog):
    edit(folder / "dataset_info.json", ["brandNewField"], {"a": 1})
    edit(folder / "dataset_info.json", ["splits", "0", "other"], 1)
    edit(folder / "features.json", ["newThing"], 1)
    assert len(fk.builder_from_directory(folder).as_data_source("train")) == 100
    assert [record.getMessage().replace(str(folder), "<DIR>") for record in caplog.records] == [
        "<DIR>/dataset_info.json has fields that this version does not know, ignored: "
        "brandNewField, splits.other",
        "<DIR>/features.json has fields that this version does not know, ignored: newThing",
    ]


def test_numbers_may_be_text_or_not(folder):
    path = folder / "dataset_info.json"
    content = json.loads(path.read_text())
    split = content["splits"][0]
    split["shardLengths"] = [int(length) for length in split["shardLengths"]]
    split["numBytes"] = int(split["numBytes"])
    path.write_text(json.dumps(content))
    assert len(list(fk.builder_from_directory(folder).as_data_source("train"))) == 100


@pytest.mark.parametrize("name", ["../outside", "/etc/passwd", "a/../../b", "a\0b"])
def test_split_names_and_templates_cannot_leave_the_folder(folder, name):
    for field in ("name", "filepathTemplate"):
        edit(folder / "dataset_info.json", ["splits", "0", field], name)
        with pytest.raises(FeatureKitError):
            list(fk.builder_from_directory(folder).as_data_source(None).values())
