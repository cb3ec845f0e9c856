"""Where the values of a nested feature lie in a flat tf.train.Example, and back.

A feature's serialized info (nested dicts of `TensorInfo`) fixes the layout, as TFDS has it:

    ============================  ==========================================================
    value                         key(s), for a feature at path `f`
    ============================  ==========================================================
    all dimensions known          `f`: the values in row-major order
    one dimension unknown         `f`: the same; the unknown size follows from their number
    below two or more sequences   `f/ragged_flat_values`, and the lengths of all lists of each
                                  inner level in `f/ragged_row_lengths_0`, `_1`, ...
    opaque (class unknown)        whatever the record has at `f` and below `f/`
    ============================  ==========================================================

Integers and bools are int64 lists (uint64 by its bits), floats 32-bit float lists, text
and bytes are bytes lists. Nested dict keys are joined with `/`.

Source: the layout that TFDS's example_serializer and example_parser modules define.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from featurekit.dtypes import dtype_name, is_string
from featurekit.errors import (
    DecodeError,
    EncodeError,
    EncodeTypeError,
    FeatureKeyError,
    FeatureKitError,
    SchemaError,
    UnsupportedError,
    add_path,
    short_repr,
)
from featurekit.io.columns import (
    Column,
    ColumnSpec,
    Kind,
    read_columns,
    read_example,
    write_example,
)
from featurekit.io.ragged import RaggedTensor
from featurekit.tensor_info import Shape, TensorInfo, Tree
from featurekit.values import as_array, check_shape, narrow_float

__all__ = ["Layout", "OpaqueInfo"]

Path = tuple[str, ...]
Wire = dict[str, Any]


class OpaqueInfo(TensorInfo):
    """Stands for stored entries of which only the place is known."""

    def __init__(self) -> None:
        super().__init__((), object)


class Layout:
    """How the values of one feature are laid out in a tf.train.Example.

    Args:
        infos: The feature's serialized info: a `TensorInfo`, or nested dicts of them.

    Raises:
        SchemaError: Two values would have the same key.
        UnsupportedError: A dtype or shape cannot be stored without an encoding.
    """

    def __init__(self, infos: Tree[TensorInfo]) -> None:
        self.infos = infos
        self._leaves = tuple(_make_leaf(path, info) for path, info in _flatten(infos))
        _check_keys(self._leaves)
        self._specs = tuple(spec for leaf in self._leaves for spec in leaf.specs)
        self._has_opaque = any(isinstance(leaf, _Opaque) for leaf in self._leaves)

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the Example's entries, in order of the feature."""
        return tuple(spec.key for spec in self._specs)

    @property
    def specs(self) -> tuple[ColumnSpec, ...]:
        """What each entry is: key, list kind and number of values where it is fixed."""
        return self._specs

    def serialize(self, encoded: Tree[Any]) -> bytes:
        """Write encoded values as the bytes of a tf.train.Example.

        The bytes depend on the values alone: keys are sorted, lists packed.

        Args:
            encoded: What `encode_example` gave: a value, or nested dicts of values.

        Raises:
            EncodeError: A value does not fit its info, or the example passes 2 GiB.
        """
        wire: Wire = {}
        for leaf in self._leaves:
            try:
                leaf.write(_find(encoded, leaf.path), wire)
            except FeatureKitError as error:
                for part in reversed(leaf.path):
                    add_path(error, part)
                raise
        return write_example(wire)

    def deserialize(self, record: bytes) -> Tree[Any]:
        """Read the stored values of one serialized tf.train.Example.

        Raises:
            ParseError: The bytes are no Example, or a list has the wrong kind.
            DecodeError: An entry is missing, or has the wrong number of values.
        """
        columns = iter(read_columns([record], self._specs))
        everything = read_example(record) if self._has_opaque else None
        result: Any = _skeleton(self.infos)
        for leaf in self._leaves:
            value = self._read_leaf(leaf, columns, everything)
            if not leaf.path:
                return value
            _set(result, leaf.path, value)
        return result

    @staticmethod
    def _read_leaf(leaf: _Leaf, columns: Iterator[Column], everything: Any) -> Any:
        try:
            if isinstance(leaf, _Opaque):
                return leaf.pick(everything)
            return leaf.read([next(columns) for _ in leaf.specs])
        except DecodeError as error:
            error.path = (*leaf.path, *error.path)
            raise


