"""What the records of a file have been seen to hold, in memory that does not grow with them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from featurekit.io.columns import Kind
from featurekit.schema.contents import Content, recognise
from featurekit.schema.messages import Values, read_message
from featurekit.schema.ragged import RaggedStatistics, ragged_parts

__all__ = [
    "MAX_KEYS",
    "ContentStatistics",
    "KeyStatistics",
    "ListStatistics",
    "Range",
    "Statistics",
]

MAX_KEYS = 10_000
"""Keys that are told apart in one place; more are counted only."""

_MAX_SEEN = 16  # different dtypes or rates of one kind of content
_MAX_FIRST = 4  # values kept, of the first record that has any
_MAX_PREVIEW = 64  # bytes kept of each


@dataclasses.dataclass
class Range:
    """The lowest and the highest of some numbers; None where there were none."""

    low: Any = None
    high: Any = None

    def add(self, low: Any, high: Any = None) -> None:
        """Take one number in, or two between which others lie."""
        high = low if high is None else high
        self.low = low if self.low is None or low < self.low else self.low
        self.high = high if self.high is None or high > self.high else self.high

    @property
    def fixed(self) -> Any:
        """The number, where it was the same each time; else None."""
        return self.low if self.low == self.high else None


@dataclasses.dataclass
class ContentStatistics:
    """One kind and format of content.

    Attributes:
        kind: As in `Content`.
        format: The same.
        count: How many values are of it.
        damaged: How many of these are cut or damaged.
        first_record: The record with the first of them.
        shape: Range of each dimension; None where their number differs.
        dtypes: What samples or tensors were seen.
        rates: Sample rates that were seen, in Hz.
        sizes: In bytes.
    """

    kind: str
    format: str
    first_record: int
    count: int = 0
    damaged: int = 0
    shape: tuple[Range, ...] | None = ()
    dtypes: set[str] = dataclasses.field(default_factory=set)
    rates: set[int] = dataclasses.field(default_factory=set)
    sizes: Range = dataclasses.field(default_factory=Range)

    def add(self, content: Content, size: int) -> None:
        """Take one value in."""
        self.sizes.add(size)
        self.count += 1
        if not content.is_whole:
            self.damaged += 1
            return
        if self.count - self.damaged == 1:
            self.shape = tuple(Range() for _ in content.shape)
        if self.shape is not None and len(self.shape) != len(content.shape):
            self.shape = None
        for dim, part in zip(self.shape or (), content.shape, strict=False):
            dim.add(part)
        if content.dtype and len(self.dtypes) < _MAX_SEEN:
            self.dtypes.add(content.dtype)
        if content.rate and len(self.rates) < _MAX_SEEN:
            self.rates.add(content.rate)


class Contents(dict[tuple[str, str], ContentStatistics]):
    """All kinds of content that some values have."""

    def add(self, data: bytes, record: int) -> None:
        """Take one value in."""
        content = recognise(data)
        name = (content.kind, content.format)
        if name not in self:
            self[name] = ContentStatistics(*name, first_record=record)
        self[name].add(content, len(data))


@dataclasses.dataclass
class KeyStatistics:
    """What was seen under one key, record by record (of a feature list: step by step).

    Attributes:
        key: The key.
        records: How many have a list under it, which may be empty.
        unset: How many have the key, and no kind of list.
        kinds: How many have each kind of list.
        first_of_kind: The first record that has it.
        lengths: Number of values.
        numbers: Of int64 and float values; NaN left out.
        nans: Number of NaN values.
        contents: What bytes values are.
        first: The first values of the first record that has any; bytes are cut.
        first_length: How many values that record has.
    """

    key: str
    records: int = 0
    unset: int = 0
    kinds: dict[Kind, int] = dataclasses.field(default_factory=dict)
    first_of_kind: dict[Kind, int] = dataclasses.field(default_factory=dict)
    lengths: Range = dataclasses.field(default_factory=Range)
    numbers: Range = dataclasses.field(default_factory=Range)
    nans: int = 0
    contents: Contents = dataclasses.field(default_factory=Contents)
    first: list[Any] = dataclasses.field(default_factory=list)
    first_length: int = 0

    @property
    def kind(self) -> Kind | None:
        """The kind of list, where there is but one."""
        return next(iter(self.kinds)) if len(self.kinds) == 1 else None

    def add(self, values: Values, record: int) -> None:
        """Take the values of one record in; None for a key with no kind of list."""
        if values is None:
            self.unset += 1
            return
        kind = _KINDS[values.dtype.kind]
        self.records += 1
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        self.first_of_kind.setdefault(kind, record)
        self.lengths.add(len(values))
        if not len(values):
            return
        if not self.first:
            self.first_length = len(values)
            self.first = [_preview(value) for value in values[:_MAX_FIRST].tolist()]
        if kind is Kind.BYTES:
            for value in values:
                self.contents.add(value, record)
        else:
            self._add_numbers(values)

    def _add_numbers(self, values: npt.NDArray[Any]) -> None:
        if values.dtype.kind == "f":
            is_nan = np.isnan(values)
            if is_nan.any():
                self.nans += int(is_nan.sum())
                values = values[~is_nan]
        if len(values):
            self.numbers.add(values.min().item(), values.max().item())


_KINDS = {"O": Kind.BYTES, "f": Kind.FLOAT, "i": Kind.INT64}


def _preview(value: Any) -> Any:
    return value[:_MAX_PREVIEW] if isinstance(value, bytes) else value


@dataclasses.dataclass
class ListStatistics(KeyStatistics):
    """What was seen of one feature list, each step as a record.

    Attributes:
        lists: How many SequenceExamples have the list.
        steps: Number of steps.
    """

    lists: int = 0
    steps: Range = dataclasses.field(default_factory=Range)

    def add_list(self, steps: list[Values], record: int) -> None:
        """Take the steps of one SequenceExample in."""
        self.lists += 1
        self.steps.add(len(steps))
        for step in steps:
            self.add(step, record)


class Statistics:
    """What was seen in all records.

    Attributes:
        records: Number of records.
        sizes: Of payloads, in bytes.
        total_bytes: Of all payloads.
        examples: Number of Examples.
        sequences: Number of SequenceExamples.
        first_sequence: The first record with one, None without.
        others: Payloads that are neither, by what they are.
        keys: By key, of Examples.
        ragged: By feature, of lists of lists, in the form that TFDS stores them in.
        context: By key, of the context of SequenceExamples.
        lists: By key, of the feature lists of SequenceExamples.
        uncounted: Keys met beyond the first `MAX_KEYS` different ones.
    """

    def __init__(self) -> None:
        self.records = 0
        self.sizes = Range()
        self.total_bytes = 0
        self.examples = 0
        self.sequences = 0
        self.first_sequence: int | None = None
        self.others = Contents()
        self.keys: dict[str, KeyStatistics] = {}
        self.ragged: dict[str, RaggedStatistics] = {}
        self.context: dict[str, KeyStatistics] = {}
        self.lists: dict[str, ListStatistics] = {}
        self.uncounted = 0

    def add(self, payload: bytes) -> None:
        """Take one record in."""
        record = self.records
        self.records += 1
        self.sizes.add(len(payload))
        self.total_bytes += len(payload)
        message = read_message(payload)
        if message is None:
            self.others.add(payload, record)
        elif message.lists is None:
            self._add_example(message.features, record)
        else:
            self._add_sequence(message.features, message.lists, record)

    def _add_example(self, features: Mapping[str, Values], record: int) -> None:
        self.examples += 1
        self._add_features(self.keys, features, record)
        for name, parts in ragged_parts(features):
            if name in self.ragged or len(self.ragged) < MAX_KEYS:
                self.ragged.setdefault(name, RaggedStatistics(name)).add(*parts)

    def _add_sequence(
        self, context: Mapping[str, Values], lists: Mapping[str, list[Values]], record: int
    ) -> None:
        self.sequences += 1
        if self.first_sequence is None:
            self.first_sequence = record
        self._add_features(self.context, context, record)
        for key, steps in lists.items():
            if key in self.lists or len(self.lists) < MAX_KEYS:
                self.lists.setdefault(key, ListStatistics(key)).add_list(steps, record)
            else:
                self.uncounted += 1

    def _add_features(
        self, keys: dict[str, KeyStatistics], features: Mapping[str, Values], record: int
    ) -> None:
        for key, values in features.items():
            if key in keys or len(keys) < MAX_KEYS:
                keys.setdefault(key, KeyStatistics(key)).add(values, record)
            else:
                self.uncounted += 1
