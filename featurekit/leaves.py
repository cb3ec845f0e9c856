"""The kinds of values that a feature is made of, and their entries in an Example.

Each reads the columns of many records at once, and gives the values either one by one
(`split`) or joined along a new first axis (`join`).
"""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from featurekit.dtypes import dtype_name
from featurekit.errors import (
    DecodeError,
    EncodeError,
    EncodeTypeError,
    UnsupportedError,
    add_location,
    short_repr,
)
from featurekit.io.columns import Column, ColumnSpec, Kind
from featurekit.io.ragged import RaggedTensor
from featurekit.tensor_info import Shape, TensorInfo, Tree
from featurekit.values import as_array, check_shape
from featurekit.wire_values import from_wire, kind_of, solve_shape, to_wire

__all__ = ["Leaf", "ListLeaf", "OpaqueInfo", "OpaqueLeaf", "has_opaque", "make_leaf"]

Array = np.ndarray[Any, Any]
Path = tuple[str, ...]
Wire = dict[str, Any]


class OpaqueInfo(TensorInfo):
    """Stands for stored entries of which only the place is known."""

    def __init__(self) -> None:
        super().__init__((), object)


def has_opaque(infos: Tree[TensorInfo]) -> bool:
    """Whether the class of some nested feature is not known."""
    if isinstance(infos, Mapping):
        return any(has_opaque(info) for info in infos.values())
    return isinstance(infos, OpaqueInfo)


class Leaf(abc.ABC):
    """One value of a feature and its entries in the Example.

    Args:
        path: Where in the feature it is.
        info: What is stored.

    Attributes:
        key: Of the entry, or of what its keys begin with.
        specs: The entries to read.
    """

    specs: tuple[ColumnSpec, ...] = ()

    def __init__(self, path: Path, info: TensorInfo) -> None:
        self.path = path
        self.key = "/".join(path)
        self.info = info

    def _kind(self) -> Kind:
        """The kind of list that holds the values."""
        try:
            return kind_of(self.info.dtype)
        except UnsupportedError as error:
            error.path = self.path
            raise

    @abc.abstractmethod
    def write(self, value: Any, wire: Wire) -> None:
        """Put the entries of a value in `wire`."""


class ListLeaf(Leaf):
    """A value that is kept in lists which its info describes."""

    @abc.abstractmethod
    def split(self, columns: Sequence[Column]) -> list[Any]:
        """The values of all records, from the columns of `specs`."""

    @abc.abstractmethod
    def join(self, columns: Sequence[Column]) -> Any:
        """The values of all records along a new first axis."""


def make_leaf(path: Path, info: TensorInfo) -> ListLeaf | OpaqueLeaf:
    """The kind of leaf that holds such a value.

    Raises:
        UnsupportedError: None does.
    """
    if isinstance(info, OpaqueInfo):
        return OpaqueLeaf(path, info)
    if info.sequence_rank > 1:
        return RaggedLeaf(path, info)
    if info.shape.count(None) > 1:
        raise _unsupported(path, info)
    return DenseLeaf(path, info)


