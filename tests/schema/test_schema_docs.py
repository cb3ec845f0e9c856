"""The pages about validation and differences say what the code does."""

import dataclasses
import doctest
import pathlib
import re
import tomllib

import pytest

from featurekit.schema.drift import Thresholds
from featurekit.schema.rules import RULES
from featurekit.schema.settings import read_settings

DOCS = pathlib.Path(__file__).parents[2] / "docs"
VALIDATION = (DOCS / "validation.md").read_text(encoding="utf-8")
DIFF = (DOCS / "diff.md").read_text(encoding="utf-8")


def test_the_table_of_codes():
    rows = re.findall(r"^\| (FK\d+) \| `(.*?)` \| (\w+) \| (.*?) \| (.*?) \|$", VALIDATION, re.M)
    expected = [(r.code, r.name, r.severity.value, r.meaning, r.cure) for r in RULES.values()]
    assert rows == expected


@pytest.mark.parametrize("page", ["validation.md", "diff.md"])
def test_examples(page):
    failed, count = doctest.testfile(str(DOCS / page), module_relative=False)
    assert count > 3
    assert not failed


def test_the_settings_shown_are_legal(tmp_path):
    text = re.search(r"```toml\n(.*?)```", VALIDATION, re.S)[1]
    (tmp_path / "pyproject.toml").write_text(text)
    settings = read_settings(str(tmp_path / "pyproject.toml"))
    assert settings.keys() == tomllib.loads(text)["tool"]["featurekit"]["validate"].keys()
    Thresholds.parse(settings["drift-thresholds"])


def test_the_thresholds_shown():
    rows = dict(re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", DIFF, re.M))
    defaults = dataclasses.asdict(Thresholds())
    assert {name: float(value) for name, value in rows.items()} == defaults


def test_the_hook_shown_exists():
    hooks = (DOCS.parent / ".pre-commit-hooks.yaml").read_text()
    shown = re.search(r"- id: (featurekit-\w+)", VALIDATION)[1]
    assert re.findall(r"^- id: (.*)$", hooks, re.M) == [shown]
