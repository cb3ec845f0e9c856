"""The examples that build.py and read.py work on, as plain values, and their features."""

import numpy as np


def tabular(count):
    """A table: an int, a float, a text and 16 floats a row."""
    rng = np.random.default_rng(0)
    ids, scores = rng.integers(0, 10**6, count), rng.random(count)
    vectors = rng.random((count, 16), np.float32)
    for index in range(count):
        yield (
            index,
            {
                "id": int(ids[index]),
                "score": float(scores[index]),
                "text": f"the text of row {index}",
                "vector": vectors[index],
            },
        )


def pictures(count):
    """Gray pictures of 28x28 pixels, smooth as written digits are, and a label."""
    rng = np.random.default_rng(0)
    waves = np.sin(np.arange(28) / 4)
    for index in range(count):
        scale, shift = rng.random(2)
        image = np.outer(waves * scale, np.roll(waves, int(28 * shift)))
        image = np.where(image > 0.1, 255 * image, 0).astype(np.uint8)[..., None]
        yield index, {"image": image, "label": index % 10}


def photos(count):
    """Colour pictures of 256x256 pixels with edges and noise, as photographs have."""
    rng = np.random.default_rng(0)
    for index in range(count):
        blocks = rng.integers(0, 255, (32, 32, 3))
        image = np.repeat(np.repeat(blocks, 8, 0), 8, 1) + rng.integers(-8, 8, (256, 256, 3))
        yield index, {"image": image.clip(0, 255).astype(np.uint8), "label": index % 10}


def episodes(count):
    """Episodes of 100 steps, each with a picture of 64x64 pixels."""
    rng = np.random.default_rng(0)
    for index in range(count):
        blocks = rng.integers(0, 255, (100, 8, 8, 3), np.uint8)
        images = np.repeat(np.repeat(blocks, 8, 1), 8, 2)
        states, actions = rng.random((100, 8), np.float32), rng.random((100, 7), np.float32)
        steps = [
            {
                "image": images[step],
                "state": states[step],
                "action": actions[step],
                "instruction": "pick up the cup",
                "is_first": step == 0,
            }
            for step in range(100)
        ]
        yield index, {"steps": steps}


DATASETS = {  # title: examples, number of them
    "tabular": (tabular, 20_000),
    "png 28x28": (pictures, 5_000),
}

TO_READ = {
    **DATASETS,
    "jpeg 256x256": (photos, 1_000),
    "episodes": (episodes, 50),
}


def features(title, library):
    """The features of a dataset, of featurekit or of tensorflow_datasets.features."""
    if title == "tabular":
        return library.FeaturesDict(
            {
                "id": np.int64,
                "score": np.float32,
                "text": library.Text(),
                "vector": library.Tensor(shape=(16,), dtype=np.float32),
            }
        )
    if title == "episodes":
        step = {
            "image": library.Image(shape=(64, 64, 3), encoding_format="jpeg"),
            "state": library.Tensor(shape=(8,), dtype=np.float32),
            "action": library.Tensor(shape=(7,), dtype=np.float32),
            "instruction": library.Text(),
            "is_first": np.bool_,
        }
        return library.FeaturesDict({"steps": library.Dataset(step)})
    shape, encoding = ((256, 256, 3), "jpeg") if "jpeg" in title else ((28, 28, 1), "png")
    return library.FeaturesDict(
        {
            "image": library.Image(shape=shape, encoding_format=encoding),
            "label": library.ClassLabel(num_classes=10),
        }
    )
