"""Changes between versions, as text for people, JSON, and annotations of GitHub Actions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from featurekit.schema.changes import Change, Level
from featurekit.schema.diffing import Diff
from featurekit.schema.findings import Finding
from featurekit.schema.format_github import annotation
from featurekit.schema.format_text import paint

__all__ = ["DIFF_FORMATS", "format_diff_text", "verdict"]

_COLORS = {Level.BREAKING: "red", Level.COMPATIBLE: "yellow", Level.DOCUMENTATION: "dim"}


def format_diff_text(found: Diff, *, color: bool = False) -> str:
    """A line for each change, the gravest first, and a verdict.

    Args:
        found: The changes.
        color: Whether to colour it for a terminal.
    """
    return "\n".join([*_lines(found, color), verdict(found)]) + "\n"


def _lines(found: Diff, color: bool) -> Iterator[str]:
    for level in sorted(Level, reverse=True):
        of_level = [change for change in found.changes if change.level is level]
        if of_level:
            yield paint(f"{_title(level)}:", _COLORS[level], color)
            yield from (f"  {_line(change)}" for change in of_level)
            yield ""
    if found.drift:
        yield paint("drift:", "yellow", color)
        yield from (f"  {_drift_line(finding)}" for finding in found.drift)
        yield ""


def _title(level: Level) -> str:
    return "documentation only" if level is Level.DOCUMENTATION else level.name.lower()


def _line(change: Change) -> str:
    return f"{change.where}: {change.message} ({change.bump.name})"


def _drift_line(finding: Finding) -> str:
    place = finding.place
    return f"split {place.split}, {place.feature}: {finding.message} ({finding.code})"


def verdict(found: Diff) -> str:
    """What the changes mean together, and the version that they require."""
    text = f"{_title(found.level)}, requires {found.bump.name}"
    if found.level is Level.IDENTICAL:
        text = "identical"
    if found.required_version is not None and found.new.version is not None:
        word = "enough" if found.version_is_enough else "too low"
        text += (
            f": {found.old.version} -> {found.required_version} or higher; "
            f"{found.new.version} is {word}"
        )
    return text


def _json(found: Diff) -> str:
    return json.dumps(found.as_json(), indent=2, default=str) + "\n"


def _github(found: Diff) -> str:
    levels = {Level.BREAKING: "warning", Level.COMPATIBLE: "notice", Level.DOCUMENTATION: "notice"}
    lines = [
        annotation(levels[change.level], _line(change), title=f"{change.level.name.lower()} change")
        for change in found.changes
    ]
    lines += [
        annotation("warning", _drift_line(finding), title=f"{finding.code} {finding.rule.name}")
        for finding in found.drift
    ]
    return "\n".join([*lines, verdict(found)]) + "\n"


DIFF_FORMATS: dict[str, Callable[[Diff], str]] = {
    "text": format_diff_text,
    "json": _json,
    "github": _github,
}
"""What writes changes, by the format's name."""
