"""Changes between two versions of a dataset: how much they matter, and which bump they require.

The rules are TFDS's: MAJOR where data that was there has changed or a slice may give other
records, MINOR where data that was there is the same and there is more of it, PATCH where
readers get the same and only what is on disk differs.

Source: TFDS's guide on the versions of datasets.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

from featurekit.dataset.version import Version

__all__ = ["Bump", "Change", "Level", "bumped"]


class Level(enum.IntEnum):
    """What a change means for those who read the dataset."""

    IDENTICAL = 0
    """Nothing."""
    DOCUMENTATION = 1
    """Texts for people have changed."""
    COMPATIBLE = 2
    """A program that read the old version reads the new one, and gets what it got."""
    BREAKING = 3
    """It may fail, or get other values."""


class Bump(enum.IntEnum):
    """Which number of a version has to grow."""

    NONE = 0
    PATCH = 1
    MINOR = 2
    MAJOR = 3


@dataclasses.dataclass(frozen=True)
class Change:
    """One change.

    Attributes:
        kind: A short name, in kebab case, such as `dtype` or `feature-added`.
        level: What it means for readers.
        bump: Which number of the version has to grow.
        message: What has changed, from what to what.
        where: What it is about: the path of a feature, `split train`, or a field's name.
        old: What there was, as a JSON value; None for nothing.
        new: What there is.
    """

    kind: str
    level: Level
    bump: Bump
    message: str
    where: str
    old: Any = None
    new: Any = None

    def as_json(self) -> dict[str, Any]:
        """All of it, as JSON values."""
        return {
            "kind": self.kind,
            "level": self.level.name.lower(),
            "bump": self.bump.name.lower(),
            "where": self.where,
            "message": self.message,
            "old": self.old,
            "new": self.new,
        }


def bumped(version: Version, bump: Bump) -> Version:
    """The lowest version that is so much higher.

    >>> str(bumped(Version("1.2.3"), Bump.MINOR)), str(bumped(Version("1.2.3"), Bump.NONE))
    ('1.3.0', '1.2.3')
    """
    major, minor, patch = version.tuple
    numbers = {
        Bump.NONE: (major, minor, patch),
        Bump.PATCH: (major, minor, patch + 1),
        Bump.MINOR: (major, minor + 1, 0),
        Bump.MAJOR: (major + 1, 0, 0),
    }
    return Version(".".join(map(str, numbers[bump])))
