"""Keys of examples: which are allowed, and the hash that puts them in order.

The order of examples in a split is that of TensorFlow Datasets: ascending by the MD5 of
the split's name followed by the key as text. It does not depend on the order in which a
generator yields, and differs from split to split.
"""

from __future__ import annotations

import hashlib
from typing import Any, TypeAlias

import numpy as np

from featurekit.errors import InvalidArgumentError, InvalidTypeError, short_repr

__all__ = ["HASH_BYTES", "Key", "KeyHasher", "hash_key", "pack_key", "plain_key", "unpack_key"]

HASH_BYTES = 16

PlainKey: TypeAlias = bytes | str | int
Key: TypeAlias = PlainKey | np.integer[Any] | np.bool_ | np.ndarray[Any, Any]

_BYTES, _STR, _INT, _BOOL = b"b", b"s", b"i", b"t"


def plain_key(key: Key) -> PlainKey:
    """The key as a plain `bytes`, `str`, `int` or `bool`.

    Args:
        key: One of these, a NumPy integer or bool, or an array with exactly one of them.

    Raises:
        InvalidTypeError: The key has another type.

    >>> plain_key(np.int64(3))
    3
    """
    if isinstance(key, (bytes, str)):
        return key
    if isinstance(key, np.ndarray) and key.size == 1:
        return plain_key(key.item())
    if isinstance(key, (bool, np.bool_)):
        return bool(key)
    if isinstance(key, (int, np.integer)):
        return int(key)
    raise InvalidTypeError(
        f"a key must be bytes, str or int, got {short_repr(key)} of type {type(key).__name__}",
        hint="yield (key, example) with a key that is unique in the split, such as a file name",
    )


def pack_key(key: Key) -> bytes:
    """The key as one byte for its type and its text, so that it can be shown as given.

    Raises:
        InvalidTypeError: The key is not bytes, str or int.
        InvalidArgumentError: A str key has no UTF-8 form.
    """
    plain = key if type(key) in (str, int, bytes) else plain_key(key)
    if isinstance(plain, str):
        return _STR + _utf8(plain)
    if isinstance(plain, bytes):
        return _BYTES + plain
    return (_BOOL if isinstance(plain, bool) else _INT) + str(plain).encode()


def unpack_key(packed: bytes) -> PlainKey:
    """The key that `pack_key` made into bytes.

    >>> unpack_key(pack_key("5"))
    '5'
    """
    kind, text = packed[:1], packed[1:]
    if kind == _BYTES:
        return text
    if kind == _STR:
        return text.decode()
    return text == b"True" if kind == _BOOL else int(text)


class KeyHasher:
    """Hashes the keys of one split.

    Args:
        salt: What makes the order differ between splits: the split's name.
    """

    def __init__(self, salt: str | bytes) -> None:
        self._salted = hashlib.md5(_hashed_text(pack_key(salt)), usedforsecurity=False)

    def digest(self, packed: bytes) -> bytes:
        """The hash of a packed key as 16 bytes, which sort like the number."""
        md5 = self._salted.copy()
        md5.update(_hashed_text(packed))
        return md5.digest()


def hash_key(salt: str | bytes, key: Key) -> int:
    r"""The 128-bit hash by which TensorFlow Datasets orders examples.

    A str counts as its UTF-8 bytes with `/` for `\`, an int as its decimal text, so that
    5 and "5" are the same key.

    Args:
        salt: The split's name.
        key: The example's key.

    Raises:
        InvalidTypeError: The key is not bytes, str or int.
        InvalidArgumentError: A str key has no UTF-8 form.

    >>> hash_key("test", 0) == hash_key("test", "0")
    True
    >>> f"{hash_key('test', 0):032x}"
    'f6f4061a1bddc1c04d8109b39f581270'
    """
    return int.from_bytes(KeyHasher(salt).digest(pack_key(key)), "big")


def _hashed_text(packed: bytes) -> bytes:
    text = packed[1:]
    if packed[:1] == _STR:
        return text.replace(b"\\", b"/")  # paths hash alike on every platform
    return text


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(
            f"key {text!r} is not text that UTF-8 can hold: {error.reason}",
            hint="use os.fsencode(path) for a file name that is not UTF-8",
        ) from error
