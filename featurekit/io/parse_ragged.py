"""Ragged results of the parse functions: RaggedFeature.

A batch is rows of values, one row for each example (or each step). Every partition, from
the innermost to the outermost, cuts these rows into smaller ones: the values become rows,
and what is left of the old rows is where each example's new rows end.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from featurekit.errors import InvalidArgumentError, ParseError
from featurekit.io.columns import Column, ColumnSpec, Kind, StepColumn
from featurekit.io.ragged import RaggedTensor
from featurekit.io.specs import (
    Partition,
    RaggedFeature,
    RowLengths,
    RowLimits,
    RowSplits,
    RowStarts,
    UniformRowLength,
    kind_of,
)

__all__ = ["RaggedReader", "RaggedStepsReader", "ragged_reader", "ragged_steps_reader"]

Integers: TypeAlias = npt.NDArray[np.int64]
Values: TypeAlias = npt.NDArray[Any] | RaggedTensor

MOST_EMPTY_ROWS = 1 << 24
"""Row ids that leave out more rows than this are taken for damage; the rows would fill memory."""


@dataclasses.dataclass(frozen=True)
class RaggedReader:
    """Makes a RaggedTensor of one feature of Examples; see `RaggedFeature`.

    Attributes:
        columns: The values, then what the partitions read, outermost first.
        partitions: From the outermost to the innermost.
        splits_dtype: int32 or int64.
        validate: Whether to check that the partitions fit.
    """

    columns: tuple[ColumnSpec, ...]
    partitions: tuple[Partition, ...]
    splits_dtype: np.dtype[Any]
    validate: bool

    def batch(self, columns: list[Column]) -> RaggedTensor:
        """All examples' values, `(batch, ...)`."""
        inner, splits = self.nest(columns)
        return self._rows(inner, splits)

    def single(self, columns: list[Column]) -> Values:
        """One example's values: an array if nothing but uniform partitions cut them."""
        return self.nest(columns, single=True)[0]

    def nest(self, columns: Sequence[Column], *, single: bool = False) -> tuple[Values, Integers]:
        """The values cut into rows, and where each example's rows end.

        Errors give the index of an example in these columns as their record.
        """
        inner: Values = columns[0].values
        splits = _splits(np.maximum(columns[0].counts, 0))
        position = len(columns)
        for partition in reversed(self.partitions):
            if isinstance(partition, UniformRowLength):
                inner, splits = self._cut_evenly(inner, splits, partition.length)
            else:
                position -= 1
                inner, splits = self._cut(inner, splits, partition, columns[position], single)
        return inner, splits

    def _cut_evenly(self, inner: Values, splits: Integers, length: int) -> tuple[Values, Integers]:
        total = len(inner)
        if total % length:
            record = int((np.diff(splits) % length != 0).argmax())
            raise self._error(
                f"expected a multiple of {length} values for rows of {length}, got {total}", record
            )
        if isinstance(inner, RaggedTensor):
            rows = np.arange(total // length + 1) * length
            return self._rows(inner, rows, uniform_row_length=length), splits // length
        return inner.reshape(total // length, length, *inner.shape[1:]), splits // length

    def _cut(
        self, inner: Values, splits: Integers, partition: Partition, column: Column, single: bool
    ) -> tuple[Values, Integers]:
        cuts, counts = column.values, np.maximum(column.counts, 0)
        begins, total = splits[:-1], len(inner)
        match partition:
            case RowSplits() if single:
                # Taken as they are, even where they do not fit; a batch needs limits.
                rows, counts = cuts, np.maximum(counts - 1, 0)
            case RowSplits():
                cuts, counts = self._limits_of_splits(cuts, counts)
                rows = _prepend_zero(cuts + np.repeat(begins, counts))
            case RowLimits():
                rows = _prepend_zero(cuts + np.repeat(begins, counts))
            case RowStarts():
                rows = np.append(cuts + np.repeat(begins, counts), total)
            case RowLengths():
                rows = _splits(cuts)
            case _:  # ValueRowIds
                rows, counts = self._splits_of_row_ids(cuts, counts, splits)
        new_splits = _splits(counts)
        if self.validate:
            self._check(rows, new_splits, splits, partition)
        return self._rows(inner, rows), new_splits

    def _limits_of_splits(self, cuts: Integers, counts: Integers) -> tuple[Integers, Integers]:
        filled = counts > 0
        firsts = (np.cumsum(counts) - counts)[filled]
        if self.validate and cuts[firsts].any():
            record = int(np.flatnonzero(filled)[cuts[firsts] != 0][0])
            raise self._error("expected row splits that begin with 0", record)
        return np.delete(cuts, firsts), np.maximum(counts - 1, 0)

    def _splits_of_row_ids(
        self, ids: Integers, counts: Integers, splits: Integers
    ) -> tuple[Integers, Integers]:
        examples = np.repeat(np.arange(len(counts)), counts)
        limit = MOST_EMPTY_ROWS + len(ids)
        if (bad := (ids < 0) | (ids >= limit)).any():
            place = int(bad.argmax())
            raise self._error(
                f"expected row ids from 0 to {limit - 1}, got {ids[place]}", int(examples[place])
            )
        if self.validate:
            self._check_row_ids(ids, examples, counts, splits)
        rows = np.zeros(len(counts), np.int64)
        np.maximum.at(rows, examples, ids + 1)
        if rows.sum() > limit:
            raise self._error(f"expected at most {limit} rows in all, got {rows.sum()}", 0)
        shifted = ids + np.repeat(np.cumsum(rows) - rows, counts)
        return _splits(np.bincount(shifted, minlength=int(rows.sum()))), rows

    def _check_row_ids(
        self, ids: Integers, examples: Integers, counts: Integers, splits: Integers
    ) -> None:
        lengths = np.diff(splits)
        if (bad := counts != lengths).any():
            record = int(bad.argmax())
            raise self._error(
                f"expected {lengths[record]} row ids, one for each value, got {counts[record]}",
                record,
            )
        falling = (np.diff(ids) < 0) & (np.diff(examples) == 0)
        if falling.any():
            raise self._error("expected row ids that never fall", int(examples[falling.argmax()]))

    def _check(
        self, rows: Integers, new_splits: Integers, splits: Integers, partition: Partition
    ) -> None:
        """Check that each example's rows hold its own values, all of them and no others."""
        kind = type(partition).__name__
        if len(rows) != new_splits[-1] + 1:
            raise self._error(f"expected {kind} of 1 entry or more, got 0", 0)
        examples = np.repeat(np.arange(len(splits) - 1), np.diff(new_splits))
        falling = np.diff(rows) < 0
        if falling.any():
            record = int(examples[falling.argmax()])
            raise self._error(f"expected {kind} that never fall back", record)
        unfit = rows[new_splits] != splits
        if unfit.any():
            # The place between two examples: where one ends, or a start was put for the next.
            place = int(unfit.argmax()) - (not isinstance(partition, RowStarts))
            record = min(max(place, 0), len(splits) - 2)
            raise self._error(
                f"expected {kind} that hold the example's {np.diff(splits)[record]} values "
                f"or rows, all of them and no others",
                record,
            )

    def _rows(
        self, inner: Values, splits: Integers, uniform_row_length: int | None = None
    ) -> RaggedTensor:
        narrow = splits.astype(self.splits_dtype, copy=False)
        if narrow is not splits and (narrow != splits).any():
            raise InvalidArgumentError(
                f"feature {self.columns[0].key!r}: row splits pass the range of "
                f"{self.splits_dtype}",
                hint="give the RaggedFeature row_splits_dtype=np.int64",
            )
        return RaggedTensor(inner, narrow, uniform_row_length=uniform_row_length, validate=False)

    def _error(self, problem: str, record: int) -> ParseError:
        return ParseError(f"feature {self.columns[0].key!r}: {problem}", record=record)


@dataclasses.dataclass(frozen=True)
class RaggedStepsReader:
    """Makes a RaggedTensor of one feature list of SequenceExamples; see `RaggedFeature`.

    Attributes:
        reader: What cuts the values of each step.
    """

    reader: RaggedReader

    @property
    def columns(self) -> tuple[ColumnSpec, ...]:
        """The values, then what the partitions read."""
        return self.reader.columns

    def batch(self, columns: list[StepColumn]) -> RaggedTensor:
        """All examples' values, `(batch, steps, ...)`."""
        steps = np.maximum(columns[0].steps, 0)
        return self.reader._rows(self.single(columns), _splits(steps))

    def single(self, columns: list[StepColumn]) -> RaggedTensor:
        """One example's values, `(steps, ...)`."""
        steps = np.maximum(columns[0].steps, 0)
        for spec, column in zip(self.columns[1:], columns[1:], strict=True):
            self._check_steps(steps, spec.key, np.maximum(column.steps, 0))
        try:
            return self.reader.batch([Column(values, counts) for values, counts, _ in columns])
        except ParseError as error:
            if error.record is not None:  # which is a step so far
                error.record = int(np.repeat(np.arange(len(steps)), steps)[error.record])
            raise

    def _check_steps(self, steps: Integers, key: str, partition_steps: Integers) -> None:
        if (differ := steps != partition_steps).any():
            record = int(differ.argmax())
            raise ParseError(
                f"feature list {self.columns[0].key!r}: expected its partition {key!r} to have as "
                f"many steps, {steps[record]}, got {partition_steps[record]}",
                record=record,
            )


def ragged_reader(key: str, spec: RaggedFeature) -> RaggedReader:
    """Make the reader of a RaggedFeature."""
    value_key = key if spec.value_key is None else spec.value_key
    columns = [ColumnSpec(value_key, kind_of(spec.dtype))]
    for partition in spec.partitions:
        if not isinstance(partition, UniformRowLength):
            columns.append(ColumnSpec(partition.key, Kind.INT64))
        elif partition.length < 1:
            raise InvalidArgumentError(
                f"UniformRowLength: expected 1 or more, got {partition.length}"
            )
    return RaggedReader(
        tuple(columns), tuple(spec.partitions), np.dtype(spec.row_splits_dtype), spec.validate
    )


def ragged_steps_reader(key: str, spec: RaggedFeature) -> RaggedStepsReader:
    """Make the reader of a RaggedFeature for a feature list."""
    return RaggedStepsReader(ragged_reader(key, spec))


def _splits(lengths: Integers) -> Integers:
    splits = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=splits[1:])
    return splits


def _prepend_zero(limits: Integers) -> Integers:
    return np.concatenate([np.zeros(1, np.int64), limits])
