"""Statistics: those of NumPy, whole or merged; and drift found by them."""

import json
import math
import os

import golden
import numpy as np
import pytest
from click.testing import CliRunner
from damage import write_sample

import featurekit as fk
from featurekit.cli import main
from featurekit.errors import DatasetInfoError, InvalidArgumentError
from featurekit.io.ragged import RaggedTensor
from featurekit.schema import Thresholds, diff, validate
from featurekit.schema.dataset_statistics import (
    compute_statistics,
    read_or_compute_statistics,
    write_statistics,
)
from featurekit.schema.numbers_seen import FRACTIONS, NumbersSeen
from featurekit.schema.quantiles import Quantiles
from featurekit.schema.tally import Tally

RNG = np.random.default_rng(0)

# Numbers, and pieces.


ARRAYS = {
    "floats": RNG.normal(1e6, 1.0, 20_000).astype(np.float32),
    "integers": RNG.integers(-(2**62), 2**62, 1000),
    "bytes": RNG.integers(0, 256, (10, 20, 3), dtype=np.uint8),
    "bools": RNG.random(100) < 0.3,
    "one": np.array([3.5]),
    "large": np.array([2**64 - 1, 0], np.uint64),
}


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("pieces", [1, 2, 7])
def test_numbers_are_those_of_numpy(name, pieces):
    array = ARRAYS[name]
    whole = NumbersSeen()
    for part in np.array_split(array, pieces):
        seen = NumbersSeen()
        seen.add(part)
        whole.merge(seen)
    found = whole.as_json()
    flat = array.astype(np.float64).reshape(-1)
    assert (found["count"], found["min"], found["max"]) == (array.size, array.min(), array.max())
    assert found["mean"] == pytest.approx(flat.mean(), rel=1e-12)
    assert found["std"] == pytest.approx(flat.std(), rel=1e-9)
    assert found["quantiles_exact"] is True
    expected = np.quantile(flat, FRACTIONS)
    assert list(found["quantiles"].values()) == expected.tolist()
    json.dumps(found)


def test_numbers_that_are_none():
    seen = NumbersSeen()
    seen.add(np.array([1.0, math.nan, math.inf, -math.inf, 3.0]))
    found = seen.as_json()
    del found["quantiles"], found["quantiles_exact"]
    assert found == {
        "count": 2,
        "nan": 1,
        "infinite": 2,
        "min": 1.0,
        "max": 3.0,
        "mean": 2.0,
        "std": 1.0,
    }
    assert NumbersSeen().as_json() == {"count": 0}


@pytest.mark.parametrize("pieces", [1, 5])
@pytest.mark.parametrize("kind", ["random", "ascending", "descending"])
def test_quantiles_of_many_values(kind, pieces):
    count = 500_000
    values = np.arange(count, dtype=np.float64)
    values = {"random": RNG.permutation(values), "ascending": values}.get(kind, values[::-1])
    whole = Quantiles()
    for part in np.array_split(values, pieces):
        seen = Quantiles()
        for piece in np.array_split(part, 11):
            seen.add(piece)
        whole.merge(seen)
    assert not whole.exact
    held = sum(len(part) for level in whole._levels for part in level)
    assert held < 150_000
    errors = np.array(whole.at(FRACTIONS)) / count - FRACTIONS
    assert np.abs(errors).max() < 0.001


def test_tally_forgets_the_rarest():
    one, two = Tally(limit=3), Tally(limit=3)
    one.add(np.array([1] * 9 + [2] * 5 + [3, 4, 5, 6]))
    two.add(np.array([2] * 5 + [7, 8, 9]))
    assert one.exact
    assert one.distinct == 6
    one.merge(two)
    assert not one.exact
    assert one.distinct is None
    assert one.top(2) == [(2, 10), (1, 9)]


# Datasets.


def values_of(examples, name):
    return [example[name] for example in examples]


def flat(values):
    parts = [value.flat_values if isinstance(value, RaggedTensor) else value for value in values]
    numbers = np.concatenate([np.asarray(part, np.float64).reshape(-1) for part in parts])
    return numbers[np.isfinite(numbers)]


def check_numbers(found, values):
    numbers = flat(values)
    assert found["count"] == len(numbers)
    assert found["min"] == numbers.min()
    assert found["max"] == numbers.max()
    assert found["mean"] == pytest.approx(numbers.mean(), rel=1e-9)
    assert found["std"] == pytest.approx(numbers.std(), rel=1e-9)
    if "quantiles" in found:
        assert list(found["quantiles"].values()) == np.quantile(numbers, FRACTIONS).tolist()


