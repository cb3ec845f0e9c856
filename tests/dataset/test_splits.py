import functools
import json
import operator
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from featurekit.dataset.even_splits import even_splits, split_for_process
from featurekit.dataset.file_template import DEFAULT_TEMPLATE, ShardedFileTemplate
from featurekit.dataset.split_expressions import ReadInstruction, SplitExpression
from featurekit.dataset.splits import FileInstruction, Split, SplitDict, SplitInfo, SubSplitInfo
from featurekit.errors import (
    DatasetInfoError,
    FeatureKitError,
    InvalidArgumentError,
    InvalidTypeError,
    SplitError,
    UnsupportedError,
)

TABLES = Path(__file__).parents[1] / "data/tfds/tables"
SLICING = json.loads(TABLES.joinpath("slicing.json").read_text())
SHARD_RULES = json.loads(TABLES.joinpath("shard_rules.json").read_text())
SHARD_INDEX = "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_INDEX}"

# The datasets of slicing.json: template, and the shard lengths of each split.
DATASETS = {
    "split_basic": (
        DEFAULT_TEMPLATE,
        {"train": [26, 26, 25, 26], "validation": [10, 10, 11, 10], "test": [4, 4, 5, 4]},
    ),
    "split_big": (
        DEFAULT_TEMPLATE,
        {"train": [137] * 4 + [138] + [137] * 4, "test": [23, 23, 22, 23, 23, 23, 22, 23, 23]},
    ),
    "split_uneven": (
        SHARD_INDEX,
        {"train": [6, 2, 1, 6, 6, 2], "test": [6, 3], "validation": [1]},
    ),
}

# Rows of slicing.json that are answered otherwise, by decision.
EMPTY, ERROR = "selects nothing", "is an error"
DIFFERENT = {
    "train[:0shard]": (EMPTY, "TFDS gives the whole split"),
    "train[20:10]": (ERROR, "TFDS gives -10 examples"),
    "train[3:2shard]": (ERROR, "it ends before it starts; TFDS gives nothing"),
    "ReadInstruction('train[-1%:0%]', rounding='pct1_dropremainder')": (
        ERROR,
        "it ends before it starts; TFDS gives nothing",
    ),
    "ReadInstruction('train[5.5:]')": (ERROR, "TFDS gives 97.5 examples"),
}


def make_splits(lengths, name="d", template=DEFAULT_TEMPLATE):
    files = ShardedFileTemplate(template, dataset_name=name, suffix="tfrecord")
    return SplitDict([SplitInfo(split, shards, 0, files) for split, shards in lengths.items()])


def make_split(node):
    """The split that a node of slicing.json describes."""
    match node:
        case str() | int():
            return node
        case {"ReadInstruction": {"args": args, "kwargs": kwargs}}:
            return ReadInstruction(*args, **kwargs)
        case {"even_splits": {"split": split, **others}, "index": index}:
            part = even_splits(make_split(split), **others)[index]
            return part + node["plus"] if "plus" in node else part
        case {"split_for_jax_process": {"split": split, **others}}:
            return split_for_process(split, **others)
        case {"sum": [first, *others]}:
            total = make_split(first)
            for other in others:
                total = total + make_split(other)
            return total


def text_of(row):
    return row.get("repr") or json.dumps(row["split"]).strip('"')


ROWS = [(name, row) for name, rows in SLICING["datasets"].items() for row in rows]


@pytest.mark.parametrize(
    ("name", "row"), ROWS, ids=[f"{name}-{text_of(row)}" for name, row in ROWS]
)
def test_slices_are_those_of_tfds(name, row):
    template, lengths = DATASETS[name]
    splits = make_splits(lengths, name, template)
    decision, _ = DIFFERENT.get(text_of(row), (None, None))
    if decision == ERROR or "num_examples" not in row:
        with pytest.raises(FeatureKitError) as error:
            splits[make_split(row["split"])]
        builtin = TypeError if row["error"]["cls"] == "TypeError" else ValueError
        assert decision or isinstance(error.value, (builtin, NotImplementedError))
        return
    split = make_split(row["split"])
    found = splits[split]
    assert row["repr"] in (None, repr(split))
    if decision == EMPTY:
        assert (found.num_examples, found.file_instructions) == (0, [])
        return
    assert found.num_examples == row["num_examples"]
    assert [list(item) for item in found.file_instructions] == row["file_instructions"]
    assert found.filenames == [item[0] for item in row["file_instructions"]]


