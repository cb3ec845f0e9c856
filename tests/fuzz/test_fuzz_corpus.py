"""The seeds of the fuzzer, and a few mutations of each."""

import pathlib
import random

import pytest
from wire_messages import damaged

pytest.importorskip("featurekit.native.columns", exc_type=ImportError)
pytest.importorskip("featurekit.native.records", exc_type=ImportError)

import differential

SEEDS = sorted((pathlib.Path(__file__).parent / "corpus").iterdir())


@pytest.mark.parametrize("path", SEEDS, ids=lambda path: path.name)
def test_seed(path):
    data = path.read_bytes()
    differential.check(data)
    rng = random.Random(path.name)
    for _ in range(30):
        differential.check(damaged(rng, data))
