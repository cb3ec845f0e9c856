"""Drift: how far the values of a dataset have moved, between versions or between splits."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from featurekit.errors import InvalidArgumentError, did_you_mean
from featurekit.schema.findings import Finding, Place

__all__ = ["Thresholds", "find_drift", "find_split_drift"]

Json = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Thresholds:
    """How far values may move unnoticed.

    Attributes:
        label: Change in the share of one class, from 0 to 1.
        range: How far values reach beyond their former range, as a part of its width.
        missing: Change in the share of missing values, from 0 to 1.
        size: Change in the mean height, width, length or size, as a part of the former one.
    """

    label: float = 0.1
    range: float = 0.1
    missing: float = 0.05
    size: float = 0.25

    @classmethod
    def parse(cls, text: str) -> Thresholds:
        """Read `"label=0.05,size=0.5"`; what is not named has its default.

        Raises:
            InvalidArgumentError: A name is unknown, or a threshold is no number from 0 on.
        """
        names = [field.name for field in dataclasses.fields(cls)]
        values = {}
        for item in filter(None, text.split(",")):
            name, _, number = (part.strip() for part in item.partition("="))
            if name not in names:
                raise InvalidArgumentError(
                    f"there is no threshold {name!r}{did_you_mean(name, names)}"
                )
            try:
                values[name] = float(number)
            except ValueError:
                values[name] = -1.0
            if not values[name] >= 0:
                raise InvalidArgumentError(
                    f"the threshold {name!r} must be a number from 0 on, got {number!r}",
                    hint="write label=0.05,size=0.5",
                )
        return cls(**values)


def find_drift(
    old: Json, new: Json, thresholds: Thresholds, *, file: str | None = None
) -> Iterator[Finding]:
    """What has moved between two versions of a dataset, in the splits that both have.

    Args:
        old: Statistics of the old version, as `compute_statistics` gives them.
        new: The same of the new one.
        thresholds: How far values may move.
        file: Folder of the new version, for the findings.
    """
    for name, split in new["splits"].items():
        if name in old["splits"]:
            yield from _compare(old["splits"][name], split, thresholds, Place(file, split=name))


def find_split_drift(
    statistics: Json, thresholds: Thresholds, *, file: str | None = None
) -> Iterator[Finding]:
    """What differs between the first split of a dataset and each other one."""
    names = list(statistics["splits"])
    for name in names[1:]:
        first, other = statistics["splits"][names[0]], statistics["splits"][name]
        yield from _compare(first, other, thresholds, Place(file, split=name), names[0])


def _compare(
    old: Json, new: Json, thresholds: Thresholds, place: Place, base: str = "before"
) -> Iterator[Finding]:
    for name, after in new["features"].items():
        before = old["features"].get(name)
        if before is None or not before["count"] or not after["count"]:
            continue
        for code, rule in _RULES.items():
            for text in rule(before, after, thresholds, base):
                where = dataclasses.replace(place, feature=name)
                yield Finding(code, text, where)


def _label_drift(old: Json, new: Json, thresholds: Thresholds, base: str) -> Iterator[str]:
    """The class whose share has changed most (the L-infinity distance of the distributions)."""
    before, after = old.get("labels"), new.get("labels")
    if not before or not after:
        return
    totals = sum(before.values()), sum(after.values())
    shares = {
        label: (before.get(label, 0) / totals[0], after.get(label, 0) / totals[1])
        for label in [*before, *(label for label in after if label not in before)]
    }
    label, (was, is_) = max(shares.items(), key=lambda item: abs(item[1][1] - item[1][0]))
    if abs(is_ - was) > thresholds.label:
        yield f"the share of {label!r} is {is_:.1%}, {_than(base)} {was:.1%}"


def _range_drift(old: Json, new: Json, thresholds: Thresholds, base: str) -> Iterator[str]:
    before, after = old.get("values", {}), new.get("values", {})
    if "labels" in old or "min" not in before or "min" not in after:
        return
    slack = thresholds.range * (before["max"] - before["min"])
    if after["min"] < before["min"] - slack or after["max"] > before["max"] + slack:
        yield (
            f"values are from {after['min']:g} to {after['max']:g}, "
            f"{_than(base)} from {before['min']:g} to {before['max']:g}"
        )


def _missing_drift(old: Json, new: Json, thresholds: Thresholds, base: str) -> Iterator[str]:
    was, is_ = old["missing"] / old["count"], new["missing"] / new["count"]
    if abs(is_ - was) > thresholds.missing:
        yield f"{is_:.1%} of the values are missing, {_than(base)} {was:.1%}"


def _size_drift(old: Json, new: Json, thresholds: Thresholds, base: str) -> Iterator[str]:
    for part, unit in _SIZES.items():
        was, is_ = (side.get(part, {}).get("mean") for side in (old, new))
        if was and is_ is not None and abs(is_ - was) > thresholds.size * was:
            yield f"the mean {unit} is {is_:.4g}, {_than(base)} {was:.4g}"
            return


_SIZES = {
    "height": "height in pixels",
    "width": "width in pixels",
    "samples": "number of samples",
    "lengths": "length in elements",
    "sizes": "size in bytes",
}

_RULES: Mapping[str, Callable[[Json, Json, Thresholds, str], Iterator[str]]] = {
    "FK601": _label_drift,
    "FK602": _range_drift,
    "FK603": _missing_drift,
    "FK604": _size_drift,
}


def _than(base: str) -> str:
    return "before" if base == "before" else f"in '{base}'"