def test_every_difference_is_a_row_of_the_table():
    assert DIFFERENT.keys() <= {text_of(row) for _, row in ROWS}


@pytest.mark.parametrize(
    "row", SLICING["percent_rounding"], ids=lambda row: f"{row['num_examples']}-{row['rounding']}"
)
def test_percentages_are_rounded_as_in_tfds(row):
    splits = make_splits({"train": [row["num_examples"]]})
    ends = row["to_of_0_to_100_percent"]
    for percent in range(101):
        instruction = ReadInstruction("train", 0, percent, unit="%", rounding=row["rounding"])
        if isinstance(ends, dict):
            with pytest.raises(SplitError):
                splits[instruction]
        else:
            assert splits[instruction].num_examples == ends[percent]


@pytest.mark.parametrize("row", SHARD_RULES["file_instructions"], ids=lambda row: str(row)[:60])
def test_ranges_are_cut_at_shards_as_in_tfds(row):
    splits = make_splits({"x": row["shard_lengths"]}, template="{SHARD_INDEX}")
    pieces = splits["x"].cut(row["from"], row["to"])
    assert [[int(p.filename), p.skip, p.take] for p in pieces] == row["instructions"]


@pytest.mark.parametrize(
    ("length", "spec", "count"),
    [
        (3670, "train[:10%]", 367),
        (3670, "train[10%:25%]", 551),
        (3670, "train[25%:]", 2752),
        (3670, "train[:33%]", 1211),
        (3670, "train[33%:67%]", 1248),
        (3670, "train[67%:]", 1211),
        (3670, "train[:1%]", 37),
        (3670, "train[100%:]", 0),
        (150, "train[:67%]", 100),
        (150, "train[67%:]", 50),
        (150, "train[:1%]", 2),
        (150, "train[:0.5%]", 1),
        (3, "train[:50%]", 2),
        (3, "train[50%:]", 1),
        (3, "train[:1%]", 0),
        (3, "train[-1%:]", 0),
        (3, "train[:-1%]", 3),
        (150, ReadInstruction("train", 0, 67, "%", "pct1_dropremainder"), 67),
        (150, ReadInstruction("train", 67, 100, "%", "pct1_dropremainder"), 33),
        (3670, "train[4000:]", SplitError),
        (3670, "train[:5000]", SplitError),
        (3670, "train[-3671:]", SplitError),
        (3670, "train[5%:4%]", SplitError),
        (3670, "train[-1%:50%]", SplitError),
        (3670, "train[:100.5%]", SplitError),
        (3, "train[5shard]", 0),
        (3, "train[-2shard]", 0),
        (3, "train[-2shard:]", 3),
        (3, "train[:-1shard]", 0),
        (0, "train[:50%]", 0),
        (0, "train", 0),
    ],
)
def test_slices_of_one_shard(length, spec, count):
    splits = make_splits({"train": [length]})
    if isinstance(count, int):
        assert splits[spec].num_examples == count
    else:
        with pytest.raises(count):
            splits[spec]


# A model of the grammar: a split is the list of its examples, shard by shard.

SHARDS = st.lists(st.integers(0, 7), min_size=1, max_size=6)
OPTIONAL = {
    "abs": st.none() | st.integers(-45, 45),
    "%": st.none()
    | st.integers(-101, 101)
    | st.decimals(-100, 100, places=2).map(float).filter(lambda x: not x.is_integer()),
    "shard": st.none() | st.integers(-8, 8),
}


def model_bound(bound, unit, length):
    if unit == "%":
        if abs(bound) > 100:
            raise ValueError(bound)
        offset = round(bound * length / 100)
    else:
        offset = bound
    position = length + offset if bound < 0 else offset
    if not 0 <= position <= length:
        raise ValueError(bound)
    return position


