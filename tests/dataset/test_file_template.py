import json
import os
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from featurekit.dataset.file_template import DEFAULT_TEMPLATE, ShardedFileTemplate, ShardFile
from featurekit.errors import InvalidArgumentError, InvalidNameError

TABLES = json.loads(Path(__file__).parents[1].joinpath("data/tfds/tables/naming.json").read_text())
NAMES = {"dataset_name": "my_ds", "split": "train", "suffix": "tfrecord"}


def is_error(node):
    return isinstance(node, dict) and node.get("t") == "error"


def differs(row):
    """Rows of TFDS's table that are answered otherwise, by decision."""
    if row["template"] == "{DATASET}" and row["num_shards"] > 1:
        return "several shards would share one file"
    return None


@pytest.mark.parametrize(
    "row", TABLES["templates"], ids=lambda row: f"{row['template']}-{row['num_shards']}"
)
def test_names_are_those_of_tfds(row):
    if is_error(row["result"]):
        with pytest.raises(InvalidNameError):
            ShardedFileTemplate(row["template"], **NAMES)
        return
    template, num_shards = ShardedFileTemplate(row["template"], **NAMES), row["num_shards"]
    expected = row["result"]
    if differs(row):
        with pytest.raises(InvalidNameError):
            template.filename(0, num_shards)
    else:
        assert template.filename(0, num_shards) == expected["first"]
        assert template.filename(num_shards - 1, num_shards) == expected["last"]
    if is_error(expected["no_count"]):
        with pytest.raises(InvalidNameError):
            template.filename(3)
    else:
        assert template.filename(3) == expected["no_count"]


@pytest.mark.parametrize(
    "row",
    [row for row in TABLES["templates"] if not is_error(row["result"])],
    ids=lambda row: f"{row['template']}-{row['num_shards']}",
)
def test_other_notations_are_those_of_tfds(row):
    template, expected = ShardedFileTemplate(row["template"], **NAMES), row["result"]
    if is_error(expected["pattern"]):
        with pytest.raises(InvalidNameError):
            template.at_notation(row["num_shards"])
        assert template.glob() == "my_ds"
        return
    assert "/d/" + template.at_notation(row["num_shards"]) == expected["pattern"]
    if "{SHARD_INDEX}" in row["template"] and "{NUM_SHARDS}" not in row["template"]:
        # TFDS's pattern has a count there, which no file of that template has.
        expected["glob"] = expected["glob"].replace("-of-" + "[0-9]" * 5, "")
    assert "/d/" + template.glob() == expected["glob"]


@pytest.mark.parametrize("row", TABLES["file_names"], ids=lambda row: row["file"])
def test_names_are_read_back_as_in_tfds(row):
    parsed = ShardedFileTemplate().parse(row["file"])
    if row["parsed"] is None:
        assert parsed is None
    else:
        assert list(parsed) == list(row["parsed"].values())


@pytest.mark.parametrize(
    ("template", "name", "expected"),
    [
        ("{SPLIT}/{DATASET}.{FILEFORMAT}-{SHARD_X_OF_Y}", "train/d.x-00001-of-00002", "train"),
        ("{SPLIT}/{DATASET}.{FILEFORMAT}-{SHARD_X_OF_Y}", "/a/b/train/d.x-00001-of-00002", "train"),
        ("{SPLIT}/{DATASET}.{FILEFORMAT}-{SHARD_X_OF_Y}", "d.x-00001-of-00002", None),
        ("{SPLIT}.{SHARD_INDEX}", "train.00001", "train"),
        ("{SPLIT}.{SHARD_INDEX}", "trainx00001", None),
        ("{SPLIT}_{SPLIT}", "a_a", "a"),
        ("{SPLIT}_{SPLIT}", "a_b", None),
        ("{SPLIT}-{SHARD_X_OF_Y}-{SHARD_INDEX}", "a-00001-of-00002-00001", "a"),
        ("{SPLIT}-{SHARD_X_OF_Y}-{SHARD_INDEX}", "a-00001-of-00002-00002", None),
        ("{SPLIT}-{SHARD_X_OF_Y}%zip", "a-00001-of-00002", "a"),
        ("({SPLIT}|.*", "(a|.*", "a"),
        ("({SPLIT}|.*", "(a|bc", None),
        (DEFAULT_TEMPLATE, "", None),
        (DEFAULT_TEMPLATE, "d-train.x-00000-of-00001\n", None),
    ],
)
def test_other_templates_are_read_back(template, name, expected):
    parsed = ShardedFileTemplate(template).parse(name)
    assert (parsed and parsed.split) == expected


def test_what_is_known_must_be_in_the_name():
    template = ShardedFileTemplate(**NAMES)
    assert template.parse("my_ds-train.tfrecord-00001-of-00002").shard_index == 1
    assert template.parse("my_ds-test.tfrecord-00001-of-00002") is None
    assert template.parse("other-train.tfrecord-00001-of-00002") is None
    assert template.parse("my_ds-train.parquet-00001-of-00002") is None
    bare = template.replace(template="part-{SHARD_INDEX}")
    assert bare.parse("part-00003") == ShardFile("my_ds", "train", "tfrecord", 3, None)


words = st.from_regex(r"[A-Za-z]\w{0,5}", fullmatch=True)


