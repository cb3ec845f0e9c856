"""Datasets that TFDS's own scripts build, with TFDS and with featurekit: they are the same."""

import importlib.util
import io
import json
import pathlib
import subprocess
import sys

import PIL.Image
import pytest

import featurekit as fk
from featurekit.io.columns import read_example

SCRIPT = pathlib.Path(__file__).parent / "tfds_builds.py"

if importlib.util.find_spec("tensorflow_datasets") is None:
    pytest.skip("TFDS is not installed", allow_module_level=True)

# Needs pydub, which reads sound files for TFDS.
NEEDS = {"yes_no": "pydub", "spoken_digit": "pydub", "gtzan": "pydub", "savee": "pydub"}
NEEDS["svhn_cropped"] = "scipy"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of both builds, and what failed in each."""
    folder = tmp_path_factory.mktemp("builds")
    for library in ("tfds", "featurekit"):
        subprocess.run(
            [sys.executable, SCRIPT, library, folder], check=True, capture_output=True, text=True
        )
    return folder, {
        library: json.loads((folder / f"{library}.json").read_text())
        for library in ("tfds", "featurekit")
    }


def names():
    sys.path.insert(0, str(SCRIPT.parent))
    try:
        import tfds_builds
    finally:
        sys.path.pop(0)
    return [make.__name__ for make in tfds_builds.CASES]


def version_of(folder, name):
    [info] = (folder / name).rglob("dataset_info.json")
    return info.parent


@pytest.mark.parametrize("name", names())
def test_the_dataset_is_the_same(built, name):
    folder, failures = built
    if name in NEEDS and importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed")
    assert failures["tfds"][name] is None
    assert failures["featurekit"][name] is None
    theirs, mine = (version_of(folder / library, name) for library in ("tfds", "featurekit"))
    assert theirs.relative_to(folder / "tfds") == mine.relative_to(folder / "featurekit")
    files = {file.name for file in theirs.iterdir()}
    assert {file.name for file in mine.iterdir()} == files
    for file in files:
        if file.endswith("labels.txt") or file == "LICENSE":
            assert (mine / file).read_text() == (theirs / file).read_text()
        elif file.endswith(".json"):
            assert metadata(mine / file) == metadata(theirs / file)
    assert records(mine) == records(theirs)


def metadata(file):
    """JSON, without the name of the module, and sizes, which depend on the encoder of PNGs."""
    content = json.loads(file.read_text())
    content.pop("moduleName", None)
    for split in content.get("splits", ()):
        if content["name"] == "abstract_reasoning":
            del split["numBytes"]
    return content


def records(folder):
    """The records of each split, in their order."""
    info = fk.builder_from_directory(folder).info
    return {
        split: [entries(record) for record in fk.DataSource(info, split).serialized()]
        for split in info.splits
    }


def entries(record):
    """What a record holds; of PNGs the pixels, as two encoders give different bytes."""
    example = read_example(record)
    return {
        key: [pixels(value) if isinstance(value, bytes) else value for value in values.tolist()]
        for key, values in example.items()
    }


def pixels(value):
    if not value.startswith(b"\x89PNG"):
        return value
    picture = PIL.Image.open(io.BytesIO(value))
    return picture.mode, picture.size, picture.tobytes()
