"""How fast plain TFRecord files become arrays, against TensorFlow, tfrecord and protobuf.

    python benchmarks/parse.py [--rounds 5] [--scale 1.0]

Everybody reads the same files, checksums checked where the peer can, and parses every
feature. Each contestant has a process of its own, since not all peers can share one. Each
round runs all of them, in turn; the medians of the rounds are compared. A figure is how
many times as long as featurekit the other one took. Peers that are not installed are
named at the end: `pip install tensorflow-cpu tfrecord`.
"""

import argparse
import functools
import importlib.util
import itertools
import multiprocessing
import os
import statistics
import struct
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import google_crc32c
import numpy as np

from featurekit.io import (
    FixedLenFeature,
    TFRecordReader,
    TFRecordWriter,
    parse_example,
    parse_single_example,
)
from featurekit.io.columns import native_active, write_example
from featurekit.proto.example_pb2 import Example

BATCH = 1024


def small(rng):
    return {
        "age": rng.integers(0, 100, 1),
        "id": rng.integers(0, 2**40, 1),
        "name": [rng.bytes(8)],
        "weight": rng.random(1, np.float32),
    }


def floats(rng):
    return {"embedding": rng.random(1024, np.float32)}


def ints(rng):
    return {"tokens": rng.integers(0, 50_000, 16_000)}


def mixed(rng):
    return {
        **{f"int_{i}": rng.integers(0, 1000, 4) for i in range(10)},
        **{f"float_{i}": rng.random(4, np.float32) for i in range(10)},
        **{f"bytes_{i}": [rng.bytes(12)] for i in range(10)},
    }


SHAPES = {  # title: how to make a record, number of records
    "4 small features": (small, 16 * BATCH),
    "1024 floats": (floats, 8 * BATCH),
    "16000 int64": (ints, BATCH),
    "30 mixed features": (mixed, 4 * BATCH),
}


def dtype_of(values):
    return object if isinstance(values, list) else values.dtype.type


def batches(items):
    items = iter(items)
    while batch := list(itertools.islice(items, BATCH)):
        yield batch


# The contestants: each gives two functions of a path, which read it in batches and one by one.


def featurekit(example):
    specs = {
        key: FixedLenFeature([len(values)], dtype_of(values)) for key, values in example.items()
    }

    def in_batches(path):
        for batch in batches(TFRecordReader(path)):
            parse_example(batch, specs)

    def one_by_one(path):
        for record in TFRecordReader(path):
            parse_single_example(record, specs)

    return in_batches, one_by_one


def tensorflow(example):
    import tensorflow as tf

    dtypes = {object: tf.string, np.float32: tf.float32, np.int64: tf.int64}
    specs = {
        key: tf.io.FixedLenFeature([len(values)], dtypes[dtype_of(values)])
        for key, values in example.items()
    }

    def in_batches(path):
        data = tf.data.TFRecordDataset(path).batch(BATCH)
        for _ in data.map(lambda records: tf.io.parse_example(records, specs)):
            pass

    def one_by_one(path):
        data = tf.data.TFRecordDataset(path)
        for _ in data.map(lambda record: tf.io.parse_single_example(record, specs)):
            pass

    return in_batches, one_by_one


def tfrecord(example):
    from tfrecord.reader import tfrecord_loader

    names = {object: "byte", np.float32: "float", np.int64: "int"}
    description = {key: names[dtype_of(values)] for key, values in example.items()}

    def one_by_one(path):
        for _ in tfrecord_loader(path, None, description):
            pass

    def in_batches(path):
        for batch in batches(tfrecord_loader(path, None, description)):
            {key: np.stack([record[key] for record in batch]) for key in description}

    return in_batches, one_by_one


