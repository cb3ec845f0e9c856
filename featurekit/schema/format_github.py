"""Findings as annotations that GitHub Actions shows beside the files.

Source: GitHub's documentation of workflow commands.
"""

from __future__ import annotations

from featurekit.schema.findings import Finding
from featurekit.schema.format_text import summary
from featurekit.schema.paths import relative_path
from featurekit.schema.validation import Report

__all__ = ["annotation", "format_github"]


def format_github(report: Report) -> str:
    """A workflow command for each finding, and a line that sums up."""
    return "".join(f"{line}\n" for line in [*map(_command, report.findings), summary(report)])


def _command(finding: Finding) -> str:
    place = finding.place
    text = finding.message
    text += f" ({finding.count:,} places)" if finding.count > 1 else ""
    where = f"{place}\n" if str(place) else ""
    return annotation(
        finding.severity.value,
        f"{text}\n{where}{finding.cure}",
        title=f"{finding.code} {finding.rule.name}",
        file=place.file,
        line=place.line,
    )


def annotation(
    level: str, message: str, *, title: str, file: str | None = None, line: int | None = None
) -> str:
    """One workflow command.

    >>> annotation("error", "50% are wrong", title="FK401, labels", file="a.json", line=3)
    '::error file=a.json,line=3,title=FK401%2C labels::50%25 are wrong'
    """
    properties = {"file": relative_path(file) if file else None, "line": line, "title": title}
    shown = ",".join(f"{k}={_property(str(v))}" for k, v in properties.items() if v is not None)
    return f"::{level} {shown}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
