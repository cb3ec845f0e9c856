"""How TFRecord files frame their records.

Each record is its payload's length (uint64, little endian), the masked CRC-32C of these
8 bytes (uint32), the payload, and the masked CRC-32C of the payload. There is nothing
else: no magic number, no count, no index. The functions here work on bytes in memory.
"""

from __future__ import annotations

import enum
import functools
import struct
from typing import NamedTuple

from featurekit.io.crc32c import masked_crc32c

__all__ = [
    "FOOTER_BYTES",
    "FRAME_BYTES",
    "HEADER_BYTES",
    "Block",
    "Fault",
    "checked_length",
    "frame",
    "read_block",
    "stored_length",
]

HEADER_BYTES = 12
FOOTER_BYTES = 4
FRAME_BYTES = HEADER_BYTES + FOOTER_BYTES
"""What a record takes beyond its payload."""

_LENGTH = struct.Struct("<Q")
_HEADER = struct.Struct("<QI")
_CRC = struct.Struct("<I")


class Fault(enum.Enum):
    """What can be wrong with a record that is there in full."""

    HEADER = "length"
    PAYLOAD = "payload"


class Block(NamedTuple):
    """The records at the front of some bytes, and what comes after them.

    Attributes:
        payloads: The payloads, in order.
        size: Bytes that these records take, framing included.
        needed: Bytes that the next record takes, framing included, as far as that can be
            known: the size of a header, where there is no whole one.
        fault: What is wrong with the next record, None if it is merely not all there.
    """

    payloads: list[bytes]
    size: int
    needed: int
    fault: Fault | None


def frame(payload: bytes) -> bytes:
    """The bytes of one record.

    >>> frame(b"").hex()
    '000000000000000029039807d8ea82a2'
    """
    length = _LENGTH.pack(len(payload))
    header_crc, payload_crc = masked_crc32c(length), masked_crc32c(payload)
    return b"".join((length, _CRC.pack(header_crc), payload, _CRC.pack(payload_crc)))


@functools.lru_cache(maxsize=4096)  # lengths repeat within a file; a hit costs less than a CRC
def checked_length(header: bytes) -> int:
    """The payload's length that a header of 12 bytes states, -1 if its checksum is wrong."""
    length, crc = _HEADER.unpack(header)
    return int(length) if masked_crc32c(header[:8]) == crc else -1


def stored_length(header: bytes) -> int:
    """The payload's length that a header states, its checksum left unread."""
    return int(_LENGTH.unpack_from(header)[0])


def read_block(data: bytes, start: int, check_crc: bool) -> Block:
    """Take apart the whole records in `data`, from `start` on, up to the first bad one."""
    payloads: list[bytes] = []
    length_of = checked_length if check_crc else stored_length
    position, end = start, len(data)
    needed, fault = HEADER_BYTES, None
    while (body := position + HEADER_BYTES) <= end:
        length = length_of(data[position:body])
        if length < 0:
            fault = Fault.HEADER
            break
        stop = body + length
        if stop + FOOTER_BYTES > end:
            needed = FRAME_BYTES + length
            break
        payload = data[body:stop]
        if check_crc and masked_crc32c(payload) != _CRC.unpack_from(data, stop)[0]:
            needed, fault = FRAME_BYTES + length, Fault.PAYLOAD
            break
        payloads.append(payload)
        position = stop + FOOTER_BYTES
    return Block(payloads, position - start, needed, fault)
