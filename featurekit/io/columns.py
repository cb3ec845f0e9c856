"""Examples to arrays and back: the one door through which every Example goes.

Two implementations stand behind these functions. `featurekit.io.columns_protobuf` is
the specification, written on protobuf; `featurekit.io.columns_native` does the same
faster, with the compiled kernels, and is taken where those are to be had: see
`featurekit.native`.
"""

from __future__ import annotations

import enum
import functools
import importlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import numpy as np
import numpy.typing as npt

from featurekit.errors import InvalidArgumentError
from featurekit.native import kernel

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "Column",
    "ColumnSpec",
    "FeatureValues",
    "Kind",
    "StepColumn",
    "native_active",
    "read_columns",
    "read_columns_buffer",
    "read_example",
    "read_sequence_columns",
    "write_example",
]

FeatureValues = npt.NDArray[Any] | Sequence[bytes] | None
"""One feature to write: an int64 or float32 array, a list of bytes, or None (no kind set)."""


class Kind(enum.IntEnum):
    """The kind of list a Feature holds; the numbers are those of its oneof's fields."""

    BYTES = 1
    FLOAT = 2
    INT64 = 3

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of values of this kind: object (of bytes), float32 or int64."""
        return _DTYPES[self]

    @property
    def field(self) -> str:
        """Name of the field, such as `int64_list`."""
        return f"{self.name.lower()}_list"


_DTYPES = {
    Kind.BYTES: np.dtype(object),
    Kind.FLOAT: np.dtype(np.float32),
    Kind.INT64: np.dtype(np.int64),
}


class ColumnSpec(NamedTuple):
    """What to read: a feature's key, its kind and, where fixed, its values per record.

    `size` is a hint for allocation (-1: not known). Other sizes are no error here.
    """

    key: str
    kind: Kind
    size: int = -1


class Column(NamedTuple):
    """One feature of a batch of records.

    Attributes:
        values: `(total,)` int64, float32 or object (of bytes): all records' values, in order.
        counts: `(batch,)` int64, the number of values of each record; -1 where the key is
            absent, or present with no kind set.
    """

    values: npt.NDArray[Any]
    counts: npt.NDArray[np.int64]


class StepColumn(NamedTuple):
    """One feature list of a batch of SequenceExamples.

    Attributes:
        values: `(total,)` int64, float32 or object (of bytes): all steps' values, in order.
        counts: `(total steps,)` int64, the number of values of each step; -1 where the
            step has no kind set.
        steps: `(batch,)` int64, the number of steps of each record; -1 where the feature
            list is absent.
    """

    values: npt.NDArray[Any]
    counts: npt.NDArray[np.int64]
    steps: npt.NDArray[np.int64]


class _Implementation(Protocol):
    def read_columns(
        self, records: Sequence[bytes], specs: Sequence[ColumnSpec]
    ) -> list[Column]: ...

    def read_columns_buffer(
        self,
        buffer: Buffer,
        offsets: npt.NDArray[np.int64],
        lengths: npt.NDArray[np.int64],
        specs: Sequence[ColumnSpec],
    ) -> list[Column]: ...

    def read_sequence_columns(
        self,
        records: Sequence[bytes],
        context: Sequence[ColumnSpec],
        lists: Sequence[ColumnSpec],
    ) -> tuple[list[Column], list[StepColumn]]: ...

    def read_example(self, record: bytes) -> dict[str, npt.NDArray[Any] | None]: ...

    def write_example(self, features: Mapping[str, FeatureValues]) -> bytes: ...


def native_active() -> bool:
    """Whether the compiled implementation is the one in use."""
    return _loaded()[1]


def read_columns(records: Sequence[bytes], specs: Sequence[ColumnSpec]) -> list[Column]:
    """Some features of serialized Examples, as one flat array each.

    Args:
        records: Serialized Examples, `(batch,)`.
        specs: The features to read; others are skipped.

    Returns:
        One `Column` for each spec, in their order.

    Raises:
        ParseError: Bytes are not an Example, or a feature has another kind than its spec.
        InvalidTypeError: A record is not bytes.

    >>> records = [write_example({"age": np.array([41, 42])}), write_example({})]
    >>> (age,) = read_columns(records, [ColumnSpec("age", Kind.INT64)])
    >>> age.values.tolist(), age.counts.tolist()
    ([41, 42], [2, -1])
    """
    return _loaded()[0].read_columns(records, specs)


def read_columns_buffer(
    buffer: Buffer,
    offsets: npt.NDArray[np.int64],
    lengths: npt.NDArray[np.int64],
    specs: Sequence[ColumnSpec],
) -> list[Column]:
    """Like `read_columns`, for Examples that lie in one buffer, such as a piece of a file.

    Args:
        buffer: Bytes, or anything that gives its memory as such.
        offsets: `(batch,)` int64, where in it each Example starts.
        lengths: `(batch,)` int64, the length of each, in bytes.
        specs: The features to read.

    Raises:
        ParseError: As in `read_columns`.
        InvalidArgumentError: An Example does not lie inside of the buffer.

    >>> data = write_example({"age": np.array([41])})
    >>> one = np.array([len(data)])
    >>> (age,) = read_columns_buffer(data * 2, one, one, [ColumnSpec("age", Kind.INT64)])
    >>> age.values.tolist()
    [41]
    """
    size = memoryview(buffer).nbytes
    if len(offsets) != len(lengths) or np.any(
        (offsets < 0) | (lengths < 0) | (lengths > size) | (offsets > size - lengths)
    ):
        raise InvalidArgumentError(
            f"not all of {len(offsets)} offsets and {len(lengths)} lengths lie inside of a "
            f"buffer of {size} bytes"
        )
    return _loaded()[0].read_columns_buffer(buffer, offsets, lengths, specs)


def read_sequence_columns(
    records: Sequence[bytes],
    context: Sequence[ColumnSpec],
    lists: Sequence[ColumnSpec],
) -> tuple[list[Column], list[StepColumn]]:
    """Some context features and feature lists of serialized SequenceExamples.

    Args:
        records: Serialized SequenceExamples, `(batch,)`.
        context: The context features to read.
        lists: The feature lists to read.

    Returns:
        One `Column` for each context spec and one `StepColumn` for each list spec.

    Raises:
        ParseError: Bytes are not a SequenceExample, or a feature has another kind than
            its spec.
        InvalidTypeError: A record is not bytes.
    """
    return _loaded()[0].read_sequence_columns(records, context, lists)


def read_example(record: bytes) -> dict[str, npt.NDArray[Any] | None]:
    """Everything in one serialized Example, in the order of the keys.

    Returns:
        1-D int64, float32 or object (of bytes) arrays; None where no kind is set.

    Raises:
        ParseError: The bytes are not an Example.
        InvalidTypeError: The record is not bytes.

    >>> read_example(write_example({"name": [b"cat"], "age": np.array([3])}))
    {'age': array([3]), 'name': array([b'cat'], dtype=object)}
    """
    return _loaded()[0].read_example(record)


def write_example(features: Mapping[str, FeatureValues]) -> bytes:
    r"""One Example, serialized the same way every time: keys sorted, numbers packed.

    Args:
        features: Values by key: an int64 array, a float32 array, a list (or object array)
            of bytes, or None for a feature with no kind set. Arrays are flattened.

    Raises:
        EncodeTypeError: Values are none of these.
        EncodeError: The Example would pass 2**31 - 1 bytes, or a key is not valid text.

    >>> write_example({"age": np.array([3])})
    b'\n\x0e\n\x0c\n\x03age\x12\x05\x1a\x03\n\x01\x03'
    """
    return _loaded()[0].write_example(features)


@functools.cache
def _loaded() -> tuple[_Implementation, bool]:
    """The implementation to use, and whether it is the compiled one."""
    active = kernel("columns") is not None and kernel("example_writer") is not None
    name = "columns_native" if active else "columns_protobuf"
    return cast(_Implementation, importlib.import_module(f"featurekit.io.{name}")), active
