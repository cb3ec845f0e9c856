"""How fast the examples of a dataset are read, against TFDS.

    python benchmarks/read.py [--rounds 5] [--scale 1.0]

Everybody reads the same files, which featurekit wrote, once from front to back, and gets
NumPy values. Each contestant has a process of its own; each round runs all of them, in
turn, and the medians of the rounds are compared. A figure is how many times as long as
featurekit the other one took. "at random" compares `ds[i]` in a random order on TFRecord
files with TFDS's data source on ArrayRecord files of the same examples. Needs
`pip install tensorflow-cpu tensorflow-datasets array-record` for the comparison.
"""

import argparse
import contextlib
import io
import itertools
import os
import random
import tempfile

from contest import Contest
from examples import DATASETS, features

BATCH = 256


def featurekit(way, folder, array_record_folder):
    import featurekit as fk

    source = fk.builder_from_directory(folder).as_data_source("train")
    if way == "in batches":
        return lambda: consume(map(source.features.deserialize_batch, batched(source.serialized())))
    if way == "at random":
        return lambda: consume(map(source.__getitem__, shuffled(len(source))))
    return lambda: consume(source)


def tfds(way, folder, array_record_folder):
    import tensorflow_datasets as tfds

    if way == "at random":
        builder = tfds.builder_from_directory(array_record_folder)
        source = builder.as_data_source("train")
        return lambda: consume(map(source.__getitem__, shuffled(len(source))))
    builder = tfds.builder_from_directory(folder)
    batch_size = BATCH if way == "in batches" else None
    # Without its cache in memory, which would not last for a dataset of real size.
    config = tfds.ReadConfig(try_autocache=False)
    data = builder.as_dataset("train", batch_size=batch_size, read_config=config)
    return lambda: consume(tfds.as_numpy(data))


def consume(examples):
    for _ in examples:
        pass


def batched(items):
    items = iter(items)
    while batch := list(itertools.islice(items, BATCH)):
        yield batch


def shuffled(count):
    indices = list(range(count))
    random.Random(0).shuffle(indices)
    return indices


def write(title, count, folder):
    import featurekit as fk

    make, _ = DATASETS[title]
    splits = {"train": make(count)}
    reader = fk.write_dataset("benchmark", splits, features(title, fk), folder, quiet=True)
    return reader.data_dir


def write_array_records(title, count, folder):
    """The same examples in ArrayRecord files, which TFDS needs for random access."""
    import tensorflow_datasets as tfds

    make, _ = DATASETS[title]

    class Benchmark(tfds.core.GeneratorBasedBuilder, skip_registration=True):
        VERSION = tfds.core.Version("1.0.0")

        def _info(self):
            return tfds.core.DatasetInfo(builder=self, features=features(title, tfds.features))

        def _split_generators(self, dl_manager):
            return {"train": self._generate_examples()}

        def _generate_examples(self):
            yield from make(count)

    tfds.disable_progress_bar()
    builder = Benchmark(data_dir=folder, file_format="array_record")
    with contextlib.redirect_stdout(io.StringIO()):
        builder.download_and_prepare()
    return str(builder.data_path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="of the number of examples")
    options = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

    contestants = {"featurekit": featurekit, "tfds": tfds}
    with Contest(contestants, {"tfds": "tensorflow_datasets"}, options.rounds) as contest:
        contest.print_header()
        for title, (_, count) in DATASETS.items():
            count = max(1, int(count * options.scale))
            with tempfile.TemporaryDirectory() as folder:
                ours = write(title, count, os.path.join(folder, "tfrecord"))
                theirs = contest.run("tfds", write_array_records, title, count, folder)
                for way in ("one by one", "in batches", "at random"):
                    results = contest.medians(way, ours, theirs)
                    contest.print_row(f"read {title}, {way}", count, results)
        contest.print_missing()


if __name__ == "__main__":
    main()