def model_slice(name, lengths, from_, to, unit):
    """The examples of a slice, as (split, shard, index in the shard)."""
    shards = [[(name, shard, i) for i in range(n)] for shard, n in enumerate(lengths)]
    examples = functools.reduce(operator.iadd, shards, [])
    if unit == "shard":
        numbers = range(len(shards))
        starts = [0, *(sum(lengths[: i + 1]) for i in numbers)]
        first, last, _ = slice(from_, to).indices(len(shards))
        start, stop = starts[first], starts[last]
    else:
        start = 0 if from_ is None else model_bound(from_, unit, len(examples))
        stop = len(examples) if to is None else model_bound(to, unit, len(examples))
    if start > stop:
        raise ValueError((start, stop))
    return examples[start:stop]


def examples_of(info, name=None):
    """The examples that file instructions read, as the model writes them."""
    found = []
    for piece in info.file_instructions:
        split, shard = re.fullmatch(r"d-(\w+)\.tfrecord-(\d+)-of-\d+", piece.filename).groups()
        found.extend((split, int(shard), piece.skip + i) for i in range(piece.take))
        assert piece.take > 0
        assert piece.skip + piece.take <= piece.examples_in_shard
    assert len(found) == info.num_examples
    return found


@st.composite
def slices(draw):
    unit = draw(st.sampled_from(sorted(OPTIONAL)))
    name = draw(st.sampled_from(["a", "b"]))
    return name, draw(OPTIONAL[unit]), draw(OPTIONAL[unit]), unit


@given(
    st.fixed_dictionaries({"a": SHARDS, "b": SHARDS}), st.lists(slices(), min_size=1, max_size=3)
)
def test_slices_and_sums_are_those_of_the_model(lengths, parts):
    splits = make_splits(lengths)
    try:
        expected = [x for name, *rest in parts for x in model_slice(name, lengths[name], *rest)]
    except ValueError:
        with pytest.raises(SplitError):
            splits[sum((ReadInstruction(*part) for part in parts[1:]), ReadInstruction(*parts[0]))]
        return
    instructions = [ReadInstruction(*part) for part in parts]
    total = sum(instructions[1:], instructions[0])
    assert examples_of(splits[total]) == expected
    assert examples_of(splits[" + ".join(part.spec for part in instructions)]) == expected
    assert pickle.loads(pickle.dumps(total)) == total


@given(
    lengths=st.fixed_dictionaries({"a": SHARDS, "b": SHARDS}),
    parts=st.lists(slices(), min_size=1, max_size=2),
    n=st.integers(1, 5),
    drop=st.booleans(),
)
def test_even_splits_are_even_and_cover_everything(lengths, parts, n, drop):
    splits = make_splits(lengths)
    spec = ReadInstruction("a") if len(parts) == 1 else ReadInstruction("b", unit="%") + "a"
    wholes = [splits[part] for part in (["a"] if len(parts) == 1 else ["b", "a"])]
    found = [examples_of(splits[part]) for part in even_splits(spec, n, drop_remainder=drop)]
    for whole in wholes:
        members = set(examples_of(whole))
        shares = [[x for x in part if x in members] for part in found]
        sizes = [len(share) for share in shares]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[0] - sizes[-1] <= (0 if drop else 1)
        expected = examples_of(whole)
        kept = whole.num_examples // n * n if drop else whole.num_examples
        assert functools.reduce(operator.iadd, shares, []) == expected[:kept]
    for index in range(n):
        mine = split_for_process(spec, process_index=index, process_count=n, drop_remainder=drop)
        assert examples_of(splits[mine]) == found[index]


@given(st.text(alphabet="tra[]:%-+ _.0123456789shard\n\0/", max_size=20))
def test_any_text_is_a_split_or_an_error(text):
    splits = make_splits({"train": [5, 5], "t": [3]})
    try:
        found = splits[text]
    except (SplitError, UnsupportedError):
        return
    assert 0 <= found.num_examples <= 13 * 10


@given(slices())
def test_the_text_of_an_instruction_is_read_back(part):
    name, from_, to, unit = part
    assume(unit != "%" or all(abs(bound or 0) <= 100 for bound in (from_, to)))
    instruction = ReadInstruction(name, from_, to, unit)
    expected = ReadInstruction(name) if from_ is to is None else instruction
    assert SplitExpression.from_spec(instruction.spec) == expected


