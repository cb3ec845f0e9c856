"""diff: what has changed between two versions of a dataset, and the version that it requires."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from featurekit.connector import FeatureConnector
from featurekit.dataset.info import DatasetInfo
from featurekit.dataset.info_json import read_info
from featurekit.dataset.version import Version
from featurekit.errors import InvalidArgumentError
from featurekit.registry import check_trust
from featurekit.schema.changes import Bump, Change, Level, bumped
from featurekit.schema.dataset_statistics import read_or_compute_statistics
from featurekit.schema.diff_features import feature_changes
from featurekit.schema.drift import Thresholds, find_drift
from featurekit.schema.findings import Finding
from featurekit.schema.snapshot import FeatureNode, Snapshot, SplitSnapshot
from featurekit.schema.snapshot_sources import open_snapshot

__all__ = ["Diff", "diff"]

_DOCS = (Level.DOCUMENTATION, Bump.PATCH)
_SAME = (Level.COMPATIBLE, Bump.PATCH)
_MORE = (Level.COMPATIBLE, Bump.MINOR)
_BREAKS = (Level.BREAKING, Bump.MAJOR)

Source = str | os.PathLike[str] | FeatureConnector | DatasetInfo | Snapshot


@dataclasses.dataclass(frozen=True)
class Diff:
    """What has changed between two versions.

    Attributes:
        old: The old version.
        new: The new one.
        changes: All changes, those of features first.
        drift: How values have moved, where that was asked for.
    """

    old: Snapshot
    new: Snapshot
    changes: tuple[Change, ...]
    drift: tuple[Finding, ...] = ()

    @property
    def level(self) -> Level:
        """What the changes mean together."""
        return max((change.level for change in self.changes), default=Level.IDENTICAL)

    @property
    def bump(self) -> Bump:
        """Which number of the version has to grow."""
        return max((change.bump for change in self.changes), default=Bump.NONE)

    @property
    def required_version(self) -> Version | None:
        """The lowest version that the new one may have; None where the old one states none."""
        return None if self.old.version is None else bumped(Version(self.old.version), self.bump)

    @property
    def version_is_enough(self) -> bool:
        """Whether the version that the new one states is high enough.

        Raises:
            InvalidArgumentError: One of the two states no version.
        """
        for side in (self.old, self.new):
            if side.version is None:
                raise InvalidArgumentError(
                    "a file of features states no version to check",
                    file=side.source,
                    hint="compare folders of datasets, or builder files",
                )
        required, stated = self.required_version, Version(str(self.new.version))
        return required is not None and stated >= required

    def as_json(self) -> dict[str, Any]:
        """All of it, as JSON values."""
        return {
            "old": self.old.source,
            "new": self.new.source,
            "level": self.level.name.lower(),
            "bump": self.bump.name.lower(),
            "old_version": self.old.version,
            "new_version": self.new.version,
            "required_version": self.required_version and str(self.required_version),
            "changes": [change.as_json() for change in self.changes],
            "drift": [finding.as_json() for finding in self.drift],
        }


def diff(
    old: Source, new: Source, *, trust: Iterable[str] = (), drift: Thresholds | None = None
) -> Diff:
    """Find all that has changed between two versions of a dataset.

    A source is the folder of a dataset's version; a features.json; a builder's Python file, or
    its folder; any of these as it was in git, such as `HEAD~1:data/pets/1.0.0`; or features or
    a `DatasetInfo` at hand. What one of the two does not tell, such as the splits of a builder
    that was not run, is not compared.

    Args:
        old: The version that was.
        new: The version that is.
        trust: Packages that connector classes named in the files may be imported from.
        drift: How far values may move; None not to look. Both versions must be folders of
            datasets, whose statistics are read, or computed where there are none.

    Raises:
        MissingFileError: There is no such source.
        DatasetInfoError: dataset_info.json is damaged.
        SchemaError: features.json is damaged.
        InvalidArgumentError: git cannot give the source.

    Example:
        >>> import numpy as np
        >>> import featurekit as fk
        >>> old = fk.FeaturesDict({"x": np.int32})
        >>> found = fk.schema.diff(old, fk.FeaturesDict({"x": np.int64, "y": np.int64}))
        >>> [(change.where, change.kind) for change in found.changes], found.bump.name
        ([('y', 'feature-added'), ('x', 'dtype')], 'MAJOR')
    """
    trust = check_trust(trust)
    before, after = _snapshot(old, trust), _snapshot(new, trust)
    moved: tuple[Finding, ...] = ()
    if drift is not None:
        first, second = (_statistics(side, trust) for side in (before, after))
        moved = tuple(find_drift(first, second, drift, file=after.folder))
    return Diff(before, after, tuple(_changes(before, after)), moved)


def _snapshot(source: Source, trust: tuple[str, ...]) -> Snapshot:
    if isinstance(source, Snapshot):
        return source
    if isinstance(source, FeatureConnector):
        return Snapshot("features", FeatureNode.of(source))
    if isinstance(source, DatasetInfo):
        return Snapshot.of_info(source.full_name, source, is_built=bool(source.splits))
    return open_snapshot(os.fspath(source), trust=trust)


def _statistics(snapshot: Snapshot, trust: tuple[str, ...]) -> Mapping[str, Any]:
    if snapshot.folder is None:
        raise InvalidArgumentError(
            "drift is looked for in the records of datasets, and there are none",
            file=snapshot.source,
            hint="give the folder of a dataset's version",
        )
    return read_or_compute_statistics(read_info(snapshot.folder, trust=trust))


def _changes(old: Snapshot, new: Snapshot) -> Iterator[Change]:
    if old.features is not None and new.features is not None:
        yield from feature_changes(old.features, new.features)
    for name in old.fields:
        if name in new.fields and old.fields[name] != new.fields[name]:
            yield from _field_change(name, old.fields[name], new.fields[name])
    if old.splits is not None and new.splits is not None:
        yield from _split_changes(old.splits, new.splits)


# What dataset_info.json says besides.


def _field_change(name: str, old: Any, new: Any) -> Iterator[Change]:
    if name == "metadata":
        yield from _metadata_changes(old, new)
        return
    text = f"was {_shown(old)}, and is {_shown(new)}"
    kind, level, bump = _FIELDS.get(name, ("documentation", *_DOCS))
    if name == "supervised keys" and old is None:
        level, bump = _MORE
    yield Change(kind, level, bump, text, name, _json(old), _json(new))


_FIELDS: Mapping[str, tuple[str, Level, Bump]] = {
    "name": ("name", *_BREAKS),
    "config": ("name", *_BREAKS),
    "supervised keys": ("supervised-keys", *_BREAKS),
    "disable_shuffling": ("order", *_BREAKS),
    "nondeterministic_order": ("order", *_BREAKS),
    "file format": ("file-format", *_SAME),
}


def _metadata_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for key in [*old, *(key for key in new if key not in old)]:
        before, after = old.get(key), new.get(key)
        if before != after or (key in old) != (key in new):
            text = f"was {_shown(before)}, and is {_shown(after)}"
            verdict = _MORE if key not in old else _BREAKS
            yield Change("metadata", *verdict, text, f"metadata[{key!r}]", before, after)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


# Splits.


def _split_changes(
    old: Mapping[str, SplitSnapshot], new: Mapping[str, SplitSnapshot]
) -> Iterator[Change]:
    for name, split in old.items():
        where = f"split {name}"
        if name not in new:
            text = f"the split was removed, with {split.num_examples:,} examples"
            yield Change("split-removed", *_BREAKS, text, where, split.num_examples)
        else:
            yield from _changes_within_split(split, new[name], where)
    for name, split in new.items():
        if name not in old:
            text = f"a split was added, with {split.num_examples:,} examples"
            yield Change("split-added", *_MORE, text, f"split {name}", None, split.num_examples)


def _changes_within_split(old: SplitSnapshot, new: SplitSnapshot, where: str) -> Iterator[Change]:
    """Other examples make slices give others; other files or bytes do not."""
    if old.num_examples != new.num_examples:
        text = f"had {old.num_examples:,} examples, and has {new.num_examples:,}"
        yield Change("example-count", *_BREAKS, text, where, old.num_examples, new.num_examples)
        return
    if old.shard_lengths != new.shard_lengths:
        before, after = len(old.shard_lengths), len(new.shard_lengths)
        text = f"the examples lay in {before} shards, and lie in {after}"
        if before == after:
            text = "the examples are divided among the shards in another way"
        yield Change("shards", *_SAME, text, where, before, after)
    if old.num_bytes != new.num_bytes:
        text = f"had {old.num_bytes:,} bytes, and has {new.num_bytes:,}"
        yield Change("num-bytes", *_SAME, text, where, old.num_bytes, new.num_bytes)
    if old.template != new.template:
        text = f"files were called {old.template!r}, and are called {new.template!r}"
        yield Change("file-names", *_SAME, text, where, old.template, new.template)
