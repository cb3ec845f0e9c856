"""`featurekit validate`: exit codes, settings, baselines, formats."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from damage import Damaged, write_sample

import featurekit as fk
from featurekit.cli import main


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    return write_sample(tmp_path_factory.mktemp("sample")).data_dir


@pytest.fixture
def damaged(sample, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    copy = Damaged(sample, tmp_path / "data" / "1.0.0")
    copy.entries(lambda entries: entries.update(label=np.array([3])), record=1)
    return copy


def run(*arguments):
    result = CliRunner().invoke(main, ["validate", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


REPORT = """\
error FK401 bad-label: expected a label from 0 to 2, or -1, got 3
  at: data/1.0.0/sample-train.tfrecord-00000-of-00002, record 1, label
  cure: correct the value, or declare more classes

1 target, 4 record files, 10 records, 10 decoded: 1 error, 0 warnings
"""


def test_exit_codes(sample, damaged):
    clean = run(sample)
    assert (clean.exit_code, clean.output) == (
        0,
        "1 target, 4 record files, 10 records, 10 decoded: nothing is wrong\n",
    )
    found = run("data/1.0.0")
    assert (found.exit_code, found.output) == (1, REPORT)
    failed = run("data/2.0.0")
    assert (failed.exit_code, failed.output) == (
        2,
        "MissingFileError: there is no such file or folder\n  at: data/2.0.0\n",
    )
    assert run("data", "--select", "FK9").exit_code == 2
    assert run("data", "--format", "xml").exit_code == 2
    assert run().exit_code == 2


def test_select_and_ignore(damaged):
    assert run("data", "--ignore", "FK405,FK401").exit_code == 0
    assert run("data", "--select", "FK1,FK2").exit_code == 0
    assert run("data", "--select", "bad-label").exit_code == 1
    assert run("data", "--sample", 0).exit_code == 0


def test_settings_of_the_project(damaged, tmp_path, monkeypatch):
    settings = tmp_path / "pyproject.toml"
    settings.write_text('[tool.featurekit.validate]\nignore = ["FK401"]\nsample = 1\n')
    monkeypatch.chdir(tmp_path / "data")  # it is found in a folder above
    result = run("1.0.0")
    assert (result.exit_code, result.output) == (
        0,
        "1 target, 4 record files, 10 records, 2 decoded: nothing is wrong\n",
    )
    assert run("1.0.0", "--no-config").exit_code == 1
    assert run("1.0.0", "--ignore", "FK405", "--sample", 100).exit_code == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ignored = []", "there is no setting 'ignored'; did you mean 'ignore'?"),
        ('ignore = "FK401"', "the setting 'ignore' cannot be 'FK401'"),
        ("sample = true", "the setting 'sample' cannot be True"),
        ("sample = ", "the file is no TOML: Invalid value"),
    ],
)
def test_bad_settings(damaged, tmp_path, text, message):
    (tmp_path / "pyproject.toml").write_text(f"[tool.featurekit.validate]\n{text}")
    result = run("data")
    assert result.exit_code == 2
    assert result.output.startswith(f"InvalidArgumentError: {message}")


def test_baseline(damaged, tmp_path):
    written = run("data", "--write-baseline", "known/all.json")
    assert written.exit_code == 2  # there is no such folder
    written = run("data", "--write-baseline", "known.json")
    assert written.exit_code == 0
    assert json.loads((tmp_path / "known.json").read_text()) == {
        "findings": [{"code": "FK401", "where": "data/1.0.0:train", "feature": "label", "count": 1}]
    }
    result = run("data", "--baseline", "known.json")
    print(result.output)
    assert (result.exit_code, result.output) == (
        0,
        "1 target, 4 record files, 10 records, 10 decoded: nothing is wrong "
        "(1 finding known from the baseline)\n",
    )
    # Known is the fault as often as it was; one more is news, and so is another one.
    damaged.entries(lambda entries: entries.update(label=np.array([4])), record=2)
    assert run("data", "--baseline", "known.json").exit_code == 1
    run("data", "--write-baseline", "known.json")
    assert run("data", "--baseline", "known.json").exit_code == 0
    damaged.entries(lambda entries: entries.update(text=[b"\xff"]), record=2)
    result = run("data", "--baseline", "known.json")
    assert result.exit_code == 1
    assert "FK405" in result.output
    assert "FK401" not in result.output


def test_baseline_of_the_settings(damaged, tmp_path, monkeypatch):
    run("data", "--write-baseline", "data/known.json")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.featurekit.validate]\nbaseline = "data/known.json"\n'
    )
    monkeypatch.chdir(tmp_path / "data")
    assert run("1.0.0").exit_code == 0


def test_no_baseline(damaged, tmp_path):
    assert run("data", "--baseline", "none.json").output == (
        "MissingFileError: there is no such baseline\n"
        "  at: none.json\n"
        "  hint: make one with --write-baseline\n"
    )
    (tmp_path / "known.json").write_text("[]")
    result = run("data", "--baseline", "known.json")
    assert result.exit_code == 2
    assert result.output.startswith("InvalidArgumentError: the file is no baseline: TypeError")


def test_formats(damaged, tmp_path):
    result = run("data", "--format", "github")
    assert result.output.startswith(
        "::error file=data/1.0.0/sample-train.tfrecord-00000-of-00002,title=FK401 bad-label::"
    )
    result = run("data", "--format", "sarif", "--output", "report.sarif")
    assert (result.exit_code, result.output) == (1, "")
    value = json.loads((tmp_path / "report.sarif").read_text())
    assert value["runs"][0]["results"][0]["ruleId"] == "FK401"


def test_leakage(damaged):
    assert "FK501" not in run("data").output
    first = next(iter(fk.io.TFRecordReader(damaged.shard())))
    damaged.records(lambda _: first, split="test")
    result = run("data", "--leakage", "--select", "FK5")
    assert result.exit_code == 1
    assert "1 of the 2 examples of split 'test' (50.00%) are in 'train' too" in result.output
    assert run("data", "--leakage", "--leakage-feature", "nothing").exit_code == 2


def test_record_files(damaged, tmp_path):
    example = fk.io.make_example
    with fk.io.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        for record in ({"a": 1, "b": 2}, {"a": 2}):
            writer.write(fk.io.serialize(example(record)))
    assert run("a.tfrecord").exit_code == 0
    assert run("a.tfrecord", "--features", "infer").exit_code == 0
    assert "FK703" in run("a.tfrecord", "--no-absent").output
    features = fk.FeaturesDict({"a": np.int64, "b": np.int64})
    (tmp_path / "spec.json").write_text(json.dumps(features.to_feature_json()))
    assert "FK302 missing-entry" in run("a.tfrecord", "--features", "spec.json").output
    shard = damaged.shard()
    assert "FK401" in run(shard, "--features", damaged.folder).output
    result = run("a.tfrecord", "--features", "none.json")
    assert (result.exit_code, result.output) == (
        2,
        "MissingFileError: there is no such file of features\n  at: none.json\n",
    )


def test_datasets_of_changed_files(damaged, tmp_path):
    (tmp_path / "README.md").write_text("")
    files = [damaged.shard(), damaged.path("features.json"), tmp_path / "README.md"]
    result = run("--datasets-of-files", *files)
    assert (result.exit_code, result.output) == (1, REPORT)
    result = run("--datasets-of-files", tmp_path / "README.md")
    assert result.exit_code == 0
