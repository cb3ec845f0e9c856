"""Findings as SARIF 2.1.0, the format that code scanners report in.

Source: the OASIS standard, Static Analysis Results Interchange Format 2.1.0.
"""

from __future__ import annotations

import hashlib
import json
import urllib.parse
from typing import Any

import featurekit
from featurekit.schema.findings import Finding, Place
from featurekit.schema.paths import relative_path
from featurekit.schema.rules import RULES, Rule
from featurekit.schema.validation import Report

__all__ = ["format_sarif"]

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


def format_sarif(report: Report) -> str:
    """One run with a result for each finding; known ones are there, and suppressed."""
    used = sorted({finding.code for finding in [*report.findings, *report.known]})
    numbers = {code: number for number, code in enumerate(used)}
    results = [_result(finding, numbers) for finding in report.findings]
    known = [{**_result(f, numbers), "suppressions": [{"kind": "external"}]} for f in report.known]
    driver = {
        "name": "featurekit",
        "version": featurekit.__version__,
        "rules": [_rule(RULES[code]) for code in used],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": results + known,
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.meaning},
        "help": {"text": rule.cure},
        "defaultConfiguration": {"level": rule.severity.value},
    }


def _result(finding: Finding, numbers: dict[str, int]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": numbers[finding.code],
        "level": finding.severity.value,
        "message": {"text": f"{finding.message}; {finding.cure}"},
        "occurrenceCount": finding.count,
        "partialFingerprints": {"featurekit/v1": _fingerprint(finding)},
    }
    if location := _location(finding.place):
        result["locations"] = [location]
    return result


def _location(place: Place) -> dict[str, Any]:
    location: dict[str, Any] = {}
    if place.file is not None:
        uri = urllib.parse.quote(relative_path(place.file))
        location["physicalLocation"] = {"artifactLocation": {"uri": uri}}
        if place.line is not None:
            location["physicalLocation"]["region"] = {"startLine": place.line}
        elif place.byte is not None:
            location["physicalLocation"]["region"] = {"byteOffset": place.byte}
    if place.feature is not None:
        location["logicalLocations"] = [{"fullyQualifiedName": place.feature, "kind": "member"}]
    if place.record is not None:
        location["message"] = {"text": f"record {place.record}"}
    return location


def _fingerprint(finding: Finding) -> str:
    """What stays the same for the same fault, wherever the dataset lies."""
    code, file, feature = finding.key
    text = "\0".join((code, relative_path(file), feature))
    return hashlib.sha256(text.encode()).hexdigest()[:32]
