"""A batch of segments, and the way back for their states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from featurekit.errors import InvalidArgumentError, UnknownNameError, did_you_mean
from featurekit.io.sparse import SparseTensor
from featurekit.sequences.barrier import Barrier
from featurekit.sequences.loan import Loan, Row
from featurekit.sequences.specs import InputSpecs, ValueSpec

__all__ = ["NextQueuedSequenceBatch"]

_FIRST_RANK = -(2**63)  # of int64


class NextQueuedSequenceBatch:
    """Segments of different examples, oldest example first; `b` of them.

    Made by `SequenceQueueingStateSaver.next_batch`. Every state must be saved, for the next
    segments of these examples to come.

    Args:
        loan: The segments.
        barrier: Where they come from.
        specs: The declared inputs.
        num_unroll: Steps of a segment, `U` below.
        saver: What must not be forgotten, and so be closed, as long as the batch is used.
    """

    def __init__(
        self,
        loan: Loan,
        barrier: Barrier,
        specs: InputSpecs,
        num_unroll: int,
        saver: object = None,
    ) -> None:
        self._saver = saver
        self._loan = loan
        self._barrier = barrier
        self._specs = specs
        self._start_states = [row.example.states for row in loan.rows]
        self._states: dict[str, Any] = {}
        rows = loan.rows
        self._context = {
            name: _stack([row.example.context[name] for row in rows], spec.shape, spec)
            for name, spec in specs.context.items()
        }
        self._sequences = {
            name: _stack(
                [_segment(row.example.sequences[name], row, num_unroll) for row in rows],
                (num_unroll, *spec.shape[1:]),
                spec,
            )
            for name, spec in specs.sequences.items()
        }
        self._num_unroll = num_unroll
        barrier.attach(loan, self)

    @property
    def batch_size(self) -> int:
        """Number of rows, `b`; fewer than asked for only at the end, with allow_small_batch."""
        return len(self._loan.rows)

    @property
    def key(self) -> np.ndarray[Any, Any]:
        """Key of each segment, `(b,)` bytes: `b"00001_of_00003:example's key"`."""
        return _strings([row.example.full_key(row.segment) for row in self._loan.rows])

    @property
    def next_key(self) -> np.ndarray[Any, Any]:
        """Key of the segment after each, `(b,)` bytes; `b"STOP:key"` after the last one."""
        return _strings([row.example.full_key(row.segment + 1) for row in self._loan.rows])

    @property
    def sequence(self) -> np.ndarray[Any, np.dtype[np.int32]]:
        """Number of each segment in its example, from 0, `(b,)` int32."""
        return np.array([row.segment for row in self._loan.rows], np.int32)

    @property
    def sequence_count(self) -> np.ndarray[Any, np.dtype[np.int32]]:
        """Number of segments of each example, `(b,)` int32."""
        return np.array([row.example.count for row in self._loan.rows], np.int32)

    @property
    def length(self) -> np.ndarray[Any, np.dtype[np.int32]]:
        """Number of steps of each segment that are data, `(b,)` int32; padding follows."""
        before = self.sequence.astype(np.int64) * self._num_unroll
        return np.clip(self.total_length - before, 0, self._num_unroll).astype(np.int32)

    @property
    def total_length(self) -> np.ndarray[Any, np.dtype[np.int32]]:
        """Number of steps of each example that are data, `(b,)` int32."""
        return np.array([row.example.total_length for row in self._loan.rows], np.int32)

    @property
    def insertion_index(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Rank of each example in the order of arrival, `(b,)` int64; the first has -2**63."""
        return np.array([_FIRST_RANK + row.example.rank for row in self._loan.rows], np.int64)

    @property
    def context(self) -> Mapping[str, Any]:
        """Values of the examples by name, `(b, ...)`; sparse ones are `SparseTensor`s."""
        return self._context

    @property
    def sequences(self) -> Mapping[str, Any]:
        """Steps of the segments by name, `(b, U, ...)`; sparse ones are `SparseTensor`s."""
        return self._sequences

    def state(self, name: str) -> Any:
        """The state that each segment starts from, `(b, ...)`.

        It is what was saved for the segment before, or the initial one.

        Raises:
            UnknownNameError: No such state was declared.
        """
        spec = self._spec(name)
        if name not in self._states:
            self._states[name] = spec.batch(self._start_states)
        return self._states[name]

    def save_state(self, name: str, value: Any, *, detach: bool = True) -> None:
        """Save the state that the next segments of these examples start from.

        What belongs to an example's last segment is dropped. Once all declared states are
        saved, the next segments are ready.

        Args:
            name: Name of the state.
            value: Array of the shape and dtype of `state(name)`, or a tree of them; copied,
                and kept on its device.
            detach: Cut PyTorch tensors from the graph that made them. Without it, gradients
                flow on into earlier segments, and their graphs are kept.

        Raises:
            UnknownNameError: No such state was declared.
            InvalidArgumentError: The shape or the dtype is not the declared one, or the state
                was saved already. The batch can still be saved.
            CancelledError: The saver was closed with cancelling.
        """
        spec = self._spec(name)
        self._barrier.check_saving()
        saved = spec.saved(value, self.batch_size, detach=detach)
        self._barrier.save(self._loan, name, saved)

    def save_all(self, values: Mapping[str, Any], *, detach: bool = True) -> None:
        """Save all states, by name; see `save_state`.

        Raises:
            InvalidArgumentError: A state is missing; nothing is saved.
        """
        for name in values:
            self._spec(name)
        if missing := [name for name in self._specs.states if name not in values]:
            raise InvalidArgumentError(
                f"expected a value for every state, {', '.join(map(repr, missing))} missing"
            )
        for name, value in values.items():
            self.save_state(name, value, detach=detach)

    def _spec(self, name: str) -> Any:
        if name not in self._specs.states:
            known = did_you_mean(name, self._specs.states)
            raise UnknownNameError(f"state was not declared: {name}{known}")
        return self._specs.states[name]

    def __repr__(self) -> str:
        return f"NextQueuedSequenceBatch(batch_size={self.batch_size}, key={self.key.tolist()})"


