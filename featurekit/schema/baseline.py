"""A baseline: findings that are known, and not reported again.

It is a JSON file, with paths relative to its own folder::

    {"findings": [{"code": "FK405", "where": "1.0.0:train", "feature": "text", "count": 3}]}

A finding is known as long as it occurs no more often than the baseline says.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from featurekit.errors import InvalidArgumentError, MissingFileError
from featurekit.schema.findings import Finding
from featurekit.schema.validation import Report

__all__ = ["apply_baseline", "write_baseline"]

_Key = tuple[str, str, str]


def write_baseline(report: Report, path: str) -> None:
    """Write a file that makes all findings of a report known."""
    rows = [
        {"code": code, "where": where, "feature": feature, "count": finding.count}
        for finding in [*report.findings, *report.known]
        for code, where, feature in [_key(finding, path)]
    ]
    rows.sort(key=lambda row: (row["code"], row["where"], row["feature"]))
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps({"findings": rows}, indent=2) + "\n")


def apply_baseline(report: Report, path: str) -> None:
    """Move the findings that a baseline knows from `findings` to `known`.

    Raises:
        MissingFileError: There is no such file.
        InvalidArgumentError: It is no baseline.
    """
    counts = _read(path)
    findings, report.findings = report.findings, []
    for finding in findings:
        known = finding.count <= counts.get(_key(finding, path), 0)
        (report.known if known else report.findings).append(finding)


def _key(finding: Finding, path: str) -> _Key:
    code, where, feature = finding.key
    root = os.path.dirname(os.path.abspath(path))
    relative = os.path.relpath(os.path.abspath(where), root).replace(os.sep, "/")
    return code, relative, feature


def _read(path: str) -> dict[_Key, int]:
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
        return {_row_key(row): int(row["count"]) for row in value["findings"]}
    except FileNotFoundError:
        raise MissingFileError(
            "there is no such baseline", file=path, hint="make one with --write-baseline"
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidArgumentError(
            f"the file is no baseline: {type(error).__name__}: {error}",
            file=path,
            hint="make it again with --write-baseline",
        ) from error


def _row_key(row: Mapping[str, Any]) -> _Key:
    return str(row["code"]), str(row["where"]), str(row.get("feature", ""))