@pytest.mark.parametrize(
    ("from_", "spec"),
    [(1e-7, "a[0.0000001%:]"), (33.333333333333336, "a[33.333333333333336%:]"), (10.0, "a[10%:]")],
)
def test_the_text_of_percentages_has_all_digits(from_, spec):
    assert ReadInstruction("a", from_, unit="%").spec == spec


def test_bounds_of_numpy_become_plain():
    instruction = ReadInstruction("a", np.int64(3), np.float32(4.0))
    assert (type(instruction.from_), type(instruction.to)) == (int, int)
    assert instruction == ReadInstruction("a", 3, 4)
    assert ReadInstruction("a", 123_456_789).spec == "a[123456789:]"


@pytest.mark.parametrize(
    "spec",
    ["train[::2]", "train[:]", "train[]", "train[", "train]", "[:5]", "train[5", "train[:5]]"]
    + ["train[:5][:5]", "train[:5%%]", "train[:5 ]", "train[ :5]", "train [:5]", " train", "train "]
    + [
        "train+",
        "+train",
        "train++test",
        "+",
        "",
        " ",
        "train\n",
        "train\0",
        "../train",
        "train[--5:]",
    ]
    + [
        "train[:1__0]",
        "train[:_1]",
        "train[:1_]",
        "train[:.%]",
        "train[:1.2.3%]",
        "train[:1.5shard]",
    ]
    + ["train[1.5shard]", "train[5]", "train[5%]", "train[:5shards]", "train[:+5]", "train[:1e1]"]
    + ["train[:\u0665]", "train[:inf%]", "train[:nan%]", "train[:" + "9" * 5000 + "]"],
)
def test_texts_that_are_no_splits(spec):
    with pytest.raises(SplitError):
        make_splits({"train": [10]})[spec]


@pytest.mark.parametrize("spec", [None, 5, b"train", ["train"], {"train"}, object])
def test_things_that_are_no_splits(spec):
    splits = make_splits({"train": [10]})
    with pytest.raises(InvalidTypeError):
        splits[spec]
    with pytest.raises(InvalidTypeError):
        ReadInstruction("train") + spec


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"from_": "5"}, InvalidTypeError),
        ({"from_": 5j}, InvalidTypeError),
        ({"to": [5]}, InvalidTypeError),
        ({"split_name": None}, InvalidTypeError),
        ({"to": float("nan")}, SplitError),
        ({"to": float("inf"), "unit": "%"}, SplitError),
        ({"to": float("nan"), "unit": "%"}, SplitError),
        ({"to": 100.1, "unit": "%"}, SplitError),
        ({"from_": -101, "unit": "%"}, SplitError),
        ({"to": 1.5, "unit": "shard"}, SplitError),
        ({"to": 1.5, "unit": "%", "rounding": "pct1_dropremainder"}, SplitError),
        ({"unit": "percent"}, SplitError),
        ({"rounding": "up"}, SplitError),
    ],
)
def test_instructions_that_make_no_sense(arguments, error):
    with pytest.raises(error):
        ReadInstruction(**{"split_name": "train", **arguments})


def test_long_sums_do_not_nest():
    splits = make_splits({"train": [10]})
    total = ReadInstruction("train", to=1)
    for _ in range(3000):
        total = total + "train[:1]"
    assert splits[total].num_examples == 3001
    assert splits["+".join(["train"] * 3000)].num_examples == 30_000


def test_strings_are_added_on_both_sides():
    splits = make_splits({"train": [10], "test": [5]})
    total = "test[:2]" + ReadInstruction("train", 8) + Split.TEST
    assert [p.take for p in splits[total].file_instructions] == [2, 2, 5]
    assert repr(total) == (
        "ReadInstruction('test[:2]')+ReadInstruction('train[8:]')+ReadInstruction('test')"
    )


def test_split_names():
    assert [Split.TRAIN, Split.VALIDATION, Split.TEST, Split.ALL] == [
        "train",
        "validation",
        "test",
        "all",
    ]
    assert repr(Split.TRAIN) == "Split('train')"
    assert f"{Split.TRAIN}[:5]" == "train[:5]"
    assert pickle.loads(pickle.dumps(Split("x"))) == Split("x")
    splits = make_splits({"train": [10], "test": [5]})
    assert splits[Split.TRAIN] is splits["train"]
    assert splits[Split.ALL].num_examples == 15


