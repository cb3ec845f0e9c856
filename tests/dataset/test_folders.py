import json
import os
from pathlib import Path

import pytest

from featurekit.dataset.folders import (
    dataset_dir,
    default_data_dir,
    find_dataset,
    list_configs,
    list_datasets,
    list_versions,
    read_default_config,
    write_default_config,
)
from featurekit.errors import (
    DatasetInfoError,
    DatasetNotFoundError,
    InvalidNameError,
)

ROWS = json.loads(Path(__file__).parents[1].joinpath("data/tfds/tables/naming.json").read_text())[
    "load_by_name"
]


def make_dataset(root, path):
    folder = root / path
    folder.mkdir(parents=True)
    (folder / "dataset_info.json").write_text("{}")


@pytest.fixture
def data_dir(tmp_path):
    for version in ("1.0.0", "2.0.1", "10.0.0"):
        make_dataset(tmp_path, f"versioned/{version}")
    make_dataset(tmp_path, "with_configs/small/1.0.0")
    make_dataset(tmp_path, "with_configs/big/1.2.3")
    write_default_config(str(tmp_path), "with_configs", "small")
    make_dataset(tmp_path, "no_default/a/1.0.0")
    make_dataset(tmp_path, "no_default/b/1.0.0")
    make_dataset(tmp_path, "versioned/incomplete.A1B2C3_3.0.0")
    (tmp_path / "versioned/11.0.0").mkdir()  # no dataset_info.json: a build that was killed
    (tmp_path / "unfinished/1.0.0").mkdir(parents=True)
    (tmp_path / "downloads/manual").mkdir(parents=True)
    (tmp_path / "a_file").touch()
    return str(tmp_path)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_datasets_are_found_as_in_tfds(data_dir, row):
    if "path" in row["result"]:
        found = find_dataset(row["name"], data_dir)
        assert found == os.path.join(data_dir, row["result"]["path"])
    else:
        with pytest.raises(DatasetNotFoundError):
            find_dataset(row["name"], data_dir)


def test_what_is_there_is_listed(data_dir):
    assert list_datasets(data_dir) == ["no_default", "versioned", "with_configs"]
    assert list_configs(data_dir, "with_configs") == ["big", "small"]
    assert list_configs(data_dir, "versioned") == []
    assert list_versions(f"{data_dir}/versioned") == ["1.0.0", "2.0.1", "10.0.0"]
    assert list_versions(f"{data_dir}/absent") == []
    assert list_versions(f"{data_dir}/a_file") == []
    assert list_datasets(f"{data_dir}/absent") == []


def test_the_default_config_is_recorded_as_in_tfds(tmp_path):
    write_default_config(str(tmp_path), "d", "small")
    assert (tmp_path / "d/.config/metadata.json").read_text() == '{"default_config_name": "small"}'
    assert os.listdir(tmp_path / "d/.config") == ["metadata.json"]
    write_default_config(str(tmp_path), "d", "big")
    assert read_default_config(str(tmp_path), "d") == "big"
    assert read_default_config(str(tmp_path), "e") is None


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", DatasetInfoError),
        ("[]", DatasetInfoError),
        ('{"default_config_name": 3}', DatasetInfoError),
        ("[" * 100_000, DatasetInfoError),
        ("\udcff", DatasetInfoError),
        ('{"default_config_name": "../../etc"}', InvalidNameError),
        ('{"default_config_name": ""}', InvalidNameError),
    ],
)
def test_a_damaged_record_of_the_default_config(tmp_path, text, error):
    path = tmp_path / "d/.config/metadata.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(error):
        read_default_config(str(tmp_path), "d")
    with pytest.raises(error):
        find_dataset("d", tmp_path)


def test_no_default_config_is_none(tmp_path):
    (tmp_path / "d/.config").mkdir(parents=True)
    (tmp_path / "d/.config/metadata.json").write_text("{}")
    assert read_default_config(str(tmp_path), "d") is None


