"""Versions and configs of a dataset that its author blocks."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from featurekit.dataset.version import Version
from featurekit.errors import BuildError

__all__ = ["BlockedVersions"]


@dataclasses.dataclass(frozen=True)
class BlockedVersions:
    """Versions and configs that must not be built, such as those whose data are wrong.

    Attributes:
        versions: The reason for each blocked version, or None.
        configs: For a version, the reason for each config that is blocked in it.
    """

    versions: Mapping[str, str | None] = dataclasses.field(default_factory=dict)
    configs: Mapping[str, Mapping[str, str | None]] = dataclasses.field(default_factory=dict)

    def check(self, version: Version, config: str | None, name: str) -> None:
        """Refuse a blocked version or config.

        Raises:
            BuildError: It is blocked; says why.
        """
        key = str(version)
        if key in self.versions:
            raise _blocked(f"version {key} of {name!r}", self.versions[key])
        blocked = self.configs.get(key, {})
        if config is not None and config in blocked:
            raise _blocked(f"config {config!r} in version {key} of {name!r}", blocked[config])


def _blocked(what: str, reason: str | None) -> BuildError:
    why = f": {reason}" if reason else ""
    return BuildError(f"{what} is blocked by its author{why}", hint="build another version")