def test_a_split_info():
    template = ShardedFileTemplate("{SPLIT}/{SHARD_INDEX}", data_dir="/data/d/1.0.0")
    split = SplitInfo("train", (6, 0, np.int64(4)), 1200, template)
    assert (split.num_examples, split.num_shards, split.num_bytes) == (10, 3, 1200)
    assert split.shard_lengths == [6, 0, 4]
    assert split.filenames == ["00000", "00001", "00002"]
    assert split.filepaths[2] == "/data/d/1.0.0/train/00002"
    assert split.file_instructions == [
        FileInstruction("/data/d/1.0.0/train/00000", 0, 6, 6),
        FileInstruction("/data/d/1.0.0/train/00002", 0, 4, 4),
    ]
    assert all(piece.takes_all for piece in split.file_instructions)
    assert split.filename_template.split == "train"
    assert repr(split) == "<SplitInfo num_examples=10, num_shards=3>"
    assert repr(SplitInfo("x", [])) == "<SplitInfo num_examples=unknown, num_shards=0>"
    assert pickle.loads(pickle.dumps(split)).filepaths == split.filepaths


def test_names_that_the_grammar_cannot_write_are_found_as_they_are():
    splits = make_splits({"a b": [3], "train[:5]": [4]}, template="{SHARD_INDEX}")
    assert splits["a b"].num_examples == 3
    assert splits["train[:5]"].num_examples == 4
    assert splits["all"].num_examples == 7


def test_a_split_dict_is_a_mapping():
    splits = make_splits({"train": [10], "test": [5]})
    assert list(splits) == ["train", "test"]
    assert len(splits) == 2
    assert ("train" in splits, "train[:5]" in splits, "nope" in splits) == (True, False, False)
    assert splits.get("nope") is None
    assert splits.get("train") is splits["train"]
    assert (splits.total_num_examples, splits.total_num_bytes) == (15, 0)
    assert repr(splits) == (
        "{'train': <SplitInfo num_examples=10, num_shards=1>, "
        "'test': <SplitInfo num_examples=5, num_shards=1>}"
    )
    assert repr(splits["train[:5]"]) == "<SubSplitInfo num_examples=5, num_shards=1>"
    assert pickle.loads(pickle.dumps(splits))["all"].num_examples == 15


def test_a_split_in_several_folders_is_one():
    folders = ["/data/1", "/data/2"]
    parts = [
        SplitInfo("train", [3, 4], 70, ShardedFileTemplate("{SHARD_INDEX}", data_dir=folder))
        for folder in folders
    ]
    splits = SplitDict([SubSplitInfo.concatenate("train", parts)])
    assert (splits["train"].num_examples, splits["train"].num_bytes) == (14, 140)
    assert splits["train[5:9]"].file_instructions == [
        FileInstruction("/data/1/00001", 2, 2, 4),
        FileInstruction("/data/2/00000", 0, 2, 3),
    ]
    assert splits["train[2shard]"].filepaths == ["/data/2/00000"]
    half = SubSplitInfo.concatenate("train", [splits["train[5:9]"], parts[0]])
    assert SplitDict([half])["train[1:3]"].file_instructions == [
        FileInstruction("/data/1/00001", 3, 1, 4),
        FileInstruction("/data/2/00000", 0, 1, 3),
    ]


@pytest.mark.parametrize("lengths", [[-1], [1.5], ["3"], [None], [2**63, -1]])
def test_lengths_must_be_counts(lengths):
    with pytest.raises(DatasetInfoError):
        SplitInfo("train", lengths)


def test_hostile_split_names_do_not_leave_the_folder():
    splits = make_splits({"../../etc": [3]}, template="{SPLIT}/{SHARD_INDEX}")
    with pytest.raises(FeatureKitError, match="leaves the folder of the dataset"):
        _ = splits["../../etc"].file_instructions


