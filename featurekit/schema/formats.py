"""The formats in which findings are reported."""

from __future__ import annotations

from collections.abc import Callable

from featurekit.schema.format_github import format_github
from featurekit.schema.format_json import format_json
from featurekit.schema.format_junit import format_junit
from featurekit.schema.format_sarif import format_sarif
from featurekit.schema.format_text import format_text
from featurekit.schema.validation import Report

__all__ = ["FORMATS"]

FORMATS: dict[str, Callable[[Report], str]] = {
    "text": format_text,
    "json": format_json,
    "junit": format_junit,
    "github": format_github,
    "sarif": format_sarif,
}
"""What writes a report, by the format's name."""
