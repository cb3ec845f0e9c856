"""What was seen under a key, in words."""

from __future__ import annotations

from typing import Any

from featurekit.io.columns import Kind
from featurekit.schema.statistics import ContentStatistics, KeyStatistics, Range

__all__ = ["contents_in_words", "many", "range_in_words", "values_in_words"]

_MAX_TEXT = 24  # characters shown of a first value

_NAMES = {
    "text": "text",
    "json": "JSON",
    "tensor": "serialized tensor",
    "Example": "serialized Example",
    "SequenceExample": "serialized SequenceExample",
    "bytes": "binary",
    "empty": "empty",
}


def range_in_words(numbers: Range) -> str:
    """A range, as `"3"` or `"0 to 5"`; `""` where there were no numbers.

    >>> range_in_words(Range(0, 5)), range_in_words(Range(0.1, 0.1))
    ('0 to 5', '0.1')
    """
    if numbers.low is None:
        return ""
    if numbers.fixed is not None:
        return _number(numbers.low)
    return f"{_number(numbers.low)} to {_number(numbers.high)}"


def values_in_words(key: KeyStatistics) -> str:
    """What the values of a key are, and the first of them; no line breaks."""
    if not key.kinds:
        return "no kind of list is set"
    parts = [contents_in_words(content) for content in key.contents.values()]
    if numbers := range_in_words(key.numbers):
        parts.append(numbers)
    if key.nans:
        parts.append(f"{key.nans} NaN")
    first = _first(key)
    text = ", ".join(_counted(key, parts))
    return f"{text}; first {first}" if first else text or "no values"


def contents_in_words(content: ContentStatistics) -> str:
    """One kind of content, such as `"PNG image 28 x 28 x 1"`."""
    name = _NAMES.get(content.kind, f"{content.format} {content.kind}")
    parts = [name]
    if content.kind == "audio":
        parts += _sound(content)
    elif content.shape:
        parts.append(" x ".join(map(_size, content.shape)))
    if content.dtypes and (content.kind == "tensor" or content.dtypes != {"uint8"}):
        parts.append(" or ".join(sorted(content.dtypes)))
    if content.kind != "empty":
        unit = "byte" if content.sizes.fixed == 1 else "bytes"
        parts.append(f"({range_in_words(content.sizes)} {unit})")
    if content.damaged:
        parts.append(f"({content.damaged} damaged)")
    return " ".join(parts)


def _sound(content: ContentStatistics) -> list[str]:
    parts = []
    if content.rates:
        parts.append(" or ".join(f"{rate} Hz" for rate in sorted(content.rates)))
    if content.shape:
        samples, channels = content.shape
        parts.append(f"{_size(samples)} samples x {_size(channels)}")
    return parts


def _counted(key: KeyStatistics, parts: list[str]) -> list[str]:
    """Say how many values are of each content, where there are several."""
    if len(key.contents) < 2:
        return parts
    counts = (content.count for content in key.contents.values())
    return [f"{count} of {part}" for count, part in zip(counts, parts, strict=False)]


def _first(key: KeyStatistics) -> str:
    """The first values: numbers, and text in quotes."""
    if next(iter(key.first_of_kind)) is Kind.BYTES:
        if not {kind for kind, _ in key.contents} <= {"text", "json", "empty"}:
            return ""
        return ", ".join(_quoted(value) for value in key.first[:2])
    shown = ", ".join(_number(value) for value in key.first)
    return f"{shown}, ..." if key.first_length > len(key.first) else shown


def _quoted(value: bytes) -> str:
    text = value.decode("utf-8", "ignore")
    return repr(text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 3]}...")


def many(count: int, noun: str) -> str:
    """A number of things, as `"1 record"` or `"1,797 records"`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _size(dim: Range) -> str:
    return str(dim.low) if dim.fixed is not None else f"{dim.low}..{dim.high}"


def _number(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
