"""Validation of datasets and of record files, beyond the single kinds of damage."""

import importlib.util
import os
import random
import shutil
import signal

import golden
import numpy as np
import pytest
from damage import FEATURES, Damaged, write_sample

import featurekit as fk
from featurekit.connectors.tensor import Tensor
from featurekit.errors import (
    BuildError,
    FeatureKitError,
    InvalidArgumentError,
    MissingFileError,
    UnknownNameError,
)
from featurekit.schema import FileRules, validate
from featurekit.schema.parallel import map_files
from featurekit.schema.rules import RULES


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    return write_sample(tmp_path_factory.mktemp("sample")).data_dir


@pytest.fixture
def damaged(sample, tmp_path):
    return Damaged(sample, tmp_path / "1.0.0")


def found(report):
    return [(finding.code, finding.place.feature, finding.count) for finding in report.findings]


# What TFDS wrote. Three features of one dataset hold values beyond their bounds, one text is
# not UTF-8, and TFDS loses a hundred rows of a Parquet file.
TFDS_FINDINGS = {
    "tensor_minmax": ["FK402", "FK402", "FK402"],
    "text": ["FK405"],
    "fmt_parquet_250": ["FK205"],
}
PACKAGES = {"array_record": "array_record", "parquet": "pyarrow"}


@pytest.mark.parametrize("expected", golden.datasets(), ids=lambda e: str(e.name))
def test_datasets_of_tfds(expected):
    report = validate(expected.folder)
    codes = [finding.code for finding in report.findings]
    package = PACKAGES.get(expected.entry["file_format"])
    if package and not importlib.util.find_spec(package):
        assert codes == ["FK211"]
        return
    assert codes == TFDS_FINDINGS.get(expected.name, [])
    assert report.records == report.decoded


# Single bytes.


def flip(path, rng):
    data = bytearray(path.read_bytes())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(bytes(data))


def content(folder):
    """All that a reader gets from a dataset: names of features and classes, and values."""
    reader = fk.builder_from_directory(folder)
    splits = reader.as_data_source()
    examples = {name: [golden.as_input(e) for e in examples] for name, examples in splits.items()}
    return reader.info.features, examples


@pytest.mark.parametrize("seed", range(200))
def test_single_bytes_are_found_or_harmless(sample, damaged, seed):
    rng = random.Random(seed)
    names = sorted(path.name for path in damaged.folder.iterdir())
    shards = [name for name in names if "tfrecord" in name]
    name = rng.choice(shards if seed % 2 else [name for name in names if name not in shards])
    flip(damaged.path(name), rng)
    report = validate(damaged.folder)
    if not report.ok:
        return
    assert name not in shards
    features, examples = content(damaged.folder)
    whole_features, whole_examples = content(sample)
    assert examples == whole_examples
    # What no checksum covers: texts for people, and names of classes.
    assert sorted(features) == sorted(whole_features)


# Counts, choice, options.


def test_one_finding_for_the_same_fault_in_many_records(damaged):
    for record in range(4):
        damaged.entries(lambda e: e.update(label=np.array([3])), record=record)
        damaged.entries(lambda e: e.update(label=np.array([9])), record=record, index=1)
    damaged.entries(lambda e: e.update(label=np.array([3])), split="test")
    report = validate(damaged.folder)
    assert found(report) == [("FK401", "label", 8), ("FK401", "label", 1)]
    first, second = report.findings
    assert (first.place.record, first.place.split) == (0, "train")
    assert first.place.file == str(damaged.shard())
    assert second.place.split == "test"


def test_everything_that_is_wrong_with_a_record_is_found(damaged):
    def change(entries):
        del entries["id"]
        entries["label"] = np.array([3])
        entries["small"] = np.array([-1])
        entries["text"] = [b"\xff"]
        entries["extra"] = [b""]

    damaged.entries(change)
    codes = [finding.code for finding in validate(damaged.folder).findings]
    assert sorted(codes) == ["FK302", "FK305", "FK306", "FK401", "FK405"]


