"""`featurekit build` on a script that imports TFDS."""

import importlib.util

from click.testing import CliRunner
from doc_scripts import write_scripts

import featurekit as fk
from featurekit.cli import main

LINE = "import featurekit.tfds as tfds"


def script(tmp_path):
    write_scripts("tfds-scripts.md", tmp_path)
    path = tmp_path / "compass.py"
    text = path.read_text()
    assert LINE in text
    path = tmp_path / "compass_of_tfds.py"
    path.write_text(text.replace(LINE, "import tensorflow_datasets as tfds"))
    return path


def test_a_script_of_tfds_is_built(tmp_path):
    arguments = ["build", str(script(tmp_path)), "--data-dir", str(tmp_path / "data"), "-q"]
    result = CliRunner().invoke(main, [*arguments, "--tfds-names"])
    assert result.exit_code == 0, result.output
    assert "compass/1.0.0" in result.output
    names = {e["name"] for e in fk.load("compass", "train", data_dir=tmp_path / "data")}
    assert names == {b"north", b"east", b"south", b"west"}


def test_the_option_is_the_default_without_tfds(tmp_path):
    if importlib.util.find_spec("tensorflow_datasets"):
        return  # then the script gets the real one
    result = CliRunner().invoke(main, ["build", str(script(tmp_path)), "--data-dir", str(tmp_path)])
    assert result.exit_code == 0, result.output
