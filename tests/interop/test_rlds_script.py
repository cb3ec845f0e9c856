"""The documentation's builder of robot episodes, unchanged under TFDS: the dataset is the same."""

import importlib.util
import io
import subprocess
import sys

import numpy as np
import PIL.Image
import pytest
from doc_scripts import write_episodes, write_scripts

import featurekit as fk
from featurekit.builders.loading import find_builder_class
from featurekit.io.columns import read_example

for package in ("tensorflow_datasets", "importlib_resources"):  # TFDS does not install it
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed", allow_module_level=True)

BUILD = """
import sys
import tensorflow_datasets as tfds
from robot_arm.robot_arm_dataset_builder import Builder
config = tfds.download.DownloadConfig(manual_dir=sys.argv[1])
Builder(data_dir=sys.argv[2]).download_and_prepare(download_config=config)
"""

READ = """
import sys
import numpy as np
import tensorflow_datasets as tfds
builder = tfds.builder_from_directory(sys.argv[1])
for episode in tfds.as_numpy(builder.as_dataset("train")):
    steps = list(episode["steps"])
    print(len(steps), sum(int(s["observation"]["image"].sum()) for s in steps))
"""


def run(code, folder, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_both_libraries_build_the_same(tmp_path):
    write_scripts("rlds.md", tmp_path)
    write_episodes(tmp_path / "manual")
    (tmp_path / "robot_arm" / "__init__.py").touch()
    run(BUILD, tmp_path, tmp_path / "manual", tmp_path / "tfds")
    script = tmp_path / "robot_arm" / "robot_arm_dataset_builder.py"
    builder = find_builder_class(str(script), tfds_names=True)(data_dir=tmp_path / "mine")
    config = fk.tfds.download.DownloadConfig(manual_dir=tmp_path / "manual")
    builder.download_and_prepare(download_config=config, quiet=True)

    theirs, mine = (tmp_path / name / "robot_arm" / "1.0.0" for name in ("tfds", "mine"))
    assert (mine / "features.json").read_text() == (theirs / "features.json").read_text()
    for split in ("train", "val"):
        sources = [fk.builder_from_directory(f).as_data_source(split) for f in (theirs, mine)]
        expected, got = ([entries(r) for r in source.serialized()] for source in sources)
        assert got == expected

    shown = run(READ, tmp_path, mine)
    episodes = builder.as_dataset("train")
    sums = [
        (
            len(e["steps"]),
            sum(int(np.sum(s["observation"]["image"], dtype=int)) for s in e["steps"]),
        )
        for e in episodes
    ]
    assert shown.splitlines() == [f"{count} {total}" for count, total in sums]


def entries(record):
    """What a record holds; of PNGs the pixels, as two encoders give different bytes."""
    return {
        key: [pixels(value) for value in values.tolist()]
        for key, values in read_example(record).items()
    }


def pixels(value):
    if isinstance(value, bytes) and value.startswith(b"\x89PNG"):
        return PIL.Image.open(io.BytesIO(value)).tobytes()
    return value