def test_damaged_records_do_not_hide_those_behind_them(damaged):
    damaged.entries(lambda e: e.update(label=np.array([3])), record=3)

    def change(data):
        data[40] ^= 1
        return data

    damaged.bytes(change)
    report = validate(damaged.folder)
    assert [(f.code, f.place.record) for f in report.findings] == [("FK202", 0), ("FK401", 3)]
    assert report.records == 9


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["FK110", "FK401", "FK405"]),
        ({"select": ["FK4"]}, ["FK401", "FK405"]),
        ({"select": ["bad-label", "FK1"]}, ["FK110", "FK401"]),
        ({"ignore": ["FK405", "orphan-labels"]}, ["FK401"]),
        ({"select": ["FK4"], "ignore": ["FK401"]}, ["FK405"]),
        ({"sample": 0}, ["FK110"]),
    ],
)
def test_choice_of_codes(damaged, options, expected):
    damaged.path("old.labels.txt").write_text("a\n")
    damaged.entries(lambda e: e.update(label=np.array([3]), text=[b"\xff"]))
    report = validate(damaged.folder, **options)
    assert [finding.code for finding in report.findings] == expected


def test_sample_is_spread_over_the_split(damaged):
    for index in (0, 1):
        for record in range(4):
            damaged.entries(lambda e: e.update(label=np.array([3])), record=record, index=index)
    report = validate(damaged.folder, sample=3)
    assert found(report) == [("FK401", "label", 3)]
    assert report.decoded == 3 + 2
    assert validate(damaged.folder, sample=100).decoded == 10


def test_targets(sample, damaged, tmp_path):
    shutil.copytree(sample, tmp_path / "deep" / "sample" / "1.0.0")
    report = validate(tmp_path)
    assert report.targets == [str(damaged.folder), str(tmp_path / "deep" / "sample" / "1.0.0")]
    assert report.records == 20
    (finding,) = validate(tmp_path / "deep").findings or [None]
    assert finding is None
    (tmp_path / "empty").mkdir()
    assert [f.code for f in validate(tmp_path / "empty").findings] == ["FK101"]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"select": ["FK9"]}, InvalidArgumentError, "'FK9' is no code of a finding"),
        ({"ignore": ["bad-lable"]}, InvalidArgumentError, "did you mean 'bad-label'?"),
        ({"sample": -1}, InvalidArgumentError, "sample must be 0 or more, got -1"),
        ({"num_processes": 0}, InvalidArgumentError, "num_processes must be 1 or more, got 0"),
        (
            {"leakage": True, "leakage_features": ["imgae"]},
            UnknownNameError,
            "there is no feature 'imgae'; did you mean 'image'?",
        ),
    ],
)
def test_arguments(sample, options, error, message):
    with pytest.raises(error) as caught:
        validate(sample, **options)
    assert message in str(caught.value)


def test_missing_target(tmp_path):
    with pytest.raises(MissingFileError, match=r"^there is no such file or folder"):
        validate(tmp_path / "nowhere")


# Features of other kinds.


class Half(fk.FeatureConnector):
    """Gives half of a number; of odd ones it cannot."""

    def get_tensor_info(self):
        return fk.TensorInfo((), np.int64)

    def encode_example(self, value):
        return np.int64(value)

    def decode_example(self, stored):
        if stored % 2:
            raise ValueError(f"{stored} is odd")
        return np.float64(0.5) if stored == 2 else stored // 2


class Checked(Tensor):
    """A tensor whose subclass decodes."""

    def __init__(self):
        super().__init__(shape=(2,), dtype=np.int64)

    def decode_example(self, stored):
        return stored[:1] if stored[0] == 9 else stored

    def to_json_content(self):
        return {}

    @classmethod
    def from_json_content(cls, value):
        return cls()


@pytest.mark.parametrize(
    ("feature", "values", "message", "place"),
    [
        (Half(), [4, 3], "ValueError: 3 is odd", "x"),
        (Half(), [4, 2], "expected int64 of shape (), got float64 of shape ()", "x"),
        (fk.Sequence(Half()), [[4], [4, 3]], "ValueError: 3 is odd", "x[1]"),
        (Checked(), [[1, 2], [9, 9]], "expected int64 of shape (2,), got int64 of shape (1,)", "x"),
    ],
)
def test_connectors_of_authors(tmp_path, feature, values, message, place):
    features = fk.FeaturesDict({"x": feature})
    reader = fk.write_dataset(
        "own", {"train": [{"x": value} for value in values]}, features, tmp_path, quiet=True
    )
    (finding,) = validate(reader.data_dir).findings
    assert (finding.code, finding.message, finding.place.feature) == ("FK411", message, place)


def test_missing_values_are_no_findings(tmp_path):
    features = fk.FeaturesDict(
        {
            "a": fk.Scalar(np.int64, optional=True),
            "b": fk.Tensor(shape=(2,), dtype=np.float32, optional=True, minimum=0, maximum=1),
            "c": fk.Text(optional=True),
        }
    )
    rows = [{"a": 1, "b": [0, 1], "c": "x"}, {"a": None, "b": None, "c": None}]
    reader = fk.write_dataset("gaps", {"train": rows}, features, tmp_path, quiet=True)
    assert validate(reader.data_dir).ok


