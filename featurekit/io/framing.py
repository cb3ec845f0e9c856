"""How TFRecord files frame their records.

Each record is its payload's length (uint64, little endian), the masked CRC-32C of these
8 bytes (uint32), the payload, and the masked CRC-32C of the payload. There is nothing
else: no magic number, no count, no index. The functions here work on bytes in memory; the
compiled kernel, where there is one, does the same as the loops written here.
"""

from __future__ import annotations

import enum
import functools
import struct
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from featurekit.io.crc32c import masked_crc32c
from featurekit.native import kernel

__all__ = [
    "FOOTER_BYTES",
    "FRAME_BYTES",
    "HEADER_BYTES",
    "Block",
    "Fault",
    "Scan",
    "checked_length",
    "frame",
    "read_block",
    "scan_records",
    "stored_length",
]

HEADER_BYTES = 12
FOOTER_BYTES = 4
FRAME_BYTES = HEADER_BYTES + FOOTER_BYTES
"""What a record takes beyond its payload."""

_KERNEL = kernel("records")
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


class Scan(NamedTuple):
    """How long the records at the front of some bytes are, and what comes after them.

    Attributes:
        lengths: `(num_records,)` int64, the length of each payload, in bytes.
        size: Bytes that these records take; may reach behind the bytes looked at.
        needed: As in `Block`.
        fault: As in `Block`.
    """

    lengths: npt.NDArray[np.int64]
    size: int
    needed: int
    fault: Fault | None


def frame(payload: bytes) -> bytes:
    """The bytes of one record.

    >>> frame(b"").hex()
    '000000000000000029039807d8ea82a2'
    """
    if _KERNEL is not None:
        return bytes(_KERNEL.frame(payload))
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
    if _KERNEL is not None:
        payloads, size, needed, fault = _KERNEL.read_block(data, start, check_crc)
        return Block(payloads, size, needed, None if fault is None else Fault(fault))
    found = scan_records(data, start, len(data) - start, check_crc)
    payloads, body = [], start + HEADER_BYTES
    for length in found.lengths.tolist():
        payloads.append(data[body : body + length])
        body += FRAME_BYTES + length
    return Block(payloads, *found[1:])


def scan_records(
    data: bytes, start: int, limit: int, check_crc: bool, *, payloads: bool = True
) -> Scan:
    """Measure the records in `data`, from `start` on, up to the first bad one.

    Args:
        data: Bytes of the file.
        start: Where in them a record starts.
        limit: Bytes from there to where the last record has to end.
        check_crc: Whether to check checksums.
        payloads: Whether to look at payloads, which then must be in `data`. Else only the
            headers must, and the checksums of payloads are not checked.
    """
    if _KERNEL is not None:
        lengths, size, needed, fault = _KERNEL.scan_records(data, start, limit, check_crc, payloads)
        return Scan(lengths, size, needed, None if fault is None else Fault(fault))
    return _scan_records(data, start, limit, check_crc, payloads)


def _scan_records(data: bytes, start: int, limit: int, check_crc: bool, payloads: bool) -> Scan:
    lengths: list[int] = []
    length_of = checked_length if check_crc else stored_length
    position, end = start, start + limit
    needed, fault = HEADER_BYTES, None
    while (body := position + HEADER_BYTES) <= len(data):
        length = length_of(data[position:body])
        if length < 0:
            fault = Fault.HEADER
            break
        stop = body + length
        if stop + FOOTER_BYTES > end:
            needed = FRAME_BYTES + length
            break
        if payloads and check_crc and masked_crc32c(data[body:stop]) != _crc_at(data, stop):
            needed, fault = FRAME_BYTES + length, Fault.PAYLOAD
            break
        lengths.append(length)
        position = stop + FOOTER_BYTES
    return Scan(np.array(lengths, np.int64), position - start, needed, fault)


def _crc_at(data: bytes, place: int) -> int:
    return int(_CRC.unpack_from(data, place)[0])
