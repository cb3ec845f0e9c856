"""Reports in each format: whole texts, and what other programs require of them."""

import json
import pathlib
from xml.etree import ElementTree

import jsonschema
import pytest

from featurekit.schema.findings import Finding, Place
from featurekit.schema.formats import FORMATS
from featurekit.schema.rules import RULES
from featurekit.schema.validation import Report

SCHEMA = pathlib.Path(__file__).parent.parent / "data" / "sarif" / "sarif-schema-2.1.0.json"

LABEL = Finding(
    "FK401",
    "expected a label from 0 to 2, or -1, got 3",
    Place("data/a:b/1.0.0/a-train.tfrecord-00000-of-00001", record=7, feature="objects[1].label"),
    1200,
)
FIELD = Finding("FK105", "unknown fields: 'a,b'", Place("data/x/1.0.0/dataset_info.json", line=3))
DAMAGE = Finding("FK202", "50% lost\x00\nhere", Place("data/x/1.0.0/ä shard", record=0, byte=12))
TARGETS = ["data/a:b/1.0.0", "data/x/1.0.0", "data/y/1.0.0"]


@pytest.fixture
def report(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known = [Finding("FK405", "the text is not UTF-8", Place("data/y/1.0.0/y", record=1))]
    return Report([LABEL, FIELD, DAMAGE], TARGETS, 5, 2500, 2400, 10**6, known)


CLEAN = Report([], ["data/y/1.0.0"], 1, 1, 1, 20)


def test_text(report):
    assert (
        FORMATS["text"](report)
        == """\
error FK401 bad-label: expected a label from 0 to 2, or -1, got 3 (1,200 places)
  at: data/a:b/1.0.0/a-train.tfrecord-00000-of-00001, record 7, objects[1].label
  cure: correct the value, or declare more classes

warning FK105 unknown-field: unknown fields: 'a,b'
  at: data/x/1.0.0/dataset_info.json:3
  cure: correct the field's name, or remove it

error FK202 bad-checksum: 50% lost\x00
here
  at: data/x/1.0.0/ä shard, record 0, byte 12
  cure: copy the file again from where the dataset was built

3 targets, 5 record files, 2,500 records, 2,400 decoded: 2 errors, 1 warning \
(1 finding known from the baseline)
"""
    )
    assert FORMATS["text"](CLEAN) == (
        "1 target, 1 record file, 1 record, 1 decoded: nothing is wrong\n"
    )


def test_text_in_color():
    from featurekit.schema.format_text import format_text

    text = format_text(CLEAN, color=True)
    assert text.endswith("decoded: \x1b[32mnothing is wrong\x1b[0m\n")


def test_json(report):
    value = json.loads(FORMATS["json"](report))
    assert value["findings"][0] == {
        "code": "FK401",
        "name": "bad-label",
        "severity": "error",
        "message": "expected a label from 0 to 2, or -1, got 3",
        "place": {
            "file": "data/a:b/1.0.0/a-train.tfrecord-00000-of-00001",
            "record": 7,
            "feature": "objects[1].label",
        },
        "count": 1200,
        "cure": "correct the value, or declare more classes",
    }
    del value["findings"]
    known = value.pop("known")
    assert [finding["code"] for finding in known] == ["FK405"]
    assert value == {
        "ok": False,
        "targets": TARGETS,
        "files": 5,
        "records": 2500,
        "decoded": 2400,
        "bytes": 10**6,
    }
    assert json.loads(FORMATS["json"](CLEAN))["ok"] is True


def test_github(report):
    assert FORMATS["github"](report).splitlines() == [
        "::error file=data/a%3Ab/1.0.0/a-train.tfrecord-00000-of-00001,title=FK401 bad-label::"
        "expected a label from 0 to 2, or -1, got 3 (1,200 places)%0A"
        "data/a:b/1.0.0/a-train.tfrecord-00000-of-00001, record 7, objects[1].label%0A"
        "correct the value, or declare more classes",
        "::warning file=data/x/1.0.0/dataset_info.json,line=3,title=FK105 unknown-field::"
        "unknown fields: 'a,b'%0Adata/x/1.0.0/dataset_info.json:3%0A"
        "correct the field's name, or remove it",
        "::error file=data/x/1.0.0/ä shard,title=FK202 bad-checksum::50%25 lost\x00%0Ahere%0A"
        "data/x/1.0.0/ä shard, record 0, byte 12%0A"
        "copy the file again from where the dataset was built",
        "3 targets, 5 record files, 2,500 records, 2,400 decoded: 2 errors, 1 warning "
        "(1 finding known from the baseline)",
    ]


def test_github_paths_are_relative_to_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    inside = Finding("FK201", "gone", Place(str(tmp_path / "data" / "a")))
    outside = Finding("FK201", "gone", Place("/elsewhere/a"))
    first, second, _ = FORMATS["github"](Report([inside, outside])).splitlines()
    assert first.startswith("::error file=data/a,title=")
    assert second.startswith("::error file=/elsewhere/a,title=")


def test_sarif(report):
    value = json.loads(FORMATS["sarif"](report))
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    validator = jsonschema.validators.validator_for(schema)(schema)
    assert list(validator.iter_errors(value)) == []
    assert list(validator.iter_errors(json.loads(FORMATS["sarif"](CLEAN)))) == []
    (run,) = value["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["FK105", "FK202", "FK401", "FK405"]
    label, field, damage, known = run["results"]
    assert rules[label["ruleIndex"]]["id"] == label["ruleId"] == "FK401"
    assert label["occurrenceCount"] == 1200
    (location,) = label["locations"]
    assert location["logicalLocations"] == [
        {"fullyQualifiedName": "objects[1].label", "kind": "member"}
    ]
    assert location["message"] == {"text": "record 7"}
    assert field["locations"][0]["physicalLocation"]["region"] == {"startLine": 3}
    assert damage["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "data/x/1.0.0/%C3%A4%20shard"},
        "region": {"byteOffset": 12},
    }
    assert known["suppressions"] == [{"kind": "external"}]


def test_every_rule_fits_sarif():
    findings = [Finding(code, "text") for code in RULES]
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    value = json.loads(FORMATS["sarif"](Report(findings)))
    jsonschema.validate(value, schema)


def test_junit(report):
    root = ElementTree.fromstring(FORMATS["junit"](report))
    suites = {suite.get("name"): suite for suite in root}
    counts = [(suite.get("tests"), suite.get("failures")) for suite in root]
    assert list(suites) == TARGETS
    assert counts == [("1", "1"), ("2", "2"), ("1", "0")]
    (case,) = suites[TARGETS[0]]
    assert case.get("name") == "FK401 bad-label objects[1].label"
    (failure,) = case
    assert failure.get("message") == "expected a label from 0 to 2, or -1, got 3"
    assert failure.text == (
        "at: data/a:b/1.0.0/a-train.tfrecord-00000-of-00001, record 7, objects[1].label\n"
        "places: 1200\n"
        "cure: correct the value, or declare more classes"
    )
    assert suites[TARGETS[1]][1][0].get("message") == "50% lost\N{REPLACEMENT CHARACTER}\nhere"
    (passed,) = suites[TARGETS[2]]
    assert not list(passed)
