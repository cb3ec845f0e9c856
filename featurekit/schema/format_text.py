"""Findings as text for people."""

from __future__ import annotations

from collections.abc import Iterator

from featurekit.schema.findings import Finding
from featurekit.schema.rules import Severity
from featurekit.schema.validation import Report

__all__ = ["format_text", "paint", "summary"]

_COLORS = {"red": 31, "green": 32, "yellow": 33, "dim": 2, "bold": 1}
_SEVERITY_COLORS = {Severity.ERROR: "red", Severity.WARNING: "yellow"}


def format_text(report: Report, *, color: bool = False) -> str:
    """A paragraph for each finding, and a line that sums up.

    Args:
        report: What was found.
        color: Whether to colour it for a terminal.
    """
    blocks = ["\n".join(_lines(finding, color)) for finding in report.findings]
    return "\n\n".join([*blocks, summary(report, color=color)]) + "\n"


def _lines(finding: Finding, color: bool) -> Iterator[str]:
    severity = paint(finding.severity.value, _SEVERITY_COLORS[finding.severity], color)
    code = paint(f"{finding.code} {finding.rule.name}", "bold", color)
    places = f" ({finding.count:,} places)" if finding.count > 1 else ""
    yield f"{severity} {code}: {finding.message}{places}"
    if str(finding.place):
        yield f"  at: {finding.place}"
    yield paint(f"  cure: {finding.cure}", "dim", color)


def summary(report: Report, *, color: bool = False) -> str:
    """How much was looked at, and how much is wrong, in one line."""
    looked = (
        f"{_many(len(report.targets), 'target')}, {_many(report.shards, 'record file')}, "
        f"{_many(report.records, 'record')}, {report.decoded:,} decoded"
    )
    errors, warnings = report.count(Severity.ERROR), report.count(Severity.WARNING)
    if report.ok:
        verdict = paint("nothing is wrong", "green", color)
    else:
        verdict = f"{_many(errors, 'error')}, {_many(warnings, 'warning')}"
        verdict = paint(verdict, "red" if errors else "yellow", color)
    known = f" ({_many(len(report.known), 'finding')} known from the baseline)"
    return f"{looked}: {verdict}{known if report.known else ''}"


def paint(text: str, color: str, on: bool) -> str:
    """Text in a colour of the terminal."""
    return f"\x1b[{_COLORS[color]}m{text}\x1b[0m" if on else text


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