@pytest.mark.parametrize("num_processes", [1, 2])
def test_dataset_of_all_kinds(tmp_path, num_processes):
    reader = write_sample(tmp_path)
    found = compute_statistics(reader.info, num_processes=num_processes)
    train = found["splits"]["train"]
    assert train["examples"] == 8
    examples = list(reader.as_data_source("train"))
    features = train["features"]
    for name in ("id", "small", "flag", "half", "bounded", "packed", "matrix", "box", "image"):
        check_numbers(features[name]["values"], values_of(examples, name))
    assert features["label"]["labels"] == {"-1": 1, "cat": 2, "dog": 3, "bird": 2}
    assert features["label"]["top"][0] == ["dog", 3]
    sizes = [len(text) for text in values_of(examples, "name")]
    check_numbers(features["name"]["sizes"], sizes)
    objects = [example["objects"]["label"] for example in examples]
    check_numbers(features["objects[].label"]["lengths"], [len(labels) for labels in objects])
    check_numbers(features["objects[].label"]["values"], objects)
    check_numbers(features["ragged[][]"]["values"], values_of(examples, "ragged"))
    check_numbers(
        features["ragged[][]"]["lengths"], [len(v) for v in values_of(examples, "ragged")]
    )
    assert features["image"]["height"]["min"] == features["image"]["height"]["max"] == 4
    assert features["image"]["width"]["mean"] == 6
    assert features["sound"]["samples"]["mean"] == 20
    views = [step["view"] for example in examples for step in example["steps"]]
    check_numbers(features["steps[].view"]["height"], [view.shape[0] for view in views])
    check_numbers(features["steps[].view"]["values"], views)
    assert found == compute_statistics(reader.info, num_processes=1)


@pytest.mark.parametrize(
    "expected",
    [e for e in golden.datasets("shipped") if e.name in ("mnist", "penguins", "titanic")],
    ids=lambda e: e.name,
)
def test_datasets_of_tfds(expected):
    reader = fk.builder_from_directory(expected.folder)
    found = compute_statistics(reader.info)
    for split, examples in reader.as_data_source().items():
        features = found["splits"][split]["features"]
        rows = list(examples)
        for name, feature in features.items():
            assert feature["count"] == len(rows)
            if "values" in feature:
                check_numbers(feature["values"], values_of(rows, name))


@pytest.mark.parametrize(
    "expected",
    [e for e in golden.datasets() if e.entry["file_format"] == "tfrecord"],
    ids=lambda e: e.name,
)
def test_every_dataset_has_statistics(expected):
    reader = fk.builder_from_directory(expected.folder)
    if reader.info.features is not None:
        json.dumps(compute_statistics(reader.info), allow_nan=False)


def test_missing_values(tmp_path):
    features = fk.FeaturesDict({"a": fk.Scalar(np.int64, optional=True), "b": fk.Text()})
    rows = [{"a": 1, "b": "x"}, {"a": None, "b": "x"}, {"a": 3, "b": "y"}]
    reader = fk.write_dataset("gaps", {"train": rows}, features, tmp_path, quiet=True)
    a, b = compute_statistics(reader.info)["splits"]["train"]["features"].values()
    assert (a["count"], a["missing"], a["values"]["mean"]) == (3, 1, 2.0)
    assert (b["missing"], b["distinct"], b["top"]) == (0, 2, [["x", 2], ["y", 1]])


# Beside the dataset.


