"""What a saver can be fed with: SequenceExamples, datasets, ragged and sparse values."""

import numpy as np
import pytest
import savers

import featurekit as fk
from featurekit import TensorInfo, errors
from featurekit.builders.write import write_dataset
from featurekit.io import RaggedTensor, SparseTensor


def test_sequence_examples_of_a_file(tmp_path):
    path = tmp_path / "ratings.tfrecord"
    with fk.io.TFRecordWriter(path) as writer:
        for locale, ratings, movies in (
            ("pt_BR", [[4.5], [5.0], [1.0]], [["Star Wars"], [], ["Alien", "Brazil"]]),
            ("fr_FR", [[3.0]], [["Le Trou"]]),
        ):
            example = fk.io.make_sequence_example(
                {"locale": locale}, {"ratings": ratings, "movies": movies}
            )
            writer.write(example.SerializeToString())

    def parse(record):
        return fk.io.parse_single_sequence_example(
            record,
            {"locale": fk.io.FixedLenFeature([], np.str_)},
            {
                "ratings": fk.io.FixedLenSequenceFeature([], np.float32),
                "movies": fk.io.VarLenFeature(np.str_),
            },
        )

    saver = fk.sequences.batch_sequences_with_states(
        input_key=savers.KEY,
        input_sequences={
            "ratings": TensorInfo((None,), np.float32),
            "movies": SparseTensor(np.empty((0, 2), np.int64), np.empty(0, object), [0, 0]),
        },
        input_context={"locale": TensorInfo((), np.str_)},
        input_length=None,
        initial_states={"s": np.int64(0)},
        num_unroll=2,
        batch_size=2,
    )
    with fk.io.TFRecordReader(path) as reader:
        saver.feed(map(parse, reader), key="locale", num_threads=1).join()
    first, second = both(saver)
    assert first.key.tolist() == [b"00000_of_00002:pt_BR", b"00000_of_00001:fr_FR"]
    assert first.context["locale"].tolist() == [b"pt_BR", b"fr_FR"]
    assert first.sequences["ratings"].tolist() == [[4.5, 5.0], [3.0, 0.0]]
    assert first.length.tolist() == [2, 1]
    assert first.sequences["movies"] == SparseTensor(
        [[0, 0, 0], [1, 0, 0]], np.array([b"Star Wars", b"Le Trou"], object), [2, 2, 2]
    )
    assert second.sequences["movies"] == SparseTensor(
        [[0, 0, 0], [0, 0, 1]], np.array([b"Alien", b"Brazil"], object), [1, 2, 2]
    )


def both(saver):
    batches = []
    for batch in saver:
        savers.count(batch)
        batches.append(batch)
    assert len(batches) == 2
    return batches


def test_data_source_with_steps_and_sequences(tmp_path):
    episodes = [
        {
            "name": f"episode{number}",
            "steps": [
                {"observation": {"pos": [i, number]}, "reward": i / 2} for i in range(length)
            ],
            "clicks": list(range(length)),
            "shown": length,
        }
        for number, length in enumerate([3, 1])
    ]
    features = fk.FeaturesDict(
        {
            "name": fk.Text(),
            "steps": fk.Dataset(
                {
                    "observation": {"pos": fk.Tensor(shape=(2,), dtype=np.int64)},
                    "reward": np.float32,
                }
            ),
            "clicks": fk.Sequence(np.int64),
            "shown": np.int64,
        }
    )
    write_dataset(
        "episodes",
        {"train": episodes},
        features,
        tmp_path,
        quiet=True,
        disable_shuffling=True,
    )
    saver = fk.sequences.batch_sequences_with_states(
        savers.KEY,
        {
            "steps/observation/pos": TensorInfo((None, 2), np.int64),
            "steps/reward": TensorInfo((None,), np.float32),
            "clicks": TensorInfo((None,), np.int64),
        },
        {"name": TensorInfo((), np.str_)},
        savers.LENGTH,
        {"s": np.int64(0)},
        num_unroll=2,
        batch_size=2,
    )
    saver.feed(
        fk.load("episodes", "train", data_dir=tmp_path), key="name", length="shown", num_threads=1
    )
    first, second = both(saver)
    assert first.context["name"].tolist() == [b"episode0", b"episode1"]
    assert first.sequences["steps/observation/pos"].tolist() == [
        [[0, 0], [1, 0]],
        [[0, 1], [0, 0]],
    ]
    assert second.sequences["steps/reward"].tolist() == [[1.0, 0.0]]
    assert second.sequences["clicks"].dtype == np.int64
    assert second.total_length.tolist() == [3]


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (
            {"y": [1]},
            "the example has no value 'x'; there are 'y'\n  while feeding example 0 of the input",
        ),
        (
            [1, 2],
            "expected an example as a dict, or a pair of dicts, got [1, 2]\n"
            "  hint: see SequenceQueueingStateSaver.feed\n  while feeding example 0 of the input",
        ),
    ],
)
def test_items_that_are_no_examples(item, message):
    saver = savers.make_padding()
    saver.feed([item])
    with pytest.raises(errors.FeatureKitError) as caught:
        saver.next_batch()
    assert str(caught.value) == message


