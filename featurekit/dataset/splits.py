"""The splits of a dataset on disk: their lengths, their files, and slices of them.

Nothing here reads a file: a slice is a list of `FileInstruction`, made by arithmetic.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import numbers
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from featurekit.dataset.file_template import ShardedFileTemplate
from featurekit.dataset.split_expressions import SplitExpression, SplitLike
from featurekit.errors import DatasetInfoError, SplitError, short_repr

__all__ = ["FileInstruction", "Split", "SplitDict", "SplitInfo", "SubSplitInfo"]


class Split(str):
    """Name of a split; the usual ones are attributes.

    >>> Split.TRAIN, Split.TRAIN == "train"
    (Split('train'), True)
    """

    TRAIN: ClassVar[Split]
    VALIDATION: ClassVar[Split]
    TEST: ClassVar[Split]
    ALL: ClassVar[Split]

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({super().__repr__()})"


Split.TRAIN = Split("train")
Split.VALIDATION = Split("validation")
Split.TEST = Split("test")
Split.ALL = Split("all")


class FileInstruction(NamedTuple):
    """What to read of one shard file: skip `skip` examples, then take `take`.

    `filename` is the path of the file, as far as the dataset's folder is known.
    """

    filename: str
    skip: int
    take: int
    examples_in_shard: int

    @property
    def takes_all(self) -> bool:
        """Whether the shard is read to its end."""
        return self.skip + self.take == self.examples_in_shard


class SplitInfo:
    """A stored split.

    Args:
        name: Name of the split.
        shard_lengths: Number of examples in each shard file.
        num_bytes: Bytes of all serialized examples, 0 where unknown.
        filename_template: How the files are called; its `split` is set to `name`.

    Raises:
        DatasetInfoError: A length or size is negative or no integer.

    Example:
        >>> template = ShardedFileTemplate(dataset_name="my_ds", suffix="tfrecord")
        >>> split = SplitInfo("train", [6, 4], 1200, template)
        >>> split
        <SplitInfo num_examples=10, num_shards=2>
        >>> split.filenames[1]
        'my_ds-train.tfrecord-00001-of-00002'
    """

    def __init__(
        self,
        name: str,
        shard_lengths: Iterable[int],
        num_bytes: int = 0,
        filename_template: ShardedFileTemplate | None = None,
    ) -> None:
        self.name = str(name)
        self.shard_lengths = [_check_count(length, self.name) for length in shard_lengths]
        self.num_bytes = _check_count(num_bytes, self.name)
        self.filename_template = filename_template and filename_template.replace(split=self.name)

    @property
    def num_examples(self) -> int:
        """Number of examples."""
        return self._offsets[-1]

    @property
    def num_shards(self) -> int:
        """Number of shard files."""
        return len(self.shard_lengths)

    @functools.cached_property
    def shards(self) -> list[FileInstruction]:
        """What to read of each shard, those without examples included.

        Raises:
            SplitError: The split has no file name template.
        """
        if self.filename_template is None:
            raise SplitError(f"the split {self.name!r} has no files: it has no file name template")
        return [
            FileInstruction(self.filename_template.filepath(index, self.num_shards), 0, n, n)
            for index, n in enumerate(self.shard_lengths)
        ]

    @property
    def file_instructions(self) -> list[FileInstruction]:
        """What to read, shard by shard, in order; shards without examples are left out."""
        return [shard for shard in self.shards if shard.take]

    @property
    def filepaths(self) -> list[str]:
        """Paths of the files, one for each shard."""
        return [shard.filename for shard in self.shards]

    @property
    def filenames(self) -> list[str]:
        """Names of the files, without their folders."""
        return [os.path.basename(path) for path in self.filepaths]

    def cut(self, start: int, stop: int) -> list[FileInstruction]:
        """What to read for the examples `start` to `stop` (not included) of this split.

        >>> SubSplitInfo("x", [FileInstruction("a", 2, 8, 10)]).cut(1, 4)
        [FileInstruction(filename='a', skip=3, take=3, examples_in_shard=10)]
        """
        pieces = []
        first = bisect.bisect_right(self._offsets, start) - 1
        for index in range(first, self.num_shards):
            begin, end = self._offsets[index : index + 2]
            if begin >= stop:
                break
            skip, take = max(start - begin, 0), min(stop, end) - max(start, begin)
            if take > 0:
                shard = self.shards[index]
                pieces.append(shard._replace(skip=shard.skip + skip, take=take))
        return pieces

    @functools.cached_property
    def _offsets(self) -> list[int]:
        """Where each shard begins, counted in examples, and where the last one ends."""
        return list(itertools.accumulate(self.shard_lengths, initial=0))

    def __repr__(self) -> str:
        num_examples = self.num_examples or "unknown"
        return f"<{type(self).__name__} num_examples={num_examples}, num_shards={self.num_shards}>"


class SubSplitInfo(SplitInfo):
    """Examples out of one or more stored splits: a slice, a sum, or a split in many folders.

    Args:
        name: What it was asked for by, for people.
        shards: What to read, in order.
        num_bytes: Bytes of its serialized examples, 0 where unknown.

    Example:
        >>> half = SubSplitInfo("train[50%:]", [FileInstruction("a", 5, 5, 10)])
        >>> half.num_examples, half.filenames
        (5, ['a'])
    """

    def __init__(self, name: str, shards: Iterable[FileInstruction], num_bytes: int = 0) -> None:
        found = list(shards)
        super().__init__(name, [shard.take for shard in found], num_bytes)
        self.shards = found

    @classmethod
    def concatenate(cls, name: str, parts: Sequence[SplitInfo]) -> SubSplitInfo:
        """One split of several, such as those that different folders hold."""
        shards = itertools.chain.from_iterable(part.shards for part in parts)
        return cls(name, shards, sum(part.num_bytes for part in parts))


class SplitDict(Mapping[str, SplitInfo]):
    """The splits of a dataset by name, in stored order; also looks up slices of them.

    Args:
        splits: The stored splits.

    Raises:
        DatasetInfoError: Two have one name.

    Example:
        >>> splits = SplitDict([SplitInfo("train", [6, 4]), SplitInfo("test", [5])])
        >>> list(splits), splits.total_num_examples
        (['train', 'test'], 15)
        >>> template = ShardedFileTemplate("{SPLIT}-{SHARD_INDEX}")
        >>> splits = SplitDict([SplitInfo("train", [6, 4], 0, template)])
        >>> splits["train[4:8]"].file_instructions[1]
        FileInstruction(filename='train-00001', skip=0, take=2, examples_in_shard=4)
    """

    def __init__(self, splits: Iterable[SplitInfo] = ()) -> None:
        self._splits: dict[str, SplitInfo] = {}
        for split in splits:
            if split.name in self._splits:
                raise DatasetInfoError(f"there are two splits called {split.name!r}")
            self._splits[split.name] = split

    def __getitem__(self, split: SplitLike) -> SplitInfo:
        """The split of that name, or what the slice, sum or expression means.

        Raises:
            SplitError: There is no such split, or the slice is none that could be.
        """
        if isinstance(split, str) and split in self._splits:
            return self._splits[split]
        ranges = SplitExpression.from_spec(split).resolve(self._splits)
        shards = (shard for name, *bounds in ranges for shard in self._splits[name].cut(*bounds))
        return SubSplitInfo(str(split), shards)

    def get(self, name: Any, default: Any = None) -> Any:
        """The stored split of that name, or `default`; slices are not looked up."""
        return self._splits.get(name, default)

    def __contains__(self, name: object) -> bool:
        return name in self._splits

    def __iter__(self) -> Iterator[str]:
        return iter(self._splits)

    def __len__(self) -> int:
        return len(self._splits)

    def __repr__(self) -> str:
        return repr(self._splits)

    @property
    def total_num_examples(self) -> int:
        """Number of examples of all splits."""
        return sum(split.num_examples for split in self.values())

    @property
    def total_num_bytes(self) -> int:
        """Bytes of the serialized examples of all splits."""
        return sum(split.num_bytes for split in self.values())


def _check_count(number: object, split: str) -> int:
    if isinstance(number, numbers.Integral) and int(number) >= 0:
        return int(number)
    raise DatasetInfoError(
        f"lengths and sizes of the split {split!r} must be integers from 0 on, "
        f"got {short_repr(number)}"
    )
