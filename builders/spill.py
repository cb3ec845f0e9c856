"""Sorted runs of records in files, and merging them with few open files and little memory.

A record is `(head, payload)`: records are ordered by `head`, and no two have the same one.
A run is a sequence of `u32 size of head, u64 size of payload, head, payload`.
"""

from __future__ import annotations

import heapq
import os
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO, TypeAlias

from featurekit.builders.disk import writing
from featurekit.errors import BuildError

__all__ = ["Record", "merge_runs", "reduce_runs", "write_run"]

Record: TypeAlias = tuple[bytes, bytes]

MAX_OPEN_RUNS = 16  # leaves room for the builder's own files under a limit of 64

_SIZES = struct.Struct("<IQ")
_BUFFER_BYTES = 2**18


def write_run(path: Path, records: Iterable[Record]) -> None:
    """Write records, which must come in ascending order, to a new file.

    Raises:
        WriteError: The file cannot be written whole.
    """
    with writing(path), open(path, "wb", buffering=_BUFFER_BYTES) as file:
        for head, payload in records:
            file.write(_SIZES.pack(len(head), len(payload)) + head)
            file.write(payload)


def merge_runs(paths: Sequence[Path]) -> Iterator[Record]:
    """All records of some runs, in ascending order; one payload in memory at a time.

    Raises:
        BuildError: A run ends in the middle of a record.
    """
    for head, load_payload in heapq.merge(*map(_read_run, paths)):
        yield head, load_payload()


def reduce_runs(paths: Sequence[Path], new_path: Callable[[], Path]) -> list[Path]:
    """Merge runs into longer ones until they can all be open at once, deleting the old ones.

    Args:
        paths: The runs.
        new_path: Gives a new file name at each call.

    Raises:
        WriteError: A file cannot be written whole.
    """
    runs = list(paths)
    while len(runs) > MAX_OPEN_RUNS:
        oldest, runs = runs[:MAX_OPEN_RUNS], runs[MAX_OPEN_RUNS:]
        merged = new_path()
        write_run(merged, merge_runs(oldest))
        for path in oldest:
            path.unlink()
        runs.append(merged)
    return runs


def _read_run(path: Path) -> Iterator[tuple[bytes, Callable[[], bytes]]]:
    """Heads with what loads their payload, to be called before the next head is asked for."""
    position = 0
    with open(path, "rb", buffering=_BUFFER_BYTES) as file:
        size = os.fstat(file.fileno()).st_size
        while position < size:
            head_size, payload_size = _SIZES.unpack(_read_exactly(file, _SIZES.size))
            head = _read_exactly(file, head_size)
            position += _SIZES.size + head_size + payload_size
            yield head, partial(_read_exactly, file, payload_size)
            file.seek(position)


def _read_exactly(file: BinaryIO, size: int) -> bytes:
    data = file.read(size)
    if len(data) != size:
        raise BuildError(
            f"a temporary file is damaged: expected {size} more bytes, got {len(data)}",
            file=file.name,
            hint="build again, and leave the folder of a running build alone",
        )
    return data