class DenseLeaf(ListLeaf):
    """A value of which at most one dimension is unknown: one list."""

    def __init__(self, path: Path, info: TensorInfo) -> None:
        super().__init__(path, info)
        self._fixed = None not in info.shape
        known = [dim for dim in info.shape if dim is not None]
        self._size = int(np.prod(known, dtype=np.int64)) if self._fixed else -1
        self.specs = (ColumnSpec(self.key, self._kind(), self._size),)

    def write(self, value: Any, wire: Wire) -> None:
        """Put the values in one list; nothing where an optional value is missing."""
        if value is None:
            if not self.info.optional:
                raise EncodeTypeError(
                    f"expected {dtype_name(self.info.dtype)}, got None",
                    hint="give a value, or declare the feature with optional=True",
                )
            return
        if not isinstance(value, np.ndarray) and self.info.shape and not len(value):
            # An empty list has no inner dimensions of its own.
            value = np.empty([dim or 0 for dim in self.info.shape], self.info.dtype)
        array = as_array(value, self.info.dtype, self.info.shape)
        _check_countable(array.shape, self.info.shape)
        wire[self.key] = to_wire(array)

    def split(self, columns: Sequence[Column]) -> list[Any]:
        """The values of all records."""
        values, counts = columns[0]
        if self._fixed and _all_equal(counts, self._size):
            return list(self._stacked(values, len(counts)))
        return [self._one(part, count, i) for i, (part, count) in enumerate(_parts(columns[0]))]

    def join(self, columns: Sequence[Column]) -> Any:
        """The values of all records along a new first axis."""
        values, counts = columns[0]
        if self._fixed and _all_equal(counts, self._size):
            return self._stacked(values, len(counts))
        if not self._fixed and (counts >= 0).all():
            return self._ragged(values, counts)
        return _mask_missing(self.split(columns), self.info)

    def _stacked(self, values: Array, count: int) -> Array:
        return from_wire(values, self.info.dtype).reshape((count, *self.info.shape))

    def _ragged(self, values: Array, counts: Array) -> Any:
        shape = self.info.shape
        if shape[0] is not None:
            return _mask_missing(self.split([Column(values, counts)]), self.info)
        stride = int(np.prod(shape[1:], dtype=np.int64))  # type: ignore[arg-type]
        if stride == 0 or (counts % stride).any():
            return _mask_missing(self.split([Column(values, counts)]), self.info)
        flat = from_wire(values, self.info.dtype).reshape((-1, *shape[1:]))  # type: ignore[arg-type]
        return RaggedTensor(flat, _row_splits(counts // stride))

    def _one(self, values: Array, count: int, record: int) -> Any:
        try:
            if count < 0:
                return self._absent(values)
            return self._shaped(values)
        except DecodeError as error:
            add_location(error, record=record)
            raise

    def _absent(self, values: Array) -> Any:
        """What a record without the entry gives."""
        if self.info.optional or self.info.may_be_absent:
            return None
        if not self._fixed:
            return self._shaped(values)  # TFDS reads an absent list of unknown length as empty
        if self.info.default_value is not None:
            return as_array(self.info.default_value, self.info.dtype, self.info.shape)[()]
        raise DecodeError(
            f"the record has no entry {self.key!r}",
            hint="the record was written with other features; check features.json",
        )

    def _shaped(self, values: Array) -> Any:
        array = from_wire(values, self.info.dtype)
        return array.reshape(solve_shape(self.info.shape, array.size, self.key))[()]


class RaggedLeaf(ListLeaf):
    """A value below two or more sequences: flat values and the lengths of the lists."""

    def __init__(self, path: Path, info: TensorInfo) -> None:
        super().__init__(path, info)
        rank = info.sequence_rank
        self._lengths, self._inner = info.shape[:rank], info.shape[rank:]
        if None in self._inner:
            raise _unsupported(path, info)
        kind = self._kind()
        flat = ColumnSpec(f"{self.key}/ragged_flat_values", kind)
        rows = [
            ColumnSpec(f"{self.key}/ragged_row_lengths_{i}", Kind.INT64) for i in range(rank - 1)
        ]
        # Where every list but one has a fixed length, a plain list is the other legal spelling.
        self._plain = info.shape.count(None) <= 1
        plain = [ColumnSpec(self.key, kind)] if self._plain else []
        self.specs = (flat, *rows, *plain)

    def write(self, value: Any, wire: Wire) -> None:
        """Put the elements in one list, and the lengths of each level in another."""
        elements, row_lengths = _flatten_rows(value, self._lengths)
        array = _concatenate(elements, self.info.dtype, self._inner)
        _check_countable(array.shape, (None, *self._inner))
        wire[f"{self.key}/ragged_flat_values"] = to_wire(array)
        for level, lengths in enumerate(row_lengths):
            wire[f"{self.key}/ragged_row_lengths_{level}"] = np.array(lengths, np.int64)

    def split(self, columns: Sequence[Column]) -> list[Any]:
        """The values of all records."""
        records = zip(*map(_parts, columns), strict=True)
        return [self._one(parts, record) for record, parts in enumerate(records)]

    def join(self, columns: Sequence[Column]) -> Any:
        """The values of all records along a new first axis."""
        flat, *rows = columns[: len(self._lengths)]
        if (self._plain and (columns[-1].counts >= 0).any()) or not self._add_up(flat, rows):
            return self.split(columns)  # where a record is wrong, this says which
        # All records' lists one after another nest as those of one record do.
        values = from_wire(flat.values, self.info.dtype)
        values = values.reshape(solve_shape((None, *self._inner), values.size, self.key))
        nested = self._nest(values, [row.values for row in rows])
        return RaggedTensor(nested, _row_splits(np.maximum(rows[0].counts, 0)))

    def _one(self, parts: Sequence[tuple[Array, int]], record: int) -> Any:
        try:
            (flat, flat_count), *rows = parts[: len(self._lengths)]
            if flat_count < 0 and self._plain and parts[-1][1] >= 0:
                array = from_wire(parts[-1][0], self.info.dtype)
                return array.reshape(solve_shape(self.info.shape, array.size, self.key))
            values = from_wire(flat, self.info.dtype)
            values = values.reshape(solve_shape((None, *self._inner), values.size, self.key))
            count, declared = len(rows[0][0]), self._lengths[0]
            if declared is not None and count != declared:
                raise _wrong_length(count, declared)
            return self._nest(values, [lengths for lengths, _ in rows])
        except DecodeError as error:
            add_location(error, record=record)
            raise

    def _add_up(self, flat: Column, rows: Sequence[Column]) -> bool:
        """Whether the lists of each record have its elements, and the declared lengths."""
        stride = int(np.prod(self._inner, dtype=np.int64))  # type: ignore[arg-type]
        if stride and (flat.counts % stride).any():
            return False
        counts = [rows[0].counts, *(row.values for row in rows)]
        declared = zip(counts, self._lengths, strict=True)
        if any(size is not None and (count != size).any() for count, size in declared):
            return False
        sizes = [*(row.counts for row in rows[1:]), flat.counts // stride if stride else 0]
        return all(
            _in_range(row.values, len(flat.values)) and (_sums(row) == np.maximum(size, 0)).all()
            for row, size in zip(rows, sizes, strict=True)
        )

    def _nest(self, values: Any, row_lengths: list[Array]) -> Any:
        for level in range(len(row_lengths) - 1, -1, -1):
            lengths = row_lengths[level]
            # Each by itself too, since the sum of hostile numbers wraps around.
            if not _in_range(lengths, len(values)) or int(lengths.sum()) != len(values):
                raise DecodeError(
                    f"entry '{self.key}/ragged_row_lengths_{level}' adds up to "
                    f"{sum(lengths.tolist())}, and there are {len(values)} elements",
                    hint="the record is damaged; write it again",
                )
            values = _nest_level(values, lengths, self._lengths[level + 1])
        return values


class OpaqueLeaf(Leaf):
    """Entries of which only the place is known: given as they are."""

    def write(self, value: Any, wire: Wire) -> None:
        """Refused: how to store a value is what is not known."""
        raise EncodeError("a feature of an unknown class cannot be stored")

    def pick(self, everything: Mapping[str, Any]) -> Any:
        """From all entries of a record the one at the path, or a dict of those below it."""
        if self.key in everything:
            return everything[self.key]
        start = f"{self.key}/"
        return {k[len(start) :]: v for k, v in everything.items() if k.startswith(start)}


def _unsupported(path: Path, info: TensorInfo) -> UnsupportedError:
    return UnsupportedError(
        f"shape {info.shape} has more than one unknown dimension, which a plain list cannot tell",
        path=path,
        hint="use encoding='bytes' or 'zlib', nest Sequence(Sequence(...)) for lists of lists, "
        "or give the sequence a fixed length",
    )


# Records of a column.


def _parts(column: Column) -> list[tuple[Array, int]]:
    """The values of each record, and how many there are; -1 where there is no entry."""
    splits = _row_splits(np.maximum(column.counts, 0)).tolist()
    counts = column.counts.tolist()
    return [(column.values[splits[i] : splits[i + 1]], n) for i, n in enumerate(counts)]


def _all_equal(counts: Array, size: int) -> bool:
    if len(counts) == 1:  # a fifth of the time
        return bool(counts[0] == size)
    return bool((counts == size).all())


def _row_splits(lengths: Array) -> Array:
    splits = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=splits[1:])
    return splits


def _mask_missing(values: list[Any], info: TensorInfo) -> Any:
    """Join values of which some are missing: a masked array, where None is masked."""
    missing = [value is None for value in values]
    if not any(missing):
        return _join_lists(values, info)
    shape = next((np.shape(v) for v in values if v is not None), [d or 0 for d in info.shape])
    data = np.zeros((len(values), *shape), info.dtype)
    mask = np.zeros(data.shape, bool)
    for index, value in enumerate(values):
        if value is None:
            mask[index] = True
        else:
            data[index] = value
    return np.ma.MaskedArray(data, mask)


def _join_lists(values: list[Any], info: TensorInfo) -> Any:
    """Join values whose unknown dimension may differ."""
    shapes = {np.shape(value) for value in values}
    if len(shapes) == 1:
        joined = np.empty((len(values), *shapes.pop()), info.dtype)
        for index, value in enumerate(values):
            joined[index] = value
        return joined
    if info.shape and info.shape[0] is None:
        return RaggedTensor(
            np.concatenate(values), _row_splits(np.array([len(v) for v in values], np.int64))
        )
    return values


def _nest_level(values: Any, lengths: Array, size: int | None) -> Any:
    """Group elements into lists; into an array where lists have one declared length."""
    if size is not None:
        for length in lengths[lengths != size]:
            raise _wrong_length(int(length), size)
        if isinstance(values, np.ndarray):
            return values.reshape((len(lengths), size, *values.shape[1:]))
    return RaggedTensor(values, _row_splits(lengths))


def _wrong_length(length: int, declared: int) -> DecodeError:
    return DecodeError(
        f"a list has {length} elements, and the declared length is {declared}",
        hint="the record is damaged, or was written with other features",
    )


def _in_range(lengths: Array, limit: int) -> bool:
    return bool(((lengths >= 0) & (lengths <= limit)).all())


def _sums(lengths: Column) -> Array:
    """The sum of each record's lengths."""
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths.values)])
    splits = _row_splits(np.maximum(lengths.counts, 0))
    return ends[splits[1:]] - ends[splits[:-1]]  # type: ignore[no-any-return]


