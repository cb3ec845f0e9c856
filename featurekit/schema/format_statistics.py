"""Statistics of a dataset as text for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["format_statistics"]

_PARTS = ("values", "lengths", "sizes", "height", "width", "samples")
_UNITS = {
    "lengths": "elements",
    "sizes": "bytes",
    "height": "pixels",
    "width": "pixels",
    "samples": "samples",
}
_TOP = 5


def format_statistics(statistics: Mapping[str, Any]) -> str:
    """A paragraph for each split, with some lines for each feature."""
    return "\n\n".join(
        "\n".join(_split(name, split)) for name, split in statistics["splits"].items()
    )


def _split(name: str, split: Mapping[str, Any]) -> Iterator[str]:
    yield f"split {name}: {split['examples']:,} examples"
    for feature, found in split["features"].items():
        missing = f", {found['missing']:,} missing" if found["missing"] else ""
        yield f"  {feature} ({found['type']}{missing})"
        for part in _PARTS:
            if part in found:
                yield f"    {part}: {_numbers(found[part])}{_unit(part)}"
        if found.get("top"):
            yield f"    {_top(found)}"


def _numbers(part: Mapping[str, Any]) -> str:
    text = "none"
    if "min" in part:
        text = (
            f"{_number(part['min'])} to {_number(part['max'])}, "
            f"mean {_number(part['mean'])}, std {_number(part['std'])}"
        )
    if "quantiles" in part:
        text += f", median {_number(part['quantiles']['0.5'])}"
    for name in ("nan", "infinite"):
        if part.get(name):
            text += f", {part[name]:,} {name}"
    return text


def _number(value: float | None) -> str:
    if value is None:
        return "too large"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def _unit(part: str) -> str:
    return f" {_UNITS[part]}" if part in _UNITS else ""


def _top(found: Mapping[str, Any]) -> str:
    distinct = found["distinct"]
    shown = ", ".join(f"{_value(value)} ({count:,})" for value, count in found["top"][:_TOP])
    more = ", ..." if len(found["top"]) > _TOP else ""
    count = "many" if distinct is None else f"{distinct:,}"
    return f"{count} different: {shown}{more}"


def _value(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 30 else f"{text[:27]}..."
