"""How fast the examples of a dataset are read, against other libraries.

    python benchmarks/read.py [--rounds 5] [--scale 1.0] [--only episodes]

Everybody reads the same examples and gets NumPy values: featurekit, TFDS (`as_numpy`) and the
package tfrecord from the TFRecord files that featurekit wrote, Grain and TFDS's data source from
ArrayRecord files, Hugging Face datasets from its own Arrow files, MosaicML Streaming from MDS
files, webdataset from tar files; the pictures in all of them are the same bytes. Each contestant
has a process of its own; each round runs all of them, in turn, and the medians of the rounds are
compared. A figure is how many times as long as featurekit the other one took. Opening counts.
For the comparison: `pip install tensorflow-cpu tensorflow-datasets array-record grain tfrecord
datasets mosaicml-streaming webdataset`.
"""

import argparse
import contextlib
import io
import os
import tempfile

from contest import Contest
from examples import TO_READ, features
from readers import CONTESTANTS, EPISODES, NEEDS, WAYS, peak_memory


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


def stored_examples(folder):
    """The examples as plain values, pictures as the bytes that are stored."""
    import featurekit as fk

    builder = fk.builder_from_directory(folder)
    has_images = "image" in builder.info.features
    decoders = {"image": fk.SkipDecoding()} if has_images else None
    return builder.as_data_source("train", decoders=decoders, text="str")


def write_streaming(folder, target, title):
    """The same examples in the files of MosaicML Streaming; it has no nested ones."""
    from streaming import MDSWriter

    columns = {
        "tabular": {
            "id": "int64",
            "score": "float32",
            "text": "str",
            "vector": "ndarray:float32:16",
        },
        "png 28x28": {"image": "bytes", "label": "int64"},
        "jpeg 256x256": {"image": "bytes", "label": "int64"},
    }
    if title not in columns:
        return None
    with MDSWriter(out=target, columns=columns[title]) as writer:
        for example in stored_examples(folder):
            writer.write(example)
    return target


def write_tar(folder, target, title):
    """The same examples in tar files, a file a value; there are no nested ones."""
    from webdataset import ShardWriter

    if title == EPISODES:
        return None
    os.makedirs(target)
    with ShardWriter(os.path.join(target, "%06d.tar"), maxcount=10_000, verbose=0) as writer:
        for index, example in enumerate(stored_examples(folder)):
            writer.write({"__key__": f"{index:08d}", **tar_files(example, title)})
    return target


def tar_files(example, title):
    """The files of an example, by the extensions that say how to read them."""
    if "image" in example:
        extension = "jpg" if "jpeg" in title else "png"
        return {extension: example["image"], "cls": example["label"]}
    scalars = {"id": int(example["id"]), "score": float(example["score"])}
    return {"json": scalars, "txt": example["text"], "npy": example["vector"]}


def write_all(title, count, folder, contest):
    """The examples in the files of each contestant; their folders by format."""
    ours = write(title, count, os.path.join(folder, "tfrecord"))
    folders = {"tfrecord": ours}
    folders["array_record"] = contest.run("tfds", write_array_records, title, count, folder)
    folders["datasets"] = contest.run("datasets", write_arrow, ours, os.path.join(folder, "arrow"))
    for name, write_theirs in {"streaming": write_streaming, "webdataset": write_tar}.items():
        target = os.path.join(folder, name)
        folders[name] = contest.run(name, write_theirs, ours, target, title)
    return folders


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
                folders = write_all(title, count, folder, contest)
                for way, names in WAYS.items():
                    results = contest.medians(way, title, folders, names=names)
                    contest.print_row(f"{title}, {way}", 1 if "first" in way else count, results)
        for name in CONTESTANTS:
            if (peak := contest.run(name, peak_memory)) is not None:
                print(f"{name}: {peak:.0f} MB of memory at most")
        contest.print_missing()


if __name__ == "__main__":
    main()
