"""Findings as JUnit XML, which most CI systems show as tests.

Source: the XML that JUnit's Ant task writes, as CI systems read it.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

from featurekit.schema.findings import Finding
from featurekit.schema.validation import Report

__all__ = ["format_junit"]

# Characters that XML 1.0 cannot hold.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def format_junit(report: Report) -> str:
    """A test suite for each target: a failure for each finding, or one test that passed."""
    root = ElementTree.Element("testsuites", name="featurekit validate")
    for target in report.targets:
        found = [finding for finding in report.findings if _target(finding, report) == target]
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=_legal(target),
            tests=str(max(len(found), 1)),
            failures=str(len(found)),
        )
        for finding in found:
            _add_failure(suite, finding, target)
        if not found:
            ElementTree.SubElement(suite, "testcase", classname=_legal(target), name="validate")
    ElementTree.indent(root)
    text: str = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _target(finding: Finding, report: Report) -> str:
    """The target that a finding is in: the longest one that its file begins with."""
    file = finding.place.file or ""
    inside = [target for target in report.targets if file.startswith(target)]
    return max(inside, key=len, default=report.targets[0])


def _add_failure(suite: ElementTree.Element, finding: Finding, target: str) -> None:
    name = f"{finding.code} {finding.rule.name}"
    if finding.place.feature:
        name += f" {finding.place.feature}"
    case = ElementTree.SubElement(suite, "testcase", classname=_legal(target), name=_legal(name))
    failure = ElementTree.SubElement(
        case, "failure", type=finding.severity.value, message=_legal(finding.message)
    )
    failure.text = _legal(f"at: {finding.place}\nplaces: {finding.count}\ncure: {finding.cure}")


def _legal(text: str) -> str:
    return _ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", text)
