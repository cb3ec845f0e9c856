"""Putting the examples of a split in order, on disk where they do not fit in memory."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from featurekit.builders.disk import writing
from featurekit.builders.keys import (
    HASH_BYTES,
    Key,
    KeyHasher,
    PlainKey,
    pack_key,
    plain_key,
    unpack_key,
)
from featurekit.builders.spill import Record, merge_runs, reduce_runs, write_run
from featurekit.errors import BuildError, DuplicateKeyError, InvalidArgumentError, short_repr

__all__ = ["Shuffler"]

DEFAULT_BUFFER_BYTES = 256 * 2**20

_RECORD_OVERHEAD = 140  # bytes of Python objects around a buffered head and payload
_POSITION_BYTES = 8
_KEY_START = HASH_BYTES + _POSITION_BYTES
_INT_OFFSET = 2**127  # makes signed numbers sort as unsigned ones


class Shuffler:
    """Sorts the serialized examples of one split by the hash of their keys.

    Memory does not grow with the number of examples: what exceeds `max_buffer_bytes` goes
    to sorted files in a folder below `temp_dir`, which `close` removes. At most 17 of them
    are open at once. Use: `add` all, `finish`, then iterate (more than once, if need be).

    Args:
        split: The split's name, which salts the hash and is shown in errors.
        temp_dir: An existing folder for what does not fit in memory.
        disable_shuffling: Sort int keys by their value, and keep the order of generation
            for keys of any other type.
        ignore_duplicates: Keep the first of the examples that have the same key.
        max_buffer_bytes: Memory to use before writing to disk, in bytes.

    >>> with Shuffler("train", "/tmp") as shuffler:
    ...     for key, payload in [("a", b"A"), ("b", b"B"), ("c", b"C")]:
    ...         shuffler.add(key, payload)
    ...     shuffler.finish()
    ...     list(shuffler)
    [b'B', b'C', b'A']
    """

    def __init__(
        self,
        split: str,
        temp_dir: str | os.PathLike[str],
        *,
        disable_shuffling: bool = False,
        ignore_duplicates: bool = False,
        max_buffer_bytes: int = DEFAULT_BUFFER_BYTES,
    ) -> None:
        self.num_examples = 0
        self.num_bytes = 0
        self.num_duplicates = 0
        self._split = split
        self._temp_dir = Path(temp_dir)
        self._disable_shuffling = disable_shuffling
        self._ignore_duplicates = ignore_duplicates
        self._max_buffer_bytes = max_buffer_bytes
        self._hasher = KeyHasher(split)
        self._first_key: PlainKey | None = None
        self._buffer: list[Record] = []
        self._buffer_bytes = 0
        self._spill_dir: Path | None = None
        self._run_numbers = itertools.count()
        self._runs: list[Path] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def add(self, key: Key, payload: bytes) -> None:
        """Take one example.

        Raises:
            InvalidTypeError: The key is not bytes, str or int.
            BuildError: Shuffling is off, and some keys are int and some are not.
            WriteError: The disk is full.
        """
        packed = pack_key(key)
        if self._disable_shuffling:
            sort_key = self._ordered_key(plain_key(key))
        else:
            sort_key = self._hasher.digest(packed)
        head = sort_key + self.num_examples.to_bytes(_POSITION_BYTES, "big") + packed
        self._buffer.append((head, payload))
        self.num_examples += 1
        self.num_bytes += len(payload)
        self._buffer_bytes += len(head) + len(payload) + _RECORD_OVERHEAD
        if self._buffer_bytes > self._max_buffer_bytes:
            self._spill()

    def finish(self) -> None:
        """Make everything ready for iteration; no example can be added after that.

        Afterwards `num_examples`, `num_bytes` (of payloads) and `num_duplicates` (examples
        left out) tell what iteration gives.

        Raises:
            WriteError: The disk is full.
        """
        if self._runs:
            # Their memory is worth more than the time: a merge reads large payloads.
            self._spill()
            with writing(self._temp_dir):
                self._runs = reduce_runs(self._runs, self._new_run)
        self._buffer.sort()
        if self._ignore_duplicates:
            added = self.num_examples
            self.num_examples = self.num_bytes = 0
            for payload in self:
                self.num_examples += 1
                self.num_bytes += len(payload)
            self.num_duplicates = added - self.num_examples

    def __iter__(self) -> Iterator[bytes]:
        """The payloads in order.

        Raises:
            DuplicateKeyError: Two examples have the same key. Its attributes `keys`,
                `positions` and `payloads` hold what is known of the two.
        """
        records = merge_runs(self._runs) if self._runs else iter(self._buffer)
        previous: Record | None = None
        for record in records:
            if previous is not None and record[0][:HASH_BYTES] == previous[0][:HASH_BYTES]:
                if not self._ignore_duplicates:
                    raise self._duplicate_error(previous, record)
                continue
            yield record[1]
            previous = record

    def close(self) -> None:
        """Forget the examples and remove the files; closing again does nothing."""
        self._buffer = []
        self._runs = []
        if self._spill_dir is not None:
            shutil.rmtree(self._spill_dir, ignore_errors=True)
            self._spill_dir = None

    def _ordered_key(self, key: PlainKey) -> bytes:
        if self._first_key is None:
            self._first_key = key
        elif isinstance(key, int) != isinstance(self._first_key, int):
            raise BuildError(
                f"split {self._split!r} mixes int keys with others, such as "
                f"{short_repr(self._first_key)} and {short_repr(key)}",
                hint="with disable_shuffling=True, int keys give the order and others do not: "
                "use keys of one type",
            )
        number = key if isinstance(key, int) else self.num_examples
        if not -_INT_OFFSET <= number < _INT_OFFSET:
            raise InvalidArgumentError(f"int key {short_repr(number)} does not fit in 128 bits")
        return (number + _INT_OFFSET).to_bytes(HASH_BYTES, "big")

    def _spill(self) -> None:
        self._buffer.sort()
        path = self._new_run()
        write_run(path, self._buffer)
        self._runs.append(path)
        self._buffer = []
        self._buffer_bytes = 0

    def _new_run(self) -> Path:
        if self._spill_dir is None:
            with writing(self._temp_dir):
                self._spill_dir = Path(tempfile.mkdtemp(prefix="shuffle_", dir=self._temp_dir))
        return self._spill_dir / f"run_{next(self._run_numbers):06}.tmp"

    def _duplicate_error(self, first: Record, second: Record) -> DuplicateKeyError:
        keys = [unpack_key(head[_KEY_START:]) for head, _ in (first, second)]
        positions = [
            int.from_bytes(head[HASH_BYTES:_KEY_START], "big") for head, _ in (first, second)
        ]
        shown = " and ".join(
            f"{short_repr(key)} at position {position}"
            for key, position in zip(keys, positions, strict=True)
        )
        hint = "yield a key that is unique in the split, or build with ignore_duplicates=True"
        if keys[0] != keys[1]:
            hint += r"; keys are compared as text, and '\' is the same as '/'"
        error = DuplicateKeyError(
            f"two examples of split {self._split!r} have the same key: {shown}", hint=hint
        )
        error.keys = (keys[0], keys[1])
        error.positions = (positions[0], positions[1])
        error.payloads = (first[1], second[1])
        return error
