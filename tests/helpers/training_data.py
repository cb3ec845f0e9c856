"""A dataset with all kinds of values, for tests of what reads it for training."""

import numpy as np

import featurekit as fk

COUNT = 200


def features():
    return fk.FeaturesDict(
        {
            "id": np.int64,
            "image": fk.Image(shape=(4, 6, 3)),
            "label": fk.ClassLabel(names=["ant", "bee", "cow"]),
            "name": fk.Text(),
            "vector": fk.Tensor(shape=(3,), dtype=np.float32),
            "list": fk.Sequence(np.int32),
            "nested": fk.Sequence(fk.Sequence(fk.Text())),
            "inner": {"flag": np.bool_, "byte": np.uint8, "deep": np.uint16},
        }
    )


def example(i):
    return {
        "id": i,
        "image": np.full((4, 6, 3), i % 256, np.uint8),
        "label": i % 3,
        "name": f"näme {i}",
        "vector": np.array([i, i / 2, -i], np.float32),
        "list": list(range(i % 4)),
        "nested": [[f"{i}"] * k for k in range(i % 3)],
        "inner": {"flag": i % 2 == 0, "byte": i % 256, "deep": 300 + i},
    }


def write(folder, count=COUNT, name="training", more=None, **options):
    """Write the dataset, and open its only split; its five shards have whatever is in them."""
    extra = more or {}
    schema = fk.FeaturesDict({**features(), **{key: f for key, (f, _) in extra.items()}})
    examples = [
        (i, {**example(i), **{key: make(i) for key, (_, make) in extra.items()}})
        for i in range(count)
    ]
    fk.write_dataset(name, {"train": examples}, schema, folder, num_shards=5, quiet=True, **options)
    return fk.load(name, "train", data_dir=folder)
