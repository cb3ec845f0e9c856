"""SequentialWriter: a dataset that grows while examples come in."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from featurekit.builders.disk import fsync_path, writing
from featurekit.dataset.file_template import ShardedFileTemplate
from featurekit.dataset.folders import INFO_FILE
from featurekit.dataset.info import DatasetInfo
from featurekit.dataset.info_json import read_info, write_info
from featurekit.dataset.naming import check_split_name
from featurekit.dataset.splits import SplitDict, SplitInfo
from featurekit.errors import (
    BuildError,
    InvalidArgumentError,
    UnknownNameError,
    did_you_mean,
)
from featurekit.io.record_files import (
    RecordSink,
    check_file_format,
    check_installed,
    open_writer,
)

__all__ = ["SequentialWriter"]

_TEMPLATE = "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_INDEX}"


class SequentialWriter:
    """Writes examples in the order in which they come, shard after shard.

    The metadata are written anew whenever a shard is complete, and name complete shards
    only: what reads the folder meanwhile, or after a crash, finds those. It writes to
    `ds_info.data_dir` itself, where a builder writes beside it.

    Args:
        ds_info: What the dataset is; `data_dir` is where to write.
        max_examples_per_shard: Number of examples after which a new shard begins.
        overwrite: Whether to replace the dataset that is there; else examples are added to
            it, in new shards.
        file_format: `tfrecord`, `array_record` or `parquet`.

    Raises:
        BuildError: The dataset that is there is another one.
        InvalidArgumentError: The number is below 1, or the info has no folder or features.
        UnsupportedError: The format cannot be written.

    Example:
        >>> import tempfile
        >>> import featurekit as fk
        >>> from featurekit.dataset.identity import DatasetIdentity
        >>> folder = tempfile.mkdtemp()
        >>> identity = DatasetIdentity(name="log", version=fk.Version("1.0.0"), data_dir=folder)
        >>> info = DatasetInfo(builder=identity, features=fk.FeaturesDict({"line": fk.Text()}))
        >>> with SequentialWriter(info, max_examples_per_shard=2) as writer:
        ...     writer.initialize_splits(["train"])
        ...     writer.add_examples({"train": [{"line": "a"}, {"line": "b"}, {"line": "c"}]})
        >>> fk.builder_from_directory(folder).info.splits["train"].shard_lengths
        [2, 1]
    """

    def __init__(
        self,
        ds_info: DatasetInfo,
        max_examples_per_shard: int,
        overwrite: bool = True,
        file_format: str = "tfrecord",
    ) -> None:
        file_format = check_file_format(file_format)
        check_installed(file_format)
        if max_examples_per_shard < 1:
            raise InvalidArgumentError(
                f"max_examples_per_shard must be 1 or more, got {max_examples_per_shard}"
            )
        if ds_info.data_dir is None or ds_info.features is None:
            raise InvalidArgumentError(
                "the dataset has no folder or no features",
                hint="give DatasetInfo a builder or identity with data_dir, and features",
            )
        self._info = ds_info
        self._info.file_format = file_format
        self._folder = str(ds_info.data_dir)
        self._limit = max_examples_per_shard
        self._template = ShardedFileTemplate(
            _TEMPLATE, dataset_name=ds_info.name, suffix=file_format, data_dir=self._folder
        )
        self._splits: dict[str, _Split] = {}
        os.makedirs(self._folder, exist_ok=True)
        if os.path.exists(os.path.join(self._folder, INFO_FILE)):
            self._take_over(overwrite)

    def _take_over(self, overwrite: bool) -> None:
        """Add to the dataset that is there, or remove it."""
        found = read_info(self._folder, features=self._info.features)
        if overwrite:
            os.remove(os.path.join(self._folder, INFO_FILE))
            for split in found.splits.values():
                for path in split.filepaths:
                    os.remove(path)
            return
        if found.name != self._info.name:
            raise BuildError(
                f"the folder has the dataset {found.name!r}, not {self._info.name!r}",
                file=self._folder,
                hint="write to another folder, or give overwrite=True",
            )
        if found.file_format != self._info.file_format:
            raise BuildError(
                f"the dataset is stored as {found.file_format}, not as {self._info.file_format}",
                file=self._folder,
                hint=f"give file_format={found.file_format!r}, or overwrite=True",
            )
        for name, split in found.splits.items():
            self._splits[name] = _Split(split, self._template.replace(split=name))

    def initialize_splits(self, splits: Iterable[str], fail_if_exists: bool = True) -> None:
        """Begin splits.

        Args:
            splits: Their names.
            fail_if_exists: Whether one that exists is an error; else it stays.

        Raises:
            BuildError: A split exists.
            InvalidNameError: A split cannot be called so.
        """
        for name in splits:
            if name not in self._splits:
                template = self._template.replace(split=check_split_name(name))
                self._splits[name] = _Split(SplitInfo(name, [], 0, template), template)
            elif fail_if_exists:
                raise BuildError(
                    f"the split {name!r} exists already", hint="give fail_if_exists=False"
                )
        self._write_metadata()

    def add_examples(self, split_examples: Mapping[str, Iterable[Any]]) -> None:
        """Write examples; those of a shard that is not complete are not readable yet.

        Raises:
            UnknownNameError: There is no such split.
            EncodeError: An example does not fit the features; those before it are written.
            BuildError: The split is closed.
            WriteError: The disk is full.
        """
        complete = False
        for name, examples in split_examples.items():
            split = self._split(name)
            for example in examples:
                split.write(self._info.features.serialize_example(example))
                if split.open_examples >= self._limit:
                    split.close_shard()
                    complete = True
        if complete:
            self._write_metadata()

    def close_splits(self, splits: Iterable[str]) -> None:
        """End splits: their last shards are complete.

        Raises:
            UnknownNameError: There is no such split.
            WriteError: The disk is full.
        """
        for name in splits:
            self._split(name).close()
        self._write_metadata()

    def close_all(self) -> None:
        """End all splits; doing so again does nothing."""
        self.close_splits(list(self._splits))

    def __enter__(self) -> SequentialWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close_all()

    def _split(self, name: str) -> _Split:
        if name not in self._splits:
            raise UnknownNameError(
                f"there is no split {name!r}{did_you_mean(name, self._splits)}",
                hint="begin it with initialize_splits",
            )
        return self._splits[name]

    def _write_metadata(self) -> None:
        self._info.splits = SplitDict(split.info for split in self._splits.values())
        write_info(self._info, self._folder)


class _Split:
    """A split that grows."""

    def __init__(self, info: SplitInfo, template: ShardedFileTemplate) -> None:
        self.info = info
        self.open_examples = 0
        self._template = template
        self._open_bytes = 0
        self._path = ""
        self._writer: RecordSink | None = None
        self._closed = False

    def write(self, record: bytes) -> None:
        if self._closed:
            raise BuildError(f"the split {self.info.name!r} is closed")
        if self._writer is None:
            self._path = self._template.filepath(self.info.num_shards, None)
            self._writer = open_writer(self._path, str(self._template.suffix))
        with writing(self._path):
            self._writer.write(record)
        self.open_examples += 1
        self._open_bytes += len(record)

    def close_shard(self) -> None:
        """Complete the shard that is being written, if any."""
        if self._writer is None:
            return
        with writing(self._path):
            self._writer.close()
        fsync_path(self._path)
        lengths = [*self.info.shard_lengths, self.open_examples]
        num_bytes = self.info.num_bytes + self._open_bytes
        self.info = SplitInfo(self.info.name, lengths, num_bytes, self._template)
        self._writer, self.open_examples, self._open_bytes = None, 0, 0

    def close(self) -> None:
        self.close_shard()
        self._closed = True
