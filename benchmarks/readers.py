"""How each library reads the benchmark's examples: one function a library.

Each takes the way to read and the folders, and gives a function to time, which opens and reads.
"first example" ends with the first one; "at random" reads each example once in a random order;
"shuffled batches" gives batches in random order, as training does.
"""

import glob
import io
import os
import random

import numpy as np

BATCH = 256
EPISODES = "episodes"
EVERYBODY = ("featurekit", "tfds", "grain", "tfrecord", "datasets", "streaming", "webdataset")

# What to do, and who can.
WAYS = {
    "first example": EVERYBODY,
    "one by one": EVERYBODY,
    "in batches": ("featurekit", "tfds", "grain", "webdataset"),
    "at random": ("featurekit", "tfds", "datasets", "streaming"),
    "shuffled batches": ("featurekit", "grain"),
}


def featurekit(way, title, folders):
    import featurekit as fk

    def read():
        source = fk.builder_from_directory(folders["tfrecord"]).as_data_source("train")
        if way == "first example":
            return realised(next(iter(source)))
        if way == "in batches":
            return consume(source.batches(batch_of(title)))
        if way == "shuffled batches":
            return consume(source.shuffle(0).batches(batch_of(title)))
        if way == "at random":
            return consume(map(source.__getitem__, shuffled(len(source))))
        return consume(source.iterate())

    return read


def tfds(way, title, folders):
    import tensorflow_datasets as tfds

    def read():
        if way == "at random":
            source = tfds.builder_from_directory(folders["array_record"]).as_data_source("train")
            return consume(map(source.__getitem__, shuffled(len(source))))
        builder = tfds.builder_from_directory(folders["tfrecord"])
        # Without its cache in memory, which would not last for a dataset of real size.
        config = tfds.ReadConfig(try_autocache=False)
        size = batch_of(title) if way == "in batches" and title != EPISODES else None
        data = tfds.as_numpy(builder.as_dataset("train", batch_size=size, read_config=config))
        return realised(next(iter(data))) if way == "first example" else consume(data)

    return read


def grain(way, title, folders):
    import grain
    import tensorflow_datasets as tfds

    def read():
        source = tfds.builder_from_directory(folders["array_record"]).as_data_source("train")
        data = grain.MapDataset.source(source)
        if way == "shuffled batches":
            data = data.shuffle(seed=0)
        data = data.to_iter_dataset()
        if "batches" in way and title != EPISODES:
            data = data.batch(batch_of(title))
        return realised(next(iter(data))) if way == "first example" else consume(data)

    return read


def tfrecord(way, title, folders):
    """The package tfrecord, which knows no features: they are spelt out, pictures decoded."""
    from tfrecord.reader import tfrecord_loader

    kinds = {
        "tabular": {"id": "int", "score": "float", "text": "byte", "vector": "float"},
        "png 28x28": {"image": "byte", "label": "int"},
        "jpeg 256x256": {"image": "byte", "label": "int"},
    }

    if title not in kinds:
        return None

    def read():
        paths = sorted(glob.glob(os.path.join(folders["tfrecord"], "*.tfrecord*")))
        records = (one for path in paths for one in tfrecord_loader(path, None, kinds[title]))
        examples = map(with_pixels, records)
        return next(examples) if way == "first example" else consume(examples)

    return read


def datasets(way, title, folders):
    """Hugging Face datasets, from its own Arrow files."""
    import datasets

    def read():
        data = datasets.load_from_disk(folders["datasets"]).with_format("numpy")
        if way == "first example":
            return data[0]
        if way == "at random":
            return consume(map(data.__getitem__, shuffled(len(data))))
        return consume(data)

    return read


def streaming(way, title, folders):
    """MosaicML Streaming, from its own MDS files; pictures are decoded with Pillow."""
    from streaming import StreamingDataset
    from streaming.base.util import clean_stale_shared_memory

    if folders["streaming"] is None:
        return None
    clean_stale_shared_memory()

    def read():
        data = StreamingDataset(local=folders["streaming"], batch_size=1)
        if way == "at random":
            return consume(with_pixels(data[index]) for index in shuffled(len(data)))
        examples = map(with_pixels, data)
        return next(examples) if way == "first example" else consume(examples)

    return read


def webdataset(way, title, folders):
    """webdataset, from tar files."""
    import webdataset

    if folders["webdataset"] is None:
        return None
    names = ("json", "txt", "npy") if title == "tabular" else ("png;jpg", "cls")

    def read():
        paths = sorted(glob.glob(os.path.join(folders["webdataset"], "*.tar")))
        data = webdataset.WebDataset(paths, shardshuffle=False)
        examples = data.decode("l8" if "28x28" in title else "rgb8").to_tuple(*names)
        if way == "in batches":
            examples = examples.batched(batch_of(title))
        return next(iter(examples)) if way == "first example" else consume(examples)

    return read


CONTESTANTS = {
    "featurekit": featurekit,
    "tfds": tfds,
    "grain": grain,
    "tfrecord": tfrecord,
    "datasets": datasets,
    "streaming": streaming,
    "webdataset": webdataset,
}

NEEDS = {
    "tfds": "tensorflow_datasets",
    "grain": "grain",
    "tfrecord": "tfrecord",
    "datasets": "datasets",
    "streaming": "streaming",
    "webdataset": "webdataset",
}


def batch_of(title):
    return 16 if title == EPISODES else BATCH


def consume(examples):
    for example in examples:
        realised(example)


def with_pixels(example):
    """Decode the picture of an example with Pillow, for libraries that leave it to others."""
    if "image" in example:
        from PIL import Image

        example["image"] = np.asarray(Image.open(io.BytesIO(example["image"])))
    return example


def realised(example):
    """Read all steps of an episode, which are decoded only then."""
    steps = example.get("steps") if isinstance(example, dict) else None
    if steps is not None and not isinstance(steps, dict):
        for _ in steps:
            pass


def shuffled(count):
    indices = list(range(count))
    random.Random(0).shuffle(indices)
    return indices


def peak_memory():
    """Most memory that this process has had, in MB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
