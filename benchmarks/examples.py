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


DATASETS = {  # title: examples, number of them
    "tabular": (tabular, 20_000),
    "png 28x28": (pictures, 5_000),
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
    return library.FeaturesDict(
        {
            "image": library.Image(shape=(28, 28, 1), encoding_format="png"),
            "label": library.ClassLabel(num_classes=10),
        }
    )