# The four kinds of leaves.


class _Leaf(abc.ABC):
    """One value of the feature and its entries in the Example."""

    specs: tuple[ColumnSpec, ...] = ()

    def __init__(self, path: Path, info: TensorInfo) -> None:
        self.path = path
        self.key = "/".join(path)
        self.info = info

    @abc.abstractmethod
    def write(self, value: Any, wire: Wire) -> None:
        """Put the entries of a value in `wire`."""

    @abc.abstractmethod
    def read(self, columns: Sequence[Column]) -> Any:
        """Get the value from the columns of `specs`, read from one record."""

    def absent(self) -> Any:
        """What a record without the entry gives."""
        if self.info.optional or self.info.may_be_absent:
            return None
        if self.info.default_value is not None:
            return as_array(self.info.default_value, self.info.dtype, self.info.shape)[()]
        raise DecodeError(
            f"the record has no entry {self.key!r}",
            hint="the record was written with other features; check features.json",
        )


class _Dense(_Leaf):
    """A value of which at most one dimension is unknown: one list."""

    def __init__(self, path: Path, info: TensorInfo) -> None:
        super().__init__(path, info)
        self._kind = _kind(info.dtype)
        known = [dim for dim in info.shape if dim is not None]
        self._stride = int(np.prod(known, dtype=np.int64))
        self._fixed = len(known) == len(info.shape)
        self._scalar = info.shape == ()
        self.specs = (ColumnSpec(self.key, self._kind, self._stride if self._fixed else -1),)

    def write(self, value: Any, wire: Wire) -> None:
        if value is None:
            if not self.info.optional:
                raise EncodeTypeError(
                    f"expected {dtype_name(self.info.dtype)}, got None",
                    hint="give a value, or declare the feature with optional=True",
                )
            return
        if self.info.sequence_rank and isinstance(value, list) and not value:
            # An empty list does not show the shape of its elements.
            value = _join(value, self.info.dtype, self.info.shape[1:])
        array = as_array(value, self.info.dtype, self.info.shape)
        _check_countable(array.shape, self.info.shape)
        wire[self.key] = _to_wire(array)

    def read(self, columns: Sequence[Column]) -> Any:
        values, counts = columns[0]
        count = int(counts[0])
        if count < 0:
            # TFDS reads an absent list of unknown length as empty.
            return self.absent() if self._fixed or self.info.optional else self._shaped(values[:0])
        if self._scalar and count == 1:
            return _scalar_from_wire(values[0], self.info.dtype)
        return self._shaped(values)

    def _shaped(self, values: np.ndarray[Any, Any]) -> Any:
        array = _from_wire(values, self.info.dtype)
        return array.reshape(_solve_shape(self.info.shape, array.size, self.key))[()]


class _Ragged(_Leaf):
    """A value below two or more sequences: flat values and the lengths of the lists."""

    def __init__(self, path: Path, info: TensorInfo) -> None:
        super().__init__(path, info)
        rank = info.sequence_rank
        self._lengths, self._inner = info.shape[:rank], info.shape[rank:]
        if None in self._inner:
            raise _unsupported(path, info)
        flat = ColumnSpec(f"{self.key}/ragged_flat_values", _kind(info.dtype))
        rows = [
            ColumnSpec(f"{self.key}/ragged_row_lengths_{i}", Kind.INT64) for i in range(rank - 1)
        ]
        # Where every list but one has a fixed length, a plain list is the other legal spelling.
        self._plain = info.shape.count(None) <= 1
        plain = [ColumnSpec(self.key, _kind(info.dtype))] if self._plain else []
        self.specs = (flat, *rows, *plain)

    def write(self, value: Any, wire: Wire) -> None:
        elements, row_lengths = _flatten_rows(value, self._lengths)
        array = _join(elements, self.info.dtype, self._inner)
        _check_countable(array.shape, (None, *self._inner))
        wire[f"{self.key}/ragged_flat_values"] = _to_wire(array)
        for level, lengths in enumerate(row_lengths):
            wire[f"{self.key}/ragged_row_lengths_{level}"] = np.array(lengths, np.int64)

    def read(self, columns: Sequence[Column]) -> Any:
        flat, *rows = columns[: len(self._lengths)]
        if int(flat.counts[0]) < 0 and self._plain and int(columns[-1].counts[0]) >= 0:
            array = _from_wire(columns[-1].values, self.info.dtype)
            return array.reshape(_solve_shape(self.info.shape, array.size, self.key))
        values = _from_wire(flat.values, self.info.dtype)
        values = values.reshape(_solve_shape((None, *self._inner), values.size, self.key))
        return self._nest(values, [row.values for row in rows])

    def _nest(self, values: Any, row_lengths: list[np.ndarray[Any, Any]]) -> Any:
        for level in range(len(row_lengths) - 1, -1, -1):
            lengths = row_lengths[level]
            if (lengths < 0).any() or int(lengths.sum()) != len(values):
                raise DecodeError(
                    f"entry '{self.key}/ragged_row_lengths_{level}' adds up to "
                    f"{int(lengths.sum())}, and there are {len(values)} elements",
                    hint="the record is damaged; write it again",
                )
            values = self._nest_level(values, lengths, self._lengths[level + 1])
        return values

    @staticmethod
    def _nest_level(values: Any, lengths: np.ndarray[Any, Any], size: int | None) -> Any:
        """Group elements into lists; into an array where lists have one declared length."""
        if size is not None and isinstance(values, np.ndarray) and (lengths == size).all():
            return values.reshape((len(lengths), size, *values.shape[1:]))
        splits = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=splits[1:])
        return RaggedTensor(values, splits)


