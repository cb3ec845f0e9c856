"""The documentation's examples with other frameworks run, in the order in which they stand."""

import pathlib
import re

import numpy as np
import pytest

import featurekit as fk
from featurekit.builders.catalog.digits import Digits

DOCS = pathlib.Path(__file__).parents[2] / "docs"

pytestmark = [
    # JAX, where another test has used it, warns of every fork.
    pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


def blocks(page):
    """The Python of a page that is no doctest."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found = re.findall(r"^```python\n(.*?)^```", text, re.S | re.M)
    return [block for block in found if not block.startswith(">>>") and "gs://" not in block]


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FEATUREKIT_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


def test_pytorch(workspace):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    Digits(data_dir=workspace).download_and_prepare(quiet=True)
    names = {"__name__": "pages"}
    for block in blocks("pytorch.md"):
        exec(block, names)
        if "scale" in names and "rest" not in names:
            assert next(iter(names["loader"]))["image"].dtype == torch.float32
    assert len(names["rest"]) == 29 - 11  # of 29 batches, 11 were given


def test_episodes(workspace):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    names = {}
    page = (DOCS / "episodes.md").read_text(encoding="utf-8")
    first = re.search(r"^```python\n(>>> import tempfile.*?)^```", page, re.S | re.M)[1]
    lines = [line[4:] for line in first.splitlines() if line.startswith((">>> ", "... "))]
    exec("\n".join(lines).replace("tempfile.mkdtemp()", repr(str(workspace))), names)
    (block,) = blocks("episodes.md")
    exec(block, names)
    assert names["batch"]["image"].shape[1:] == (2, 3, 64, 64)
    assert names["batch"]["prompt"][0] == "pick up the cup"
    assert np.isfinite(float(names["loss"]))


def test_reading(workspace):
    Digits(data_dir=workspace).download_and_prepare(quiet=True)
    names = {"train": fk.load("digits", "train", columns=["image", "label"])}
    grain, jax = blocks("reading.md")
    pytest.importorskip("grain", reason="Grain is not installed")
    exec(grain, names)
    assert names["pipeline"][0]["image"].shape == (32, 8, 8, 1)
    pytest.importorskip("jax", reason="JAX is not installed")
    exec(jax, names)
    assert names["batch"]["image"].sharding == names["sharding"]