def run(*arguments):
    result = CliRunner().invoke(main, [*map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_info_keeps_statistics(tmp_path):
    features = fk.FeaturesDict({"x": np.int64, "label": fk.ClassLabel(names=["no", "yes"])})
    rows = [{"x": i, "label": i % 2} for i in range(1001)]
    reader = fk.write_dataset("few", {"train": rows}, features, tmp_path, quiet=True)
    assert reader.info.statistics == {}
    result = run("info", reader.data_dir, "--stats")
    assert result.exit_code == 0
    assert result.output.endswith(
        """
split train: 1,001 examples
  label (ClassLabel)
    values: 0 to 1, mean 0.4995, std 0.5, median 0
    2 different: 'no' (501), 'yes' (500)
  x (Tensor)
    values: 0 to 1,000, mean 500, std 288.964, median 500
    1,001 different: 0 (1), 1 (1), 2 (1), 3 (1), 4 (1), ...
"""
    )
    info = fk.builder_from_directory(reader.data_dir).info
    assert info.statistics["splits"]["train"]["features"]["x"]["values"]["max"] == 1000
    assert validate(reader.data_dir).ok  # the file is no foreign one
    # They are read, as long as they fit the dataset.
    path = os.path.join(reader.data_dir, "statistics.json")
    with open(path, encoding="utf-8") as file:
        stored = json.load(file)
    stored["splits"]["train"]["features"]["x"]["values"]["max"] = 7
    write_statistics(stored, reader.data_dir)
    assert "0 to 7" in run("info", reader.data_dir, "--stats").output
    assert "0 to 1,000" in run("info", reader.data_dir, "--stats", "--recompute").output
    stored["splits"]["train"]["examples"] = 5
    write_statistics(stored, reader.data_dir)
    assert "0 to 1,000" in run("info", reader.data_dir, "--stats").output


def test_damaged_statistics(tmp_path):
    info = write_sample(tmp_path).info
    path = os.path.join(info.data_dir, "statistics.json")
    for text, message in (("{", "statistics.json is not JSON"), ("[]", "holds no object")):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        with pytest.raises(DatasetInfoError, match=message):
            read_or_compute_statistics(info)


def test_without_features(tmp_path):
    info = write_sample(tmp_path).info
    info.features = None
    with pytest.raises(InvalidArgumentError, match=r"^the features of the dataset are not known"):
        compute_statistics(info)


# Drift.


FEATURES = {
    "label": fk.ClassLabel(names=["cat", "dog"]),
    "x": fk.Scalar(np.float32, optional=True),
    "text": fk.Text(),
    "image": fk.Image(shape=(None, None, 1)),
    "list": fk.Sequence(np.int64),
}


def rows(count, *, cats=0.5, x=1.0, missing=0.0, letters=10, height=8, length=4):
    return [
        {
            "label": int(i >= cats * count),
            "x": None if i < missing * count else x * i / count,
            "text": "a" * letters,
            "image": np.zeros((height, 8, 1), np.uint8),
            "list": [1] * length,
        }
        for i in range(count)
    ]


def write(folder, version="1.0.0", **splits):
    return fk.write_dataset(
        "moving", splits, fk.FeaturesDict(FEATURES), folder, version=version, quiet=True
    ).data_dir


DRIFTS = {
    "nothing": ({}, []),
    "a little": ({"cats": 0.55, "x": 1.05, "missing": 0.02, "letters": 12}, []),
    "labels": (
        {"cats": 0.8},
        [("FK601", "label", "the share of 'cat' is 80.0%, before 50.0%")],
    ),
    "range": ({"x": 2.0}, [("FK602", "x", "values are from 0 to 1.98, before from 0 to 0.99")]),
    "missing": (
        {"missing": 0.25},
        [("FK603", "x", "25.0% of the values are missing, before 0.0%")],
    ),
    "text": ({"letters": 20}, [("FK604", "text", "the mean size in bytes is 20, before 10")]),
    "image": ({"height": 16}, [("FK604", "image", "the mean height in pixels is 16, before 8")]),
    "list": ({"length": 1}, [("FK604", "list[]", "the mean length in elements is 1, before 4")]),
    "all": (
        {"cats": 0.8, "x": 2.0, "missing": 0.25, "letters": 20, "height": 16, "length": 1},
        None,
    ),
}


@pytest.mark.parametrize("case", DRIFTS)
def test_drift_between_versions(tmp_path, case):
    changes, expected = DRIFTS[case]
    old = write(tmp_path / "old", train=rows(100))
    new = write(tmp_path / "new", train=rows(100, **changes))
    found = diff(old, new, drift=Thresholds()).drift
    for finding in found:
        print(finding.code, finding.place.feature, finding.message)
    shown = [(f.code, f.place.feature, f.message) for f in found]
    if expected is None:
        codes = sorted(finding.code for finding in found)
        assert codes == ["FK601", "FK602", "FK603", "FK604", "FK604", "FK604"]
    else:
        assert shown == expected
    assert diff(old, new).drift == ()
    assert diff(old, new, drift=Thresholds(1, 9, 1, 9)).drift == ()


def test_drift_between_splits(tmp_path):
    folder = write(tmp_path, train=rows(100), test=rows(50, cats=0.9), more=rows(50))
    assert validate(folder).ok
    (finding,) = validate(folder, drift=Thresholds()).findings
    assert (finding.code, finding.place.split, finding.place.feature) == ("FK601", "test", "label")
    assert finding.message == "the share of 'cat' is 90.0%, in 'train' 50.0%"


def test_drift_in_the_commands(tmp_path):
    old = write(tmp_path / "old", train=rows(100))
    new = write(tmp_path / "new", train=rows(100, cats=0.8), test=rows(10, cats=0.5))
    assert run("diff", old, new).exit_code == 0
    result = run("diff", old, new, "--drift")
    assert result.exit_code == 1
    line = "split train, label: the share of 'cat' is 80.0%, before 50.0% (FK601)"
    assert f"drift:\n  {line}\n" in result.output
    assert run("diff", old, new, "--drift-thresholds", "label=0.5").exit_code == 0
    assert "::warning title=FK601 label-drift::" + line.replace("%", "%25") in (
        run("diff", old, new, "--drift", "--format", "github").output
    )
    assert json.loads(run("diff", old, new, "--drift", "--format", "json").output)["drift"]
    assert "FK601" in run("validate", new, "--drift").output
    assert run("validate", new, "--drift-thresholds", "label=0.5").exit_code == 0
    for text in ("lable=1", "label=x", "label=-1", "label"):
        assert run("diff", old, new, "--drift-thresholds", text).exit_code == 2
    features = os.path.join(old, "features.json")
    assert run("diff", features, new, "--drift").exit_code == 2