class _Opaque(_Leaf):
    """Entries of which only the place is known: given as they are."""

    def write(self, value: Any, wire: Wire) -> None:
        items = value.items() if isinstance(value, Mapping) else [("", value)]
        for name, item in items:
            wire[f"{self.key}/{name}" if name else self.key] = item

    def read(self, columns: Sequence[Column]) -> Any:
        raise AssertionError  # pick() reads these

    def pick(self, everything: Mapping[str, Any]) -> Any:
        """The entry at the path, or a dict of those below it."""
        if self.key in everything:
            return everything[self.key]
        start = f"{self.key}/"
        return {k[len(start) :]: v for k, v in everything.items() if k.startswith(start)}


def _make_leaf(path: Path, info: TensorInfo) -> _Leaf:
    if isinstance(info, OpaqueInfo):
        return _Opaque(path, info)
    if info.sequence_rank > 1:
        return _Ragged(path, info)
    if info.shape.count(None) > 1:
        raise _unsupported(path, info)
    return _Dense(path, info)


def _unsupported(path: Path, info: TensorInfo) -> UnsupportedError:
    return UnsupportedError(
        f"shape {info.shape} has more than one unknown dimension, which a plain list cannot tell",
        path=path,
        hint="use encoding='bytes' or 'zlib', nest Sequence(Sequence(...)) for lists of lists, "
        "or give the sequence a fixed length",
    )


def _kind(dtype: np.dtype[Any]) -> Kind:
    if is_string(dtype):
        return Kind.BYTES
    if dtype.kind in "biu":
        return Kind.INT64
    if dtype.kind == "f":
        return Kind.FLOAT
    raise UnsupportedError(
        f"a tf.train.Example has no list for {dtype_name(dtype)}",
        hint="declare the feature with encoding='bytes' or encoding='zlib'",
    )


# Nested dicts and paths.


def _flatten(infos: Tree[TensorInfo], path: Path = ()) -> Iterator[tuple[Path, TensorInfo]]:
    if isinstance(infos, TensorInfo):
        yield path, infos
        return
    for key, info in infos.items():
        yield from _flatten(info, (*path, key))


def _check_keys(leaves: Sequence[_Leaf]) -> None:
    seen: dict[str, Path] = {}
    for leaf in leaves:
        for key in {leaf.key, *(spec.key for spec in leaf.specs)}:
            if key in seen:
                raise SchemaError(
                    f"two features are stored under the key {key!r}",
                    path=leaf.path,
                    hint="rename one of them; a '/' in a name counts as nesting",
                )
            seen[key] = leaf.path


def _find(tree: Any, path: Path) -> Any:
    for index, part in enumerate(path):
        if not isinstance(tree, Mapping):
            raise EncodeTypeError(
                f"expected a dict, got {type(tree).__name__} {short_repr(tree)}", path=()
            )
        if part not in tree:
            raise FeatureKeyError(
                f"the encoded example has no {'.'.join(path[: index + 1])!r}",
                hint="encode_example must return what get_serialized_info declares",
            )
        tree = tree[part]
    return tree


