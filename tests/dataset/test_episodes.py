"""Episodes: windows of their steps, in any order, without decoding the rest."""

import pickle
import resource

import golden
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import featurekit as fk
from featurekit.connectors import image as image_module
from featurekit.dataset import step_counts
from featurekit.errors import (
    DecodeError,
    InvalidArgumentError,
    RecordIndexError,
    UnknownNameError,
    UnsupportedError,
)

LENGTHS = [5, 1, 0, 7, 3, 12]


def features(**more):
    step = {
        "observation": {
            "image": fk.Image(shape=(4, 4, 3)),
            "state": fk.Tensor(shape=(2,), dtype=np.float32),
        },
        "action": np.int64,
        "instruction": fk.Text(),
        "is_first": np.bool_,
    }
    return fk.FeaturesDict(
        {"steps": fk.Dataset({**step, **more}), "id": np.int64,
         "where": fk.Tensor(shape=(2,), dtype=np.int64)}
    )  # fmt: skip


def step(episode, number, **more):
    value = (20 * episode + number) % 256
    return {
        "observation": {
            "image": np.full((4, 4, 3), value, np.uint8), "state": [value, -value],
        },
        "action": value,
        "instruction": f"do {value}",
        "is_first": number == 0,
        **more,
    }  # fmt: skip


def write(folder, schema, make, lengths=LENGTHS):
    examples = [
        (e, {"steps": [make(e, i) for i in range(count)], "id": e, "where": [e, e]})
        for e, count in enumerate(lengths)
    ]
    fk.write_dataset(
        "robots", {"train": examples}, schema, folder, disable_shuffling=True, quiet=True
    )
    return fk.load("robots", "train", data_dir=folder)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return write(tmp_path_factory.mktemp("episodes"), features(), step)


@pytest.fixture
def decoded(monkeypatch):
    """How many pictures were decoded."""
    calls = []
    decode = image_module.decode_image

    def counted(*arguments, **options):
        calls.append(1)
        return decode(*arguments, **options)

    monkeypatch.setattr(image_module, "decode_image", counted)
    return calls


def test_lengths_decode_nothing(source, decoded):
    episodes = fk.episodes(source)
    assert episodes.lengths.tolist() == LENGTHS
    assert len(episodes) == 6
    assert not decoded
    assert fk.episodes(source[::-1]).lengths.tolist() == LENGTHS[::-1]


def model(lengths, offsets, stride, padding):
    """The windows, as lists of (episode, step or None)."""
    found = []
    for episode, count in enumerate(lengths):
        for t in range(count):
            steps = [t + offset for offset in offsets]
            whole = all(0 <= s < count for s in steps)
            if padding or whole:
                found.append(
                    (t, [(episode, s) if 0 <= s < count else None for s in steps], episode)
                )
    kept = []
    for episode in range(len(lengths)):
        kept += [window for window in found if window[2] == episode][::stride]
    return kept


@given(
    start=st.integers(-4, 4), size=st.integers(1, 4), step_=st.integers(1, 3),
    stride=st.integers(1, 4), padding=st.sampled_from([None, "edge", "zero"]),
)  # fmt: skip
@settings(deadline=None, max_examples=60)
def test_windows(source, start, size, step_, stride, padding):
    offsets = range(start, start + size * step_, step_)
    windows = fk.episodes(source).windows(offsets, stride=stride, padding=padding)
    expected = model(LENGTHS, offsets, stride, padding)
    assert len(windows) == len(expected)
    for i, (t, steps, episode) in enumerate(expected):
        window = windows[i]
        assert windows.locate(i) == (episode, t)
        assert int(window["id"]) == episode
        assert window["is_pad"].tolist() == [s is None for s in steps]
        for place, there in enumerate(steps):
            edge = 0 if t + offsets[place] < 0 else LENGTHS[episode] - 1
            value = 20 * episode + (edge if there is None else there[1])
            is_zero = there is None and padding == "zero"
            assert window["steps"]["action"][place] == (0 if is_zero else value)
            assert window["steps"]["instruction"][place] == (
                b"" if is_zero else f"do {value}".encode()
            )
            assert (
                window["steps"]["observation"]["image"][place] == (0 if is_zero else value)
            ).all()
    if expected:
        assert window["steps"]["observation"]["image"].shape == (size, 4, 4, 3)
        assert window["steps"]["observation"]["state"].shape == (size, 2)
        assert window["steps"]["action"].dtype == np.int64


def test_only_the_steps_of_a_window_are_decoded(source, decoded):
    windows = fk.episodes(source).windows(3, padding="edge")
    windows[-7]
    assert len(decoded) == 3
    decoded.clear()
    windows[-1]  # the last step, three times
    assert len(decoded) == 1


