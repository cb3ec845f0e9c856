"""The same examples give the same files, whatever else differs."""

import hashlib
import json
import os
import random
import subprocess
import sys

import numpy as np
import pytest

import featurekit as fk

FEATURES = {
    "id": np.int64,
    "scores": fk.Tensor(shape=(3,), dtype=np.float32),
    "packed": fk.Tensor(shape=(None, None), dtype=np.uint8, encoding="zlib"),
    "image": fk.Image(shape=(4, 4, 1)),
    "words": fk.Sequence(fk.Sequence(fk.Text())),
    "label": fk.ClassLabel(names=["even", "odd"]),
}


def examples(count=60):
    numbers = np.random.default_rng(0)
    for index in range(count):
        yield (
            f"key_{index}",
            {
                "id": index,
                "scores": numbers.random(3, np.float32),
                "packed": np.full((index % 4, 2), index, np.uint8),
                "image": numbers.integers(0, 256, (4, 4, 1), np.uint8),
                "words": [["a", "é"] * (index % 3), []],
                "label": ["even", "odd"][index % 2],
            },
        )


def files(folder):
    return {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in sorted(os.listdir(folder))
    }


def written(folder, items, features=FEATURES, **options):
    fk.write_dataset(
        "sample",
        {"train": items, "test": iter(list(examples(7)))},
        fk.FeaturesDict(features),
        folder,
        num_shards=3,
        **options,
    )
    return files(folder / "sample/1.0.0")


def test_neither_order_nor_processes_matter(tmp_path):
    shuffled = list(examples())
    random.Random(1).shuffle(shuffled)
    turned = [(key, dict(reversed(example.items()))) for key, example in examples()]
    variants = [
        written(tmp_path / "plain", examples()),
        written(tmp_path / "again", examples()),
        written(tmp_path / "shuffled", shuffled),
        written(tmp_path / "turned", turned),
        written(tmp_path / "processes", examples(), num_processes=3),
        written(tmp_path / "features", examples(), dict(reversed(FEATURES.items()))),
    ]
    assert all(variant == variants[0] for variant in variants)
    assert len(variants[0]) == 9


def test_other_examples_give_other_files(tmp_path):
    other = [(key, example | {"id": 0}) for key, example in examples()]
    before, after = written(tmp_path / "a", examples()), written(tmp_path / "b", other)
    changed = {name for name in before if before[name] != after[name]}
    assert {f"sample-train.tfrecord-0000{i}-of-00003" for i in range(3)} <= changed
    assert "sample-test.tfrecord-00000-of-00003" not in changed


SCRIPT = """
import json, pathlib, sys
sys.path.insert(0, sys.argv[1])
import test_determinism as t
print(json.dumps(t.written(pathlib.Path(sys.argv[2]), t.examples())))
"""


def test_the_hash_seed_and_the_process_do_not_matter(tmp_path):
    here = os.path.dirname(__file__)
    printed = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT, here, tmp_path / seed],
            env=os.environ | {"PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            check=True,
        ).stdout
        for seed in ("0", "12345")
    ]
    assert printed[0] == printed[1]
    assert json.loads(printed[0]) == written(tmp_path / "here", examples())


@pytest.mark.parametrize(
    ("split", "keys", "order"),
    [
        ("train", range(10), [6, 5, 4, 0, 8, 3, 1, 9, 7, 2]),
        ("test", [f"k{index}" for index in range(10)], [1, 8, 3, 6, 5, 2, 4, 0, 9, 7]),
    ],
)
def test_the_order_is_that_of_tfds(tmp_path, split, keys, order):
    pairs = [(key, {"i": index}) for index, key in enumerate(keys)]
    random.Random(2).shuffle(pairs)
    reader = fk.write_dataset(
        "d", {split: pairs}, fk.FeaturesDict({"i": np.int64}), tmp_path, num_shards=3
    )
    assert [int(example["i"]) for example in reader.as_data_source(split)] == order
    assert reader.info.splits[split].shard_lengths == [3, 4, 3]
