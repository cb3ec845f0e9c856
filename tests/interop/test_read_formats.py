"""ArrayRecord and Parquet folders: batches, random order, threads and processes, as TFRecord."""

import concurrent.futures
import multiprocessing
import pickle

import golden
import numpy as np
import pytest

import featurekit as fk

PACKAGES = {"array_record": "array_record", "parquet": "pyarrow"}

pytestmark = [
    # JAX, where another test has used it, warns of every fork.
    pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]


@pytest.fixture(scope="module", params=PACKAGES)
def source(request, tmp_path_factory):
    pytest.importorskip(PACKAGES[request.param], reason="the format's package is not installed")
    features = fk.FeaturesDict({"id": np.int64, "image": fk.Image(shape=(4, 4, 1))})
    examples = [(i, {"id": i, "image": np.full((4, 4, 1), i % 256, np.uint8)}) for i in range(300)]
    folder = tmp_path_factory.mktemp(request.param)
    fk.write_dataset(
        "many", {"train": examples}, features, folder, num_shards=3, quiet=True,
        file_format=request.param,
    )  # fmt: skip
    return fk.load("many", "train", data_dir=folder)


def ids(examples):
    found = [np.atleast_1d(one["id"]).tolist() for one in examples]
    return [number for numbers in found for number in numbers]


def test_every_way_to_read(source):
    everything = ids(source)
    assert sorted(everything) == list(range(300))
    assert ids(source.batches(32, threads=3)) == everything
    assert ids(source.iterate(threads=3)) == everything
    shuffled = ids(source.shuffle(1))
    assert shuffled == [everything[i] for i in ids_of_order(source.shuffle(1))]
    assert ids(source.shuffle(1).batches(32, threads=3)) == shuffled
    assert ids(source[100:200]) == everything[100:200]
    assert ids([source[7], source[-1]]) == [everything[7], everything[-1]]
    assert ids(pickle.loads(pickle.dumps(source))[::50]) == everything[::50]
    for batch in source.batches(64):
        assert (batch["image"][:, 0, 0, 0] == batch["id"] % 256).all()


def ids_of_order(source):
    return source.plain_order.at(np.arange(len(source)), 0).tolist()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes(source, method):
    everything = ids(source)
    source[5]
    context = multiprocessing.get_context(method)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        parts = list(pool.map(ids, [source[:150], source[150:]]))
    assert parts[0] + parts[1] == everything


def test_rows_that_tfds_lost():
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    folder = golden.ROOT / "formats/fmt_parquet_250/1.0.0"
    source = fk.builder_from_directory(folder).as_data_source("train")
    assert len(source) == len(list(source)) == 150
    assert sorted(ids(source.shuffle(0).batches(16))) == sorted(ids(source))
