"""Examples in TFDS's order, with its values."""

import golden
import numpy as np
import pytest

import featurekit as fk
from featurekit.dataset.interleave import interleaved_ranges
from featurekit.dataset.read_config import ReadConfig
from featurekit.errors import InvalidArgumentError, NotOfferedError, UnsupportedError

# TensorFlow takes numbers below the smallest normal float32 for 0.
FLUSHED = {"scalars_all_dtypes"}


def cases():
    for dataset in golden.datasets():
        orders = dataset.json.get("read_order", {})
        for split, order in orders.items():
            readable = dataset.json["dataset"]["file_format"] == "tfrecord"
            if readable and isinstance(order.get("default"), list):
                yield pytest.param(dataset, split, id=f"{dataset.name}-{split}")


@pytest.mark.parametrize(("dataset", "split"), list(cases()))
@pytest.mark.filterwarnings("ignore::featurekit.errors.FeatureKitWarning")
def test_order_and_values_are_those_of_tfds(dataset, split):
    order = dataset.json["read_order"][split]
    builder = fk.builder_from_directory(dataset.folder)
    read = list(builder.as_dataset(split, read_config=ReadConfig(add_tfds_id=True)))
    assert [example.pop("tfds_id").decode() for example in read] == order["default"]
    config = ReadConfig(add_tfds_id=True, interleave_cycle_length=1)
    ids = [e["tfds_id"].decode() for e in builder.as_dataset(split, read_config=config)]
    assert ids == order["sequential"]
    if dataset.name not in FLUSHED:
        for node, example in zip(dataset.json["examples"][split], read, strict=True):
            assert golden.difference(dataset.value(node), example) is None


def open_(name, topic):
    [dataset] = [d for d in golden.datasets(topic) if d.name == name]
    return dataset, fk.builder_from_directory(dataset.folder)


def test_a_whole_split_as_one_batch():
    dataset, builder = open_("decoders", "decoding")
    chosen = fk.PartialDecoding({"id": True, "v": True, "t": True, "im": True})
    batch = builder.as_dataset("train", batch_size=-1, decoders=chosen)
    expected = dataset.value(dataset.json["batch_all_id_v_t_im"])
    assert golden.difference(expected, batch) is None


def digits(tmp_path, **options):
    features = fk.FeaturesDict(
        {
            "x": fk.Tensor(shape=(None,), dtype=np.int32),
            "t": fk.Text(),
            "y": fk.ClassLabel(num_classes=50),
        }
    )
    examples = [{"x": list(range(i % 3)), "t": "a" * i, "y": i} for i in range(5)]
    options = {"disable_shuffling": True, "supervised_keys": ("x", "y"), "quiet": True, **options}
    return fk.write_dataset("digits5", {"train": examples}, features, tmp_path, **options)


def test_batches_are_padded(tmp_path):
    first, second = digits(tmp_path).as_dataset("train", batch_size=3)
    assert first["x"].tolist() == [[0, 0], [0, 0], [0, 1]]
    assert first["x"].dtype == np.int32
    assert first["t"].tolist() == [b"", b"a", b"aa"]
    assert second["x"].tolist() == [[0], [0]]
    assert second["y"].tolist() == [3, 4]


def test_supervised_batches_are_pairs(tmp_path):
    x, y = digits(tmp_path).as_dataset("train", batch_size=-1, as_supervised=True)
    assert x.shape == (5, 2)
    assert y.tolist() == [0, 1, 2, 3, 4]


def test_ragged_values_cannot_be_padded(tmp_path):
    features = fk.FeaturesDict({"r": fk.Sequence(fk.Sequence(np.int64))})
    reader = fk.write_dataset("ragged", {"train": [{"r": [[1], []]}]}, features, tmp_path)
    with pytest.raises(UnsupportedError, match="RaggedTensor cannot be padded") as error:
        list(reader.as_dataset("train", batch_size=1))
    assert error.value.path == ("r",)


def test_take_skip_and_length(tmp_path):
    examples = digits(tmp_path).as_dataset("train")
    assert [e["y"] for e in examples.skip(1).take(2)] == [1, 2]
    assert (len(examples), len(examples.skip(1).take(2)), len(examples.take(9))) == (5, 2, 5)
    assert examples.take(-1) is examples
    assert [len(b["y"]) for b in examples.batch(2, drop_remainder=True)] == [2, 2]
    assert examples.cardinality() == 5
    assert repr(examples) == ("Examples(DataSource(digits5/1.0.0, split='train', num_examples=5))")


def test_repeating_has_no_end(tmp_path):
    config = ReadConfig(repeat_filenames=True)
    examples = digits(tmp_path).as_dataset("train", read_config=config)
    assert [e["y"] for e in examples.take(7)] == [0, 1, 2, 3, 4, 0, 1]
    assert examples.cardinality() == -1
    assert len(examples.take(7)) == 7
    with pytest.raises(TypeError, match="for ever"):
        len(examples)


def test_splits_may_be_nested(tmp_path):
    builder = digits(tmp_path)
    all_, [first, rest] = builder.as_dataset(("train", ["train[:1]", "train[1:]"]))
    assert (len(all_), len(first), len(rest)) == (5, 1, 4)
    assert list(builder.as_dataset()) == ["train"]
    assert len(builder.as_dataset({"a": "train[:2]"})["a"]) == 2


def test_files_are_shuffled_by_seed(tmp_path):
    builder = digits(tmp_path, disable_shuffling=False, num_shards=5)
    orders = [
        [
            int(e["y"])
            for e in builder.as_dataset(
                "train", shuffle_files=True, read_config=ReadConfig(shuffle_seed=seed)
            )
        ]
        for seed in (1, 1, 2)
    ]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == [0, 1, 2, 3, 4]


def test_the_order_of_ordered_datasets_is_guarded(tmp_path):
    builder = digits(tmp_path)
    with pytest.raises(InvalidArgumentError) as error:
        builder.as_dataset("train", shuffle_files=True)
    assert str(error.value) == (
        "the examples of digits5/1.0.0 have an order, which shuffling files or interleaving them "
        "would change\n"
        "  hint: give ReadConfig(enable_ordering_guard=False) if it does not matter"
    )
    config = ReadConfig(enable_ordering_guard=False)
    assert len(list(builder.as_dataset("train", shuffle_files=True, read_config=config))) == 5


def test_missing_supervised_keys_are_named(tmp_path):
    builder = digits(tmp_path, supervised_keys=None)
    with pytest.raises(InvalidArgumentError, match="has no supervised keys"):
        builder.as_dataset("train", as_supervised=True)


def test_what_examples_do_not_offer_is_named(tmp_path):
    examples = digits(tmp_path).as_dataset("train")
    with pytest.raises(NotOfferedError, match="examples have no 'map'"):
        examples.map(len)
    with pytest.raises(InvalidArgumentError, match="batch_size"):
        next(examples.batch(0))
    with pytest.raises(UnsupportedError, match="input_context"):
        ReadConfig(input_context=object())
    with pytest.raises(InvalidArgumentError, match="cycle"):
        list(interleaved_ranges([range(3)], 0))
