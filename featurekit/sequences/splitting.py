"""From what comes of one example to what is cut into segments: checks, and padding."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from featurekit.dtypes import STRING, is_string
from featurekit.errors import (
    EncodeError,
    InvalidArgumentError,
    InvalidTypeError,
    add_path,
    did_you_mean,
    short_repr,
)
from featurekit.io.arrays import fill_value
from featurekit.io.ragged import RaggedTensor
from featurekit.io.sparse import SparseTensor
from featurekit.sequences.arrays import to_numpy
from featurekit.sequences.example import Example
from featurekit.sequences.specs import InputSpecs, ValueSpec
from featurekit.sequences.states import StateRow
from featurekit.tensor_info import Shape
from featurekit.values import as_array

__all__ = ["Splitter"]

_INT32 = np.iinfo(np.int32)


@dataclasses.dataclass(frozen=True)
class Splitter:
    """Makes an `Example` of its values.

    Args:
        specs: What the values must be.
        num_unroll: Steps of a segment.
        pad: Whether sequences are filled up to a multiple of it, or must be one.
    """

    specs: InputSpecs
    num_unroll: int
    pad: bool = False

    def check_declared_times(self) -> None:
        """Raise an InvalidArgumentError if a time is declared that can never be cut."""
        for name, spec in self.specs.sequences.items():
            time = spec.shape[0]
            if time is not None and not self.pad and (time == 0 or time % self.num_unroll):
                raise InvalidArgumentError(
                    f"sequence {name} is declared with {time} steps, which is no multiple of "
                    f"num_unroll {self.num_unroll}",
                    hint="batch_sequences_with_states pads, SequenceQueueingStateSaver does not",
                )

    def split(
        self,
        key: Any,
        length: Any,
        sequences: Mapping[str, Any],
        context: Mapping[str, Any] | None,
        initial_states: Mapping[str, Any] | None,
    ) -> Example:
        """Check all values of an example; see `SequenceQueueingStateSaver.enqueue`."""
        specs = self.specs
        values = _take("sequences", specs.sequences, sequences, _sequence)
        steps = self._common_length(values)
        padded = -(-steps // self.num_unroll) * self.num_unroll
        total = steps if length is None else _as_length(length)
        if total > padded:
            raise InvalidArgumentError(
                f"Input length should be <= than length from sequences: [{total}] vs. [{padded}]"
            )
        states = initial_states or {}
        _check_names("initial_states", specs.states, states, missing=False)
        return Example(
            key=_as_key(key),
            count=padded // self.num_unroll,
            total_length=total,
            sequences={name: _filled(value, padded) for name, value in values.items()},
            context=_take("context", specs.context, context or {}, _context),
            states=StateRow(
                {name: spec.first(states.get(name)) for name, spec in specs.states.items()}, 0
            ),
        )

    def _common_length(self, values: Mapping[str, Any]) -> int:
        lengths = {name: int(value.shape[0]) for name, value in values.items()}
        if self.pad:
            steps = _padded_length(values, lengths)
        else:
            steps = next(iter(lengths.values()))
            self._check_multiples(values, lengths)
        if steps == 0:
            name = next(iter(lengths))
            raise InvalidArgumentError(
                f"Tensor {name} first dimension should be a multiple of: {self.num_unroll}, "
                f"but saw value: 0",
                hint="an example has one step at least; leave out those without",
            )
        return steps

    def _check_multiples(self, values: Mapping[str, Any], lengths: Mapping[str, int]) -> None:
        for name, size in lengths.items():
            if size % self.num_unroll:
                kind = "SparseTensor" if isinstance(values[name], SparseTensor) else "Tensor"
                raise InvalidArgumentError(
                    f"{kind} {name} first dimension should be a multiple of: {self.num_unroll}, "
                    f"but saw value: {size}. Consider setting pad=True.",
                    hint="batch_sequences_with_states pads, SequenceQueueingStateSaver does not",
                )
        first = next(iter(lengths.values()))
        for name, size in lengths.items():
            if size != first:
                raise InvalidArgumentError(
                    f"Dimension 0 of tensor labeled sorted_sequences_{name} should be: {first}, "
                    f"shape received: {size}"
                )


def _padded_length(values: Mapping[str, Any], lengths: Mapping[str, int]) -> int:
    """The steps that an example has: those of its dense sequences, which must agree."""
    dense = {k: size for k, size in lengths.items() if not isinstance(values[k], SparseTensor)}
    if not dense:
        return max(lengths.values())
    if len(set(dense.values())) > 1:
        shown = ", ".join(f"{size} ({name})" for name, size in dense.items())
        raise InvalidArgumentError(
            f"All sequence lengths must match, but received lengths: {shown}"
        )
    return next(iter(dense.values()))


def _filled(value: Any, steps: int) -> Any:
    """A copy of a sequence with as many steps."""
    if isinstance(value, SparseTensor):
        return _filled_sparse(value, steps)
    filled = np.empty((steps, *value.shape[1:]), value.dtype)
    filled[: len(value)] = value
    filled[len(value) :] = fill_value(None, value.dtype)
    return filled


def _filled_sparse(value: SparseTensor, steps: int) -> SparseTensor:
    if value.shape[0] > steps:
        raise InvalidArgumentError(
            f"a sparse sequence has {value.shape[0]} steps, the example has {steps}"
        )
    return _checked_cells(SparseTensor(value.indices, value.values, (steps, *value.shape[1:])))


def _checked_cells(value: SparseTensor) -> SparseTensor:
    outside = ((value.indices < 0) | (value.indices >= value.dense_shape)).any(axis=1)
    if outside.any():
        cell = value.indices[outside][0].tolist()
        raise InvalidArgumentError(f"cell {cell} is outside of the shape {value.shape}")
    return SparseTensor(value.indices.copy(), value.values.copy(), value.dense_shape)


# Values.


def _take(what: str, specs: Mapping[str, ValueSpec], values: Any, convert: Any) -> dict[str, Any]:
    """The declared values, each converted; all must be there, and no others."""
    _check_names(what, specs, values, missing=True)
    result = {}
    for name, spec in specs.items():
        try:
            result[name] = convert(values[name], spec)
        except (EncodeError, InvalidArgumentError, InvalidTypeError) as error:
            add_path(error, name)
            add_path(error, what)
            raise
    return result


def _check_names(what: str, specs: Mapping[str, Any], values: Any, *, missing: bool) -> None:
    if not isinstance(values, Mapping):
        raise InvalidTypeError(f"{what} must be a dict, got {short_repr(values)}")
    for name in values:
        if name not in specs:
            hint = did_you_mean(name, specs)
            raise InvalidArgumentError(f"{what}: {name!r} was not declared{hint}")
    for name in specs:
        if missing and name not in values:
            raise InvalidArgumentError(f"{what}: {name!r} was declared, but is missing")


def _sequence(value: Any, spec: ValueSpec) -> Any:
    if spec.sparse:
        return _sparse(value, spec)
    time, *inner = spec.shape
    array = _dense(value, spec.dtype, (None, *inner))
    if time is not None and len(array) != time:
        raise InvalidArgumentError(f"expected {time} steps, as declared, got {len(array)}")
    return array


def _context(value: Any, spec: ValueSpec) -> Any:
    if spec.sparse:
        return _checked_cells(_sparse(value, spec))
    return np.array(_dense(value, spec.dtype, spec.shape))


def _dense(value: Any, dtype: np.dtype[Any], shape: Shape) -> np.ndarray[Any, Any]:
    if isinstance(value, SparseTensor):
        raise InvalidTypeError("expected an array, got a SparseTensor", hint="use to_dense()")
    if isinstance(value, RaggedTensor):
        value = value.to_list()
    value = to_numpy(value)
    if is_string(dtype) and getattr(value, "dtype", STRING).kind in "SU":
        value = value.astype(object)
    return as_array(value, dtype, shape)


def _sparse(value: Any, spec: ValueSpec) -> SparseTensor:
    if isinstance(value, RaggedTensor):
        value = _sparse_of_ragged(value)
    if not isinstance(value, SparseTensor):
        raise InvalidTypeError(f"expected a SparseTensor, got {short_repr(value)}")
    fits = len(value.shape) == len(spec.shape) and all(
        not want or want == size for want, size in zip(spec.shape, value.shape, strict=True)
    )
    if not fits:
        raise InvalidArgumentError(f"expected shape {spec.shape}, got {value.shape}")
    values = as_array(value.values, spec.dtype, (None,))
    return SparseTensor(value.indices, values, value.dense_shape)


def _sparse_of_ragged(value: RaggedTensor) -> SparseTensor:
    """The values of ragged lists at the cells they have in the array that holds the lists."""
    cells = np.ones(value.flat_values.shape, bool)
    dense = value.with_flat_values(cells).to_dense()
    return SparseTensor(np.argwhere(dense), value.flat_values.reshape(-1), dense.shape)


# Scalars.


def _as_key(key: Any) -> bytes:
    try:
        text = as_array(key, STRING, ())
    except EncodeError as error:
        add_path(error, "key")
        raise
    data: bytes = text.item()
    return data


def _as_length(length: Any) -> int:
    value = to_numpy(length)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidTypeError(f"length must be an integer, got {short_repr(length)}") from None
    if not _INT32.min <= number <= _INT32.max:
        raise InvalidArgumentError(f"length must fit 32 bits, got {number}")
    return number
