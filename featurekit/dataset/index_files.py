"""Index files: where the records of a shard are, kept so that nobody has to look again.

The first random access to a TFRecord file needs a pass over the headers of all its records.
What that finds is kept in a small file: beside the shard (`featurekit index` writes it there),
or in the cache, `$FEATUREKIT_CACHE_DIR`, by default `~/.cache/featurekit`. Setting the variable
to nothing switches the cache off.

An index file is believed only as long as it is whole and the shard is the one that it was made
of: the same size, the same time of its last change, the number of records that dataset_info.json
states, and lengths that fill the file exactly. Otherwise the shard is looked through anew.

The file: 8 bytes that name the format, the CRC-32C of all that follows (uint32), bytes for each
length (uint8: 4 or 8), length of the stamp (uint8), the shard's size and its number of records
(uint64 each), the stamp, and the length of each record; all little endian.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
import uuid

import numpy as np

from featurekit.errors import FeatureKitError, WriteError
from featurekit.io.crc32c import crc32c
from featurekit.io.files import ByteFile, open_file
from featurekit.io.framing import FRAME_BYTES
from featurekit.io.index import RecordIndex, scan

__all__ = ["INDEX_SUFFIX", "cache_folder", "index_path", "load_index", "write_index"]

INDEX_SUFFIX = ".fkindex"

_MAGIC = b"FKINDEX1"
_HEAD = struct.Struct("<BBQQ")
_VARIABLE = "FEATUREKIT_CACHE_DIR"
_FALLBACK = "~/.cache/featurekit"
_SMALL = 1 << 20  # bytes; to look through so small a file costs little more than to find its index


def load_index(file: ByteFile, count: int | None) -> RecordIndex:
    """The index of a record file: from an index file where there is one, else from the file.

    Args:
        file: The record file, uncompressed.
        count: How many records it should have, where that is known.

    Raises:
        CorruptRecordError: A length in the record file is damaged, or the last record is cut.
    """
    cached = index_path(file.path)
    for place in (cached, file.path + INDEX_SUFFIX):
        index = None if place is None else _read(place, file, count)
        if index is not None:
            return index
    index = scan(file)
    if cached is not None and file.size >= _SMALL and count in (None, len(index)):
        with contextlib.suppress(OSError):  # a cache that cannot be written to is none
            write_index(cached, file, index)
    return index


def index_path(path: str) -> str | None:
    """Where the cache keeps the index of a record file; None where there is no cache."""
    folder = cache_folder()
    if folder is None:
        return None
    whole = path if "://" in path else os.path.abspath(path)
    digest = hashlib.blake2b(whole.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    return os.path.join(folder, "index", digest + INDEX_SUFFIX)


def cache_folder() -> str | None:
    """The folder of the cache; None where it is switched off."""
    folder = os.environ.get(_VARIABLE, _FALLBACK)
    return os.path.expanduser(folder) if folder else None


def write_index(place: str, file: ByteFile, index: RecordIndex) -> None:
    """Write an index file; readers see the old or the new one whole.

    Raises:
        WriteError: It cannot be written.
    """
    stamp = file.stamp.encode()[:255]
    width = 4 if index.lengths.max(initial=0) < 1 << 32 else 8
    body = _HEAD.pack(width, len(stamp), file.size, len(index)) + stamp
    body += index.lengths.astype(f"<u{width}").tobytes()
    unfinished = f"{place}.{uuid.uuid4().hex}"
    try:
        os.makedirs(os.path.dirname(place) or ".", exist_ok=True)
        with open(unfinished, "wb") as output:
            output.write(_MAGIC + struct.pack("<I", crc32c(body)) + body)
        os.replace(unfinished, place)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.remove(unfinished)
        raise WriteError(
            f"the index cannot be written: {error.strerror}",
            file=place,
            hint="make room, or see that the folder may be written to",
        ) from error


def _read(place: str, file: ByteFile, count: int | None) -> RecordIndex | None:
    """The index in an index file; None where it is damaged or not that of the record file."""
    try:
        source = open_file(place)
        data = source.pread(source.size, 0)
    except (FeatureKitError, OSError):  # none, or a folder of that name
        return None
    start = len(_MAGIC) + 4
    if len(data) < start + _HEAD.size or not data.startswith(_MAGIC):
        return None
    if crc32c(data[start:]) != int.from_bytes(data[len(_MAGIC) : start], "little"):
        return None
    width, stamp_size, size, number = _HEAD.unpack_from(data, start)
    body = start + _HEAD.size
    stamp = data[body : body + stamp_size]
    if size != file.size or stamp != file.stamp.encode()[:255] or count not in (None, number):
        return None
    if width not in (4, 8) or len(data) != body + stamp_size + width * number:
        return None
    lengths = np.frombuffer(data, f"<u{width}", offset=body + stamp_size).astype(np.uint64)
    ends = np.cumsum(lengths + np.uint64(FRAME_BYTES), dtype=np.uint64)
    if (int(ends[-1]) if number else 0) != size:
        return None
    return RecordIndex(ends - lengths - np.uint64(FRAME_BYTES), lengths)
