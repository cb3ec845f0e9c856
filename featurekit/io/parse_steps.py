"""Feature lists of SequenceExamples: FixedLenSequenceFeature and VarLenFeature."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from featurekit.errors import InvalidArgumentError, ParseError
from featurekit.io.columns import ColumnSpec, Kind, StepColumn
from featurekit.io.parse_dense import block_shape, missing_error, shape_text, spread, values_text
from featurekit.io.parse_sparse import places
from featurekit.io.sparse import SparseTensor
from featurekit.io.specs import FixedLenSequenceFeature, VarLenFeature, kind_of

__all__ = ["DenseStepsReader", "SparseStepsReader", "dense_steps_reader", "sparse_steps_reader"]


@dataclasses.dataclass(frozen=True)
class DenseStepsReader:
    """Makes an array of steps of one shape; see `FixedLenSequenceFeature`.

    Attributes:
        columns: The one feature list it reads.
        shape: Shape of one step.
        allow_missing: Whether an absent list counts as one without steps.
    """

    columns: tuple[ColumnSpec]
    shape: tuple[int, ...]
    allow_missing: bool

    def batch(self, columns: list[StepColumn]) -> npt.NDArray[Any]:
        """All examples' steps, `(batch, most steps of an example, *shape)`, padded with 0."""
        column = columns[0]
        self._check(column)
        lengths = self.lengths(columns)
        longest = int(lengths.max(initial=0))
        steps = column.values.reshape(len(column.counts), *self.shape)
        padding = b"" if self.columns[0].kind is Kind.BYTES else 0
        return spread(steps, lengths, longest, padding)

    def single(self, columns: list[StepColumn]) -> npt.NDArray[Any]:
        """One example's steps, `(steps, *shape)`."""
        return self.batch(columns)[0]  # type: ignore[no-any-return]

    def lengths(self, columns: list[StepColumn]) -> npt.NDArray[np.int64]:
        """How many steps each example has, `(batch,)`."""
        return np.maximum(columns[0].steps, 0)

    def _check(self, column: StepColumn) -> None:
        key, kind, size = self.columns[0]
        if not self.allow_missing and (missing := column.steps < 0).any():
            raise missing_error(
                f"feature list {key!r}", kind, int(missing.argmax()), "give it allow_missing=True"
            )
        if (bad := column.counts != size).any():
            place = int(bad.argmax())
            ends = np.cumsum(np.maximum(column.steps, 0))
            record = int(np.searchsorted(ends, place, side="right"))
            step = place - (int(ends[record - 1]) if record else 0)
            raise ParseError(
                f"step {step} of feature list {key!r}: expected {values_text(size)} for shape "
                f"{shape_text(self.shape)}, got {max(int(column.counts[place]), 0)}",
                hint="read it with VarLenFeature or RaggedFeature",
                record=record,
            )


@dataclasses.dataclass(frozen=True)
class SparseStepsReader:
    """Makes a SparseTensor of the values of each step; see `VarLenFeature`.

    Attributes:
        columns: The one feature list it reads.
    """

    columns: tuple[ColumnSpec]

    def batch(self, columns: list[StepColumn]) -> SparseTensor:
        """Indices are `[example, step, index]`; the shape is the largest of each."""
        values, counts, steps = columns[0]
        counts, steps = np.maximum(counts, 0), np.maximum(steps, 0)
        rows, places_in_steps = places(counts)
        examples, steps_in_examples = places(steps)
        indices = np.stack([examples[rows], steps_in_examples[rows], places_in_steps], axis=1)
        shape = [len(steps), steps.max(initial=0), counts.max(initial=0)]
        return SparseTensor(indices, values, np.array(shape, np.int64))

    def single(self, columns: list[StepColumn]) -> SparseTensor:
        """Indices are `[step, index]`."""
        result = self.batch(columns)
        return SparseTensor(result.indices[:, 1:], result.values, result.dense_shape[1:])


def dense_steps_reader(key: str, spec: FixedLenSequenceFeature) -> DenseStepsReader:
    """Check a FixedLenSequenceFeature of a SequenceExample and make its reader."""
    kind = kind_of(spec.dtype)
    if spec.default_value is not None:
        raise InvalidArgumentError(
            "default_value: expected None, as steps of feature lists have no default",
            hint="allow_missing=True reads an absent list as one without steps",
        )
    if spec.shape is None:
        raise InvalidArgumentError("shape: expected a list of ints, got None")
    shape = block_shape(spec.shape)
    column = ColumnSpec(key, kind, math.prod(shape))
    return DenseStepsReader((column,), shape, bool(spec.allow_missing))


def sparse_steps_reader(key: str, spec: VarLenFeature) -> SparseStepsReader:
    """Check a VarLenFeature and make its reader for a feature list."""
    return SparseStepsReader((ColumnSpec(key, kind_of(spec.dtype)),))
