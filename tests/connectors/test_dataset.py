"""Dataset: steps in any iterable, columns on disk, and steps decoded one by one."""

import io
import pickle
import tracemalloc

import numpy as np
import PIL.Image
import pytest

import featurekit as fk
from featurekit.connector import FeatureConnector
from featurekit.connectors.class_label import ClassLabel
from featurekit.connectors.dataset import Dataset
from featurekit.connectors.features_dict import FeaturesDict
from featurekit.connectors.sequence import Sequence
from featurekit.connectors.tensor import Tensor
from featurekit.connectors.text import Text
from featurekit.decode import SkipDecoding
from featurekit.errors import (
    DecodeError,
    EncodeError,
    EncodeTypeError,
    FeatureKeyError,
    RecordIndexError,
    UnknownNameError,
)
from featurekit.io.columns import read_example, write_example
from featurekit.io.ragged import RaggedTensor
from featurekit.steps import Steps
from featurekit.tensor_info import TensorInfo
from featurekit.testing import Bad, Case
from featurekit.testing.metadata_checks import MetadataChecks
from featurekit.testing.value_checks import ValueChecks

TFDS_NAME = "tensorflow_datasets.core.features.dataset_feature.Dataset"


class TestDataset(ValueChecks, MetadataChecks):
    # A sequence of datasets reads back as one dataset: no element checks, see below.
    connector = Dataset({"a": np.int32, "t": Text()})
    valid = (
        Case(
            [{"a": 1, "t": "x"}, {"a": 2, "t": "y"}],
            [{"a": np.int32(1), "t": b"x"}, {"a": np.int32(2), "t": b"y"}],
            {"a": [1, 2], "t": [b"x", b"y"]},
        ),
        Case(
            lambda: ({"a": i, "t": b""} for i in range(1)),
            [{"a": np.int32(0), "t": b""}],
            {"a": [0], "t": [b""]},
            id="generator",
        ),
        Case([], [], id="empty"),
    )
    invalid = (
        Bad(5, EncodeTypeError, match="expected the steps, got int 5"),
        Bad([{"a": 1}], FeatureKeyError, match="the example lacks 't'"),
    )
    unequal = (Dataset({"a": np.int32}), Dataset({"a": np.int32, "t": Text()}, length=2))
    tfds_json = {
        "pythonClassName": TFDS_NAME,
        "sequence": {
            "feature": FeaturesDict({"a": np.int32, "t": Text()}).to_feature_json(),
            "length": "-1",
        },
    }
    tfds_repr = "Dataset({\n    'a': int32,\n    't': Text(shape=(), dtype=string),\n})"


class Frame(FeatureConnector):
    """A picture stored as bytes, which counts how many are decoded."""

    decoded = 0

    def get_tensor_info(self):
        return TensorInfo((None,), np.uint8)

    def get_serialized_info(self):
        return TensorInfo((), np.object_)

    def encode_example(self, value):
        return bytes(value)

    def decode_example(self, stored):
        Frame.decoded += 1
        if stored == b"damaged":
            raise DecodeError("this is no frame")
        return np.frombuffer(stored, np.uint8)


@pytest.fixture
def frames():
    Frame.decoded = 0
    return FeaturesDict(
        {"steps": Dataset({"obs": Frame(), "act": Tensor(shape=(2,), dtype=np.float32)})}
    )


def episode(count):
    return {"steps": [{"obs": b"%d" % i * i, "act": [i, -i]} for i in range(count)]}


def round_trip(feature, value):
    return feature.deserialize_example(feature.serialize_example(value))


