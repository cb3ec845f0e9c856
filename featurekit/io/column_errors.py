"""What can be wrong with Examples, said the same way by every implementation."""

from __future__ import annotations

import numpy as np

from featurekit.errors import (
    EncodeError,
    EncodeTypeError,
    InvalidTypeError,
    ParseError,
    short_repr,
)
from featurekit.io.columns import Kind

__all__ = [
    "key_error",
    "kind_error",
    "record_type_error",
    "values_error",
    "wire_error",
]


def wire_error(message: str, data: bytes, *, record: int | None = None) -> ParseError:
    """Bytes that are no `message`, such as "Example"."""
    return ParseError(
        f"expected a serialized {message}, got {short_repr(bytes(data))}",
        hint="check that the file holds this kind of message, and that it is whole",
        record=record,
    )


def kind_error(
    key: str, expected: Kind, got: Kind, *, record: int | None = None, step: int | None = None
) -> ParseError:
    """A feature of another kind than asked; `step` is its index in a feature list."""
    where = f"feature {key!r}" if step is None else f"step {step} of feature list {key!r}"
    return ParseError(
        f"{where}: expected {expected.field}, got {got.field}",
        hint="read it with the dtype it was written with",
        record=record,
    )


def record_type_error(value: object, *, record: int | None = None) -> InvalidTypeError:
    """A record that is not bytes."""
    return InvalidTypeError(
        f"expected the bytes of a serialized message, got {type(value).__name__}: "
        f"{short_repr(value)}",
        record=record,
    )


def values_error(key: str, values: object) -> EncodeTypeError:
    """A feature whose values are of no kind that an Example holds."""
    dtype = getattr(values, "dtype", None)
    got = f"an array of dtype {dtype}" if dtype is not None else short_repr(values)
    if isinstance(values, np.ma.MaskedArray):
        got = "a masked array"
    return EncodeTypeError(
        f"feature {key!r}: expected an int64 array, a float32 array, a list of bytes or None, "
        f"got {got}",
        hint="convert it to one of these first",
    )


def key_error(key: object) -> EncodeError:
    """A key that is no text, or text that UTF-8 cannot hold."""
    if isinstance(key, str):
        return EncodeError(f"feature key {key!r} cannot be written as UTF-8")
    return EncodeTypeError(f"expected a str as feature key, got {short_repr(key)}")