def test_other_steps_for_each_feature(source, decoded):
    spans = {"observation/image": range(-1, 1), "action": range(4)}
    windows = fk.episodes(source).windows(spans, padding="edge")
    window = windows[0]
    assert list(window["steps"]) == ["observation", "action"]
    assert list(window["steps"]["observation"]) == ["image"]
    assert window["steps"]["observation"]["image"][:, 0, 0, 0].tolist() == [0, 0]
    assert window["steps"]["action"].tolist() == [0, 1, 2, 3]
    assert window["is_pad"]["observation/image"].tolist() == [True, False]
    assert not window["is_pad"]["action"].any()
    assert len(decoded) == 1
    decoded.clear()
    fk.episodes(source).windows({"action": range(2)})[3]
    assert not decoded
    assert windows.batches(4)[0]["steps"]["action"].shape == (4, 4)


def test_element_spec(source):
    windows = fk.episodes(source).windows({"action": range(4), "observation": range(-1, 1)})
    spec = windows.element_spec
    assert spec["steps"]["action"] == fk.TensorInfo((4,), np.int64, dataset_lvl=0)
    assert spec["steps"]["observation"]["image"].shape == (2, 4, 4, 3)
    assert spec["is_pad"]["action"] == fk.TensorInfo((4,), np.bool_)
    assert spec["id"] == fk.TensorInfo((), np.int64)


def test_windows_in_batches_and_in_any_order(source):
    windows = fk.episodes(source).windows(2, padding="zero")
    everything = [window["steps"]["action"].tolist() for window in windows]
    assert len(everything) == sum(LENGTHS)
    for ordered in (windows, windows.shuffle(3), windows.shuffle(3).epoch(1), windows[5:20:2]):
        actions = [window["steps"]["action"].tolist() for window in ordered]
        batches = list(ordered.batches(5, threads=2))
        assert [row for b in batches for row in b["steps"]["action"].tolist()] == actions
        assert batches[0]["steps"]["observation"]["image"].shape == (5, 2, 4, 4, 3)
        assert batches[0]["is_pad"].shape == (5, 2)
        assert [w["steps"]["action"].tolist() for w in ordered.iterate(threads=2)] == actions
    assert sorted(w["steps"]["action"].tolist() for w in windows.shuffle(0)) == sorted(everything)
    parts = [windows.shuffle(1).shard(i, 3) for i in range(3)]
    assert sorted(w["steps"]["action"].tolist() for part in parts for w in part) == sorted(
        everything
    )


def test_resuming(source):
    windows = fk.episodes(source).windows(2, padding="edge").shuffle(0)
    first = iter(windows.batches(3))
    begin = [next(first)["steps"]["action"].tolist() for _ in range(3)]
    again = iter(pickle.loads(pickle.dumps(windows)).batches(3))
    again.load_state_dict(first.state_dict())
    rest = [batch["steps"]["action"].tolist() for batch in again]
    assert begin + rest == [batch["steps"]["action"].tolist() for batch in windows.batches(3)]


def test_steps_by_themselves(source):
    steps = fk.episodes(source).steps()
    assert len(steps) == sum(LENGTHS)
    actions = [20 * e + i for e, count in enumerate(LENGTHS) for i in range(count)]
    assert [int(one["action"]) for one in steps] == actions
    assert steps.batches(4)[1]["action"].tolist() == actions[4:8]
    assert steps.batches(4)[1]["observation"]["image"].shape == (4, 4, 4, 3)
    assert steps.element_spec["action"].shape == ()
    assert [int(one["action"]) for one in steps[[7, 0]]] == [actions[7], actions[0]]


def test_a_source_that_is_sliced_and_decoded_otherwise(source):
    folder = source.info.data_dir
    chosen = fk.builder_from_directory(folder).as_data_source(
        "train[3:]", columns=["steps/observation/image", "steps/action"], text="str",
        decoders={"steps": {"observation": {"image": fk.SkipDecoding()}}},
    )  # fmt: skip
    window = fk.episodes(chosen).windows(2)[0]
    assert list(window) == ["steps", "is_pad"]
    assert window["steps"]["action"].tolist() == [60, 61]
    assert window["steps"]["observation"]["image"][0].startswith(b"\x89PNG")


