"""Statistics of a dataset: of each feature in each split, in one pass over the records.

They are kept in `statistics.json` beside the dataset, which TFDS leaves alone.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from featurekit.connector import FeatureConnector
from featurekit.dataset.info import STATISTICS_FILE, DatasetInfo
from featurekit.dataset.records import SplitRecords
from featurekit.dataset.splits import FileInstruction
from featurekit.dataset.storage import write_text
from featurekit.errors import InvalidArgumentError, add_location
from featurekit.schema.feature_leaves import feature_leaves
from featurekit.schema.feature_statistics import FeatureStatistics
from featurekit.schema.parallel import map_files

__all__ = ["compute_statistics", "read_or_compute_statistics", "write_statistics"]

_VERSION = 1
_MAX_RECORDS = 128
_MAX_BYTES = 1 << 18


def compute_statistics(
    info: DatasetInfo, *, num_processes: int | None = None, quiet: bool = True
) -> dict[str, Any]:
    """Read all records of a dataset once, and say what its features hold.

    Args:
        info: The dataset.
        num_processes: Number of processes; by default one a processor, where that pays.
        quiet: Whether to show no progress.

    Returns:
        JSON values: for each split its number of examples and, for each feature, `count` of
        examples and how many are `missing`; `min`, `max`, `mean`, `std` and `quantiles` of its
        `values`, of the `lengths` of lists (in elements), of the `sizes` of texts and files (in
        bytes), of `height` and `width` of pictures (in pixels); and the commonest values.

    Raises:
        InvalidArgumentError: The dataset's features are not known.
        CorruptRecordError: A shard is damaged.
        DecodeError: A record does not hold what the features say.
    """
    if info.features is None:
        raise InvalidArgumentError("the features of the dataset are not known", file=info.data_dir)
    tasks = [
        _Task(name, shard, info.file_format)
        for name, split in info.splits.items()
        for shard in split.file_instructions
    ]
    results = map_files(
        functools.partial(_shard_statistics, features=info.features),
        tasks,
        num_bytes=info.splits.total_num_bytes,
        num_processes=num_processes,
        title=f"Reading {info.full_name}",
        quiet=quiet,
    )
    leaves = feature_leaves(info.features)
    merged = {name: [FeatureStatistics(leaf) for leaf in leaves] for name in info.splits}
    for task, parts in zip(tasks, results, strict=True):
        for whole, part in zip(merged[task.split], parts, strict=True):
            whole.merge(part)
    splits = {
        name: {
            "examples": info.splits[name].num_examples,
            "bytes": info.splits[name].num_bytes,
            "features": {part.leaf.name: part.as_json() for part in merged[name]},
        }
        for name in info.splits
    }
    return {"version": _VERSION, "splits": splits}


class _Task(NamedTuple):
    """One shard of a split."""

    split: str
    shard: FileInstruction
    file_format: str


def _shard_statistics(task: _Task, features: FeatureConnector) -> list[FeatureStatistics]:
    found = [FeatureStatistics(leaf) for leaf in feature_leaves(features)]
    for records in _chunks(SplitRecords([task.shard], task.file_format).scan()):
        try:
            stored = features.layout.deserialize_batch(records)
            for statistics in found:
                statistics.add(stored, len(records))
        except Exception as error:
            add_location(error, file=task.shard.filename)
            raise
    return found


def _chunks(records: Iterable[bytes]) -> Iterable[list[bytes]]:
    chunk: list[bytes] = []
    size = 0
    for record in records:
        chunk.append(record)
        size += len(record)
        if len(chunk) >= _MAX_RECORDS or size >= _MAX_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def write_statistics(statistics: dict[str, Any], folder: str) -> None:
    """Write statistics beside a dataset.

    Raises:
        OSError: The folder cannot be written to.
    """
    path = os.path.join(folder, STATISTICS_FILE)
    write_text(path, json.dumps(statistics, indent=1) + "\n")


def read_or_compute_statistics(
    info: DatasetInfo, *, num_processes: int | None = None, quiet: bool = True
) -> dict[str, Any]:
    """The statistics beside a dataset where they fit it, else computed ones; see those."""
    stored = info.statistics
    if _fit(stored, info):
        return dict(stored)
    return compute_statistics(info, num_processes=num_processes, quiet=quiet)


def _fit(statistics: Any, info: DatasetInfo) -> bool:
    """Whether statistics are of this version of the format, and of these splits and features."""
    if statistics.get("version") != _VERSION or info.features is None:
        return False
    names = {leaf.name for leaf in feature_leaves(info.features)}
    expected = {n: (s.num_examples, s.num_bytes, names) for n, s in info.splits.items()}
    found = {
        name: (split.get("examples"), split.get("bytes"), set(split.get("features", ())))
        for name, split in statistics.get("splits", {}).items()
    }
    return found == expected
