"""The README's Python examples run, in the order in which they stand there."""

import pathlib
import re

import numpy as np
import pytest
from PIL import Image

import featurekit as fk
from featurekit.builders.catalog.digits import Digits

README = pathlib.Path(__file__).parent.parent / "README.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.S | re.M)


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_digits_are_read(workspace, capsys):
    Digits(data_dir="data").download_and_prepare(quiet=True)
    names = {}
    exec(BLOCKS[0], names)
    assert names["train"][0]["image"].shape == (8, 8, 1)
    assert names["info"].features["label"].int2str(7) == "7"
    assert len(capsys.readouterr().out.split()) == 10


def test_the_builder_builds(workspace):
    for label, gray in (("cat", 10), ("dog", 200)):
        folder = workspace / "pets" / "train" / label
        folder.mkdir(parents=True)
        Image.fromarray(np.full((5, 7, 3), gray, np.uint8)).save(folder / f"{label}.jpg")
    names = {"__name__": "pets"}
    exec(BLOCKS[1], names)
    names["Pets"](data_dir="data").download_and_prepare(quiet=True)
    examples = list(fk.load("pets", "train", data_dir="data"))
    assert sorted(int(example["label"]) for example in examples) == [0, 1]
    assert {example["image"].shape for example in examples} == {(5, 7, 3)}


def test_the_commands_are_the_first_two_blocks():
    commands = re.findall(r"^```sh\n(.*?)^```", README.read_text(encoding="utf-8"), re.S | re.M)
    assert commands[:2] == [
        "pip install . && featurekit build digits --data-dir data\n",
        "pip install -e '.[test]' && python -m pytest\n",
    ]
