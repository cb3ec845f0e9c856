"""Finding the next sound record of a damaged file."""

from __future__ import annotations

import functools
from collections import deque

import numpy as np
import numpy.typing as npt

from featurekit.io.crc32c import crc32c
from featurekit.io.framing import (
    FRAME_BYTES,
    HEADER_BYTES,
    Block,
    Fault,
    checked_length,
    read_block,
)
from featurekit.io.window import Window

__all__ = ["Resynchroniser", "header_positions"]

_SEARCH_BYTES = 1 << 16
_ZEROS = bytes(_SEARCH_BYTES)
_LENGTH_BYTES = 5  # a record of a TiB fits into no memory: the other three are zero
_MASK_DELTA = np.uint32(0xA282EAD8)
_PATIENCE = 8


class Resynchroniser:
    """Moves a window that stands at a damaged record to the next sound one.

    A file can be made so that every place in it claims to start a record that reaches to
    its end, and each claim costs a checksum of all that. So it stops looking when more
    than 8 times the bytes read so far were checksummed in vain: the time stays linear.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        self._wasted = 0  # bytes checksummed in vain
        self._ahead: deque[int] = deque()  # offsets of sound headers, as far as searched
        self._searched = 0  # offset before which all of them are known

    def skip(self, block: Block) -> None:
        """Move on from the damaged record that follows `block`; to the end if there is none.

        A damaged payload in a sound header is skipped by its length, if that leads to
        another header or to the end. Else the length does not fit, for example because
        bytes are missing, and the next record may begin inside.
        """
        if block.fault is Fault.PAYLOAD:
            self._wasted += block.needed
            if self._is_border(block.needed):
                self._window.move(block.needed)
                return
        self._window.move(1)
        self._search()

    def _is_border(self, place: int) -> bool:
        """Whether, `place` bytes on, a sound header stands or the source ends."""
        window = self._window
        if window.load(place + HEADER_BYTES):
            start = window.position + place
            return checked_length(window.data[start : start + HEADER_BYTES]) >= 0
        return not window.load(place + 1)

    def _search(self) -> None:
        """Move to the next place, this one included, where a sound record starts."""
        window = self._window
        while window.load(FRAME_BYTES):
            if window.offset >= self._searched:
                self._look_ahead()
            while self._ahead:
                place = self._ahead.popleft() - window.offset
                if self._wasted > _PATIENCE * window.end:
                    window.move_to_end()
                    return
                if place >= 0 and self._is_sound(place):
                    window.move(place)
                    return
            window.move(max(0, self._searched - window.offset))
        window.move_to_end()

    def _look_ahead(self) -> None:
        window = self._window
        data = window.data[window.position : window.position + _SEARCH_BYTES]
        self._ahead.extend((header_positions(data) + window.offset).tolist())
        self._searched = window.offset + len(data) - HEADER_BYTES + 1

    def _is_sound(self, place: int) -> bool:
        """Whether the record whose header stands `place` bytes on is all there and sound."""
        window = self._window
        start = window.position + place
        size = FRAME_BYTES + checked_length(window.data[start : start + HEADER_BYTES])
        if not window.load(place + size):
            return False
        start = window.position + place  # loading moves what is held
        if read_block(window.data[start : start + size], 0, check_crc=True).payloads:
            return True
        self._wasted += size
        return False


def header_positions(data: bytes) -> npt.NDArray[np.int64]:
    """Where in `data` there are 12 bytes that are a length and its checksum, ascending.

    CRC-32C is linear: the checksum of 8 bytes is the XOR of one table entry for each
    byte and its place. So many places are checked at once, a byte of the length at a time.
    """
    count = len(data) - HEADER_BYTES + 1
    if count <= 0 or data == _ZEROS[: len(data)]:  # holes are common in damaged files
        return np.empty(0, np.int64)
    octets = np.frombuffer(data, np.uint8)
    is_zero = octets == 0
    possible = np.ones(count, np.bool_)
    for place in range(_LENGTH_BYTES, 8):
        possible &= is_zero[place : place + count]
    positions = np.flatnonzero(possible)
    tables, constant = _crc_tables()
    crc = np.full(len(positions), constant, np.uint32)
    for place, table in enumerate(tables):
        crc ^= table[octets[positions + place]]
    masked = (crc >> np.uint32(15) | crc << np.uint32(17)) + _MASK_DELTA
    stored = np.ndarray((count,), "<u4", data, offset=8, strides=(1,))
    found: npt.NDArray[np.int64] = positions[masked == stored[positions]]
    return found


@functools.cache
def _crc_tables() -> tuple[npt.NDArray[np.uint32], int]:
    """What each value of each length byte adds to the checksum, and that of a zero length."""
    constant = crc32c(bytes(8))
    tables = np.zeros((_LENGTH_BYTES, 256), np.uint32)
    for place in range(_LENGTH_BYTES):
        for value in range(256):
            octets = bytearray(8)
            octets[place] = value
            tables[place, value] = crc32c(bytes(octets)) ^ constant
    return tables, constant
