"""Findings: what validation says about a dataset."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

from featurekit.errors import FeatureKitError
from featurekit.schema.rules import RULES, Rule, Severity

__all__ = ["Finding", "Findings", "Place"]

_INDEX = re.compile(r"\[\d+\]")


@dataclasses.dataclass(frozen=True)
class Place:
    """Where something is; what is not known, or makes no sense, is None.

    Attributes:
        file: Path of the file or folder.
        line: Line of the file, from 1, where it is text.
        record: Index of the record in the file, from 0.
        byte: Offset in the file.
        feature: Path of the feature, such as `objects[2].label`.
        split: Name of the split.
    """

    file: str | None = None
    line: int | None = None
    record: int | None = None
    byte: int | None = None
    feature: str | None = None
    split: str | None = None

    def __str__(self) -> str:
        """For people: the file first, then what is in it."""
        file = self.file or ""
        parts = [f"{file}:{self.line}" if self.line else file]
        parts += [f"record {self.record}"] if self.record is not None else []
        parts += [f"byte {self.byte}"] if self.byte is not None else []
        parts += [self.feature] if self.feature else []
        if not self.file and self.split:
            parts.append(f"split {self.split}")
        return ", ".join(part for part in parts if part)

    def as_json(self) -> dict[str, Any]:
        """What is known, by name."""
        return {key: value for key, value in vars(self).items() if value is not None}


@dataclasses.dataclass(frozen=True)
class Finding:
    """One fault, at its first place.

    The same fault at several places, such as a feature whose values are wrong in many
    records of a split, is one finding.

    Attributes:
        code: The code of its rule, such as `FK401`.
        message: What was expected and what was found.
        place: The first place.
        count: Number of places.
        cure: What to do about it.
    """

    code: str
    message: str
    place: Place = Place()
    count: int = 1
    cure: str = ""

    def __post_init__(self) -> None:
        if not self.cure:
            object.__setattr__(self, "cure", RULES[self.code].cure)

    @property
    def rule(self) -> Rule:
        """What kind of fault it is."""
        return RULES[self.code]

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return self.rule.severity

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes two findings the same one: code, file or split, feature."""
        file = self.place.file or ""
        if self.place.split:
            file = f"{os.path.dirname(file)}:{self.place.split}"
        return self.code, file, _INDEX.sub("[]", self.place.feature or "")

    @classmethod
    def of_error(cls, code: str, error: FeatureKitError, place: Place) -> Finding:
        """The finding that an exception stands for; the place is filled up from it."""
        file = place.file if place.file is not None else error.file
        record = place.record if place.record is not None else error.record
        byte = place.byte if place.byte is not None else error.byte
        filled = dataclasses.replace(place, file=file, record=record, byte=byte)
        return cls(code, error.message, filled)

    def as_json(self) -> dict[str, Any]:
        """All of it, as JSON values."""
        return {
            "code": self.code,
            "name": self.rule.name,
            "severity": self.severity.value,
            "message": self.message,
            "place": self.place.as_json(),
            "count": self.count,
            "cure": self.cure,
        }


class Findings:
    """Findings in the order in which they came, each once.

    Example:
        >>> found = Findings()
        >>> for record in (3, 7):
        ...     place = Place("a", record=record, feature="label", split="train")
        ...     found.add(Finding("FK401", f"label {record} is none", place))
        >>> [(finding.message, finding.count) for finding in found]
        [('label 3 is none', 2)]
    """

    def __init__(self, findings: Iterable[Finding] = ()) -> None:
        self._found: dict[tuple[str, str, str], Finding] = {}
        self.extend(findings)

    def add(self, finding: Finding) -> None:
        """Add one; where it is known already, count it there."""
        known = self._found.get(finding.key)
        if known is not None:
            finding = dataclasses.replace(known, count=known.count + finding.count)
        self._found[finding.key] = finding

    def extend(self, findings: Iterable[Finding]) -> None:
        """Add several."""
        for finding in findings:
            self.add(finding)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._found.values())

    def __len__(self) -> int:
        return len(self._found)
