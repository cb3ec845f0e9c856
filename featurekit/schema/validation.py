"""Validation: everything that is wrong with a dataset, or with record files."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from featurekit.connector import FeatureConnector
from featurekit.dataset.folders import INFO_FILE
from featurekit.dataset.info import DatasetInfo
from featurekit.dataset.splits import SplitInfo
from featurekit.errors import (
    InvalidArgumentError,
    MissingDependencyError,
    MissingFileError,
    UnknownNameError,
    UnsupportedError,
    did_you_mean,
)
from featurekit.io.record_files import check_file_format, check_installed
from featurekit.registry import check_trust
from featurekit.schema.dataset_statistics import read_or_compute_statistics
from featurekit.schema.drift import Thresholds, find_split_drift
from featurekit.schema.findings import Finding, Findings
from featurekit.schema.leakage import find_leakage
from featurekit.schema.parallel import map_files
from featurekit.schema.rules import Severity, selected
from featurekit.schema.validate_files import FileRules, check_files
from featurekit.schema.validate_metadata import Metadata, check_metadata
from featurekit.schema.validate_records import RecordChecker
from featurekit.schema.validate_shards import (
    ShardReport,
    ShardTask,
    check_names,
    check_shard,
    check_sums,
)

__all__ = ["Report", "dataset_folders", "validate"]


@dataclasses.dataclass
class Report:
    """What validation has found, and how much it has looked at.

    Attributes:
        findings: What is wrong, in the order of the targets, files and records.
        targets: The folders and files looked at.
        shards: Number of record files read.
        records: Number of sound records in them.
        decoded: Number of records that were decoded.
        num_bytes: Bytes of the files.
        known: Findings that were left out, because a baseline knows them.
    """

    findings: list[Finding] = dataclasses.field(default_factory=list)
    targets: list[str] = dataclasses.field(default_factory=list)
    shards: int = 0
    records: int = 0
    decoded: int = 0
    num_bytes: int = 0
    known: list[Finding] = dataclasses.field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def count(self, severity: Severity) -> int:
        """Number of findings of a severity."""
        return sum(finding.severity is severity for finding in self.findings)

    def add(self, reports: Iterable[ShardReport]) -> None:
        """Count what was looked at."""
        for report in reports:
            self.shards += 1
            self.records += report.records
            self.decoded += report.decoded
            self.num_bytes += report.file_bytes


@dataclasses.dataclass(frozen=True)
class _Options:
    features: FeatureConnector | None
    sample: int | None
    leakage: bool
    leakage_features: tuple[str, ...]
    drift: Thresholds | None
    file_rules: FileRules
    trust: tuple[str, ...]
    num_processes: int | None
    quiet: bool


def validate(
    *targets: str | os.PathLike[str],
    features: FeatureConnector | None = None,
    sample: int | None = None,
    leakage: bool = False,
    leakage_features: Collection[str] = (),
    drift: Thresholds | None = None,
    file_rules: FileRules = FileRules(),  # noqa: B008  # cannot be changed
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    trust: Iterable[str] = (),
    num_processes: int | None = None,
    quiet: bool = True,
) -> Report:
    """Find everything that is wrong with datasets, or with record files.

    Of a dataset: its metadata can be read and agrees with itself; every shard is there, whole,
    and has the records that the metadata says; records hold the features, and values are
    in their domain. All checksums are checked, whatever `sample` is.

    Args:
        *targets: Folders of datasets' versions; folders that hold such folders at any depth;
            or TFRecord files that no metadata speaks of.
        features: What record files hold; without, their records only have to agree with one
            another, as `file_rules` says. Of a dataset, the features where it is too old to
            have a features.json.
        sample: Number of records of each split, or of each file, to decode, evenly spread;
            0 for none, None for all.
        leakage: Whether to look for examples that two splits share.
        leakage_features: Names of the features that count for this, such as `["image"]`, or
            `"objects/label"`; none for all.
        drift: How far the values of a split may be from those of the first split; None not to
            look. Looked for in datasets without errors, whose statistics are read, or computed.
        file_rules: How record files without features have to agree.
        select: Codes of the findings to look for, such as `["FK2", "FK401"]`; all by default.
        ignore: Codes of findings to leave out.
        trust: Packages that connector classes named in the files may be imported from.
        num_processes: Number of processes; by default one a processor, where that pays.
        quiet: Whether to show no progress.

    Raises:
        MissingFileError: A target does not exist.
        InvalidArgumentError: An argument makes no sense.
        UnknownNameError: There is no feature of a name in `leakage_features`.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> import featurekit as fk
        >>> features = fk.FeaturesDict({"x": fk.Tensor(shape=(), dtype=np.int64, maximum=9)})
        >>> folder = tempfile.mkdtemp()
        >>> reader = fk.write_dataset("numbers", {"train": [{"x": 1}]}, features, folder)
        >>> fk.schema.validate(reader.data_dir).ok
        True
    """
    codes = selected(select, ignore)
    if sample is not None and sample < 0:
        raise InvalidArgumentError(f"sample must be 0 or more, got {sample}")
    options = _Options(
        features,
        sample,
        leakage,
        tuple(leakage_features),
        drift,
        file_rules,
        check_trust(trust),
        num_processes,
        quiet,
    )
    report = Report()
    found = Findings()
    paths = [os.fspath(target) for target in targets]
    for path in paths:
        if not os.path.exists(path):
            raise MissingFileError("there is no such file or folder", file=path)
    for folder in filter(os.path.isdir, paths):
        for version in dataset_folders(folder):
            report.targets.append(version)
            found.extend(_validate_dataset(version, options, report))
    if files := [path for path in paths if not os.path.isdir(path)]:
        found.extend(_validate_files(files, options, report))
    report.findings = [finding for finding in found if finding.code in codes]
    return report


def dataset_folders(folder: str) -> list[str]:
    """The folders of versions in a folder; the folder itself where there are none."""
    found = [path for path, _, files in os.walk(folder) if INFO_FILE in files]
    return sorted(found) or [folder]


def _validate_dataset(folder: str, options: _Options, report: Report) -> Iterator[Finding]:
    metadata = check_metadata(folder, features=options.features, trust=options.trust)
    findings = [*metadata.findings, *_check_files(metadata, options, report)]
    yield from findings
    if options.drift is None or metadata.info is None or metadata.features is None:
        return
    if all(finding.severity is not Severity.ERROR for finding in findings):
        metadata.info.features = metadata.features
        statistics = read_or_compute_statistics(
            metadata.info, num_processes=options.num_processes, quiet=options.quiet
        )
        yield from find_split_drift(statistics, options.drift, file=folder)


def _check_files(metadata: Metadata, options: _Options, report: Report) -> Iterator[Finding]:
    """Check the shards of a dataset, and what is in them."""
    folder = metadata.folder
    info = metadata.info
    if info is None or any(finding.code == "FK112" for finding in metadata.findings):
        return  # nobody knows which files there should be
    yield from check_names(info, folder)
    try:
        check_installed(check_file_format(info.file_format))
    except (UnsupportedError, MissingDependencyError) as error:
        yield metadata.finding("FK211", error.message)
        return
    reports = _check_shards(metadata, info, options)
    report.add(reports)
    for shard in reports:
        yield from shard.findings
    for split, text in check_sums(list(info.splits.values()), reports):
        yield metadata.finding("FK206", text, split=split.name)
    if options.leakage:
        yield from find_leakage(reports, list(info.splits))


def _check_shards(metadata: Metadata, info: DatasetInfo, options: _Options) -> list[ShardReport]:
    content_of = _content_keys(metadata.features, options.leakage_features)
    tasks = [
        dataclasses.replace(
            task,
            file_format=info.file_format,
            content=options.leakage,
            content_of=content_of,
        )
        for split in info.splits.values()
        for task in _tasks(split, options.sample)
    ]
    checker = None if metadata.features is None else RecordChecker(metadata.features)
    sizes = (os.path.getsize(task.path) for task in tasks if os.path.isfile(task.path))
    return list(
        map_files(
            functools.partial(check_shard, checker=checker),
            tasks,
            num_bytes=sum(sizes),
            num_processes=options.num_processes,
            title=f"Validating {info.full_name}",
            quiet=options.quiet,
        )
    )


def _tasks(split: SplitInfo, sample: int | None) -> Iterator[ShardTask]:
    """What to look at in each shard; a sample is spread over the split."""
    chosen = None if sample is None else _spread(sample, split.num_examples)
    first = 0
    for shard in split.shards:
        stop = first + shard.examples_in_shard
        part = None if chosen is None else chosen[(first <= chosen) & (chosen < stop)] - first
        yield ShardTask(shard.filename, split.name, shard.examples_in_shard, part)
        first = stop


def _spread(count: int, total: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Up to `count` numbers below `total`, evenly spread."""
    return np.unique(np.linspace(0, total - 1, min(count, total)).round().astype(np.int64))


def _content_keys(features: FeatureConnector | None, names: Sequence[str]) -> tuple[str, ...]:
    """The keys of features in a record: their names."""
    known = () if features is None else features.layout.keys
    for name in names:
        if not any(key == name or key.startswith(f"{name}/") for key in known):
            raise UnknownNameError(f"there is no feature {name!r}{did_you_mean(name, known)}")
    return tuple(names)


def _validate_files(paths: Sequence[str], options: _Options, report: Report) -> Iterator[Finding]:
    """Check record files that no metadata speaks of, together."""
    report.targets.extend(paths)
    if options.features is None:
        findings, records, num_bytes = check_files(paths, options.file_rules)
        report.shards += len(paths)
        report.records += records
        report.decoded += records
        report.num_bytes += num_bytes
        yield from findings
        return
    checker = RecordChecker(options.features)
    for path in paths:
        task = ShardTask(path)
        if options.sample is not None:
            task = dataclasses.replace(task, sample=_spread(options.sample, _count(path)))
        shard = check_shard(task, checker)
        report.add([shard])
        yield from shard.findings


def _count(path: str) -> int:
    """The number of records in a file, damaged ones left out."""
    return check_shard(ShardTask(path), None).records
