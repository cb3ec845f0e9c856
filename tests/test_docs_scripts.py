"""The scripts of the documentation: written to files, built, and read."""

import subprocess
import sys

import numpy as np
import PIL.Image
import pytest
from doc_scripts import write_episodes, write_scripts

import featurekit as fk
from featurekit.builders.loading import find_builder_class
from featurekit.dataset.version import Version


def picture(path, gray):
    path.parent.mkdir(parents=True, exist_ok=True)
    PIL.Image.new("RGB", (4, 3), (gray, gray, gray)).save(path)


def build(path, folder, manual_dir=None, **options):
    builder = find_builder_class(str(path), tfds_names=True)(data_dir=folder / "data")
    config = fk.tfds.download.DownloadConfig(manual_dir=manual_dir)
    builder.download_and_prepare(download_config=config, quiet=True, **options)
    return builder


def test_pictures_of_flowers(tmp_path):
    write_scripts("tfds-scripts.md", tmp_path)
    (tmp_path / "flowers" / "README.md").write_text("Flowers.\n")
    for split in ("train", "test"):
        for gray, label in ((10, "daisy"), (200, "rose")):
            picture(tmp_path / "manual" / split / label / f"{gray}.jpg", gray)
    builder = build(
        tmp_path / "flowers" / "flowers_dataset_builder.py", tmp_path, tmp_path / "manual"
    )
    assert (builder.name, builder.info.description) == ("flowers", "Flowers.")
    pairs = list(builder.as_dataset("test", as_supervised=True))
    assert sorted((int(label), int(image[0, 0, 0])) for image, label in pairs) == [
        (0, 10),
        (1, 200),
    ]


def test_a_connector_of_ones_own(tmp_path):
    write_scripts("tfds-scripts.md", tmp_path)
    builder = build(tmp_path / "compass.py", tmp_path)
    angles = {e["name"]: float(e["angle"]) for e in builder.as_data_source("train")}
    assert angles == {b"north": 0.0, b"east": 90.0, b"south": 180.0, b"west": 270.0}
    done = subprocess.run(
        [sys.executable, "read.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [
        "east 90.0 [269.5   90.25]",
        "north 0.0 [269.5   90.25]",
        "south 180.0 [269.5   90.25]",
        "west 270.0 [269.5   90.25]",
    ]


def test_episodes_of_a_robot(tmp_path):
    write_scripts("rlds.md", tmp_path)
    write_episodes(tmp_path / "manual")
    script = tmp_path / "robot_arm" / "robot_arm_dataset_builder.py"
    builder = build(script, tmp_path, tmp_path / "manual")
    assert builder.name == "robot_arm"
    episodes = list(builder.as_data_source("train"))
    assert sorted(len(episode["steps"]) for episode in episodes) == [1, 3, 4]
    for episode in episodes:
        raw = np.load(
            tmp_path / "manual/train" / episode["episode_metadata"]["file_path"].decode(),
            allow_pickle=True,
        )
        for step, given in zip(episode["steps"], raw, strict=True):
            assert np.array_equal(step["observation"]["image"], given["image"])
            assert np.array_equal(step["action"], given["action"])
    done = subprocess.run(
        [sys.executable, "read_episodes.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 3


def test_missing_manual_files_are_asked_for(tmp_path):
    write_scripts("rlds.md", tmp_path)
    script = tmp_path / "robot_arm" / "robot_arm_dataset_builder.py"
    with pytest.raises(OSError, match="Put the episodes in"):
        build(script, tmp_path, tmp_path / "nowhere")
    assert Version("1.0.0") == find_builder_class(str(script), tfds_names=True)().version
