"""ShardBasedBuilder: a builder that decides which examples are in which shard."""

from __future__ import annotations

import abc
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any

from featurekit.builders.base import DatasetBuilder
from featurekit.builders.disk import fsync_path, writing
from featurekit.builders.options import BuildOptions
from featurekit.builders.serializing import ExampleSerializer
from featurekit.dataset.file_template import ShardedFileTemplate
from featurekit.dataset.info import DatasetInfo
from featurekit.dataset.naming import check_split_name
from featurekit.dataset.splits import SplitDict, SplitInfo
from featurekit.errors import BuildError, EmptySplitError
from featurekit.io.record_files import check_file_format, check_installed, open_writer

__all__ = ["ShardBasedBuilder"]

ShardIterator = Callable[[], Iterable[tuple[Any, Any]]]


class ShardBasedBuilder(DatasetBuilder, skip_registration=True):
    """A builder that keeps the order and the shards of the source.

    Subclasses state `VERSION` and define `_info` and `_shard_iterators_per_split`.
    """

    @abc.abstractmethod
    def _shard_iterators_per_split(self, dl_manager: Any) -> Mapping[str, Sequence[ShardIterator]]:
        """For each split a function a shard, which yields `(key, example)`; keys are not used."""

    def _write_splits(self, folder: str, info: DatasetInfo, options: BuildOptions) -> SplitDict:
        if info.features is None:
            raise BuildError(f"{info.full_name} has no features")
        info.file_format = check_file_format(info.file_format)
        check_installed(info.file_format)
        found = self._shard_iterators_per_split(self._download_manager())
        return SplitDict(
            [_write_split(folder, info, str(name), shards) for name, shards in found.items()]
        )


def _write_split(
    folder: str, info: DatasetInfo, name: str, shards: Sequence[ShardIterator]
) -> SplitInfo:
    template = ShardedFileTemplate(
        dataset_name=info.name,
        split=check_split_name(name),
        suffix=info.file_format,
        data_dir=info.data_dir,
    )
    serializer = ExampleSerializer(info.features, f"{info.full_name}, split {name}")
    lengths, num_bytes = [], 0
    for index, shard in enumerate(shards):
        path = os.path.join(folder, template.filename(index, len(shards)))
        length = 0
        with writing(path), closing(open_writer(path, info.file_format)) as writer:
            for _, record in serializer.records(shard()):
                writer.write(record)
                length += 1
                num_bytes += len(record)
        fsync_path(path)
        lengths.append(length)
    if not any(lengths):
        raise EmptySplitError(f"split {name!r} has no examples")
    return SplitInfo(name, lengths, num_bytes, template)