def plain(value):
    """Nested lists and dicts of Python values."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, Steps):
        return [plain(item) for item in value]
    if isinstance(value, RaggedTensor):
        return value.to_list()
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


# On disk.


def test_steps_are_stored_as_one_list_a_leaf(frames):
    record = read_example(frames.serialize_example(episode(3)))
    assert {key: list(values) for key, values in record.items()} == {
        "steps/act": [0, 0, 1, -1, 2, -2],
        "steps/obs": [b"", b"1", b"22"],
    }


def test_a_dataset_is_stored_like_a_sequence():
    step = {
        "a": np.int32,
        "t": Text(),
        "s": Sequence(np.int64),
        "e": Tensor(shape=(None, None), dtype=np.int8, encoding="zlib"),
    }
    value = [
        {"a": 1, "t": "x", "s": [1, 2], "e": np.ones((2, 3), np.int8)},
        {"a": 2, "t": "y", "s": [], "e": np.ones((1, 3), np.int8)},
    ]
    assert Dataset(step).serialize_example(value) == Sequence(step).serialize_example(value)


@pytest.mark.parametrize(
    "steps",
    [
        [{"a": 1, "t": "x"}, {"a": 2, "t": "y"}],
        ({"a": 1, "t": "x"}, {"a": 2, "t": "y"}),
        {"a": [1, 2], "t": ["x", "y"]},
        {"a": np.array([1, 2]), "t": np.array(["x", "y"])},
        iter([{"a": 1, "t": "x"}, {"a": 2, "t": "y"}]),
        ({"a": i + 1, "t": "xy"[i]} for i in range(2)),
        {1: {"a": 1, "t": "x"}, 2: {"a": 2, "t": "y"}}.values(),
    ],
)
def test_steps_come_in_any_iterable_or_a_dict_of_lists(steps):
    decoded = round_trip(Dataset({"a": np.int64, "t": Text()}), steps)
    assert plain(decoded) == [{"a": 1, "t": b"x"}, {"a": 2, "t": b"y"}]


def test_decoded_steps_can_be_encoded_again(frames):
    record = frames.serialize_example(episode(4))
    assert frames.serialize_example(frames.deserialize_example(record)) == record


@pytest.mark.parametrize(
    ("feature", "value", "expected"),
    [
        (np.int32, range(3), [0, 1, 2]),
        (np.int32, np.arange(3, dtype=np.int64), [0, 1, 2]),
        (Text(), ["a", b"b"], [b"a", b"b"]),
        (Text(), [], []),
        (Tensor(shape=(2,), dtype=np.int8), [[1, 2], [3, 4]], [[1, 2], [3, 4]]),
        (Tensor(shape=(2,), dtype=np.int8), [], []),
        (
            Tensor(shape=(None, None), dtype=np.int8, encoding="bytes"),
            [[[1]], [[2, 3]]],
            [[[1]], [[2, 3]]],
        ),
        (ClassLabel(names=["no", "yes"]), ["yes", 0], [1, 0]),
        ({"s": Sequence(np.int64)}, [{"s": [1, 2]}, {"s": []}], [{"s": [1, 2]}, {"s": []}]),
        (
            {"s": Sequence(np.int64, length=2)},
            [{"s": [1, 2]}, {"s": [3, 4]}],
            [{"s": [1, 2]}, {"s": [3, 4]}],
        ),
        ({"s": Sequence(np.int64, length=2)}, [], []),
        (
            {"s": Sequence(Sequence(np.int64))},
            [{"s": [[1], [2, 3]]}, {"s": []}, {"s": [[]]}],
            [{"s": [[1], [2, 3]]}, {"s": []}, {"s": [[]]}],
        ),
        ({"a": {"b": {"c": Text()}}}, [{"a": {"b": {"c": "x"}}}], [{"a": {"b": {"c": b"x"}}}]),
        (Sequence({"x": np.int64}), [[{"x": 1}], []], [{"x": [1]}, {"x": []}]),
    ],
)
def test_every_kind_of_step(feature, value, expected):
    assert plain(round_trip(Dataset(feature), value)) == expected


def test_a_dataset_in_a_dataset():
    feature = FeaturesDict({"outer": Dataset({"x": np.int64, "inner": Dataset({"y": np.int64})})})
    value = {"outer": [{"x": n, "inner": [{"y": 10 * n + i} for i in range(n)]} for n in range(3)]}
    decoded = round_trip(feature, value)
    assert plain(decoded) == value
    assert [type(step["inner"]) for step in decoded["outer"]] == [Steps] * 3


def test_datasets_in_a_sequence():
    feature = Sequence(Dataset({"x": np.int64}))
    decoded = round_trip(feature, [[{"x": 1}], [], [{"x": 2}, {"x": 3}]])
    assert plain(decoded) == [{"x": [1]}, {"x": []}, {"x": [2, 3]}]
    deeper = round_trip(Sequence(feature), [[[{"x": 1}], []], [[{"x": 2}]]])
    assert plain(deeper) == [{"x": [[1], []]}, {"x": [[2]]}]


def test_a_sequence_of_dicts_with_datasets():
    feature = Sequence({"id": np.int64, "d": Dataset({"x": np.int64})})
    decoded = round_trip(feature, [{"id": 1, "d": [{"x": 5}]}, {"id": 2, "d": []}])
    assert plain(decoded) == {"id": [1, 2], "d": [{"x": [5]}, {"x": []}]}


# Refusals.


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (None, EncodeTypeError, "expected the steps, got NoneType None"),
        ("steps", EncodeTypeError, "expected the steps, got str 'steps'"),
        (5, EncodeTypeError, "expected the steps, got int 5"),
        (np.array(5), EncodeTypeError, "expected the steps, got ndarray array(5)"),
        ([1], EncodeTypeError, "expected a dict with 'x', got int 1\n  at: [0] (FeaturesDict)"),
        ([{"x": "q"}], EncodeTypeError, "expected int32, got str 'q'\n  at: [0].x (Tensor)"),
        ([{"x": 1}, {"x": 1.5}], EncodeError, "at: [1].x (Tensor)"),
        ({"y": [1]}, FeatureKeyError, "the example lacks 'x'"),
        ({"x": 1}, EncodeTypeError, "expected a list for 'x', got int 1"),
    ],
)
def test_what_are_no_steps_is_refused(value, error, message):
    with pytest.raises(error) as caught:
        Dataset({"x": np.int32}).encode_example(value)
    assert message in str(caught.value)


def test_a_step_without_a_key_is_named(frames):
    steps = [{"obs": b"", "act": [0, 0]}, {"obs": b""}]
    with pytest.raises(FeatureKeyError) as caught:
        frames.serialize_example({"steps": steps})
    assert str(caught.value) == (
        "the example lacks 'act'\n"
        "  at: steps[1] (FeaturesDict)\n"
        "  hint: yield every feature that is declared; one that may be missing needs "
        "optional=True, and None where it is"
    )


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_declared_length_is_checked(count):
    with pytest.raises(EncodeError, match=f"expected 2 elements, got {count}"):
        Dataset(np.int32, length=2).encode_example(iter(range(count)))


def test_lists_of_different_lengths_are_refused():
    with pytest.raises(EncodeError, match=r"different lengths: 2 \(a\) != 1 \(b\)"):
        Dataset({"a": np.int32, "b": np.int32}).encode_example({"a": [1, 2], "b": [1]})


# Lazy reading.


def test_only_the_steps_that_are_looked_at_are_decoded(frames):
    steps = frames.deserialize_example(frames.serialize_example(episode(500)))["steps"]
    assert (len(steps), repr(steps), bool(steps), Frame.decoded) == (500, "Steps(len=500)", True, 0)
    assert steps == steps[:]
    assert steps.feature is frames["steps"].feature
    assert Frame.decoded == 0
    np.testing.assert_array_equal(steps[7]["act"], [7, -7])
    assert bytes(steps[-1]["obs"]) == b"499" * 499
    assert Frame.decoded == 2
    assert len(list(steps[10:20])) == 10
    assert Frame.decoded == 12


def test_two_of_a_thousand_pictures_cost_the_memory_of_two():
    picture = io.BytesIO()
    noise = np.random.default_rng(0).integers(0, 256, (256, 256, 3), np.uint8)
    PIL.Image.fromarray(noise).save(picture, "JPEG", quality=20)
    features = fk.FeaturesDict({"steps": Dataset({"image": fk.Image(shape=(256, 256, 3))})})
    record = features.serialize_example(
        {"steps": [{"image": picture.getvalue()} for _ in range(1000)]}
    )
    steps = features.deserialize_example(record)["steps"]
    assert steps[0]["image"].shape == (256, 256, 3)
    del steps
    tracemalloc.start()
    try:
        steps = features.deserialize_example(record)["steps"]
        shown = [steps[3]["image"], steps[997]["image"]]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(steps) == 1000
    assert shown[0].nbytes == 256 * 256 * 3
    # The stored files, twice at most on their way here, and two pictures: not a thousand.
    assert peak < 2 * len(record) + 4 * shown[0].nbytes < 1000 * shown[0].nbytes / 3


def test_an_episode_without_steps(frames):
    steps = round_trip(frames, {"steps": []})["steps"]
    assert (len(steps), list(steps), bool(steps)) == (0, [], False)


@pytest.mark.parametrize(
    "part",
    [
        slice(None), slice(2, 5), slice(None, None, -1), slice(-3, None), slice(8, 99),
        slice(1, 9, 3), slice(5, 2), slice(100, 200),
    ],
)  # fmt: skip
def test_slices(part):
    steps = round_trip(Dataset(np.int64), range(10))
    assert plain(steps[part]) == list(range(10))[part]
    assert plain(steps[part][::-1]) == list(range(10))[part][::-1]


@pytest.mark.parametrize("index", [3, -4, 10**30])
def test_a_step_that_does_not_exist(index):
    steps = round_trip(Dataset(np.int64), range(3))
    with pytest.raises(RecordIndexError) as caught:
        steps[index]
    assert str(caught.value) == f"step {index} does not exist: there are 3"


@pytest.mark.parametrize("index", ["0", 1.0, None])
def test_an_index_is_an_integer(index):
    with pytest.raises(TypeError):
        round_trip(Dataset(np.int64), range(3))[index]


def test_numpy_integers_are_indices():
    steps = round_trip(Dataset(np.int64), range(3))
    assert steps[np.int64(1)] == 1
    assert steps[np.uint8(2)] == 2


def test_a_step_does_not_change_the_episode(frames):
    steps = round_trip(frames, episode(3))["steps"]
    steps[1]["act"][:] = 99
    np.testing.assert_array_equal(steps[1]["act"], [1, -1])
    with pytest.raises(TypeError):
        steps[0] = None


def test_equality_and_pickling(frames):
    steps = round_trip(frames, episode(3))["steps"]
    assert pickle.loads(pickle.dumps(steps)) == steps
    assert pickle.loads(pickle.dumps(steps[1:])) == steps[1:]
    assert steps == round_trip(frames, episode(3))["steps"]
    assert steps[:2] == round_trip(frames, episode(2))["steps"]
    assert steps != round_trip(frames, episode(2))["steps"]
    assert steps != steps[::-1]
    assert steps != list(steps)
    assert Frame.decoded == 3  # by list() alone
    with pytest.raises(TypeError):
        hash(steps)


def test_nan_equals_itself():
    feature = Dataset({"x": np.float32, "r": Sequence(np.float32)})
    value = [{"x": float("nan"), "r": [float("nan"), 1]}]
    assert round_trip(feature, value) == round_trip(feature, value)
    assert round_trip(feature, value) != round_trip(feature, [{"x": 0, "r": [0, 1]}])


# Damaged and foreign records.


def test_columns_of_different_lengths_are_refused():
    features = FeaturesDict({"steps": Dataset({"a": np.int64, "b": {"c": np.int64}})})
    record = write_example({"steps/a": np.arange(3), "steps/b/c": np.arange(2)})
    with pytest.raises(DecodeError) as caught:
        features.deserialize_example(record)
    assert str(caught.value) == (
        "the steps have different numbers of values: 3 of 'a', 2 of 'b/c'\n"
        "  at: steps (Dataset)\n"
        "  hint: the record is damaged; write it again"
    )


def test_a_damaged_step_is_named(frames):
    steps = round_trip(
        frames, {"steps": [{"obs": b"damaged" * i, "act": [0, 0]} for i in range(3)]}
    )
    with pytest.raises(DecodeError) as caught:
        steps["steps"][1:][0]
    assert str(caught.value) == "this is no frame\n  at: [1].obs (Frame)"


def test_a_missing_column_reads_as_empty():
    features = FeaturesDict({"steps": Dataset({"a": np.int64})})
    assert len(features.deserialize_example(write_example({}))["steps"]) == 0


def test_steps_of_an_unknown_class_stay_together(caplog):
    unknown = {"pythonClassName": "elsewhere.Unknown", "jsonFeature": {"json": "{}"}}
    json_ = Dataset({"a": np.int64, "u": np.int64}).to_feature_json()
    json_["sequence"]["feature"]["featuresDict"]["features"]["u"] = unknown
    feature = FeatureConnector.from_json({
        "pythonClassName": "tensorflow_datasets.core.features.features_dict.FeaturesDict",
        "featuresDict": {"features": {"d": json_}},
    })  # fmt: skip
    assert "elsewhere.Unknown" in caplog.text
    decoded = feature.deserialize_example(write_example({"d/a": np.arange(2), "d/u": np.arange(6)}))
    assert plain(decoded["d"]) == {"a": [0, 1], "u": [0, 1, 2, 3, 4, 5]}


# Metadata.


def test_infos():
    feature = Dataset({"x": np.int32, "d": Dataset(Tensor(shape=(2,), dtype=np.int8))}, length=4)
    assert feature.get_tensor_info() == {
        "x": TensorInfo((), np.int32),
        "d": TensorInfo((2,), np.int8),
    }
    stored = feature.get_serialized_info()
    assert stored == {"x": TensorInfo((4,), np.int32), "d": TensorInfo((4, None, 2), np.int8)}
    levels = {key: (info.sequence_rank, info.dataset_lvl) for key, info in stored.items()}
    assert levels == {"x": (1, 1), "d": (2, 2)}
    assert feature.get_tensor_info()["d"].dataset_lvl == 2


@pytest.mark.parametrize("length", [None, 4])
def test_json(length):
    feature = Dataset({"x": np.int32, "l": ClassLabel(num_classes=2)}, length, doc="the steps")
    json_ = feature.to_feature_json()
    assert json_["pythonClassName"] == TFDS_NAME
    assert json_["sequence"]["length"] == str(length or -1)
    again = FeatureConnector.from_json(json_)
    assert again == feature
    assert (again.length, again.doc.desc) == (length, "the steps")
    assert again != Sequence({"x": np.int32, "l": ClassLabel(num_classes=2)}, length)


def test_label_names_are_kept_beside(tmp_path):
    feature = FeaturesDict({"lab": Dataset({"l": ClassLabel(names=["a", "b"])})})
    feature.save_config(tmp_path)
    assert (tmp_path / "lab-l.labels.txt").read_text() == "a\nb\n"
    assert FeatureConnector.from_config(tmp_path) == feature


def test_repr():
    assert repr(Dataset(np.int32)) == "Dataset(int32)"
    assert repr(Dataset({"x": Dataset({"y": Sequence(np.int8)})}, length=2)) == (
        "Dataset({\n    'x': Dataset({\n        'y': Sequence(int8),\n    }),\n})"
    )


# Decoders.


def test_decoders_for_the_features_of_steps(frames):
    record = frames.serialize_example(episode(3))
    steps = frames.deserialize_example(record, decoders={"steps": {"obs": SkipDecoding()}})["steps"]
    assert steps[2]["obs"] == b"22"
    np.testing.assert_array_equal(steps[2]["act"], [2, -2])
    assert Frame.decoded == 0


def test_a_decoder_for_the_whole(frames):
    record = frames.serialize_example(episode(3))
    stored = frames.deserialize_example(record, decoders={"steps": SkipDecoding()})["steps"]
    assert stored["obs"].tolist() == [b"", b"1", b"22"]


def test_a_decoder_for_an_unknown_feature_is_refused(frames):
    record = frames.serialize_example(episode(1))
    with pytest.raises(UnknownNameError, match="did you mean 'obs'"):
        frames.deserialize_example(record, decoders={"steps": {"obz": SkipDecoding()}})