def test_nested_places(tmp_path):
    features = fk.FeaturesDict(
        {"a": fk.Sequence(fk.Sequence({"x": fk.Tensor(shape=(2,), dtype=np.int64, maximum=9)}))}
    )
    rows = [{"a": [[{"x": [0, 0]}], [], [{"x": [1, 1]}, {"x": [2, 2]}]]}]
    reader = fk.write_dataset("deep", {"train": rows}, features, tmp_path, quiet=True)
    path = reader.info.splits["train"].filepaths[0]
    entries = fk.io.example_to_dict(next(iter(fk.io.TFRecordReader(path))))
    values = entries["a/x/ragged_flat_values"].copy()
    values[-1] = 10
    record = fk.io.serialize(fk.io.make_example({**entries, "a/x/ragged_flat_values": values}))
    with fk.io.TFRecordWriter(path) as writer:
        writer.write(record)
    (finding,) = validate(reader.data_dir).findings
    assert (finding.code, finding.place.feature) == ("FK402", "a[2][1].x")
    assert finding.message == "expected at most 9, got 10"


# Leakage.


def write_splits(folder, train, test):
    features = fk.FeaturesDict({"id": np.int64, "x": fk.Tensor(shape=(3,), dtype=np.float32)})
    splits = {
        name: [{"id": number, "x": [value, 0, 1]} for number, value in enumerate(values, start)]
        for name, values, start in (("train", train, 0), ("test", test, 1000))
    }
    return fk.write_dataset("leaky", splits, features, folder, num_shards=2, quiet=True).data_dir


def test_leakage_by_some_features(tmp_path, capsys):
    folder = write_splits(tmp_path, range(100), range(90, 130))
    assert validate(folder, leakage=True).ok  # the ids differ
    (finding,) = validate(folder, leakage=True, leakage_features=["x"], sample=0).findings
    print(finding.message)
    assert (finding.code, finding.count) == ("FK501", 10)
    assert finding.message.startswith(
        "10 of the 40 examples of split 'test' (25.00%) are in 'train' too; the first one is record"
    )
    shown = fk.io.TFRecordReader(finding.place.file)[finding.place.record]
    assert 90 <= fk.io.example_to_dict(shown)["x"][0] < 100


def test_leakage_does_not_depend_on_the_order_of_entries(tmp_path):
    folder = write_splits(tmp_path, range(10), range(10, 20))
    train, test = (
        fk.builder_from_directory(folder).info.splits[split].filepaths[0]
        for split in ("train", "test")
    )
    records = list(fk.io.TFRecordReader(train))
    example = fk.io.Example.FromString(records[0])
    entries = [fk.io.Features(feature={k: v}) for k, v in example.features.feature.items()]
    body = b"".join(entry.SerializeToString() for entry in sorted(entries, key=str, reverse=True))
    turned = b"\n" + bytes([len(body)]) + body
    assert turned != records[0]
    assert fk.io.Example.FromString(turned) == example
    count = len(fk.io.TFRecordReader(test))
    with fk.io.TFRecordWriter(test) as writer:
        for record in [turned] * count:
            writer.write(record)
    (finding,) = validate(folder, leakage=True, select=["FK501"]).findings
    assert finding.count == count


# Several processes.


@pytest.mark.parametrize("options", [{}, {"leakage": True}, {"sample": 2}])
def test_processes_find_the_same(damaged, options):
    damaged.entries(lambda e: e.update(label=np.array([3])), record=1, index=1)
    damaged.entries(lambda e: e.update(label=np.array([3])), record=0, index=0)
    damaged.bytes(lambda data: data + b"x", split="test")
    one, two = (validate(damaged.folder, num_processes=n, **options) for n in (1, 2))
    assert one == two
    assert len(one.findings) == 2


def test_killed_process():
    def work(task):
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(BuildError, match=r"^a worker process was killed"):
        list(map_files(work, [1, 2, 3], num_bytes=0, num_processes=2))


# Record files without metadata.


def write_files(folder, *files, compression=None):
    paths = []
    for number, records in enumerate(files):
        paths.append(folder / f"{number}.tfrecord")
        with fk.io.TFRecordWriter(paths[-1], compression) as writer:
            for record in records:
                writer.write(record if isinstance(record, bytes) else fk.io.serialize(record))
    return paths


