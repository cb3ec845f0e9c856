"""Runs TFDS's own tests of its connectors against featurekit's.

    python tests/interop/tfds_connector_tests.py [pytest's options]

TFDS's wheel has them: `core/features/*_test.py`. They are imported with `featurekit.tfds` in
place of TFDS, and with the real TensorFlow, in which they write what they expect.
"""

import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

import numpy as np
import PIL.Image
import pytest

FOLDER = "core/features"

WRAPPER = """
import pathlib, sys
sys.path.insert(0, {here!r})
from tfds_connector_tests import load
globals().update(load(pathlib.Path({file!r})))
"""


def tree():
    """The folder of TFDS's sources; TFDS is not imported."""
    return pathlib.Path(importlib.util.find_spec("tensorflow_datasets").origin).parent


class Missing:
    """A name of TFDS that is not offered: only tests that use it fail."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return Missing(f"{self._name}.{name}")

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(f"{self._name} is not offered")


def load(file):
    """The names of a test module that found featurekit where it imported TFDS."""
    from featurekit.builders.script_names import STANDS_FOR, ScriptNames

    class Names(ScriptNames):
        stands_for = {"tensorflow_datasets": STANDS_FOR["tensorflow_datasets"]}

        def _find(self, name, importer):
            try:
                return super()._find(name, importer)
            except ImportError:
                return Missing(name)

    import featurekit.tfds as tfds

    # Tests take these away, to try TFDS's other decoders; here there is one.
    tfds.features.image_feature.cv2 = tfds.features.image_feature.PIL_Image = None
    module = Names(file, [file.parent]).load_from_tree(file)
    if hasattr(module, "pytest"):
        module.pytest = AnyMessage()
    return {k: v for k, v in vars(module).items() if not k.startswith("__")}


class AnyMessage:
    """pytest, but errors may have any message: those of TFDS are its own."""

    def __getattr__(self, name):
        return getattr(pytest, name)

    def raises(self, kind, match=None):
        return pytest.raises(kind)


def make_tree(folder):
    """Copy TFDS's tests, and make the pictures that they read and the wheel lacks."""
    root = folder / "tensorflow_datasets"
    pictures = root / "testing" / "test_data"
    (pictures / "lsun_examples").mkdir(parents=True)
    (root / FOLDER).mkdir(parents=True)
    (root / "__init__.py").touch()
    for file in (tree() / FOLDER).glob("*_test.py"):
        shutil.copy(file, root / FOLDER)
    rows = [
        [(0, 255, 0), (255, 0, 0), (255, 0, 255)],
        [(0, 0, 255), (255, 255, 0), (126, 127, 128)],
    ]
    opaque = np.array([[(*pixel, 255) for pixel in row] for row in rows], np.uint8)
    for channels, suffix in ((1, "_grayscale"), (3, ""), (4, "_4chan")):
        pixels = opaque[:, :, :channels]
        write_png(pictures / f"6pixels{suffix}.png", pixels)
        sixteen = f"6pixels_16bit{suffix}" if channels != 1 else "6pixels_grayscale_16bit"
        write_png(pictures / f"{sixteen}.png", pixels.astype(np.uint16) * 257)
    for number in range(1, 7):
        picture = PIL.Image.new("RGB", (640, 400), (40 * number, 0, 0))
        picture.save(pictures / "lsun_examples" / f"{number}.jpg")
    return root


def write_png(path, pixels):
    import tensorflow as tf

    path.write_bytes(tf.io.encode_png(pixels).numpy())


def run(arguments=()):
    """Run all tests; what came of each, by its name: None, or the message of the failure."""
    with tempfile.TemporaryDirectory() as folder:
        wrappers = pathlib.Path(folder) / "wrappers"
        wrappers.mkdir()
        for file in sorted((make_tree(pathlib.Path(folder)) / FOLDER).glob("*_test.py")):
            text = WRAPPER.format(here=str(pathlib.Path(__file__).parent), file=str(file))
            (wrappers / f"test_{file.stem}.py").write_text(text)
        report = pathlib.Path(folder) / "report.xml"
        options = ["-q", "-p", "no:cacheprovider", "-c", "/dev/null", f"--junitxml={report}"]
        options.append("--continue-on-collection-errors")  # one needs pydub
        subprocess.run(
            [sys.executable, "-m", "pytest", wrappers, *options, *arguments],
            check=False,
            stdout=sys.stderr,
            cwd=wrappers,
        )
        return dict(_results(report))


def _results(report):
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname').rpartition('.')[2]}.{case.get('name')}"
        module = case.get("classname").split(".")[-2 if "Test" in case.get("classname") else -1]
        if case.find("skipped") is not None:
            continue
        fault = case.find("failure")
        fault = case.find("error") if fault is None else fault
        yield f"{module}/{name}", None if fault is None else fault.get("message", "")[:300]


if __name__ == "__main__":
    results = run(sys.argv[1:])
    failed = {name: why for name, why in results.items() if why is not None}
    print(json.dumps(failed, indent=1))
    print(f"{len(results) - len(failed)} of {len(results)} pass", file=sys.stderr)