def _skeleton(infos: Tree[TensorInfo]) -> Any:
    """The nested dicts of `infos` without the values, so that empty ones are there too."""
    if isinstance(infos, TensorInfo):
        return None
    return {key: _skeleton(info) for key, info in infos.items()}


def _set(tree: dict[str, Any], path: Path, value: Any) -> None:
    for part in path[:-1]:
        tree = tree[part]
    tree[path[-1]] = value


# Arrays to and from the three kinds of lists.


def _to_wire(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    flat = array.reshape(-1)
    if flat.dtype.kind == "O":
        return flat
    if flat.dtype == np.uint64:
        return np.ascontiguousarray(flat).view(np.int64)
    if flat.dtype == np.float64:
        return narrow_float(flat, np.float32)
    return flat.astype(np.float32 if flat.dtype.kind == "f" else np.int64, copy=False)


def _from_wire(values: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    if values.dtype == dtype:
        return values
    if dtype == np.uint64:
        return values.view(np.uint64)
    if dtype.kind in "iu" and values.size:
        limits = np.iinfo(dtype)
        low, high = values.min(), values.max()
        if low < limits.min or high > limits.max:
            raise _does_not_fit(int(low if low < limits.min else high), dtype)
    return values.astype(dtype)


def _scalar_from_wire(value: Any, dtype: np.dtype[Any]) -> Any:
    """As `_from_wire`, for the one value of a scalar: ten times as fast."""
    if type(value) is bytes or value.dtype == dtype:
        return value
    if dtype.kind == "i" or (dtype.kind == "u" and dtype.itemsize < 8):
        limits = np.iinfo(dtype)
        if not limits.min <= value <= limits.max:
            raise _does_not_fit(int(value), dtype)
    return value.astype(dtype)


def _does_not_fit(number: int, dtype: np.dtype[Any]) -> DecodeError:
    return DecodeError(
        f"stored value {number} does not fit {dtype_name(dtype)}",
        hint="the record was written with another dtype; check features.json",
    )


def _solve_shape(shape: Shape, size: int, key: str) -> tuple[int, ...]:
    """Fill the one unknown dimension in, from the number of values there are."""
    known = int(np.prod([dim for dim in shape if dim is not None], dtype=np.int64))
    if None in shape:
        fits = size % known == 0 if known else size == 0
        unknown = size // known if known else 0
    else:
        fits, unknown = size == known, 0
    if not fits:
        raise DecodeError(
            f"entry {key!r} has {size} values, which do not fill shape {shape}",
            hint="the record is damaged, or was written with other features",
        )
    return tuple(unknown if dim is None else dim for dim in shape)


def _check_countable(got: tuple[int, ...], declared: Shape) -> None:
    """Raise an `EncodeError` where a list of no values would lose how many items there are."""
    if 0 in declared and None in declared and got[declared.index(None)]:
        raise EncodeError(
            f"shape {got} has no values, so nothing stored tells the unknown size of {declared}",
            hint="use encoding='bytes', or give the sequence a fixed length",
        )


def _flatten_rows(value: Any, lengths: Shape) -> tuple[Any, list[list[int]]]:
    """Take the lists of `len(lengths)` levels apart: the elements, and each level's lengths."""
    check_length(value, lengths[0])
    row_lengths: list[list[int]] = []
    elements = value
    for size in lengths[1:]:
        rows = list(elements)
        for row in rows:
            check_length(row, size)
        row_lengths.append([len(row) for row in rows])
        elements = [item for row in rows for item in row]
    return elements, row_lengths


def check_length(value: Any, length: int | None) -> None:
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


def _join(elements: Any, dtype: np.dtype[Any], inner: Shape) -> np.ndarray[Any, Any]:
    """Stack elements of one shape; `(0, *inner)` where there are none."""
    if isinstance(elements, np.ndarray):
        check_shape(elements.shape[1:], inner)
        return as_array(elements, dtype, (None, *inner))
    arrays = [as_array(element, dtype, inner) for element in elements]
    if not arrays:
        return np.empty((0, *(dim or 0 for dim in inner)), dtype)
    return np.stack(arrays)
