"""BuilderConfig: one variant of a dataset."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from featurekit.dataset.naming import check_config_name
from featurekit.dataset.version import Version
from featurekit.errors import InvalidArgumentError, UnknownNameError, did_you_mean

__all__ = ["BuilderConfig", "choose_config", "choose_version", "config_fields"]


@dataclasses.dataclass(eq=False)
class BuilderConfig:
    """One variant of a dataset, with a name of its own.

    Subclasses, also plain dataclasses, add what tells the variants apart.

    Attributes:
        name: Name of the config.
        version: Version of this config, in place of the builder's.
        release_notes: What changed in this config, by version.
        supported_versions: Further versions that can be read.
        description: What is special about this config.
        tags: Tags, for people.
    """

    name: str
    version: Version | str | None = None
    release_notes: Mapping[str, str] | None = None
    supported_versions: Iterable[Version | str] = dataclasses.field(default_factory=list)
    description: str | None = None
    tags: Iterable[str] = dataclasses.field(default_factory=list)

    @classmethod
    def replace(cls, config: BuilderConfig, **changes: Any) -> BuilderConfig:
        """A copy with some attributes changed."""
        return dataclasses.replace(config, **changes)


def config_fields(config: BuilderConfig | None) -> dict[str, Any]:
    """What a `DatasetIdentity` says about the config of a dataset."""
    if config is None:
        return {}
    return {
        "config_name": config.name,
        "config_description": config.description,
        "config_tags": tuple(config.tags or ()),
    }


def choose_config(
    configs: Iterable[BuilderConfig], wanted: str | BuilderConfig | None, default: str | None
) -> BuilderConfig | None:
    """The config a builder works on; None where the dataset has no configs.

    Args:
        configs: Those of the builder. Several may have one name, with different versions;
            each is then called `name:version`.
        wanted: A name, a config of the caller's own, or None for the default one.
        default: Name of the default config; by default the first.

    Raises:
        UnknownNameError: There is no config of that name.
        InvalidArgumentError: Two configs have one name and version, or the caller's own has
            the name of one of the builder's.
    """
    known = _by_name(configs)
    if wanted is None or wanted == "":
        if default is not None:
            return _look_up(default, known)
        return next(iter(known.values()), None)
    if isinstance(wanted, str):
        return _look_up(wanted, known)
    check_config_name(wanted.name)
    if known.get(wanted.name, wanted) is not wanted:
        raise InvalidArgumentError(
            f"the config {wanted.name!r} exists already, and this is another one",
            hint="give the name alone, or another name to your own config",
        )
    return wanted


def _by_name(configs: Iterable[BuilderConfig]) -> dict[str, BuilderConfig]:
    configs = list(configs)
    counts = collections.Counter(config.name for config in configs)
    known: dict[str, BuilderConfig] = {}
    for config in configs:
        check_config_name(config.name)
        name = config.name if counts[config.name] == 1 else f"{config.name}:{config.version}"
        if name in known:
            raise InvalidArgumentError(
                f"there are two configs called {name!r}",
                hint="give each entry of BUILDER_CONFIGS a name of its own",
            )
        known[name] = config
    return known


def _look_up(name: str, known: Mapping[str, BuilderConfig]) -> BuilderConfig:
    if name in known:
        return known[name]
    raise UnknownNameError(
        f"there is no config {name!r}{did_you_mean(name, known)}",
        hint=None if known else "this dataset has no configs",
    )


def choose_version(
    wanted: str | Version | None, canonical: Version, supported: Iterable[Version]
) -> Version:
    """The version a builder works on.

    Args:
        wanted: A version, a pattern such as `1.*.*`, `experimental_latest` for the highest,
            or None for the canonical one.
        canonical: The version that the code builds.
        supported: Further versions that can be read.

    Raises:
        UnknownNameError: No version matches.
    """
    versions = [canonical, *supported]
    if wanted is None:
        return canonical
    if wanted == "experimental_latest":
        return max(versions)
    for version in versions:
        if version.match(wanted):
            return version
    known = ", ".join(str(version) for version in versions)
    raise UnknownNameError(f"there is no version {wanted}; there are {known}")