READABLE = (
    "  hint: write 'name', 'name[from:to]' with bounds such as 10, -5, 25% or 2shard, "
    "'name[2shard]', or several of these joined by '+'"
)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda splits: splits["nope"], "there is no split 'nope'; there are 'train', 'test'"),
        (
            lambda splits: SplitDict()["x"],
            "there is no split 'x': the dataset has no splits\n"
            "  hint: call download_and_prepare() first, where this is a builder that has not run",
        ),
        (lambda splits: splits["train[::2]"], "cannot read the split 'train[::2]'\n" + READABLE),
        (
            lambda splits: splits["test + train[:]"],
            "cannot read the split 'train[:]' in 'test + train[:]'\n" + READABLE,
        ),
        (
            lambda splits: splits["train[5%]"],
            (
                "'train[5%]' asks for a single element, which only shards can be\n"
                "  hint: take a slice, such as 'train[:10]'"
            ),
        ),
        (
            lambda splits: splits["all[:5%]"],
            (
                "'all' cannot be sliced, in 'all[:5%]'\n"
                "  hint: add up slices of the splits, such as 'train[:10%]+test[:10%]'"
            ),
        ),
        (
            lambda splits: splits["train[:11]"],
            (
                "'train[:11]' is out of range: the split has 10 examples\n"
                "  hint: cut at percentages where the length is not known, such as 'train[:80%]'"
            ),
        ),
        (
            lambda splits: splits["train[50%:40%]"],
            (
                "'train[50%:40%]' begins at example 5 and ends before it, at 4\n"
                "  hint: put the smaller bound first"
            ),
        ),
        (
            lambda splits: splits["train[:101%]"],
            "a percentage must be in [-100, 100], got to=101",
        ),
        (
            lambda splits: splits[ReadInstruction("train", 1, 2, "%", "pct1_dropremainder")],
            (
                "one percent of 10 examples is none with rounding='pct1_dropremainder', "
                "in 'train[1%:2%]'\n"
                "  hint: use rounding='closest'"
            ),
        ),
        (
            lambda splits: ReadInstruction("train", 5.5),
            (
                "from_ must be a whole number, got 5.5\n"
                "  hint: only unit='%' with rounding='closest' takes fractions"
            ),
        ),
        (
            lambda splits: ReadInstruction("train", unit="pct"),
            "unit must be one of 'abs', '%', 'shard', got 'pct'",
        ),
        (
            lambda splits: ReadInstruction("train") + 3,
            (
                "a split must be text or a ReadInstruction, got 3\n"
                "  hint: write for example 'train' or 'train[:10%]+test'"
            ),
        ),
        (
            lambda splits: even_splits("train", 0),
            "a split can be cut into 1 or more parts, not 0",
        ),
        (
            lambda splits: split_for_process("train", process_index=4, process_count=4),
            "process_index must be from 0 to process_count - 1 = 3, got 4",
        ),
        (
            lambda splits: SplitDict([SplitInfo("a", []), SplitInfo("a", [])]),
            "there are two splits called 'a'",
        ),
        (
            lambda splits: SplitInfo("a", [1, -1]),
            "lengths and sizes of the split 'a' must be integers from 0 on, got -1",
        ),
        (
            lambda splits: SplitInfo("a", [1]).filenames,
            "the split 'a' has no files: it has no file name template",
        ),
    ],
)
def test_messages(call, message):
    with pytest.raises(FeatureKitError) as error:
        call(make_splits({"train": [6, 4], "test": [5]}))
    assert str(error.value) == message


def test_an_unknown_split_of_many_gets_the_closest():
    splits = make_splits({f"train_{i}": [1] for i in range(20)})
    with pytest.raises(SplitError, match=r"no split 'train_x7'; did you mean 'train_7'\?"):
        splits["train_x7"]


@pytest.mark.parametrize(
    ("n", "index", "count"), [(-1, 0, 0), (0, 0, 0), (2, 2, 2), (2, -1, 2), (2, 0, -1)]
)
def test_parts_that_cannot_be(n, index, count):
    with pytest.raises(InvalidArgumentError):
        split_for_process("train", process_index=index, process_count=count)
    if n < 1:
        with pytest.raises(InvalidArgumentError):
            even_splits("train", n)


def test_a_misspelt_split_shows_when_it_is_cut():
    with pytest.raises(SplitError):
        even_splits("train[:5", 3)
