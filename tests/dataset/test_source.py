"""DataSource: random access, views, pickling, and what it says of its elements."""

import concurrent.futures
import multiprocessing
import pickle

import golden
import numpy as np
import pytest

import featurekit as fk
from featurekit.errors import InvalidTypeError, RecordIndexError, SplitError


@pytest.fixture(scope="module")
def source():
    return fk.load("shard_many", "train", data_dir=golden.ROOT / "sharding")


def ids(examples):
    return [int(example["id"]) for example in examples]


def test_it_is_a_sequence(source):
    everything = ids(source)
    assert len(source) == len(everything) == 400
    assert int(source[0]["id"]) == everything[0]
    assert int(source[-1]["id"]) == everything[-1]
    assert int(source[np.int64(7)]["id"]) == everything[7]
    assert ids(source) == everything  # again


def test_slices_and_lists_are_views(source):
    everything = ids(source)
    assert ids(source[10:20]) == everything[10:20]
    assert ids(source[::-7]) == everything[::-7]
    assert ids(source[[3, 1, -1]]) == [everything[3], everything[1], everything[-1]]
    assert ids(source[10:300][5:8]) == everything[15:18]
    assert ids(source.take(3)) == everything[:3]
    assert ids(source.skip(398)) == everything[398:]
    assert len(source[5:5]) == 0
    assert list(source[5:5]) == []
    assert ids(source.__getitems__([2, 0])) == [everything[2], everything[0]]


def test_split_slices(source):
    everything = ids(source)
    part = fk.load("shard_many", "train[10%:20%]", data_dir=golden.ROOT / "sharding")
    assert ids(part) == everything[40:80]
    assert int(part[3]["id"]) == everything[43]
    both = fk.load("shard_many", "train[:3]+train[-2:]", data_dir=golden.ROOT / "sharding")
    assert ids(both) == everything[:3] + everything[-2:]
    assert len(fk.load("shard_many", "train[:0]", data_dir=golden.ROOT / "sharding")) == 0


def test_load_gives_all_splits_and_info():
    splits, info = fk.load("split_basic", data_dir=golden.ROOT / "splits", with_info=True)
    assert list(splits) == list(info.splits)
    assert {name: len(split) for name, split in splits.items()} == {
        name: split.num_examples for name, split in info.splits.items()
    }


def test_element_spec(source):
    assert source.element_spec == {
        "id": fk.TensorInfo((), np.int64),
        "key": fk.TensorInfo((), np.object_),
    }
    assert source.features is source.info.features


def test_index_errors(source):
    with pytest.raises(RecordIndexError) as error:
        source[400]
    assert str(error.value) == "there is no example 400: 'train' has 400 examples"
    with pytest.raises(RecordIndexError):
        source[-401]
    with pytest.raises(InvalidTypeError) as error:
        source["id"]
    assert str(error.value) == "an example's index is an int, a slice or a list of ints, not str"


def test_unknown_split():
    with pytest.raises(SplitError, match="'tran'"):
        fk.load("shard_many", "tran", data_dir=golden.ROOT / "sharding")


def test_it_can_be_pickled(source):
    list(source[:3])  # with files open
    again = pickle.loads(pickle.dumps(source))
    assert ids(again) == ids(source)
    assert ids(pickle.loads(pickle.dumps(source[5:9]))) == ids(source[5:9])


def sum_of_ids(source):
    return sum(ids(source))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_it_works_in_other_processes(source, method):
    source[0]
    context = multiprocessing.get_context(method)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        halves = list(pool.map(sum_of_ids, [source[:200], source[200:]]))
    assert sum(halves) == sum_of_ids(source)


def test_threads_share_it(source):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda index: int(source[index]["id"]), range(len(source))))
    assert found == ids(source)


def test_text_as_str():
    folder = golden.ROOT / "sequence/seq_nested/1.0.0"
    as_bytes = fk.builder_from_directory(folder).as_data_source("train")[0]
    as_str = fk.builder_from_directory(folder).as_data_source("train", text="str")[0]
    rows = [[item.decode() for item in row] for row in as_bytes["st"].to_list()]
    assert as_str["st"].to_list() == rows
    assert golden.difference(as_bytes["ss"], as_str["ss"]) is None


def test_a_text_mode_that_does_not_exist():
    with pytest.raises(ValueError, match="did you mean 'str'"):
        fk.load("shard_many", "train", data_dir=golden.ROOT / "sharding", text="strr")


def test_repr_reads_nothing(source):
    assert repr(source) == "DataSource(shard_many/1.0.0, split='train', num_examples=400)"


def test_many_shards_are_read_with_few_files_open(tmp_path):
    examples = [{"i": i} for i in range(100)]
    features = fk.FeaturesDict({"i": np.int64})
    fk.write_dataset("many", {"train": examples}, features, tmp_path, num_shards=100)
    source = fk.load("many", "train", data_dir=tmp_path)
    assert sorted(int(source[i]["i"]) for i in range(100)) == list(range(100))
    assert source._records._open.cache_info().currsize <= 16
