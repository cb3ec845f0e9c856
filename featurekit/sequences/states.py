"""States: what is declared of them, and the rows that examples carry from batch to batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from featurekit.dtypes import STRING, as_dtype, dtype_name
from featurekit.errors import (
    FeatureKitError,
    InvalidArgumentError,
    InvalidTypeError,
    add_path,
    short_repr,
)
from featurekit.sequences.arrays import dtype_of, gather, is_array, is_traced, join, library, own
from featurekit.sequences.trees import leaves, map_leaves
from featurekit.tensor_info import TensorInfo
from featurekit.values import as_array

__all__ = ["StateRow", "StateSpec"]


class StateRow(NamedTuple):
    """The states of one example: a row of arrays that it may share with other examples."""

    arrays: Mapping[str, Any]  # a tree by name of the state
    row: int


class StateSpec:
    """What is declared of one state: the shape and dtype of its arrays, and where it starts.

    Args:
        name: Its name.
        declared: A `TensorInfo`; or an array of NumPy, PyTorch or JAX, which is then what an
            example starts from that brings no state; or nested dicts, lists and tuples of
            one of the two.

    Raises:
        InvalidTypeError: It is something else.
        InvalidArgumentError: A shape has a dimension that is not known.
    """

    def __init__(self, name: str, declared: Any) -> None:
        self.name = name
        self._leaves = map_leaves(lambda leaf: _Leaf(name, leaf), declared)
        self._start: Any = None
        if all(is_array(leaf) for leaf in leaves(declared)):
            self._start = self.first(declared)

    def first(self, value: Any) -> Any:
        """The state that an example starts from, `(1, ...)`; `value` is None if it brings none."""
        if value is not None:
            arrays = self._checked(value, (), detach=True)
            return map_leaves(lambda array: array[None], arrays)
        if self._start is None:
            raise InvalidArgumentError(
                f"the initial value of state {self.name!r} is missing",
                hint="give it with each example, or declare an array that examples start from",
            )
        return self._start

    def saved(self, value: Any, batch_size: int, *, detach: bool) -> Any:
        """What is kept of a value for a whole batch, after checking its shape and dtype."""
        return self._checked(value, (batch_size,), detach=detach)

    def batch(self, rows: Sequence[StateRow]) -> Any:
        """This state of several examples as arrays `(len(rows), ...)`, newly made."""
        if not rows:
            if self._start is not None:
                return map_leaves(lambda array: gather(array, []), self._start)
            return map_leaves(lambda leaf: leaf.empty(), self._leaves)
        runs: list[tuple[Any, list[int]]] = []  # rows of the same arrays that follow each other
        for arrays, row in rows:
            tree = arrays[self.name]
            if not runs or runs[-1][0] is not tree:
                runs.append((tree, []))
            runs[-1][1].append(row)

        def joined(*arrays: Any) -> Any:
            parts = zip(arrays, runs, strict=True)
            return join([gather(array, numbers) for array, (_, numbers) in parts])

        return map_leaves(joined, *(tree for tree, _ in runs))

    def _checked(self, value: Any, batch: tuple[int, ...], *, detach: bool) -> Any:
        def kept(leaf: _Leaf, array: Any) -> Any:
            return own(leaf.checked(array, batch), detach=detach)

        try:
            return map_leaves(kept, self._leaves, value)
        except FeatureKitError as error:
            add_path(error, self.name)
            raise


class _Leaf:
    """Shape and dtype of one array of a state."""

    def __init__(self, name: str, declared: Any) -> None:
        if isinstance(declared, TensorInfo):
            self.dtype = dtype_name(declared.dtype)
        elif is_array(declared):
            self.dtype = dtype_of(declared)
        else:
            raise InvalidTypeError(
                f"state {name} must be declared by TensorInfos or arrays, "
                f"got {short_repr(declared)}"
            )
        self.name = name
        self.shape = tuple(declared.shape)
        if None in self.shape:
            raise InvalidArgumentError(
                f"Shape for state {name} is not fully defined : {self.shape}",
                hint="a state has one shape, without None",
            )

    def checked(self, value: Any, batch: tuple[int, ...]) -> Any:
        """The value as an array, if its shape is `batch` and the state's."""
        if is_traced(value):
            raise InvalidTypeError(
                "a state is saved inside of a function that JAX traces, where it has no value",
                hint="return it from the function, and save what that gives",
            )
        expected = (*batch, *self.shape)
        if not is_array(value):
            return as_array(value, as_dtype(self.dtype), expected)
        if tuple(value.shape) != expected:
            raise InvalidArgumentError(
                f"Shape check failed for state {self.name!r}: expected {expected}, "
                f"shape received: {tuple(value.shape)}"
            )
        if self.dtype == "string" and library(value) == "numpy":
            return as_array(value.astype(object), STRING, expected)
        if dtype_of(value) != self.dtype:
            raise InvalidArgumentError(
                f"state {self.name!r} is declared as {self.dtype}, got {dtype_of(value)}",
                hint="convert the value, or declare the dtype that it has",
            )
        return value

    def empty(self) -> Any:
        return np.empty((0, *self.shape), as_dtype(self.dtype))

    def __repr__(self) -> str:
        return f"<{self.dtype} {self.shape}>"