@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_record_files_of_examples(tmp_path, compression):
    example = fk.io.make_example
    first, second = write_files(
        tmp_path,
        [example({"a": 1, "b": 2.5}), example({"a": 2})],
        [example({"a": 1.5}), b"\xff"],
        compression=compression,
    )
    assert validate(first).ok
    report = validate(first, second)
    assert [(f.code, f.place.file, f.place.record) for f in report.findings] == [
        ("FK701", str(second), 0),
        ("FK301", str(second), 1),
    ]
    assert (report.records, report.shards) == (4, 2)
    (finding,) = validate(first, file_rules=FileRules(absent=False)).findings
    assert (finding.code, finding.place.feature) == ("FK703", "b")


SEQUENCES = {
    "FK702": ({"a": [[1], [2.5]]}, {}),
    "FK703": ({}, {"absent": False}),
    "FK704": ({"a": []}, {"empty": False}),
    "FK705": ({"a": [[1]], "b": [[1], [2]]}, {"equal_frames": True}),
    "FK706": ({"a": [[1], [2, 3]]}, {"equal_sizes": True}),
}


@pytest.mark.parametrize("code", SEQUENCES)
def test_record_files_of_sequence_examples(tmp_path, code):
    lists, options = SEQUENCES[code]
    good = fk.io.make_sequence_example({"id": 1}, {"a": [[1], [2]]})
    bad = fk.io.SequenceExample()
    for key, steps in lists.items():
        features = bad.feature_lists.feature_list[key].feature
        for step in steps:
            is_float = any(isinstance(value, float) for value in step)
            features.append((fk.io.float_feature if is_float else fk.io.int64_feature)(step))
    path, other = write_files(tmp_path, [good], [bad])
    rules = FileRules(**options)
    assert validate(path, file_rules=rules).ok
    (finding,) = validate(path, other, file_rules=rules).findings
    assert (finding.code, finding.place.file) == (code, str(other))


def test_record_files_with_features(sample, damaged, tmp_path):
    features = fk.FeaturesDict(FEATURES)
    damaged.entries(lambda e: e.update(label=np.array([7])), record=2)
    (finding,) = validate(damaged.shard(), features=features).findings
    assert (finding.code, finding.place.record) == ("FK401", 2)
    assert validate(damaged.shard(), features=features, sample=1).ok
    assert validate(damaged.shard(index=1), features=features).ok


def test_damaged_record_file(damaged):
    damaged.bytes(lambda data: data[:-1])
    (finding,) = validate(damaged.shard()).findings
    assert finding.code == "FK203"


def test_inferred_features_fit_what_they_were_inferred_from(tmp_path):
    example, empty = fk.io.make_example, fk.io.bytes_feature([])
    (path,) = write_files(
        tmp_path,
        [
            example({"country": "FR", "n": 1}),
            example({"country": empty, "n": 2}),
            example({"n": 3}),
        ],
    )
    report = validate(path, features=fk.schema.infer(path).features)
    assert report.findings == []


def test_every_rule_says_what_and_how():
    for rule in RULES.values():
        assert rule.meaning
        assert rule.cure
        assert rule.name == rule.name.lower()
    assert len({rule.name for rule in RULES.values()}) == len(RULES)


def test_errors_are_ours(tmp_path):
    with pytest.raises(FeatureKitError):
        FileRules(message="exmaple")


@pytest.mark.parametrize(
    ("feature", "values", "message"),
    [
        (fk.Tensor(shape=(None,), dtype=np.int64, maximum=9), [[1, 2], [3], [4, 10]], "got 10"),
        (fk.Tensor(shape=(2, None), dtype=np.int64, maximum=9), [[[1], [10]], [[1, 2]] * 2], "10"),
        (fk.Tensor(shape=(None, 2), dtype=np.int64, minimum=1), [[[1, 1]], [[3, 0]]], "got 0"),
    ],
)
def test_arrays_of_unknown_size(tmp_path, monkeypatch, feature, values, message):
    monkeypatch.setattr(type(feature), "_check_range", lambda self, array: None)
    features = fk.FeaturesDict({"x": feature})
    rows = [{"x": value} for value in values]
    reader = fk.write_dataset("sizes", {"train": rows}, features, tmp_path, quiet=True)
    (finding,) = validate(reader.data_dir).findings
    assert (finding.code, finding.place.feature, finding.count) == ("FK402", "x", 1)
    assert finding.message.endswith(message)
