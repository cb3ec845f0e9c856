"""Steps: the value of a `Dataset` feature, decoded step by step when asked for."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np

from featurekit.connector import FeatureConnector
from featurekit.errors import RecordIndexError, UnsupportedError, add_path
from featurekit.io.ragged import RaggedTensor
from featurekit.nesting import common_length

__all__ = ["Steps"]


class Steps(Sequence[Any]):
    """The steps of one episode, each decoded when it is asked for, and not before.

    An immutable sequence: `len`, `[i]`, slices and iteration. Only what is stored is held:
    of a thousand images, the compressed bytes. What a step decodes to is not kept either.
    Two are equal when they hold the same stored values of equal features.

    Args:
        feature: The feature of a step.
        columns: The stored values of all steps: an array or `RaggedTensor` with one row a
            step, or nested dicts of them. None stands for values that are missing.
        rank: How many sequences the steps are in, so that a "step" is the row of several.

    Raises:
        DecodeError: The columns have different numbers of steps.

    Example:
        >>> from featurekit.connectors.tensor import Tensor
        >>> steps = Steps(Tensor(shape=(2,), dtype=np.int64), np.arange(6).reshape(3, 2))
        >>> steps, steps[-1], len(steps[1:])
        (Steps(len=3), array([4, 5]), 2)
    """

    def __init__(self, feature: FeatureConnector, columns: Any, *, rank: int = 0) -> None:
        self._feature = feature
        self._columns = columns
        self._rank = rank
        self._indices = range(common_length(columns, "steps"))

    @property
    def feature(self) -> FeatureConnector:
        """The feature of a step."""
        return self._feature

    @property
    def rank(self) -> int:
        """How many sequences the steps are in."""
        return self._rank

    def __len__(self) -> int:
        return len(self._indices)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Steps: ...
    def __getitem__(self, index: int | slice) -> Any:
        """Decode a step; of a slice, give the steps without decoding any.

        Raises:
            RecordIndexError: There is no such step.
            DecodeError: What is stored is not what it should be; says in which step.
        """
        if isinstance(index, slice):
            part = Steps(self._feature, self._columns, rank=self._rank)
            part._indices = self._indices[index]
            return part
        try:
            number = self._indices[operator.index(index)]
        except IndexError:
            raise RecordIndexError(f"step {index} does not exist: there are {len(self)}") from None
        try:
            return self._decode(_row(self._columns, number))
        except Exception as error:
            add_path(error, number, type(self._feature).__name__)
            raise

    def together(self, numbers: Sequence[int]) -> Any:
        """Decode some steps at once, and no others.

        Args:
            numbers: Which, from 0 on, in any order.

        Returns:
            What a sequence of these steps decodes to: nested dicts of arrays `(n, ...)`; a
            `RaggedTensor` or a list where the steps' shapes differ.

        Raises:
            RecordIndexError: There is no such step.
            DecodeError: What is stored is not what it should be.
            UnsupportedError: The "steps" are rows of several sequences.

        >>> from featurekit.connectors.tensor import Tensor
        >>> Steps(Tensor(shape=(), dtype=np.int64), np.arange(9) * 2).together([8, 3])
        array([16,  6])
        """
        if self._rank:
            raise UnsupportedError("steps within sequences are decoded one by one")
        rows = []
        for number in numbers:
            if not 0 <= number < len(self):
                raise RecordIndexError(f"step {number} does not exist: there are {len(self)}")
            rows.append(self._indices[number])
        return self._feature.decode_batch_example(_rows(self._columns, np.array(rows, np.int64)))

    def of(self, feature: FeatureConnector) -> Steps:
        """The same steps with some of their features only.

        Args:
            feature: A smaller feature, as `featurekit.decode.select_features` makes it.
        """
        part = Steps(feature, _like(feature.get_serialized_info(), self._columns), rank=self._rank)
        part._indices = self._indices
        return part

    def _decode(self, stored: Any) -> Any:
        if self._rank == 0:
            return self._feature.decode_example(stored)
        if self._rank == 1:
            return self._feature.decode_batch_example(stored)
        return self._feature.decode_ragged_example(stored)

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Steps):
            return NotImplemented
        return (
            len(self) == len(other)
            and self._rank == other._rank
            and self._feature == other._feature
            and all(
                _same(_row(self._columns, mine), _row(other._columns, theirs))
                for mine, theirs in zip(self._indices, other._indices, strict=True)
            )
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(len={len(self)})"


def _row(columns: Any, number: int) -> Any:
    """What is stored of one step, as `decode_example` takes it."""
    if isinstance(columns, Mapping):
        return {key: _row(column, number) for key, column in columns.items()}
    row = None if columns is None else columns[number]
    # A view would keep the whole episode alive, and let a caller write into it.
    return row.copy() if isinstance(row, np.ndarray) else row


def _rows(columns: Any, numbers: np.ndarray[Any, np.dtype[np.int64]]) -> Any:
    """What is stored of several steps, as `decode_batch_example` takes it."""
    if isinstance(columns, Mapping):
        return {key: _rows(column, numbers) for key, column in columns.items()}
    if columns is None:
        return [None] * len(numbers)
    if isinstance(columns, (np.ndarray, RaggedTensor)):
        return columns[numbers]
    return [columns[number] for number in numbers.tolist()]


def _like(infos: Any, columns: Any) -> Any:
    """Those of the columns that `infos` has too."""
    if not isinstance(infos, Mapping) or not isinstance(columns, Mapping):
        return columns
    return {key: _like(info, columns[key]) for key, info in infos.items()}


def _same(first: Any, second: Any) -> bool:
    if isinstance(first, Mapping):
        return first.keys() == second.keys() and all(
            _same(value, second[key]) for key, value in first.items()
        )
    if first is None or isinstance(first, (bytes, RaggedTensor)):
        return bool(first == second)
    floats = getattr(first, "dtype", np.dtype(object)).kind == "f"
    return bool(np.array_equal(first, second, equal_nan=floats))
