"""How fast datasets are built, against TFDS and against the bare encoder.

    python benchmarks/build.py [--rounds 5] [--scale 1.0]

Everybody builds the same datasets from the same examples, which are in memory, in one
process. "bare encoder" does only what cannot be left out: it encodes the pictures with
Pillow, or takes the bytes of the values, and writes them to a file with checksums. Each
contestant has a process of its own; each round runs all of them, in turn, and the medians
of the rounds are compared. A figure is how many times as long as featurekit the other one
took. Needs `pip install tensorflow-cpu tensorflow-datasets` for the comparison.
"""

import argparse
import functools
import io
import os
import tempfile

import google_crc32c
import numpy as np
from contest import Contest
from examples import DATASETS, features
from PIL import Image


@functools.cache
def examples(title, count):
    make, _ = DATASETS[title]
    return list(make(count))


def featurekit(title, count):
    import featurekit as fk

    class Benchmark(fk.GeneratorBasedBuilder, skip_registration=True):
        VERSION = fk.Version("1.0.0")

        def _info(self):
            return fk.DatasetInfo(builder=self, features=features(title, fk))

        def _split_generators(self, dl_manager):
            return {"train": self._generate_examples()}

        def _generate_examples(self):
            yield from examples(title, count)

    return building(lambda folder: Benchmark(data_dir=folder).download_and_prepare(quiet=True))


def tfds(title, count):
    import tensorflow_datasets as tfds

    class Benchmark(tfds.core.GeneratorBasedBuilder, skip_registration=True):
        VERSION = tfds.core.Version("1.0.0")

        def _info(self):
            return tfds.core.DatasetInfo(builder=self, features=features(title, tfds.features))

        def _split_generators(self, dl_manager):
            return {"train": self._generate_examples()}

        def _generate_examples(self):
            yield from examples(title, count)

    tfds.disable_progress_bar()
    return building(lambda folder: Benchmark(data_dir=folder).download_and_prepare())


def bare_encoder(title, count):
    def encode(example):
        if "image" in example:
            buffer = io.BytesIO()
            Image.fromarray(example["image"][..., 0]).save(buffer, "PNG")
            return buffer.getvalue()
        numbers = np.float32([example["score"], *example["vector"]]).tobytes()
        return b"%d" % example["id"] + example["text"].encode() + numbers

    def write(folder):
        with open(os.path.join(folder, "records"), "wb") as file:
            for _, example in examples(title, count):
                data = encode(example)
                file.write(len(data).to_bytes(8, "little"))
                file.write(data)
                file.write(google_crc32c.value(data).to_bytes(4, "little"))

    return building(write)


def building(build):
    def run():
        with tempfile.TemporaryDirectory() as folder:
            build(folder)

    return run


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="of the number of examples")
    options = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

    contestants = {"featurekit": featurekit, "tfds": tfds, "bare encoder": bare_encoder}
    with Contest(contestants, {"tfds": "tensorflow_datasets"}, options.rounds) as contest:
        contest.print_header()
        for title, (_, count) in DATASETS.items():
            count = max(1, int(count * options.scale))
            contest.print_row(f"build {title}", count, contest.medians(title, count))
        contest.print_missing()


if __name__ == "__main__":
    main()
