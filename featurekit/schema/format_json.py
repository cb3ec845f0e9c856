"""Findings as JSON."""

from __future__ import annotations

import json

from featurekit.schema.validation import Report

__all__ = ["format_json"]


def format_json(report: Report) -> str:
    """One object: the findings, and how much was looked at."""
    value = {
        "ok": report.ok,
        "findings": [finding.as_json() for finding in report.findings],
        "known": [finding.as_json() for finding in report.known],
        "targets": report.targets,
        "files": report.shards,
        "records": report.records,
        "decoded": report.decoded,
        "bytes": report.num_bytes,
    }
    return json.dumps(value, indent=2) + "\n"
