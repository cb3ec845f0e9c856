"""A random order that needs no memory: where each of n things goes is computed.

The positions 0 to n - 1 are laid out in a grid of about sqrt(n) rows. Each of some rounds
moves every row around by an amount that a hash of the row gives, then every column. Moving
back is possible, so nothing is ever lost or doubled; it is an unbalanced Feistel network. The
grid has a few cells too many: a position that lands in one of these is sent through again,
until it lands within. So few things that the grid would have hardly any rows are sorted by a
hash instead.

All is integer arithmetic on 64 bits: the same seed gives the same order on every machine and
with every version of Python and NumPy.

Source: J. Black and P. Rogaway, "Ciphers with arbitrary finite domains" (2002), for the
network and for sending positions through again.
"""

from __future__ import annotations

import hashlib
import math
import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from featurekit.errors import InvalidArgumentError

__all__ = ["Permutation"]

_ROUNDS = 8  # even: rows and columns in turn
_FEW = 256
_MASK = 0xFFFFFFFF


class Permutation:
    """A random order of `size` things.

    Args:
        size: Number of things.
        seed: Any integer; others give other orders.
        epoch: The same seed gives another order for each.

    Raises:
        InvalidArgumentError: The seed is no integer.

    Example:
        >>> [Permutation(5, seed=1)[i] for i in range(5)]
        [2, 1, 4, 3, 0]
        >>> Permutation(5, seed=1).at(np.arange(5))
        array([2, 1, 4, 3, 0])
    """

    def __init__(self, size: int, seed: int, epoch: int = 0) -> None:
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
            raise InvalidArgumentError(f"a seed is an integer, got {seed!r}")
        self._size = size
        self._few = _sorted_by_hash(size, f"{int(seed)},{int(epoch)}") if size <= _FEW else None
        self._rows = max(math.isqrt(size), 1)
        self._columns = max(-(-size // self._rows), 1)
        digest = hashlib.blake2b(f"{int(seed)},{int(epoch)}".encode(), digest_size=4 * _ROUNDS)
        self._keys = struct.unpack(f"<{_ROUNDS}I", digest.digest())

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, position: int) -> int:
        """What comes at a position from 0 on."""
        if self._few is not None:
            return int(self._few[position])
        place = self._send(position)
        while place >= self._size:
            place = self._send(place)
        return int(place)

    def at(self, positions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """What comes at many positions, `(n,)` int64."""
        if self._few is not None:
            return self._few[positions]
        places = self._send(positions.astype(np.uint64))
        while len(outside := np.flatnonzero(places >= self._size)):
            places[outside] = self._send(places[outside])
        return np.asarray(places, np.int64)

    def _send(self, place: Any) -> Any:
        """Where the network moves a cell of the grid: an int, or an array of uint64."""
        row, column = place // self._columns, place % self._columns
        for rows_key, columns_key in zip(self._keys[::2], self._keys[1::2], strict=True):
            column = (column + _hash(row, rows_key)) % self._columns
            row = (row + _hash(column, columns_key)) % self._rows
        return row * self._columns + column


def _sorted_by_hash(size: int, key: str) -> npt.NDArray[np.int64]:
    def digest(number: int) -> bytes:
        return hashlib.blake2b(f"{key},{number}".encode(), digest_size=16).digest()

    return np.array(sorted(range(size), key=digest), np.int64)


def _hash(value: Any, key: int) -> Any:
    """32 bits that depend on all bits of a row's or column's number and of the key."""
    # The numbers have 32 bits, and so have the factors: no product passes 64 bits.
    value = (value ^ key) & _MASK
    for factor in (0x7FEB352D, 0x846CA68B):
        value = value ^ (value >> 16)
        value = (value * factor) & _MASK
        value = value ^ (value >> 15)
    return value
