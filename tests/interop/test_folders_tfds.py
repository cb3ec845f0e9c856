"""Datasets in folders, read by TFDS and by featurekit: the same examples in the same order."""

import importlib.util
import json
import subprocess
import sys

import PIL.Image
import pytest

from featurekit.builders.image_folder import ImageFolder
from featurekit.builders.translate_folder import TranslateFolder

if importlib.util.find_spec("tensorflow_datasets") is None:
    pytest.skip("TFDS is not installed", allow_module_level=True)

READ = """
import json, sys
import tensorflow_datasets as tfds
images, texts = sys.argv[1:]
builder = tfds.ImageFolder(images)
rows = [
    [e["image/filename"].decode(), int(e["label"]), int(e["image"].sum())]
    for e in tfds.as_numpy(builder.as_dataset("train"))
]
words = [
    {k: v.decode() for k, v in e.items()}
    for e in tfds.as_numpy(tfds.TranslateFolder(texts).as_dataset("train"))
]
print(json.dumps({"rows": rows, "names": builder.info.features["label"].names, "words": words}))
"""


def test_folders_are_read_as_tfds_reads_them(tmp_path):
    for number in range(20):
        path = tmp_path / "images" / "train" / f"class{number % 3}" / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        PIL.Image.new("RGB", (3, 2), (number, 0, 0)).save(path)
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "en.train.txt").write_text("a\nb\n")
    (tmp_path / "texts" / "fr.train.txt").write_text("à\nbé\n")
    done = subprocess.run(
        [sys.executable, "-c", READ, tmp_path / "images", tmp_path / "texts"],
        capture_output=True,
        text=True,
        check=True,
    )
    expected = json.loads(done.stdout.splitlines()[-1])
    builder = ImageFolder(tmp_path / "images")
    assert builder.info.features["label"].names == expected["names"]
    rows = [
        [e["image/filename"].decode(), int(e["label"]), int(e["image"].sum())]
        for e in builder.as_dataset("train")
    ]
    assert rows == expected["rows"]
    texts = TranslateFolder(tmp_path / "texts").as_dataset("train")
    words = [{key: text.decode() for key, text in example.items()} for example in texts]
    assert words == expected["words"]
