"""Sparse results of the parse functions: VarLenFeature and SparseFeature."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt

from featurekit.errors import InvalidArgumentError, InvalidTypeError, ParseError, short_repr
from featurekit.io.columns import Column, ColumnSpec, Kind
from featurekit.io.sparse import SparseTensor
from featurekit.io.specs import SparseFeature, VarLenFeature, kind_of

__all__ = ["SparseReader", "VarLenReader", "places", "sparse_reader", "var_len_reader"]


@dataclasses.dataclass(frozen=True)
class VarLenReader:
    """Makes a SparseTensor of the values in their order; see `VarLenFeature`.

    Attributes:
        columns: The one column it reads.
    """

    columns: tuple[ColumnSpec]

    def batch(self, columns: list[Column]) -> SparseTensor:
        """Indices are `[example, index]`, the shape `[batch, most values of an example]`."""
        values, counts = columns[0]
        counts = np.maximum(counts, 0)
        rows, places_in_rows = places(counts)
        indices = np.empty((len(values), 2), np.int64)
        indices[:, 0] = rows
        indices[:, 1] = places_in_rows
        shape = np.array([len(counts), counts.max(initial=0)], np.int64)
        return SparseTensor(indices, values, shape)

    def single(self, columns: list[Column]) -> SparseTensor:
        """Indices are `[index]`, the shape `[number of values]`."""
        values = columns[0].values
        indices = np.arange(len(values)).reshape(-1, 1)
        return SparseTensor(indices, values, np.array([len(values)], np.int64))


@dataclasses.dataclass(frozen=True)
class SparseReader:
    """Makes a SparseTensor of values that lie where others say; see `SparseFeature`.

    Attributes:
        columns: The values, then the indices of each dimension.
        sizes: Size of each dimension.
        already_sorted: Whether to leave the order as it is.
    """

    columns: tuple[ColumnSpec, ...]
    sizes: tuple[int, ...]
    already_sorted: bool

    def batch(self, columns: list[Column]) -> SparseTensor:
        """Indices are `[example, index, ...]`, the shape `[batch, *sizes]`."""
        values, counts = columns[0]
        rows = np.repeat(np.arange(len(counts)), np.maximum(counts, 0))
        self._check(columns, rows)
        indices = np.stack([rows, *(column.values for column in columns[1:])], axis=1)
        if not self.already_sorted:
            order = np.lexsort(indices.T[::-1])
            indices, values = indices[order], values[order]
        return SparseTensor(indices, values, np.array([len(counts), *self.sizes], np.int64))

    def single(self, columns: list[Column]) -> SparseTensor:
        """Indices are `[index, ...]`, the shape `sizes`."""
        result = self.batch(columns)
        return SparseTensor(result.indices[:, 1:], result.values, result.dense_shape[1:])

    def _check(self, columns: list[Column], rows: npt.NDArray[np.int64]) -> None:
        """Refuse what would move values between examples, or put them outside the shape."""
        counts, value_key = np.maximum(columns[0].counts, 0), self.columns[0].key
        for (index, index_counts), spec, size in zip(
            columns[1:], self.columns[1:], self.sizes, strict=True
        ):
            index_counts = np.maximum(index_counts, 0)
            if (differ := index_counts != counts).any():
                record = int(differ.argmax())
                raise ParseError(
                    f"feature {spec.key!r}: expected as many indices as {value_key!r} has "
                    f"values, {counts[record]}, got {index_counts[record]}",
                    record=record,
                )
            if (outside := (index < 0) | (index >= size)).any():
                place = int(outside.argmax())
                raise ParseError(
                    f"feature {spec.key!r}: expected indices of {value_key!r} from 0 to "
                    f"{size - 1}, got {index[place]}",
                    hint="fix the data, or give the SparseFeature a larger size",
                    record=int(rows[place]),
                )


def var_len_reader(key: str, spec: VarLenFeature) -> VarLenReader:
    """Check a VarLenFeature and make its reader."""
    return VarLenReader((ColumnSpec(key, kind_of(spec.dtype)),))


def sparse_reader(key: str, spec: SparseFeature) -> SparseReader:
    """Check a SparseFeature and make its reader."""
    if not spec.index_key:
        raise InvalidArgumentError(f"index_key: expected a key or keys, got {spec.index_key!r}")
    if not spec.value_key:
        raise InvalidArgumentError(f"value_key: expected a key, got {spec.value_key!r}")
    values = ColumnSpec(spec.value_key, kind_of(spec.dtype))
    if isinstance(spec.index_key, str):
        keys, sizes = (spec.index_key,), (spec.size,)
    else:
        if not isinstance(spec.size, tuple):
            raise InvalidTypeError(
                f"size: expected a list, as index_key is one, got {short_repr(spec.size)}"
            )
        keys, sizes = tuple(spec.index_key), spec.size
    if len(keys) != len(sizes):
        raise InvalidArgumentError(
            f"size: expected one for each of the {len(keys)} index keys, got {len(sizes)}"
        )
    for size in sizes:
        if not isinstance(size, (int, np.integer)):
            raise InvalidTypeError(f"size: expected ints, got {short_repr(size)}")
        if size < 0:
            raise InvalidArgumentError(f"size: expected 0 or more, got {size}")
    columns = (values, *(ColumnSpec(name, Kind.INT64) for name in keys))
    return SparseReader(columns, tuple(map(int, sizes)), bool(spec.already_sorted))


def places(counts: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The row of each value, and its place in the row, of rows of such lengths.

    >>> [array.tolist() for array in places(np.array([2, 0, 1]))]
    [[0, 0, 2], [0, 1, 0]]
    """
    rows = np.repeat(np.arange(len(counts)), counts)
    begins = np.cumsum(counts) - counts
    return rows, np.arange(len(rows)) - begins[rows]
