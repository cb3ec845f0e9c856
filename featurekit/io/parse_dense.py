"""Dense results of the parse functions: FixedLenFeature and FixedLenSequenceFeature."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from featurekit.errors import InvalidArgumentError, InvalidTypeError, ParseError, short_repr
from featurekit.io.columns import Column, ColumnSpec, Kind
from featurekit.io.specs import FixedLenFeature, FixedLenSequenceFeature, kind_of

__all__ = [
    "DenseReader",
    "PaddedReader",
    "block_shape",
    "default_values",
    "dense_reader",
    "fixed_shape",
    "missing_error",
    "padded_reader",
    "shape_text",
    "spread",
    "values_text",
]


@dataclasses.dataclass(frozen=True)
class DenseReader:
    """Makes a `(batch, *shape)` array of a column; see `FixedLenFeature`.

    Attributes:
        columns: The one column it reads.
        shape: Shape of one example's values.
        default: `(size,)` values of an example without the feature; None for an error.
    """

    columns: tuple[ColumnSpec]
    shape: tuple[int, ...]
    default: npt.NDArray[Any] | None

    def batch(self, columns: list[Column]) -> npt.NDArray[Any]:
        """All examples' values, `(batch, *shape)`."""
        values, counts = columns[0]
        batch, size = len(counts), self.columns[0].size
        if values.size != batch * size or not (counts == size).all():
            values = self._fill_in(values, counts)
        return values.reshape(batch, *self.shape)

    def single(self, columns: list[Column]) -> Any:
        """One example's values, `shape`; a scalar for shape ()."""
        values, counts = columns[0]
        if counts[0] != self.columns[0].size:
            values = self._fill_in(values, counts)
        return values.reshape(self.shape)[()]

    def _fill_in(self, values: npt.NDArray[Any], counts: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        _, kind, size = self.columns[0]
        missing = counts < 0
        bad = (counts != size) & ~missing if self.default is not None else counts != size
        if bad.any():
            raise self._count_error(counts, int(bad.argmax()))
        filled = np.empty((len(counts), size), kind.dtype)
        filled[~missing] = values.reshape(-1, size)
        filled[missing] = self.default
        return filled

    def _count_error(self, counts: npt.NDArray[np.int64], record: int) -> ParseError:
        key, kind, size = self.columns[0]
        count = int(counts[record])
        if count < 0:
            return missing_error(f"feature {key!r}", kind, record, "give it a default_value")
        hint = "read it with VarLenFeature, or with FixedLenSequenceFeature"
        if count == 0 and self.default is not None:
            hint = "a list that is present and empty takes no default; leave the key out for that"
        return ParseError(
            f"feature {key!r}: expected {values_text(size)} for shape {shape_text(self.shape)}, "
            f"got {count}",
            hint=hint,
            record=record,
        )


@dataclasses.dataclass(frozen=True)
class PaddedReader:
    """Makes a padded `(batch, blocks, *shape)` array; see `FixedLenSequenceFeature`.

    Attributes:
        columns: The one column it reads.
        shape: Shape of one block.
        padding: The value that fills up short examples.
    """

    columns: tuple[ColumnSpec]
    shape: tuple[int, ...]
    padding: Any

    def batch(self, columns: list[Column]) -> npt.NDArray[Any]:
        """All examples' values, `(batch, most blocks of an example, *shape)`."""
        values, counts = columns[0]
        counts = np.maximum(counts, 0)
        self._check_blocks(counts)
        longest = int(counts.max(initial=0))
        padded = spread(values, counts, longest, self.padding)
        return padded.reshape(len(counts), longest // math.prod(self.shape), *self.shape)

    def single(self, columns: list[Column]) -> npt.NDArray[Any]:
        """One example's values, `(blocks, *shape)`."""
        return self.batch(columns)[0]  # type: ignore[no-any-return]

    def _check_blocks(self, counts: npt.NDArray[np.int64]) -> None:
        size = math.prod(self.shape)
        if size == 1:
            return
        bad = counts % size != 0
        if bad.any():
            record = int(bad.argmax())
            raise ParseError(
                f"feature {self.columns[0].key!r}: expected a multiple of {size} values for "
                f"blocks of shape {shape_text(self.shape)}, got {counts[record]}",
                record=record,
            )


def dense_reader(key: str, spec: FixedLenFeature) -> DenseReader:
    """Check a FixedLenFeature and make its reader."""
    kind = kind_of(spec.dtype)
    if spec.shape is None:
        raise InvalidArgumentError("shape: expected a list of ints, got None")
    shape = fixed_shape(spec.shape)
    size = math.prod(shape)
    default = None if spec.default_value is None else default_values(spec.default_value, kind)
    if default is not None and default.size != size:
        raise InvalidArgumentError(
            f"default_value: expected {values_text(size)} for shape {shape_text(shape)}, "
            f"got {default.size}"
        )
    if default is not None and not size:
        default = None  # as in TensorFlow: no values are no default
    return DenseReader((ColumnSpec(key, kind, size),), shape, default)


def padded_reader(key: str, spec: FixedLenSequenceFeature) -> PaddedReader:
    """Check a FixedLenSequenceFeature of an Example and make its reader."""
    kind = kind_of(spec.dtype)
    if not spec.allow_missing:
        raise InvalidArgumentError(
            "allow_missing: expected True, got False",
            hint="an Example cannot tell a missing list from an empty one here",
        )
    if spec.shape is None or isinstance(spec.shape, int):
        raise InvalidTypeError(f"shape: expected a list of ints, got {spec.shape!r}")
    padding = b"" if kind is Kind.BYTES else kind.dtype.type(0)
    if spec.default_value is not None:
        default = default_values(spec.default_value, kind)
        if default.size != 1:
            raise InvalidArgumentError(f"default_value: expected 1 value, got {default.size}")
        padding = default[0]
    return PaddedReader((ColumnSpec(key, kind),), block_shape(spec.shape), padding)


def spread(
    values: npt.NDArray[Any], counts: npt.NDArray[np.int64], width: int, padding: Any
) -> npt.NDArray[Any]:
    """Lay flat values out in rows of one width.

    Args:
        values: `(total, ...)`.
        counts: `(rows,)`, values of each row, at most `width`; they add up to `total`.
        width: Length of the rows made.
        padding: What fills up short rows.

    Returns:
        `(rows, width, ...)`.

    >>> spread(np.array([1, 2, 3]), np.array([1, 2]), 2, 0).tolist()
    [[1, 0], [2, 3]]
    """
    rows, inner = len(counts), values.shape[1:]
    if len(values) == rows * width:
        return values.reshape(rows, width, *inner)
    padded = np.full((rows, width, *inner), padding, values.dtype)
    padded[np.arange(width) < counts[:, None]] = values
    return padded


def fixed_shape(shape: Any) -> tuple[int, ...]:
    """Shape as a tuple of known sizes; an int n means `(n,)`."""
    sizes = _sizes(shape)
    if None in sizes:
        raise InvalidArgumentError(
            f"shape: expected known sizes, got {shape_text(sizes)}",
            hint="FixedLenSequenceFeature has an unknown first dimension",
        )
    return tuple(size for size in sizes if size is not None)


def block_shape(shape: Any) -> tuple[int, ...]:
    """Shape of a block of a sequence, which must hold at least one value."""
    sizes = fixed_shape(shape)
    if 0 in sizes:
        raise InvalidArgumentError(
            f"shape: expected sizes above 0, got {shape_text(sizes)}",
            hint="blocks of no values cannot be counted",
        )
    return sizes


def _sizes(shape: Any) -> tuple[int | None, ...]:
    if isinstance(shape, (int, np.integer)):
        shape = (shape,)
    if not isinstance(shape, Iterable) or isinstance(shape, (str, bytes)):
        raise InvalidTypeError(f"shape: expected a list of ints, got {short_repr(shape)}")
    sizes: list[int | None] = []
    for size in shape:
        if size is not None and not isinstance(size, (int, np.integer)):
            raise InvalidTypeError(f"shape: expected ints, got {short_repr(size)}")
        if size is not None and size < 0:
            raise InvalidArgumentError(f"shape: expected sizes of 0 or more, got {size}")
        sizes.append(None if size is None else int(size))
    return tuple(sizes)


def default_values(value: Any, kind: Kind) -> npt.NDArray[Any]:
    """A default value as a flat array of its kind's dtype.

    Raises:
        InvalidTypeError: It is of another type: 1.5, or True, for int64, text for a number.
        InvalidArgumentError: It is a number that the dtype cannot hold, or a ragged list.
    """
    try:
        given = np.asarray(value, dtype=object if kind is Kind.BYTES else None).reshape(-1)
    except ValueError as error:
        raise InvalidArgumentError(
            f"default_value: expected a scalar or nested lists of equal lengths, "
            f"got {short_repr(value)}"
        ) from error
    if not given.size:
        return np.empty(0, kind.dtype)
    if kind is Kind.BYTES:
        return _bytes_default(given)
    if given.dtype.kind not in ("iu" if kind is Kind.INT64 else "iuf"):
        raise InvalidTypeError(
            f"default_value: expected {kind.dtype} values, got {short_repr(value)}"
        )
    with np.errstate(over="ignore"):
        converted = given.astype(kind.dtype)
    changed = converted != given if kind is Kind.INT64 else np.isinf(converted) & ~np.isinf(given)
    if changed.any():
        raise InvalidArgumentError(
            f"default_value: {given[changed][0]} is out of range for {kind.dtype}"
        )
    return converted


def _bytes_default(given: npt.NDArray[Any]) -> npt.NDArray[Any]:
    default = np.empty(given.size, object)
    for index, value in enumerate(given.tolist()):
        if not isinstance(value, (str, bytes)):
            raise InvalidTypeError(
                f"default_value: expected strings or bytes, got {short_repr(value)}"
            )
        default[index] = value.encode() if isinstance(value, str) else value
    return default


def missing_error(what: str, kind: Kind, record: int, hint: str) -> ParseError:
    """A feature or feature list that must be there and is not."""
    names = {Kind.BYTES: "string", Kind.FLOAT: "float32", Kind.INT64: "int64"}
    return ParseError(
        f"{what} ({names[kind]}) is required but could not be found", hint=hint, record=record
    )


def values_text(count: int) -> str:
    """A number of values for messages: `1 value`."""
    return "1 value" if count == 1 else f"{count} values"


def shape_text(shape: Iterable[int | None]) -> str:
    """A shape for messages: `[2, ?]`."""
    return "[" + ", ".join("?" if size is None else str(size) for size in shape) + "]"
