"""What to read from an Example, and how: the feature specs of the parse functions.

Names, order of arguments and meaning are TensorFlow's. As there, the specs hold what
they are given, and the parse functions check it; `RaggedFeature` alone is checked at
once. Source: the documentation of `tf.io.parse_example` and of the classes themselves.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from featurekit.errors import InvalidArgumentError, InvalidTypeError, short_repr
from featurekit.io.columns import Kind
from featurekit.io.dtype_names import dtype_name

__all__ = [
    "FeatureSpec",
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "Partition",
    "RaggedFeature",
    "RowLengths",
    "RowLimits",
    "RowSplits",
    "RowStarts",
    "SparseFeature",
    "UniformRowLength",
    "ValueRowIds",
    "VarLenFeature",
    "kind_of",
]


@dataclasses.dataclass(frozen=True)
class FixedLenFeature:
    """A feature with the same number of values in every example; read as a dense array.

    Args:
        shape: Shape of one example's values; `[]` for a single value.
        dtype: int64, float32 or string, named in NumPy's, Python's or TensorFlow's way.
        default_value: What an example gets that lacks the feature: as many values as
            `shape` holds. Without it such an example is an error. It does not stand in
            for a list that is present and empty.

    >>> FixedLenFeature([2], np.float32, default_value=[0.0, 1.0])
    FixedLenFeature(shape=(2,), dtype=<class 'numpy.float32'>, default_value=[0.0, 1.0])
    """

    shape: Any
    dtype: Any
    default_value: Any = None

    def __post_init__(self) -> None:
        """Hold lists as tuples, so that nobody changes a spec in use."""
        _freeze(self, "shape")


@dataclasses.dataclass(frozen=True)
class FixedLenSequenceFeature:
    """A feature with any number of blocks of one shape; read as a padded dense array.

    In an Example the blocks follow one another in one list. In a SequenceExample each
    block is one step of a feature list.

    Args:
        shape: Shape of one block, with no 0 in it; `[]` for a single value.
        dtype: int64, float32 or string.
        allow_missing: Whether an example without the feature counts as one with no
            blocks; else it is an error. Must be true for Examples.
        default_value: The value that fills up short examples; 0 or `b""` if not given.
            Only for Examples.
    """

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None

    def __post_init__(self) -> None:
        """Hold lists as tuples, so that nobody changes a spec in use."""
        _freeze(self, "shape")


@dataclasses.dataclass(frozen=True)
class VarLenFeature:
    """A feature with any number of values; read as a SparseTensor.

    Args:
        dtype: int64, float32 or string.
    """

    dtype: Any


@dataclasses.dataclass(frozen=True)
class SparseFeature:
    """A sparse array kept as indices and values under several keys of an Example.

    Args:
        index_key: The key of the indices, or a list with one key for each dimension.
        value_key: The key of the values.
        dtype: Of the values: int64, float32 or string.
        size: Size of the dimension, or a list as long as `index_key`. Indices are in
            `[0, size)`; others are an error.
        already_sorted: Whether the values are in the order of their indices, so that
            sorting can be spared.
    """

    index_key: Any
    value_key: str
    dtype: Any
    size: Any
    already_sorted: bool = False

    def __post_init__(self) -> None:
        """Hold lists as tuples, so that nobody changes a spec in use."""
        _freeze(self, "index_key")
        _freeze(self, "size")


class RowSplits(NamedTuple):
    """Where rows begin and end: row i is `[splits[i], splits[i + 1])`."""

    key: str


class RowLengths(NamedTuple):
    """How long each row is."""

    key: str


class RowStarts(NamedTuple):
    """Where each row begins; the last one ends with the values."""

    key: str


class RowLimits(NamedTuple):
    """Where each row ends; the first one begins at 0."""

    key: str


class ValueRowIds(NamedTuple):
    """Which row each value is in, never going down. Empty rows at the end are lost."""

    key: str


class UniformRowLength(NamedTuple):
    """All rows are equally long."""

    length: int


Partition: TypeAlias = (
    RowSplits | RowLengths | RowStarts | RowLimits | ValueRowIds | UniformRowLength
)


@dataclasses.dataclass(frozen=True)
class RaggedFeature:
    """A feature of nested rows: values under one key, their partitions under others.

    Args:
        dtype: Of the values: int64, float32 or string.
        value_key: The key of the values; if not given, that of the feature.
        partitions: How to cut the values into rows, from the outermost level to the
            innermost: `RaggedFeature.RowSplits(key)`, `RowLengths(key)`,
            `RowStarts(key)`, `RowLimits(key)`, `ValueRowIds(key)` or
            `UniformRowLength(length)`. Innermost uniform levels give dense dimensions.
        row_splits_dtype: Of the result's row splits: int32 or int64.
        validate: Whether to check that the partitions fit the values.

    Raises:
        InvalidArgumentError: A key is empty, or a dtype is not one of those named.
        InvalidTypeError: `partitions` holds something else, or `dtype` is None.

    >>> RaggedFeature(np.int64, "v", [RaggedFeature.RowLengths("n")]).partitions
    (RowLengths(key='n'),)
    """

    dtype: Any
    value_key: str | None = None
    partitions: Sequence[Partition] = ()
    row_splits_dtype: Any = np.int32
    validate: bool = False

    RowSplits: ClassVar = RowSplits
    RowLengths: ClassVar = RowLengths
    RowStarts: ClassVar = RowStarts
    RowLimits: ClassVar = RowLimits
    ValueRowIds: ClassVar = ValueRowIds
    UniformRowLength: ClassVar = UniformRowLength

    def __post_init__(self) -> None:
        """Check everything that does not need the data."""
        if self.value_key is not None and (
            not isinstance(self.value_key, str) or not self.value_key
        ):
            raise InvalidArgumentError(
                f"value_key: expected a string that is not empty, got {self.value_key!r}"
            )
        if self.dtype is None:
            raise InvalidTypeError("dtype: expected int64, float32 or string, got None")
        kind_of(self.dtype)
        splits = dtype_name(self.row_splits_dtype)
        if splits not in ("int32", "int64"):
            raise InvalidArgumentError(f"row_splits_dtype: expected int32 or int64, got {splits}")
        if not isinstance(self.partitions, (list, tuple)):
            raise InvalidTypeError(
                f"partitions: expected a list of partitions, got {short_repr(self.partitions)}"
            )
        for partition in self.partitions:
            _check_partition(partition)
        if not isinstance(self.validate, bool):
            raise InvalidTypeError(f"validate: expected a bool, got {short_repr(self.validate)}")
        object.__setattr__(self, "row_splits_dtype", np.dtype(splits))
        _freeze(self, "partitions")


FeatureSpec: TypeAlias = (
    FixedLenFeature | FixedLenSequenceFeature | VarLenFeature | SparseFeature | RaggedFeature
)


def kind_of(dtype: Any) -> Kind:
    """The kind of list that holds values of `dtype`.

    Args:
        dtype: `np.int64`, `np.float32`, `np.str_`, `np.bytes_`, `bytes`, `str`, `object`,
            their names, `"string"`, or a dtype of TensorFlow.

    Raises:
        InvalidArgumentError: An Example holds no values of that dtype.

    >>> kind_of(np.int64), kind_of("string")
    (<Kind.INT64: 3>, <Kind.BYTES: 1>)
    """
    name = dtype_name(dtype)
    try:
        return _KINDS[name]
    except KeyError:
        raise InvalidArgumentError(
            f"dtype: expected int64, float32 or string, got {name}",
            hint="read it as one of these three, then convert it with astype",
        ) from None


_KINDS = {"int64": Kind.INT64, "float32": Kind.FLOAT, "string": Kind.BYTES}


def _check_partition(partition: object) -> None:
    if isinstance(partition, UniformRowLength):
        if not isinstance(partition.length, (int, np.integer)):
            raise InvalidTypeError(
                f"UniformRowLength: expected an int, got {short_repr(partition.length)}"
            )
    elif isinstance(partition, (RowSplits, RowLengths, RowStarts, RowLimits, ValueRowIds)):
        if not isinstance(partition.key, str):
            raise InvalidTypeError(
                f"{type(partition).__name__}: expected a key, got {short_repr(partition.key)}"
            )
    else:
        raise InvalidTypeError(
            f"partitions: expected RowSplits, RowLengths, RowStarts, RowLimits, ValueRowIds or "
            f"UniformRowLength, got {short_repr(partition)}"
        )


def _freeze(spec: object, name: str) -> None:
    value = getattr(spec, name)
    if isinstance(value, list):
        object.__setattr__(spec, name, tuple(value))