@given(
    template=st.sampled_from(
        [DEFAULT_TEMPLATE, "{SPLIT}/{DATASET}.{FILEFORMAT}-{SHARD_INDEX}-of-{NUM_SHARDS}"]
    ),
    dataset=words,
    split=st.from_regex(r"[\w-]{1,8}", fullmatch=True),
    suffix=words,
    numbers=st.integers(1, 10**9).flatmap(lambda n: st.tuples(st.integers(0, n - 1), st.just(n))),
)
def test_a_name_that_was_made_is_read_back(template, dataset, split, suffix, numbers):
    made = ShardedFileTemplate(template, dataset, split, suffix)
    name = made.filename(*numbers)
    assert ShardedFileTemplate(template).parse(name) == (dataset, split, suffix, *numbers)
    assert made.parse(name) == (dataset, split, suffix, *numbers)
    assert fnmatchcase(name, made.glob(numbers[1]))


def test_globs_take_names_literally():
    template = ShardedFileTemplate("[{SPLIT}]*-{SHARD_INDEX}", split="a?")
    assert template.glob() == "[[]a[?]][*]-[0-9][0-9][0-9][0-9][0-9]"
    assert fnmatchcase(template.filename(7), template.glob())


def test_paths_are_below_the_data_dir():
    template = ShardedFileTemplate("{SPLIT}/{SHARD_INDEX}", split="a", data_dir="/data/x")
    assert template.filenames(2) == ["a/00000", "a/00001"]
    assert template.filepath(1, 2) == os.path.join("/data/x", "a/00001")
    assert template.replace(data_dir=None).filepath(1, 2) == "a/00001"
    assert template.replace(data_dir="gs://bucket/x").filepath(0) == "gs://bucket/x/a/00000"


@pytest.mark.parametrize(
    ("template", "names"),
    [
        ("../{SHARD_INDEX}", {}),
        ("/etc/{SHARD_INDEX}", {}),
        ("a/../../{SHARD_INDEX}", {}),
        ("{SPLIT}/{SHARD_INDEX}", {"split": ".."}),
        ("{SPLIT}{SHARD_INDEX}", {"split": "/"}),
        ("{SPLIT}/{SHARD_INDEX}", {"split": "a/../../.."}),
        ("{DATASET}-{SHARD_INDEX}", {"dataset_name": "../x"}),
        ("{SPLIT}.{FILEFORMAT}-{SHARD_INDEX}", {"split": "a", "suffix": "/../../x"}),
        ("a\0{SHARD_INDEX}", {}),
        ("file:///etc/{SHARD_INDEX}", {}),
        ("{SHARD_INDEX}/", {}),
    ],
)
def test_names_that_leave_the_folder_are_refused(template, names):
    with pytest.raises(InvalidNameError, match="leaves the folder of the dataset"):
        ShardedFileTemplate(template, **names).filename(0, 1)


@pytest.mark.parametrize(
    "template",
    ["{", "}", "{SPLIT", "SPLIT}", "{{SPLIT}}", "{}", "{0}", "{SPLIT!r}", "{SPLIT:>9}"]
    + ["{SPLIT.__class__}", "{split}", "{SPLIT[0]}", "{SHARD_X_OF_Z}"],
)
def test_templates_that_make_no_sense_are_refused(template):
    with pytest.raises(InvalidNameError):
        ShardedFileTemplate(template)


@pytest.mark.parametrize(("index", "count"), [(-1, 3), (3, 3), (0, 0), (-1, None)])
def test_there_are_only_so_many_shards(index, count):
    with pytest.raises(InvalidArgumentError):
        ShardedFileTemplate(**NAMES).filename(index, count)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: ShardedFileTemplate("{SPLITS}-{SHARD_INDEX}"),
            (
                "unknown placeholder 'SPLITS' in the template '{SPLITS}-{SHARD_INDEX}'; "
                "did you mean 'SPLIT'?"
            ),
        ),
        (
            lambda: ShardedFileTemplate("{SPLIT"),
            "a brace is unpaired in the template '{SPLIT'",
        ),
        (
            lambda: ShardedFileTemplate("{SPLIT}-{SHARD_X_OF_Y}", split="a").filename(0),
            (
                "the template '{SPLIT}-{SHARD_INDEX}-of-{NUM_SHARDS}' needs a value for "
                "{NUM_SHARDS}\n"
                "  hint: known are {SPLIT}, {SHARD_INDEX}"
            ),
        ),
        (
            lambda: ShardedFileTemplate("{SPLIT}", split="a").filename(0, 2),
            (
                "the template '{SPLIT}' gives 2 shards one name\n"
                "  hint: put {SHARD_X_OF_Y} or {SHARD_INDEX} into it"
            ),
        ),
        (
            lambda: ShardedFileTemplate("{SPLIT}", split="a").at_notation(2),
            (
                "the template '{SPLIT}' has no '@' notation\n"
                "  hint: put {SHARD_X_OF_Y} or {SHARD_INDEX} into it, once"
            ),
        ),
        (
            lambda: ShardedFileTemplate(**NAMES).filename(3, 3),
            "there is no shard 3 of 3",
        ),
    ],
)
def test_messages(call, message):
    with pytest.raises((InvalidNameError, InvalidArgumentError)) as error:
        call()
    assert str(error.value) == message
