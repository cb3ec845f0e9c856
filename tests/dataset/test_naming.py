import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from featurekit.dataset.naming import (
    DatasetReference,
    camel_to_snake,
    check_config_name,
    check_dataset_name,
    check_inside,
    check_split_name,
)
from featurekit.errors import InvalidNameError, InvalidTypeError

TABLES = json.loads(Path(__file__).parents[1].joinpath("data/tfds/tables/naming.json").read_text())
HOSTILE = ["", ".", "..", "/etc", "../x", "a/../../b", "a\0b", "a//b", "a/", "./a", "a/."]


@pytest.mark.parametrize("row", TABLES["parse"], ids=lambda row: row["name"])
def test_references_are_read_as_in_tfds(row):
    if "error" in row:
        with pytest.raises(InvalidNameError):
            DatasetReference.parse(row["name"])
        return
    reference = DatasetReference.parse(row["name"])
    expected = {key: value["v"] for key, value in row["kwargs"].items()}
    found = {"config": reference.config, "version": reference.version, **reference.arguments}
    assert {key: value for key, value in found.items() if value is not None} == expected
    assert (reference.namespace, reference.name) == (row["namespace"], row["dataset"])
    assert DatasetReference.parse(str(reference)) == reference


@pytest.mark.parametrize("row", TABLES["camel_to_snake"], ids=lambda row: row["camel"])
def test_class_names_become_dataset_names_as_in_tfds(row):
    assert camel_to_snake(row["camel"]) == row["snake"]


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("a/k=True,l=False", {"k": True, "l": False}),
        ("a/k=true", {"k": "true"}),
        ("a/k=3,l=-3,m=3.5,n=3e2", {"k": 3, "l": -3, "m": 3.5, "n": 300.0}),
        ("a/c:1.0.0/path=/d/e", {"path": "/d/e"}),
    ],
)
def test_arguments_become_values(text, arguments):
    found = DatasetReference.parse(text).arguments
    assert found == arguments
    assert list(map(type, found.values())) == list(map(type, arguments.values()))


def test_config_and_version_may_be_arguments():
    reference = DatasetReference.parse("a/config=small,version=1.*.*")
    assert (reference.config, reference.version, dict(reference.arguments)) == (
        "small",
        "1.*.*",
        {},
    )


@pytest.mark.parametrize(
    "text",
    ["", "a/..", "a/.", "a/.config", "a/../b", "/a", "a\0", "a\n", "../a", "a:1.0.0:2.0.0"]
    + ["a/b/c", "a/k=", "a/k=v,", "a/k=v=w", "a/k=1,k=2", "a/b/config=c", "a:1.0.0/version=2.0.0"]
    + ["a/config=..", "a/config=x/y", "a/version=latest", "a:01.0.0", "a/1.0.0", "_a"],
)
def test_references_that_make_no_sense_are_refused(text):
    with pytest.raises(InvalidNameError):
        DatasetReference.parse(text)


def test_a_long_argument_list_is_refused_at_once():
    with pytest.raises(InvalidNameError):
        DatasetReference.parse("a/" + "b=" * 20_000)


@given(st.text(max_size=30))
def test_any_text_is_a_reference_or_an_invalid_name(text):
    try:
        reference = DatasetReference.parse(text)
    except InvalidNameError:
        return
    assert check_inside(reference.name, "a name")
    assert reference.config is None or "/" not in check_inside(reference.config, "a config")


@pytest.mark.parametrize("name", ["mnist", "S3", "a_b2", "t\u00e9"])
def test_dataset_names(name):
    assert check_dataset_name(name) == name


@pytest.mark.parametrize("name", [*HOSTILE, "1a", "_a", "a-b", "a b", "a.b", "a\n", "日本"])
def test_names_that_are_no_dataset_names(name):
    with pytest.raises(InvalidNameError):
        check_dataset_name(name)


@pytest.mark.parametrize("name", ["small", "2007", "cs-en", "20201201.it", "a+b", "-x", "1.0"])
def test_config_names(name):
    assert check_config_name(name) == name


@pytest.mark.parametrize("name", [*HOSTILE, ".config", "a b", "1.0.0", "a:b", "a=b", "a\n"])
def test_names_that_are_no_config_names(name):
    with pytest.raises(InvalidNameError):
        check_config_name(name)


@pytest.mark.parametrize("name", ["train", "train_clean-100", "Tall", "0", "über"])
def test_split_names(name):
    assert check_split_name(name) == name


@pytest.mark.parametrize("name", [*HOSTILE, "all", "ALL", "All", "-", "__", "a b", "a.b", "a+b"])
def test_names_that_are_no_split_names(name):
    with pytest.raises(InvalidNameError):
        check_split_name(name)


@pytest.mark.parametrize("check", [check_dataset_name, check_config_name, check_split_name])
@pytest.mark.parametrize("name", [None, 3, b"train"])
def test_names_must_be_text(check, name):
    with pytest.raises(InvalidTypeError):
        check(name)


@pytest.mark.parametrize("path", HOSTILE)
def test_paths_that_leave_the_folder_are_refused(path):
    with pytest.raises(InvalidNameError):
        check_inside(path, "a path")


@pytest.mark.parametrize("path", ["a", "a/b", "..a/b..", "a b", "...", "~", "a:b"])
def test_paths_that_stay_inside(path):
    assert check_inside(path, "a path") == path


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: check_dataset_name("my-data"),
            "'my-data' is no dataset name\n  hint: use a letter, then letters, digits and '_'",
        ),
        (
            lambda: check_config_name("1.0.0"),
            (
                "a config cannot be called '1.0.0': its folder would pass for that of a version\n"
                "  hint: put a word before it, such as 'v1.0.0'; "
                "a version is asked for by 'name:1.0.0'"
            ),
        ),
        (
            lambda: check_split_name("All"),
            (
                "a split cannot be called 'All': 'all' means every split of a dataset\n"
                "  hint: choose another name, such as 'full'"
            ),
        ),
        (
            lambda: check_inside("../../etc/passwd", "a shard file name"),
            (
                "a shard file name leaves the folder of the dataset: '../../etc/passwd'\n"
                "  hint: it must be relative, without '..', '.', empty parts and NUL characters"
            ),
        ),
        (
            lambda: check_inside("\ud800", "a shard file name"),
            "a shard file name is not UTF-8: '\\ud800'",
        ),
        (
            lambda: DatasetReference.parse("mnist:1.0"),
            (
                "cannot read 'mnist:1.0'\n"
                "  hint: write name[/config][:version][/key=value,...], "
                "such as 'mnist', 'glue/cola:2.*.*' or 'my_data/small/seed=1'"
            ),
        ),
        (
            lambda: DatasetReference.parse("a/b/k=1,config=c"),
            "'a/b/k=1,config=c' gives config twice",
        ),
    ],
)
def test_messages(call, message):
    with pytest.raises(InvalidNameError, match=f"^{re.escape(message)}$"):
        call()
