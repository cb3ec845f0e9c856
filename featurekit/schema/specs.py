"""From what was seen in records to the specs of `fk.io.parse_example` that read them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from featurekit.io.columns import Kind
from featurekit.io.specs import (
    FeatureSpec,
    FixedLenFeature,
    FixedLenSequenceFeature,
    Partition,
    RaggedFeature,
    RowLengths,
    UniformRowLength,
    VarLenFeature,
)
from featurekit.schema.features import ragged_of
from featurekit.schema.ragged import RaggedStatistics
from featurekit.schema.statistics import KeyStatistics, ListStatistics, Statistics

__all__ = ["dict_source", "list_specs_of", "source_of", "specs_of"]

Specs = dict[str, FeatureSpec]

_DTYPES = {Kind.INT64: np.int64, Kind.FLOAT: np.float32, Kind.BYTES: bytes}
_NAMES = {np.int64: "np.int64", np.float32: "np.float32", bytes: "bytes"}


def specs_of(seen: Statistics) -> Specs:
    """The specs of the features of Examples, or of the context of SequenceExamples.

    A key with the same number of values in every record is a FixedLenFeature, any other a
    VarLenFeature; lists of lists in TFDS's form are a RaggedFeature. Keys without a kind of
    list in any record are left out.
    """
    ragged = [] if seen.sequences else ragged_of(seen)
    hidden = {key for item in ragged for key in item.keys}
    keys, records = (seen.context, seen.sequences) if seen.sequences else (seen.keys, seen.examples)
    specs: Specs = {
        name: _spec(key, records)
        for name, key in keys.items()
        if key.kind is not None and name not in hidden
    }
    specs |= {item.name: _ragged(item, seen.keys[item.keys[0]]) for item in ragged}
    return {name: specs[name] for name in sorted(specs)}


def list_specs_of(seen: Statistics) -> Specs:
    """The specs of the feature lists of SequenceExamples."""
    return {
        name: _list_spec(seen.lists[name], seen.sequences)
        for name in sorted(seen.lists)
        if seen.lists[name].kind is not None
    }


def _spec(key: KeyStatistics, records: int) -> FeatureSpec:
    count = key.lengths.fixed
    if not count or key.records != records:
        return VarLenFeature(_dtype(key))
    return FixedLenFeature([] if count == 1 else [count], _dtype(key))


def _list_spec(key: ListStatistics, records: int) -> FeatureSpec:
    count = key.lengths.fixed
    if not count or key.unset:
        return VarLenFeature(_dtype(key))
    shape = [] if count == 1 else [count]
    return FixedLenSequenceFeature(shape, _dtype(key), allow_missing=key.lists != records)


def _ragged(item: RaggedStatistics, flat: KeyStatistics) -> RaggedFeature:
    value_key, *row_keys = item.keys
    partitions: list[Partition] = [RowLengths(key) for key in row_keys]
    if item.inner_size not in (None, 1):
        partitions.append(UniformRowLength(item.inner_size))
    return RaggedFeature(_dtype(flat), value_key, partitions, row_splits_dtype=np.int64)


def _dtype(key: KeyStatistics) -> Any:
    return None if key.kind is None else _DTYPES[key.kind]


def source_of(spec: FeatureSpec) -> str:
    """The Python expression of a spec, for code that has imported `fk` and `np`.

    >>> source_of(FixedLenFeature([2], np.int64))
    'fk.io.FixedLenFeature([2], np.int64)'
    """
    name = f"fk.io.{type(spec).__name__}"
    if isinstance(spec, FixedLenFeature):
        return f"{name}({list(spec.shape)}, {_NAMES[spec.dtype]})"
    if isinstance(spec, FixedLenSequenceFeature):
        missing = ", allow_missing=True" if spec.allow_missing else ""
        return f"{name}({list(spec.shape)}, {_NAMES[spec.dtype]}{missing})"
    if isinstance(spec, RaggedFeature):
        partitions = ", ".join(
            f"fk.io.RaggedFeature.{type(part).__name__}({_literal(part[0])})"
            for part in spec.partitions
        )
        return (
            f"{name}(\n        {_NAMES[spec.dtype]},\n        {_literal(spec.value_key)},\n"
            f"        [{partitions}],\n        row_splits_dtype=np.int64,\n    )"
        )
    return f"{name}({_NAMES[spec.dtype]})"


def _literal(value: Any) -> str:
    """A Python literal: of text in double quotes, as formatters have it."""
    plain = isinstance(value, str) and value.isascii() and value.isprintable()
    return json.dumps(value) if plain else repr(value)


def dict_source(name: str, specs: Mapping[str, FeatureSpec], comments: Mapping[str, str]) -> str:
    """Python that sets a name to a dict of specs, with a comment on each."""
    lines = [f"{name} = {{"]
    for key, spec in specs.items():
        lines.append(f"    # {comments[key]}")
        lines.append(f"    {_literal(key)}: {source_of(spec)},")
    return "\n".join([*lines, "}"])
