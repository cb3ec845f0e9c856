"""What was seen in a file, as JSON values."""

from __future__ import annotations

import math
from typing import Any

from featurekit.schema.statistics import (
    ContentStatistics,
    KeyStatistics,
    ListStatistics,
    Range,
    Statistics,
)

__all__ = ["summary"]


def summary(seen: Statistics) -> dict[str, Any]:
    """Counts, sizes and keys; numbers that JSON has not are text, bytes that are no text hex."""
    return {
        "records": seen.records,
        "payload_bytes": {**_range(seen.sizes), "total": seen.total_bytes},
        "examples": seen.examples,
        "sequence_examples": seen.sequences,
        "other_payloads": [_content(content) for content in seen.others.values()],
        "keys": {key: _key(seen.keys[key]) for key in sorted(seen.keys)},
        "ragged": {
            name: {"levels": ragged.levels, "inner_size": ragged.inner_size}
            for name, ragged in sorted(seen.ragged.items())
            if ragged.fits
        },
        "context": {key: _key(seen.context[key]) for key in sorted(seen.context)},
        "feature_lists": {key: _list(seen.lists[key]) for key in sorted(seen.lists)},
        "keys_not_told_apart": seen.uncounted,
    }


def _key(key: KeyStatistics) -> dict[str, Any]:
    return {
        "kinds": {kind.field: count for kind, count in sorted(key.kinds.items())},
        "records": key.records,
        "no_kind": key.unset,
        "values": _range(key.lengths),
        "numbers": _range(key.numbers) if key.numbers.low is not None else None,
        "nans": key.nans,
        "contents": [_content(content) for content in key.contents.values()],
        "first": [_value(value) for value in key.first],
    }


def _list(key: ListStatistics) -> dict[str, Any]:
    steps = _key(key)
    return {"records": key.lists, "steps": _range(key.steps), "each_step": steps}


def _content(content: ContentStatistics) -> dict[str, Any]:
    return {
        "kind": content.kind,
        "format": content.format,
        "count": content.count,
        "damaged": content.damaged,
        "first_record": content.first_record,
        "bytes": _range(content.sizes),
        "shape": None if content.shape is None else [_range(dim) for dim in content.shape],
        "dtypes": sorted(content.dtypes),
        "sample_rates": sorted(content.rates),
    }


def _range(numbers: Range) -> dict[str, Any]:
    return {"min": _value(numbers.low), "max": _value(numbers.high)}


def _value(value: Any) -> Any:
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return {"hex": value.hex()}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