def test_the_data_dir(monkeypatch, tmp_path):
    for name in ("FEATUREKIT_DATA_DIR", "TFDS_DATA_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/me")
    assert default_data_dir() == "/home/me/tensorflow_datasets"
    monkeypatch.setenv("TFDS_DATA_DIR", "~/tfds")
    assert default_data_dir() == "/home/me/tfds"
    monkeypatch.setenv("FEATUREKIT_DATA_DIR", "")
    assert default_data_dir() == "/home/me/tfds"
    monkeypatch.setenv("FEATUREKIT_DATA_DIR", "/fk")
    assert default_data_dir() == "/fk"
    assert default_data_dir(tmp_path) == str(tmp_path)
    assert default_data_dir("gs://bucket/data") == "gs://bucket/data"


def test_a_dataset_behind_a_url():
    fsspec = pytest.importorskip("fsspec")
    root = "memory://test_folders"
    for version in ("1.0.0", "1.1.0"):
        fsspec.filesystem("memory").pipe(f"/test_folders/d/a/{version}/dataset_info.json", b"{}")
    write_default_config(root, "d", "a")
    assert read_default_config(root, "d") == "a"
    assert find_dataset("d", root) == f"{root}/d/a/1.1.0"
    assert find_dataset("d/a:1.0.*", root) == f"{root}/d/a/1.0.0"
    assert (list_datasets(root), list_configs(root, "d")) == (["d"], ["a"])
    with pytest.raises(DatasetNotFoundError):
        find_dataset("e", root)


@pytest.mark.parametrize(
    ("name", "config", "version"),
    [("../d", None, "1.0.0"), ("d", "..", "1.0.0"), ("d", "a/b", "1.0.0"), ("d", None, "../1.0.0")]
    + [("d", "", "1.0.0"), ("", None, "1.0.0"), ("d", None, "1.0"), ("d", None, "*.*.*")],
)
def test_folders_that_could_be_anywhere(name, config, version):
    with pytest.raises(InvalidNameError):
        dataset_dir("/data", name, config, version)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (
            "verzioned",
            (
                "there is no dataset 'verzioned'; did you mean 'versioned'?\n  at: {root}\n"
                "  hint: build it first, or give the folder of your datasets as data_dir="
            ),
        ),
        (
            "versioned:3.*.*",
            (
                "the dataset 'versioned' has no version 3.*.*; it has 1.0.0, 2.0.1, 10.0.0\n"
                "  at: {root}/versioned"
            ),
        ),
        (
            "versioned/x",
            "the dataset 'versioned' has no config 'x'; it has no configs\n  at: {root}/versioned",
        ),
        (
            "with_configs/smal",
            (
                "the dataset 'with_configs' has no config 'smal'; did you mean 'small'?\n"
                "  at: {root}/with_configs"
            ),
        ),
        (
            "with_configs:1.2.3",
            (
                "the dataset 'with_configs/small' has no version 1.2.3; it has 1.0.0\n"
                "  at: {root}/with_configs/small"
            ),
        ),
        (
            "no_default",
            (
                "the dataset 'no_default' has no default config\n  at: {root}/no_default\n"
                "  hint: ask for one of 'no_default/a', 'no_default/b'"
            ),
        ),
        (
            "unfinished",
            (
                "the dataset 'unfinished' has no finished version\n  at: {root}/unfinished\n"
                "  hint: 1.0.0 has no dataset_info.json: build it again"
            ),
        ),
        (
            "ns:versioned",
            (
                "there is no namespace 'ns' for the dataset 'versioned'\n"
                "  hint: leave it out, and give the folder that it stands for as data_dir="
            ),
        ),
    ],
)
def test_messages(data_dir, reference, message):
    with pytest.raises(DatasetNotFoundError) as error:
        find_dataset(reference, data_dir)
    assert str(error.value) == message.format(root=data_dir)
