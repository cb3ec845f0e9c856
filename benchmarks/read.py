"""How fast the examples of a dataset are read, against other libraries.

    python benchmarks/read.py [--rounds 5] [--scale 1.0] [--only episodes]

Everybody reads the same examples and gets NumPy values: featurekit, TFDS (`as_numpy`) and the
package tfrecord from the TFRecord files that featurekit wrote, Grain and TFDS's data source from
ArrayRecord files, Hugging Face datasets from its own Arrow files. Each contestant has a process of
its own; each round runs all of them, in turn, and the medians of the rounds are compared. A
figure is how many times as long as featurekit the other one took. Opening counts. For the
comparison: `pip install tensorflow-cpu tensorflow-datasets array-record grain tfrecord datasets`.
"""

import argparse
import contextlib
import io
import os
import tempfile

from contest import Contest
from examples import TO_READ, features
from readers import CONTESTANTS, NEEDS, WAYS, peak_memory


def write(title, count, folder):
    import featurekit as fk

    make, _ = TO_READ[title]
    splits = {"train": make(count)}
    reader = fk.write_dataset("benchmark", splits, features(title, fk), folder, quiet=True)
    return reader.data_dir


def write_array_records(title, count, folder):
    """The same examples in ArrayRecord files, which TFDS needs for random access."""
    import tensorflow_datasets as tfds

    make, _ = TO_READ[title]

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


def write_arrow(folder, target):
    """The same examples as Hugging Face keeps them."""
    import featurekit as fk

    source = fk.builder_from_directory(folder).as_data_source("train")
    source.to_huggingface().save_to_disk(target)
    return target


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="of the number of examples")
    parser.add_argument("--only", choices=TO_READ, help="one of the datasets")
    options = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

    with Contest(CONTESTANTS, NEEDS, options.rounds) as contest:
        contest.print_header()
        for title in [options.only] if options.only else TO_READ:
            count = max(1, int(TO_READ[title][1] * options.scale))
            with tempfile.TemporaryDirectory() as folder:
                folders = {"tfrecord": write(title, count, os.path.join(folder, "tfrecord"))}
                folders["array_record"] = contest.run(
                    "tfds", write_array_records, title, count, folder
                )
                folders["datasets"] = contest.run(
                    "datasets", write_arrow, folders["tfrecord"], os.path.join(folder, "arrow")
                )
                for way, names in WAYS.items():
                    results = contest.medians(way, title, folders, names=names)
                    contest.print_row(f"{title}, {way}", 1 if "first" in way else count, results)
        for name in CONTESTANTS:
            if (peak := contest.run(name, peak_memory)) is not None:
                print(f"{name}: {peak:.0f} MB of memory at most")
        contest.print_missing()


if __name__ == "__main__":
    main()
