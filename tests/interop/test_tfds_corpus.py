"""The builder scripts that ship with TFDS, run with featurekit in its place."""

import importlib.util
import json
import pathlib
import subprocess
import sys

import pytest

SCRIPT = pathlib.Path(__file__).parent / "tfds_corpus.py"

# Scripts that are known to differ, and why.
KNOWN = {
    "imagenet2012_subset": "TFDS gives it the texts of the class that it inherits from",
    "waymo_open_dataset": "needs a module that the wheel lacks, of TFDS's own protocol buffers",
}

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow_datasets") is None, reason="TFDS is not installed"
)


def test_scripts_describe_their_datasets_as_under_tfds(tmp_path):
    path = tmp_path / "corpus.json"
    for command in ("record", "compare"):
        done = subprocess.run(
            [sys.executable, SCRIPT, command, path], capture_output=True, text=True, check=False
        )
    result = json.loads(done.stdout)
    assert result["total"] >= 350
    assert {n: why for n, why in result["different"].items() if n not in KNOWN} == {}
    assert set(result["different"]) == set(KNOWN)
