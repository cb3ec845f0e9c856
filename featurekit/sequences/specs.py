"""What a saver is told of its examples before they come, and the checks of it."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from featurekit.dtypes import as_dtype, dtype_name
from featurekit.errors import InvalidArgumentError, InvalidTypeError, short_repr
from featurekit.io.sparse import SparseTensor
from featurekit.sequences.states import StateSpec
from featurekit.tensor_info import Shape, TensorInfo

__all__ = [
    "InputSpecs",
    "ValueSpec",
    "as_batch_size",
    "as_count",
    "as_num_unroll",
    "check_capacity",
]


class ValueSpec(NamedTuple):
    """Shape and dtype of a sequence (time first) or of a context value.

    Of a sparse one a dimension of 0 stands for any size, as does the time of a sequence.
    """

    shape: Shape
    dtype: np.dtype[Any]
    sparse: bool


@dataclasses.dataclass(frozen=True)
class InputSpecs:
    """The declared inputs, by name; sequences in sorted order."""

    sequences: Mapping[str, ValueSpec]
    context: Mapping[str, ValueSpec]
    states: Mapping[str, StateSpec]

    @classmethod
    def of(
        cls, key: Any, length: Any, sequences: Any, context: Any, initial_states: Any
    ) -> InputSpecs:
        """Check the declarations; see `SequenceQueueingStateSaver`.

        Raises:
            InvalidTypeError: A declaration, a name or a dtype has a wrong type.
            InvalidArgumentError: A name, a shape or the number of entries is wrong.
        """
        _check_states(initial_states)
        _check_names("sequence", sequences)
        if not sequences:
            raise InvalidArgumentError("must have at least one sequence tensor")
        _check_names("context", context)
        _check_scalar("length", length, np.dtype(np.int32))
        _check_scalar("key", key, as_dtype(np.str_))
        return cls(
            {name: _sequence(name, sequences[name]) for name in sorted(sequences)},
            {name: _context(name, declared) for name, declared in context.items()},
            {name: StateSpec(name, declared) for name, declared in initial_states.items()},
        )


def _check_states(states: Any) -> None:
    if not isinstance(states, Mapping):
        raise InvalidTypeError("initial_states must be a dictionary")
    if not states:
        raise InvalidArgumentError(
            "initial_states may not be empty",
            hint="without a state to wait for, all segments of an example would be ready at once",
        )
    for name in states:
        if not isinstance(name, str):
            raise InvalidTypeError(f"state name must be a string: {name!r}")
        if ":" in name:
            raise InvalidArgumentError(f"state name may not have a colon: {name!r}")


def _check_names(what: str, values: Any) -> None:
    if not isinstance(values, Mapping):
        plural = {"sequence": "sequences"}.get(what, what)
        raise InvalidTypeError(f"{plural} must be a dict, got {short_repr(values)}")
    for name in values:
        if not isinstance(name, str):
            raise InvalidTypeError(f"{what} key must be string: {name!r}")
        if ":" in name:
            raise InvalidArgumentError(f"{what} key may not have a colon: {name!r}")


def _check_scalar(what: str, declared: Any, dtype: np.dtype[Any]) -> None:
    if not isinstance(declared, TensorInfo):
        raise InvalidTypeError(f"{what} must be a TensorInfo, got {short_repr(declared)}")
    if declared.dtype != dtype:
        raise InvalidTypeError(
            f"{what} dtype must be {dtype_name(dtype)}, but received: {dtype_name(declared.dtype)}"
        )
    if declared.shape != ():
        raise InvalidArgumentError(
            f"Rank check failed for {what}: Shape {declared.shape} must have rank 0"
        )


def _sequence(name: str, declared: Any) -> ValueSpec:
    spec = _value("sequence", name, declared)
    if not spec.shape:
        raise InvalidArgumentError(f"Rank check failed for sequence {name}: it needs a time")
    if None in spec.shape[1:]:
        raise InvalidArgumentError(
            f"Shape for sequence {name} is not fully defined (ignoring first dimension): "
            f"{spec.shape}"
        )
    return spec._replace(shape=(None, *spec.shape[1:])) if spec.sparse else spec


def _context(name: str, declared: Any) -> ValueSpec:
    spec = _value("context", name, declared)
    if None in spec.shape:
        raise InvalidArgumentError(f"Shape for context {name} is not fully defined : {spec.shape}")
    return spec


def _value(what: str, name: str, declared: Any) -> ValueSpec:
    if isinstance(declared, SparseTensor):
        return ValueSpec(declared.shape, as_dtype(declared.dtype), sparse=True)
    if isinstance(declared, TensorInfo):
        return ValueSpec(declared.shape, declared.dtype, sparse=False)
    raise InvalidTypeError(
        f"{what} {name} must be declared by a TensorInfo, or an empty SparseTensor if it is "
        f"sparse, got {short_repr(declared)}"
    )


# Numbers.


def as_batch_size(value: Any) -> int:
    """A number of rows as an int.

    Raises:
        InvalidTypeError: It is no integer.
        InvalidArgumentError: It is negative.
    """
    size = _as_int("batch_size", value)
    if size < 0:
        raise InvalidArgumentError(f"batch_size must be 0 or more, got {size}")
    return size


def as_num_unroll(value: Any) -> int:
    """A number of steps as an int.

    Raises:
        InvalidArgumentError: It is no int above 0.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise InvalidArgumentError(f"Unsupported num_unroll expected int, got: {value!r}")
    if value <= 0:
        raise InvalidArgumentError(f"num_unroll must be above 0, got {value}")
    return int(value)


def check_capacity(capacity: Any, batch_size: int | None) -> int | None:
    """A capacity as an int or None, if batches of `batch_size` can ever be filled.

    Raises:
        InvalidTypeError: It is neither an integer nor None.
        InvalidArgumentError: It is below 1, or below the batch size.
    """
    if capacity is None:
        return None
    number = _as_int("capacity", capacity)
    if number < (batch_size or 0):
        raise InvalidArgumentError(
            f"capacity {number} needs to be >= batch_size {batch_size}",
            hint="fewer examples than a batch has rows can never fill it",
        )
    return as_count("capacity", number)


def as_count(what: str, value: Any) -> int:
    """A number above 0 as an int.

    Raises:
        InvalidTypeError: It is no integer.
        InvalidArgumentError: It is below 1.
    """
    number = _as_int(what, value)
    if number < 1:
        raise InvalidArgumentError(f"{what} must be above 0, got {number}")
    return number


def _as_int(what: str, value: Any) -> int:
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise InvalidTypeError(f"{what} must be an integer, got {short_repr(value)}") from None