# Nested lists to be written.


def _check_countable(got: tuple[int, ...], declared: Shape) -> None:
    """Raise an `EncodeError` where a list of no values would lose how many items there are."""
    if 0 in declared and None in declared and got[declared.index(None)]:
        raise EncodeError(
            f"shape {got} has no values, so nothing stored tells the unknown size of {declared}",
            hint="use encoding='bytes', or give the sequence a fixed length",
        )


def _flatten_rows(value: Any, lengths: Shape) -> tuple[Any, list[list[int]]]:
    """Take the lists of `len(lengths)` levels apart: the elements, and each level's lengths."""
    _check_length(value, lengths[0])
    row_lengths: list[list[int]] = []
    elements = value
    for size in lengths[1:]:
        rows = list(elements)
        for row in rows:
            _check_length(row, size)
        row_lengths.append([len(row) for row in rows])
        elements = [item for row in rows for item in row]
    return elements, row_lengths


def _check_length(value: Any, length: int | None) -> None:
    """Raise an `EncodeError` unless `value` is a list or array of the declared length."""
    if not hasattr(value, "__len__") or isinstance(value, (str, bytes, Mapping)):
        raise EncodeTypeError(
            f"expected a list, got {type(value).__name__} {short_repr(value)}",
            hint="give a list, a tuple or an array",
        )
    if length is not None and len(value) != length:
        raise EncodeError(
            f"expected {length} elements, got {len(value)}",
            hint="fix the value, or declare the Sequence without a length",
        )


def _concatenate(elements: Any, dtype: np.dtype[Any], inner: Shape) -> Array:
    """Stack elements of one shape; `(0, *inner)` where there are none."""
    if isinstance(elements, np.ndarray):
        check_shape(elements.shape[1:], inner)
        return as_array(elements, dtype, (None, *inner))
    arrays = [as_array(element, dtype, inner) for element in elements]
    if not arrays:
        return np.empty((0, *(dim or 0 for dim in inner)), dtype)
    return np.stack(arrays)
