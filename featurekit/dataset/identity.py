"""What a dataset is called, and where it lies."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from featurekit.dataset.version import Version

__all__ = ["DatasetIdentity"]


@dataclasses.dataclass(frozen=True)
class DatasetIdentity:
    """Name, config and version of a dataset.

    Attributes:
        name: Name of the dataset.
        version: Version.
        config_name: Name of the config, or None where the dataset has none.
        config_description: Description of the config.
        config_tags: Tags of the config.
        release_notes: What changed, by version.
        module_name: Python module of the builder.
        data_dir: The folder of the version, where it is known.
    """

    name: str
    version: Version
    config_name: str | None = None
    config_description: str | None = None
    config_tags: tuple[str, ...] = ()
    release_notes: Mapping[str, str] = dataclasses.field(default_factory=dict)
    module_name: str = ""
    data_dir: str | None = None

    @property
    def identity(self) -> DatasetIdentity:
        """Itself, so that it can stand for a builder in `DatasetInfo(builder=...)`."""
        return self

    @property
    def full_name(self) -> str:
        """`name/version`, or `name/config/version`."""
        parts = [self.name, self.config_name, str(self.version)]
        return "/".join(part for part in parts if part)
