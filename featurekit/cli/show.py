"""A dataset as text for the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping

from featurekit.connector import FeatureConnector
from featurekit.connectors.sequence import Sequence
from featurekit.dataset.info import DatasetInfo, format_size
from featurekit.dataset.splits import SplitInfo
from featurekit.dtypes import dtype_name
from featurekit.tensor_info import TensorInfo

__all__ = ["describe"]


def describe(info: DatasetInfo) -> str:
    """What a dataset is and holds: splits, sizes, shards, and the features as a tree."""
    blocks = [info.full_name, *_texts(info), _splits(info), _features(info)]
    return "\n\n".join(block for block in blocks if block)


def _texts(info: DatasetInfo) -> Iterator[str]:
    yield textwrap.fill(" ".join(info.description.split()), 88)
    facts = {
        "config": info.config_description and " ".join(info.config_description.split()),
        "homepage": info.stated_homepage,
        "license": info.license and info.license.splitlines()[0],
        "supervised": info.supervised_keys and str(info.supervised_keys),
        "format": info.file_format,
        "folder": info.data_dir,
    }
    yield "\n".join(f"{name + ':':12}{text}" for name, text in facts.items() if text)


def _splits(info: DatasetInfo) -> str:
    rows: list[tuple[str, ...]] = [("split", "examples", "size", "shards", "examples a shard")]
    rows += [_split_row(split) for split in info.splits.values()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if i in (0, 4) else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join(lines)


def _split_row(split: SplitInfo) -> tuple[str, ...]:
    low, high = min(split.shard_lengths, default=0), max(split.shard_lengths, default=0)
    lengths = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    size = format_size(split.num_bytes)
    return (split.name, f"{split.num_examples:,}", size, str(split.num_shards), lengths)


def _features(info: DatasetInfo) -> str:
    if info.features is None:
        return ""
    return "\n".join(["features", *_tree(info.features, "")])


def _tree(feature: FeatureConnector, indent: str) -> Iterator[str]:
    children = _children(feature)
    for index, (key, child) in enumerate(children.items()):
        last = index == len(children) - 1
        yield f"{indent}{'└─' if last else '├─'} {key}: {_line(child)}"
        yield from _tree(child, indent + ("   " if last else "│  "))


def _children(feature: FeatureConnector) -> Mapping[str, FeatureConnector]:
    if isinstance(feature, Sequence):
        return _children(feature.feature)
    return feature if isinstance(feature, Mapping) else {}


def _line(feature: FeatureConnector) -> str:
    """Class, shape, dtype and description of one feature."""
    info = feature.get_tensor_info()
    parts = [_class_name(feature)]
    if isinstance(info, TensorInfo):
        shape = ", ".join("?" if dim is None else str(dim) for dim in info.shape)
        parts.append(f"{dtype_name(info.dtype)}[{shape}]" if shape else dtype_name(info.dtype))
    if names := getattr(feature, "names", None):
        shown = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
        parts.append(f"{len(names)} classes ({shown})")
    if feature.doc.desc:
        parts.append(f"- {feature.doc.desc}")
    return " ".join(parts)


def _class_name(feature: FeatureConnector) -> str:
    name = type(feature).__name__
    if isinstance(feature, Sequence):
        length = "" if feature.length is None else f", length={feature.length}"
        return f"{name}({_class_name(feature.feature)}{length})"
    return name
