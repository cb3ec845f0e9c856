"""Batches: the same values as example by example, in any form, order and number of threads."""

import itertools
import multiprocessing
import os
import pickle
import threading

import golden
import numpy as np
import pytest

import featurekit as fk
from featurekit.errors import (
    CorruptRecordError,
    DatasetInfoError,
    DecodeError,
    InvalidArgumentError,
    InvalidTypeError,
    RecordIndexError,
    UnsupportedError,
)

FEATURES = fk.FeaturesDict(
    {
        "id": np.int64,
        "name": fk.Text(),
        "image": fk.Image(shape=(None, None, 1)),
        "list": fk.Sequence(np.int32),
        "maybe": fk.Tensor(shape=(), dtype=np.float32, optional=True),
        "inner": {"vector": fk.Tensor(shape=(2,), dtype=np.float32)},
    }
)


def example(i):
    return {
        "id": i,
        "name": f"n{i}",
        "image": np.full((2 + i % 2, 3, 1), i, np.uint8),
        "list": list(range(i % 4)),
        "maybe": None if i % 3 else float(i),
        "inner": {"vector": [i, -i]},
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("batches")
    examples = [(i, example(i)) for i in range(100)]
    reader = fk.write_dataset(
        "many", {"train": examples}, FEATURES, folder, num_shards=7, quiet=True
    )
    return reader.data_dir


@pytest.fixture(scope="module")
def source(folder):
    return fk.builder_from_directory(folder).as_data_source("train")


def ids(items):
    return [i for item in items for i in np.atleast_1d(item["id"]).tolist()]


def same(batch, examples):
    """Whether a batch has the values of some examples."""
    for i, one in enumerate(examples):
        assert batch["id"][i] == one["id"]
        assert batch["name"][i] == one["name"]
        assert np.array_equal(batch["image"][i], one["image"])
        assert np.array_equal(batch["list"][i], one["list"])
        assert np.array_equal(batch["inner"]["vector"][i], one["inner"]["vector"])
        if one["maybe"] is None:
            assert batch["maybe"].mask[i]
        else:
            assert batch["maybe"][i] == one["maybe"]
    assert len(batch["id"]) == len(examples)


@pytest.mark.parametrize("threads", [0, 1, 3])
@pytest.mark.parametrize("change", [lambda s: s, lambda s: s.shuffle(3), lambda s: s[60:5:-2]])
def test_batches_have_the_values_of_the_examples(source, change, threads):
    source = change(source)
    examples, batches = list(source), source.batches(16, threads=threads)
    found = list(batches)
    assert len(batches) == len(found) == -(-len(examples) // 16)
    for k, batch in enumerate(found):
        same(batch, examples[16 * k : 16 * k + 16])
        same(batches[k], examples[16 * k : 16 * k + 16])
    same(batches[-1], examples[16 * (len(found) - 1) :])
    assert found[0]["id"].dtype == np.int64
    assert found[0]["inner"]["vector"].dtype == np.float32


@pytest.mark.parametrize("threads", [0, 2])
def test_iterating_with_threads_gives_the_same(source, threads):
    assert ids(source.shuffle(1).iterate(threads=threads)) == ids(source.shuffle(1))


def test_the_remainder(source):
    whole = source.batches(30, drop_remainder=True)
    assert [len(batch["id"]) for batch in whole] == [30, 30, 30]
    assert len(whole) == 3
    assert [len(batch["id"]) for batch in source.batches(30)] == [30, 30, 30, 10]
    assert len(source.batches(101, drop_remainder=True)) == 0
    assert list(source[:0].batches(4)) == []


def test_ragged_values(source):
    ragged = source.batches(20)[0]
    assert isinstance(ragged["list"], fk.io.RaggedTensor)
    assert isinstance(ragged["image"], list)
    lists = source.batches(20, ragged="list")[0]
    assert [row.tolist() for row in lists["list"]] == ragged["list"].to_list()
    assert isinstance(lists["image"], list)
    padded = source.batches(20, ragged="pad")[0]
    assert padded["list"].shape == (20, 3)
    assert padded["image"].shape == (20, 3, 3, 1)
    for i in range(20):
        row, image = lists["list"][i], lists["image"][i]
        assert padded["list"][i, : len(row)].tolist() == row.tolist()
        assert not padded["list"][i, len(row) :].any()
        assert np.array_equal(padded["image"][i, : len(image)], image)
        assert not padded["image"][i, len(image) :].any()
    assert padded["maybe"].mask.tolist() == ragged["maybe"].mask.tolist()


@pytest.mark.parametrize("entry", golden.datasets("nested", "sequence", "tensors", "optional"),
                         ids=lambda entry: entry.name)  # fmt: skip
def test_what_tfds_wrote_in_batches(entry):
    source = fk.builder_from_directory(entry.folder)
    for split in source.info.splits:
        examples = source.as_data_source(split)
        for batch in examples.batches(3, threads=0):
            assert isinstance(batch, dict)
        if any(info.dataset_lvl for info in _leaves(examples.element_spec)):
            continue
        padded = examples.batches(len(examples), threads=0, ragged="pad")[0]
        lists = examples.batches(len(examples), threads=0, ragged="list")[0]
        for i, expected in enumerate(examples):
            _check_padded(padded, expected, i)
            _check_list(lists, expected, i)


def _leaves(tree):
    return (
        [leaf for value in tree.values() for leaf in _leaves(value)]
        if isinstance(tree, dict)
        else [tree]
    )


def _check_padded(batch, expected, i):
    if isinstance(expected, dict):
        for key, value in expected.items():
            _check_padded(batch[key], value, i)
        return
    if expected is None:
        assert np.all(np.ma.getmaskarray(batch)[i])
        return
    if isinstance(expected, list):
        for j, part in enumerate(expected):
            _check_padded(batch[i], part, j)
        return
    if isinstance(expected, fk.io.RaggedTensor):
        expected = expected.to_dense()
    expected = np.asarray(expected, object if isinstance(expected, bytes) else None)
    row = np.asarray(batch[i], object if expected.dtype == object else None)
    assert np.array_equal(row[tuple(map(slice, expected.shape))], expected, equal_nan=(
        expected.dtype.kind == "f"))  # fmt: skip


def _check_list(batch, expected, i):
    if isinstance(expected, dict):
        for key, value in expected.items():
            _check_list(batch[key], value, i)
    elif expected is not None and getattr(expected, "size", 1):
        assert golden.difference(batch[i], expected) is None


def test_steps_cannot_be_padded():
    folder = golden.ROOT / "dataset_feature/rlds_episodes/1.0.0"
    source = fk.builder_from_directory(folder).as_data_source("train")
    with pytest.raises(UnsupportedError, match="cannot be padded") as error:
        source.batches(2, ragged="pad")[0]
    assert error.value.path == ("steps",)


def test_shuffling_sharding_and_epochs(source):
    everything = ids(source)
    for epoch in range(3):
        shuffled = ids(source.shuffle(9).epoch(epoch))
        assert shuffled != everything
        assert sorted(shuffled) == sorted(everything)
        parts = [ids(source.shuffle(9).shard(i, 8).epoch(epoch)) for i in range(8)]
        assert list(itertools.chain.from_iterable(parts)) == shuffled
        assert {len(part) for part in parts} == {12, 13}
    assert ids(source.shuffle(9).epoch(0)) == ids(source.shuffle(9))
    assert ids(source.shuffle(9).epoch(1)) != ids(source.shuffle(9))


def test_eight_hosts_have_a_partition_in_each_of_three_epochs(source):
    hosts = [iter(source.shuffle(4).shard(host, 8).repeat(3)) for host in range(8)]
    epochs = [[] for _ in range(3)]
    for host, examples in enumerate(hosts):
        size = len(source.shard(host, 8))
        for epoch in range(3):
            epochs[epoch] += ids(next(examples) for _ in range(size))
        assert next(examples, None) is None
    assert all(sorted(found) == sorted(ids(source)) for found in epochs)
    assert epochs[0] != epochs[1] != epochs[2]


def test_repeating(source):
    twice = source.shuffle(2).repeat(2)
    assert len(twice) == 200
    assert ids(twice) == ids(source.shuffle(2)) + ids(source.shuffle(2).epoch(1))
    assert ids(twice[95:105]) == ids(twice)[95:105]
    assert ids(twice.batches(64)) == ids(twice)
    endless = source.repeat()
    with pytest.raises(TypeError, match="repeated for ever"):
        len(endless)
    with pytest.raises(TypeError, match="repeated for ever"):
        len(endless.batches(8))
    assert ids([endless[230]]) == ids([source[30]])
    assert ids([endless.batches(64)[5]]) == ids(source.repeat(4))[320:384]
    examples = iter(endless)
    assert ids(next(examples) for _ in range(250)) == (ids(source) * 3)[:250]
    assert ids(endless.take(120)) == (ids(source) * 2)[:120]
    with pytest.raises(InvalidArgumentError, match="no parts"):
        endless.shard(0, 2)


# Saving and resuming.


@pytest.mark.parametrize("make", [
    lambda s: iter(s),
    lambda s: iter(s.shuffle(5).epoch(2)),
    lambda s: s.shuffle(5).iterate(threads=2),
    lambda s: iter(s.shuffle(5).repeat(2).batches(8, threads=2)),
    lambda s: iter(s[10:90].batches(7)),
])  # fmt: skip
@pytest.mark.parametrize("count", [0, 1, 6])
def test_resuming(source, make, count):
    whole = [ids([item]) for item in make(source)]
    first = make(source)
    begin = [ids([next(first)]) for _ in range(count)]
    state = pickle.loads(pickle.dumps(first.state_dict()))
    again = make(source)
    next(again)
    again.load_state_dict(state)
    assert begin + [ids([item]) for item in again] == whole
    assert [ids([item]) for item in pickle.loads(pickle.dumps(first))] == whole[count:]
    assert begin + [ids([item]) for item in first] == whole


def test_a_state_belongs_to_an_order(source):
    state = iter(source.shuffle(1)).state_dict()
    with pytest.raises(InvalidArgumentError) as error:
        iter(source.shuffle(2)).load_state_dict(state)
    assert str(error.value) == (
        "the state belongs to the order train[0:100:1].shuffle(1), this is "
        "train[0:100:1].shuffle(2)\n"
        "  hint: load it where the same split is sliced, shuffled and sharded the same way"
    )
    with pytest.raises(InvalidArgumentError, match="expected what state_dict gave"):
        iter(source).load_state_dict({"position": 3})


def remaining(source, state):
    examples = iter(source.shuffle(5).batches(8, threads=2))
    examples.load_state_dict(state)
    return ids(examples)


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_resuming_in_another_process(source, method):
    batches = source.shuffle(5).batches(8, threads=2)
    examples = iter(batches)
    seen = ids(next(examples) for _ in range(3))
    with multiprocessing.get_context(method).Pool(1) as pool:
        rest = pool.apply(remaining, (source, examples.state_dict()))
    assert seen + rest == ids(batches)


def drain(examples):
    return ids(examples)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_an_iterator_goes_on_in_a_forked_process(source):
    batches = source.shuffle(5).batches(8, threads=2)
    examples = iter(batches)
    seen = ids(next(examples) for _ in range(2))
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(write, pickle.dumps(ids(examples)))
        os._exit(0)
    os.waitpid(pid, 0)
    assert seen + pickle.loads(os.read(read, 1 << 16)) == ids(batches)
    assert seen + ids(examples) == ids(batches)


def test_threads_end_with_the_iterator(source):
    before = threading.active_count()
    examples = iter(source.batches(4, threads=3))
    next(examples)
    examples.close()
    assert threading.active_count() == before
    assert ids([next(examples)]) == ids(source[4:8])
    del examples
    assert threading.active_count() == before


# What cannot be.


@pytest.mark.parametrize(("call", "message"), [
    (lambda s: s.batches(0), "a batch has 1 example or more, got 0"),
    (lambda s: s.batches(2.0), "a batch has 1 example or more, got 2.0"),
    (lambda s: s.batches(2, ragged="padd"), "ragged='padd' is not known; did you mean 'pad'?"),
    (lambda s: s.batches(2, threads=-1), "expected a number of threads from 0 on, got -1"),
    (lambda s: s.batches(2, ahead=0), "expected threads >= 0 and ahead >= 1, got"),
    (lambda s: s.shard(2, 2), "there is no part 2 of 2"),
    (lambda s: s.shard(0, 0), "there is no part 0 of 0"),
    (lambda s: s.shuffle(None), "a seed is an integer, got None"),
    (lambda s: s.repeat(-1), "expected a number of epochs from 0 on, got -1"),
    (lambda s: s.epoch(-1), "epochs are counted from 0 on, got -1"),
    (lambda s: s.repeat()[5:], "needs a start and a stop"),
])  # fmt: skip
def test_what_makes_no_sense(source, call, message):
    with pytest.raises(InvalidArgumentError) as error:
        call(source)
    assert message in str(error.value)


def test_indices_of_batches(source):
    with pytest.raises(RecordIndexError, match="there is no batch 5: there are 5"):
        source.batches(20)[5]
    with pytest.raises(InvalidTypeError, match="a batch's index is an int, not str"):
        source.batches(20)["a"]


@pytest.fixture
def damaged(folder, tmp_path):
    """A copy of the dataset; a picture, or a record, can be damaged in it."""
    import shutil

    shutil.copytree(folder, tmp_path / "copy", dirs_exist_ok=True)
    return tmp_path / "copy"


@pytest.mark.parametrize("threads", [0, 2])
def test_a_picture_that_cannot_be_decoded(damaged, threads):
    path = sorted(damaged.glob("*.tfrecord*"))[2]
    records = list(fk.io.TFRecordReader(path))
    records[4] = records[4].replace(b"IHDR", b"XXXX")
    with fk.io.TFRecordWriter(path) as writer:
        for record in records:
            writer.write(record)
    source = fk.builder_from_directory(damaged).as_data_source("train")
    start = source.file_ranges[2].start + 4
    good = source.iterate(threads=threads)
    assert len([next(good) for _ in range(start)]) == start
    with pytest.raises(DecodeError) as one_by_one:
        next(good)
    with pytest.raises(DecodeError):  # it does not end as if all were read
        next(good)
    with pytest.raises(DecodeError) as in_batches:
        list(source.batches(16, threads=threads))
    for error in (one_by_one.value, in_batches.value):
        assert error.path == ("image",)
        assert (error.file, error.record) == (str(path), 4)
    assert len(list(source.batches(16, threads=threads)._stream(0, start + 1))) > 0


@pytest.mark.parametrize("change", [lambda s: s, lambda s: s.shuffle(0)])
def test_a_damaged_record(damaged, change):
    path = sorted(damaged.glob("*.tfrecord*"))[1]
    data = bytearray(path.read_bytes())
    data[-6] ^= 1
    path.write_bytes(data)
    source = change(fk.builder_from_directory(damaged).as_data_source("train"))
    for read in (list, lambda s: list(s.batches(16, threads=2)), lambda s: list(s.serialized())):
        with pytest.raises(CorruptRecordError) as error:
            read(source)
        assert error.value.file == str(path)


@pytest.mark.parametrize("change", [lambda s: s, lambda s: s.shuffle(0), lambda s: s[20:]])
@pytest.mark.parametrize("shard", [1, 6])
@pytest.mark.parametrize("by", [-1, 1])
def test_a_shard_with_another_number_of_records(damaged, change, shard, by):
    path = sorted(damaged.glob("*.tfrecord*"))[shard]
    records = list(fk.io.TFRecordReader(path))
    with fk.io.TFRecordWriter(path) as writer:
        for record in records[:-1] if by < 0 else [*records, records[0]]:
            writer.write(record)
    source = change(fk.builder_from_directory(damaged).as_data_source("train"))
    for read in (list, lambda s: list(s.batches(16, threads=0))):
        with pytest.raises(DatasetInfoError, match=f"got {len(records) + by}"):
            read(source)


def test_only_the_columns_that_were_asked_for_are_decoded(folder, monkeypatch):
    from featurekit.connectors import image

    calls = []
    decode = image.decode_image
    monkeypatch.setattr(
        image, "decode_image", lambda *a, **k: (calls.append(1), decode(*a, **k))[1]
    )
    reader = fk.builder_from_directory(folder)
    chosen = reader.as_data_source("train", columns=["id", "inner/vector"])
    assert list(chosen.batches(50)[0]) == ["id", "inner"]
    assert len(list(chosen)) == 100
    assert calls == []
    reader.as_data_source("train", columns=["image"]).batches(10, threads=0)[3]
    assert len(calls) == 10
