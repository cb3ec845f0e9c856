"""Where the records of an uncompressed record file are."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from featurekit.errors import InvalidArgumentError
from featurekit.io.faults import index_fault, record_fault
from featurekit.io.files import ByteFile, LocalFile, path_text
from featurekit.io.framing import (
    FRAME_BYTES,
    HEADER_BYTES,
    Block,
    read_block,
    scan_records,
)
from featurekit.io.stream import RecordStream
from featurekit.io.window import Window

__all__ = ["RecordIndex", "indexed", "read_indexed", "read_many", "scan"]

_BLOCK_BYTES = 1 << 16  # small: behind a large record only the next header is needed


class RecordIndex:
    """Offsets and lengths of the records of a file.

    Args:
        offsets: Where each record starts (its header), in bytes.
        lengths: Length of each payload, in bytes.

    Attributes:
        offsets: `(num_records,)` uint64, so that files of any size can be indexed.
        lengths: `(num_records,)` uint64.

    >>> index = RecordIndex([0, 21], [5, 4])
    >>> len(index), index[1], list(index)
    (2, (21, 4), [(0, 5), (21, 4)])
    """

    def __init__(self, offsets: Iterable[int], lengths: Iterable[int]) -> None:
        self.offsets = _as_uint64(offsets)
        self.lengths = _as_uint64(lengths)
        if len(self.offsets) != len(self.lengths):
            raise InvalidArgumentError(
                f"an index has one length for each offset; got {len(self.offsets)} offsets "
                f"and {len(self.lengths)} lengths"
            )

    def __len__(self) -> int:
        return len(self.offsets)

    def __getitem__(self, i: int) -> tuple[int, int]:
        return int(self.offsets[i]), int(self.lengths[i])

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return zip(self.offsets.tolist(), self.lengths.tolist(), strict=True)

    def __repr__(self) -> str:
        return f"RecordIndex({len(self)} records)"


def _as_uint64(values: Iterable[int]) -> npt.NDArray[np.uint64]:
    if isinstance(values, np.ndarray) and values.dtype == np.uint64 and values.ndim == 1:
        return values
    try:
        return np.frombuffer(array("Q", values), np.uint64)
    except (OverflowError, TypeError) as error:
        raise InvalidArgumentError(
            f"offsets and lengths are ints from 0 to 2**64 - 1; {error}"
        ) from error


def indexed(stream: RecordStream) -> RecordIndex:
    """The index of the records that `stream` gives, which reads all of them."""
    offsets, lengths = array("Q"), array("Q")
    for offset, payloads in stream.blocks():
        for payload in payloads:
            offsets.append(offset)
            lengths.append(len(payload))
            offset += FRAME_BYTES + len(payload)
    return RecordIndex(offsets, lengths)


def read_indexed(file: ByteFile, index: RecordIndex, i: int, *, check_crc: bool) -> bytes:
    """The payload of record i.

    Raises:
        CorruptRecordError: It is damaged, or there is another record than the index says.
    """
    offset, length = index[i]
    block = read_block(file.pread(FRAME_BYTES + length, offset), 0, check_crc)
    if block.size == FRAME_BYTES + length and len(block.payloads) == 1:
        return block.payloads[0]
    window = Window(file, HEADER_BYTES)  # from here on only to say what is wrong
    window.move(offset)
    window.load(HEADER_BYTES)
    block = read_block(window.data, 0, check_crc)
    if block.fault is None and window.load(block.needed):
        block = read_block(window.data, 0, check_crc)
    if block.payloads:
        raise index_fault(window, len(block.payloads[0]), length, i)
    raise record_fault(window, block, i)


def read_many(
    file: ByteFile, index: RecordIndex, wanted: npt.NDArray[np.int64], *, check_crc: bool
) -> list[bytes]:
    """The payloads of many records; those that follow one another are read as one.

    Args:
        file: The record file.
        index: Where its records are.
        wanted: `(n,)` int64, the numbers of the records, in any order.
        check_crc: Whether to check the checksums.

    Raises:
        CorruptRecordError: One is damaged, or there is another record than the index says.
    """
    offsets, lengths = index.offsets[wanted], index.lengths[wanted]
    ends = offsets + (lengths + np.uint64(FRAME_BYTES))
    is_first = np.ones(len(wanted), bool)
    is_first[1:] = offsets[1:] != ends[:-1]
    starts, stops = offsets[is_first], ends[np.roll(is_first, -1)]
    ranges = list(zip((stops - starts).tolist(), starts.tolist(), strict=True))
    data = b"".join(file.preads(ranges))  # records are framed the same wherever they lie
    block = read_block(data, 0, check_crc)
    if block.size == len(data) and list(map(len, block.payloads)) == lengths.tolist():
        return block.payloads
    # One by one, this says what is wrong.
    return [read_indexed(file, index, i, check_crc=check_crc) for i in wanted.tolist()]


def scan(path: str | os.PathLike[str] | ByteFile, *, check_crc: bool = True) -> RecordIndex:
    """The index of an uncompressed record file, from its headers alone.

    Payloads are not read, so their checksums are not checked.

    Args:
        path: The file.
        check_crc: Whether to check the checksums of the lengths.

    Raises:
        MissingFileError: There is no such file.
        CorruptRecordError: A length is damaged, or the last record is cut.
    """
    is_path = isinstance(path, (str, os.PathLike)) or not hasattr(path, "pread")
    source: ByteFile = LocalFile(path_text(path)) if is_path else path  # type: ignore[arg-type,assignment]
    window = Window(source, _BLOCK_BYTES)
    found = scan_records(b"", 0, 0, check_crc)
    pieces = [found.lengths]
    while window.load(HEADER_BYTES):
        found = scan_records(window.data, window.position, window.left, check_crc, payloads=False)
        pieces.append(found.lengths)
        window.move(found.size)
        if found.fault is not None or found.needed > HEADER_BYTES:
            break
    lengths = np.concatenate(pieces).astype(np.uint64)
    if window.left:
        raise record_fault(window, Block([], 0, found.needed, found.fault), len(lengths))
    ends = np.cumsum(lengths + np.uint64(FRAME_BYTES), dtype=np.uint64)
    return RecordIndex(ends - lengths - np.uint64(FRAME_BYTES), lengths)