def _strings(values: Sequence[bytes]) -> np.ndarray[Any, Any]:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _segment(sequence: Any, row: Row, num_unroll: int) -> Any:
    """The steps of one segment."""
    start = row.segment * num_unroll
    if not isinstance(sequence, SparseTensor):
        return sequence[start : start + num_unroll]
    steps = sequence.indices[:, 0]
    inside = (steps >= start) & (steps < start + num_unroll)
    indices = sequence.indices[inside]
    indices[:, 0] -= start
    return SparseTensor(indices, sequence.values[inside], (num_unroll, *sequence.shape[1:]))


def _stack(values: Sequence[Any], shape: Sequence[Any], spec: ValueSpec) -> Any:
    """One array of the values of all rows, each of `shape`."""
    if spec.sparse:
        return _stack_sparse(values, shape, spec)
    stacked = np.empty((len(values), *shape), spec.dtype)
    for number, value in enumerate(values):
        stacked[number, ...] = value  # an ellipsis, since else the value would be the element
    return stacked


def _stack_sparse(values: Sequence[SparseTensor], shape: Sequence[int], spec: ValueSpec) -> Any:
    """Where sizes differ between rows, the largest are those of the result."""
    sizes = np.array([shape, *(value.shape for value in values)], np.int64).max(axis=0)
    empty = np.empty((0, 1 + len(shape)), np.int64)
    indices = [np.insert(value.indices, 0, number, axis=1) for number, value in enumerate(values)]
    return SparseTensor(
        np.concatenate([empty, *indices]),
        np.concatenate([np.empty(0, spec.dtype), *(value.values for value in values)]),
        (len(values), *sizes),
    )