def test_steps_that_differ_in_shape(tmp_path):
    schema = features(list=fk.Sequence(np.int64), view=fk.Image(shape=(None, None, 1)))

    def make(e, i):
        return step(e, i, list=list(range(i)), view=np.full((1 + i, 2, 1), i, np.uint8))

    source = write(tmp_path, schema, make, [3, 2])
    window = fk.episodes(source).windows(range(-1, 2), padding="edge")[0]["steps"]
    assert window["list"].to_list() == [[], [], [0]]
    assert [view.shape for view in window["view"]] == [(1, 2, 1), (1, 2, 1), (2, 2, 1)]
    batch = fk.episodes(source).windows(2).batches(2)[0]["steps"]
    assert [rows.to_list() for rows in batch["list"]] == [[[], [0]], [[0], [0, 1]]]
    with pytest.raises(UnsupportedError, match="cannot be padded with zeros"):
        fk.episodes(source).windows(range(-1, 2), padding="zero")[0]


@pytest.mark.parametrize("name", ["rlds_episodes", "dataset_kinds"])
def test_what_tfds_wrote(name):
    source = fk.builder_from_directory(golden.ROOT / "dataset_feature" / name / "1.0.0")
    for split in source.info.splits:
        data = source.as_data_source(split)
        names = [key for key, feature in data.features.items() if isinstance(feature, fk.Dataset)]
        for steps_name in names:
            try:
                episodes = fk.episodes(data, steps=steps_name)
            except InvalidArgumentError:
                continue  # steps that are no dicts
            expected = [one for example in data for one in example[steps_name]]
            for found, want in zip(episodes.steps(), expected, strict=True):
                assert golden.difference(found, want) is None


def test_memory_stays_flat(tmp_path):
    schema = features()
    source = write(tmp_path, schema, step, [50] * 20)
    windows = fk.episodes(source).windows(4, padding="edge").shuffle(0)

    def peak(count, epoch):
        for window in windows.epoch(epoch)[:count]:
            assert len(window["is_pad"]) == 4
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = peak(500, 0)
    assert peak(1000, 1) <= before * 1.05


# What cannot be.


def test_a_damaged_picture_says_where(tmp_path):
    source = write(tmp_path, features(), step)
    path, _ = source.locate(3)
    records = list(fk.io.TFRecordReader(path))
    position = records[3].rindex(b"IHDR")
    records[3] = records[3][:position] + b"IHDX" + records[3][position + 4 :]
    with fk.io.TFRecordWriter(path) as writer:
        for record in records:
            writer.write(record)
    windows = fk.episodes(source).windows(2)
    with pytest.raises(DecodeError) as error:
        windows[len(windows) - 14]
    assert error.value.path[:3] == ("steps", "observation", "image")
    assert "while reading steps around step 5 of episode 3" in str(error.value)


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda s: fk.episodes(s, steps="step"), UnknownNameError, "did you mean 'steps'?"),
    (lambda s: fk.episodes(s, steps="where"), InvalidArgumentError, "is no Dataset of dicts"),
    (lambda s: fk.episodes(s).windows(0), InvalidArgumentError, "one step or more, got 0"),
    (lambda s: fk.episodes(s).windows("x"), InvalidArgumentError, "one step or more, got 'x'"),
    (lambda s: fk.episodes(s).windows({}), InvalidArgumentError, "no feature is named"),
    (lambda s: fk.episodes(s).windows({"actoin": range(2)}), UnknownNameError, "'action'"),
    (lambda s: fk.episodes(s).windows(2, stride=0), InvalidArgumentError, "stride of 1 or more"),
    (lambda s: fk.episodes(s).windows(2, padding="edg"), InvalidArgumentError, "mean 'edge'?"),
    (lambda s: fk.episodes(s).windows(2)[99], RecordIndexError, "there is no example 99"),
])  # fmt: skip
def test_what_makes_no_sense(source, call, error, message):
    with pytest.raises(error) as caught:
        call(source)
    assert message in str(caught.value)


def test_counts_are_kept(source, monkeypatch, tmp_path):
    monkeypatch.setenv("FEATUREKIT_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(step_counts, "_SMALL", 0)
    assert fk.episodes(source).lengths.tolist() == LENGTHS
    (kept,) = tmp_path.glob("steps/*")
    counted = []
    real = step_counts._count
    monkeypatch.setattr(step_counts, "_count", lambda *a: (counted.append(1), real(*a))[1])
    assert fk.episodes(source).lengths.tolist() == LENGTHS
    assert not counted
    data = kept.read_bytes()
    for damaged in (data[:-1], b"", data[:-1] + bytes([data[-1] ^ 1]), b"x" + data[1:]):
        kept.write_bytes(damaged)
        assert fk.episodes(source).lengths.tolist() == LENGTHS
    assert len(counted) == 4
    assert fk.episodes(source[1:]).lengths.tolist() == LENGTHS[1:]
    assert len(counted) == 5
