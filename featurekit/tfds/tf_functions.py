"""`tf.compat`: text and bytes."""

from __future__ import annotations

import os
from typing import Any

from featurekit.errors import InvalidTypeError, short_repr

__all__ = ["as_bytes", "as_text", "path_to_str"]


def as_text(bytes_or_text: str | bytes, encoding: str = "utf-8") -> str:
    """Text, decoded where it is bytes.

    Raises:
        InvalidTypeError: It is neither text nor bytes.

    >>> as_text(b"abc"), as_text("abc")
    ('abc', 'abc')
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise InvalidTypeError(f"expected text or bytes, got {short_repr(bytes_or_text)}")


def as_bytes(bytes_or_text: str | bytes, encoding: str = "utf-8") -> bytes:
    """Bytes, encoded where it is text.

    Raises:
        InvalidTypeError: It is neither text nor bytes.
    """
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    return as_text(bytes_or_text).encode(encoding)


def path_to_str(path: Any) -> Any:
    """The text of a path object; anything else as it is."""
    return os.fspath(path) if isinstance(path, os.PathLike) else path