def protobuf(example):
    lists = {object: "bytes_list", np.float32: "float_list", np.int64: "int64_list"}
    fields = {key: (lists[dtype_of(values)], dtype_of(values)) for key, values in example.items()}

    def parse(record):
        features = Example.FromString(record).features.feature
        return {
            key: np.array(getattr(features[key], field).value, dtype)
            for key, (field, dtype) in fields.items()
        }

    def one_by_one(path):
        for record in frames(path):
            parse(record)

    def in_batches(path):
        for batch in batches(frames(path)):
            parsed = [parse(record) for record in batch]
            {key: np.stack([record[key] for record in parsed]) for key in fields}

    return in_batches, one_by_one


def frames(path):
    """Payloads of a TFRecord file, read as one would without a library for it."""
    with open(path, "rb") as file:
        while header := file.read(12):
            length, length_crc = struct.unpack("<QI", header)
            payload = file.read(length)
            (crc,) = struct.unpack("<I", file.read(4))
            if (masked(header[:8]), masked(payload)) != (length_crc, crc):
                raise ValueError("wrong checksum")
            yield payload


def masked(data):
    crc = google_crc32c.value(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


CONTESTANTS = {
    "featurekit": featurekit,
    "tensorflow": tensorflow,
    "tfrecord": tfrecord,
    "protobuf + numpy": protobuf,
}
WAYS = {f"in batches of {BATCH}": 0, "one by one": 1}


@functools.cache
def functions(name, title):
    make, _ = SHAPES[title]
    return CONTESTANTS[name](make(np.random.default_rng(0)))


def seconds(name, title, way, path):
    function = functions(name, title)[way]
    start = time.perf_counter()
    function(path)
    return time.perf_counter() - start


def medians(processes, title, way, path, rounds):
    """Seconds of each contestant over some rounds, after one to warm up."""
    results = {name: [] for name in processes}
    for _ in range(rounds + 1):
        for name, process in processes.items():
            results[name].append(process.submit(seconds, name, title, way, path).result())
    return {name: statistics.median(values[1:]) for name, values in results.items()}


def two_threads(path, title, rounds):
    """How many times as long two threads take for two files as one thread takes for one."""
    read = functions("featurekit", title)[0]
    ratios = []
    with ThreadPoolExecutor(2) as pool:
        for _ in range(rounds + 1):
            start = time.perf_counter()
            read(path)
            middle = time.perf_counter()
            list(pool.map(read, [path, path]))
            ratios.append((time.perf_counter() - middle) / (middle - start))
    return statistics.median(ratios[1:])


def write_records(path, title, scale):
    make, count = SHAPES[title]
    rng = np.random.default_rng(0)
    count = max(1, int(count * scale))
    with TFRecordWriter(path) as writer:
        for _ in range(count):
            writer.write(write_example(make(rng)))
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="of the number of records")
    options = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

    missing = [name for name in ("tensorflow", "tfrecord") if not importlib.util.find_spec(name)]
    context = multiprocessing.get_context("spawn")
    processes = {
        name: ProcessPoolExecutor(1, context) for name in CONTESTANTS if name not in missing
    }
    peers = [name for name in processes if name != "featurekit"]
    print(f"compiled kernels: {'in use' if native_active() else 'NOT in use'}\n")
    print(f"{'':42}{'featurekit':>14}" + "".join(f"{name:>18}" for name in peers))
    print(f"{'':42}{'us a record':>14}" + f"{'times as long':>18}" * len(peers))
    for title in SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "records.tfrecord"))
            count = write_records(path, title, options.scale)
            for name, way in WAYS.items():
                results = medians(processes, title, way, path, options.rounds)
                ours = results["featurekit"]
                row = "".join(f"{results[peer] / ours:>17.1f}x" for peer in peers)
                print(f"{f'{title}, {name}':42}{ours / count * 1e6:>14.2f}{row}", flush=True)
            ratio = two_threads(path, title, options.rounds)
            print(
                f"{f'{title}, two threads, a file each':42}{ratio:>13.2f}x of one thread, one file"
            )
    for name in missing:
        print(f"\n{name} is not installed, so nothing was compared with it")
    for process in processes.values():
        process.shutdown()


if __name__ == "__main__":
    main()
