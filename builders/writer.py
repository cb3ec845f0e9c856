"""Writing one split: examples in any order in, sorted shards of equal length out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from featurekit.builders.disk import fsync_path, writing
from featurekit.builders.keys import Key
from featurekit.builders.sharding import ShardPolicy, shard_lengths
from featurekit.builders.shuffle import DEFAULT_BUFFER_BYTES, Shuffler
from featurekit.errors import EmptySplitError
from featurekit.io.record_files import RecordSink, open_writer

__all__ = ["SplitWriter", "WrittenSplit"]


class WrittenSplit(NamedTuple):
    """What `dataset_info.json` says about the shards of a split.

    Attributes:
        shard_lengths: Number of examples of each shard.
        num_bytes: Size of all serialized examples without framing.
    """

    shard_lengths: list[int]
    num_bytes: int


class SplitWriter:
    """Writes the serialized examples of one split into sorted shards, flushed to disk.

    The files depend on the examples alone, not on the order in which they come. Memory does
    not grow with their number, and one shard is open at a time.

    Args:
        directory: An existing folder for the shards; temporary files lie there too.
        split: The split's name.
        shard_path: Gives the path of a shard, below `directory`, from its index and the
            number of shards.
        policy: Chooses the number of shards.
        open_shard: Opens a shard for writing; by default a TFRecord file.
        disable_shuffling: Keep the order of int keys, or else of generation.
        ignore_duplicates: Keep the first of the examples that have the same key.
        max_buffer_bytes: Memory to use before sorting on disk, in bytes.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with SplitWriter(folder, "train", lambda i, n: f"train-{i}-of-{n}") as writer:
    ...         writer.write("a", b"example a")
    ...         writer.write("b", b"example b")
    ...         writer.finalize()
    WrittenSplit(shard_lengths=[2], num_bytes=18)
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        split: str,
        shard_path: Callable[[int, int], str | os.PathLike[str]],
        *,
        policy: ShardPolicy | None = None,
        open_shard: Callable[[Path], RecordSink] = open_writer,
        disable_shuffling: bool = False,
        ignore_duplicates: bool = False,
        max_buffer_bytes: int = DEFAULT_BUFFER_BYTES,
    ) -> None:
        self._directory = Path(directory)
        self._split = split
        self._shard_path = shard_path
        self._policy = policy or ShardPolicy()
        self._open_shard = open_shard
        self._shuffler = Shuffler(
            split,
            directory,
            disable_shuffling=disable_shuffling,
            ignore_duplicates=ignore_duplicates,
            max_buffer_bytes=max_buffer_bytes,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def num_duplicates(self) -> int:
        """Number of examples that `finalize` left out since their key came before."""
        return self._shuffler.num_duplicates

    def write(self, key: Key, payload: bytes) -> None:
        """Take one serialized example.

        Raises:
            InvalidTypeError: The key is not bytes, str or int.
            WriteError: The disk is full.
        """
        self._shuffler.add(key, payload)

    def finalize(self) -> WrittenSplit:
        """Write the shards.

        Raises:
            EmptySplitError: There are no examples.
            DuplicateKeyError: Two examples have the same key.
            BuildError: The policy asks for more shards than there are examples.
            WriteError: A shard cannot be written whole.
        """
        shuffler = self._shuffler
        shuffler.finish()
        if shuffler.num_examples == 0:
            raise EmptySplitError(
                f"split {self._split!r} has no examples",
                hint="check that its generator yields (key, example), or leave the split out",
            )
        num_shards = self._policy.num_shards_of(shuffler.num_bytes, shuffler.num_examples)
        lengths = shard_lengths(shuffler.num_examples, num_shards)
        payloads = iter(shuffler)
        for index, length in enumerate(lengths):
            path = self._directory / self._shard_path(index, num_shards)
            self._write_shard(path, islice(payloads, length))
        self.close()
        return WrittenSplit(lengths, shuffler.num_bytes)

    def close(self) -> None:
        """Remove the temporary files; closing again does nothing."""
        self._shuffler.close()

    def _write_shard(self, path: Path, payloads: Iterator[bytes]) -> None:
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._open_shard(path)) as shard:
                for payload in payloads:
                    shard.write(payload)
        fsync_path(path)