def test_name_that_leads_nowhere():
    saver = fk.sequences.batch_sequences_with_states(
        *(savers.KEY, {"a/b": TensorInfo((None,), np.int64)}, {}, None, {"s": np.int64(0)}, 2, 1)
    )
    saver.feed([{"a": 3}])
    with pytest.raises(errors.UnknownNameError) as caught:
        saver.next_batch()
    assert caught.value.message == "the example has no value 'b': 3 has none"


def test_items_with_the_arguments_of_enqueue():
    saver = savers.make_padding()
    saver.feed(
        [
            {"key": "a", "sequences": {"x": [1, 2]}, "length": 1, "initial_states": {"s": 7}},
            {"sequences": {"x": [3]}},
        ],
        num_threads=1,
    )
    batches = both(saver)
    assert [batch.key[0] for batch in batches] == [b"00000_of_00001:a", b"00000_of_00001:1"]
    assert [batch.length[0] for batch in batches] == [1, 1]
    assert [batch.state("s")[0] for batch in batches] == [7, 0]


# Kinds of values.


def test_ragged_sequence_is_dense_where_its_rows_are_equal():
    saver = savers.make_padding(x=((None, 2), np.int64))
    saver.enqueue(key="a", sequences={"x": RaggedTensor.from_list([[1, 2], [3, 4]])})
    assert saver.next_batch().sequences["x"].tolist() == [[[1, 2], [3, 4]]]
    with pytest.raises(errors.EncodeError, match="has rows of different lengths"):
        saver.enqueue(key="b", sequences={"x": RaggedTensor.from_list([[1, 2], [3]])})


def test_ragged_sequence_declared_as_sparse():
    empty = SparseTensor(np.empty((0, 2), np.int64), np.empty(0, np.int64), [0, 0])
    saver = savers.make_padding(x=empty)
    saver.enqueue(key="a", sequences={"x": RaggedTensor.from_list([[1, 2], [], [3]])})
    batch = saver.next_batch()
    assert batch.sequences["x"] == SparseTensor([[0, 0, 0], [0, 0, 1]], [1, 2], [1, 2, 2])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([[1, 0]], "expected a SparseTensor, got [[1, 0]]"),
        (SparseTensor([[0, 0]], [1], [2, 3]), "expected shape (None, 4), got (2, 3)"),
        (SparseTensor([[0, 4]], [1], [2, 4]), "cell [0, 4] is outside of the shape (2, 4)"),
        (SparseTensor([[5, 0]], [1], [2, 4]), "cell [5, 0] is outside of the shape (2, 4)"),
    ],
)
def test_refused_sparse_values(value, message):
    saver = savers.make_padding(
        x=SparseTensor(np.empty((0, 2), np.int64), np.empty(0, np.int64), [0, 4])
    )
    with pytest.raises(errors.FeatureKitError) as caught:
        saver.enqueue(key="a", sequences={"x": value})
    assert caught.value.message == message


def test_sparse_sequence_that_is_longer_than_the_dense_ones():
    saver = fk.sequences.batch_sequences_with_states(
        savers.KEY,
        {
            "x": TensorInfo((None,), np.int64),
            "p": SparseTensor(np.empty((0, 1), np.int64), np.empty(0, np.int64), [0]),
        },
        {},
        None,
        {"s": np.int64(0)},
        2,
        1,
    )
    with pytest.raises(errors.InvalidArgumentError) as caught:
        saver.enqueue(key="a", sequences={"x": [1, 2, 3], "p": SparseTensor([[0]], [1], [5])})
    assert caught.value.message == "a sparse sequence has 5 steps, the example has 4"


def test_text_arrays():
    saver = savers.make_padding(x=((None,), np.str_))
    saver.enqueue(key="a", sequences={"x": np.array(["é", "b"])})
    saver.enqueue(key="b", sequences={"x": ["c"]})
    batches = both(saver.close() or saver)
    assert [batch.sequences["x"].tolist() for batch in batches] == [
        [["é".encode(), b"b"]],
        [[b"c", b""]],
    ]
