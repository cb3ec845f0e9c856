"""From generators of examples to the shards of a dataset's splits."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Generator, Iterable, Mapping
from contextlib import closing
from typing import Any

from featurekit.builders import progress
from featurekit.builders.keys import Key
from featurekit.builders.options import BuildOptions
from featurekit.builders.serializing import ExampleSerializer, SerializedExamples
from featurekit.builders.workers import records_from_workers
from featurekit.builders.writer import SplitWriter
from featurekit.connector import FeatureConnector
from featurekit.dataset.file_template import ShardedFileTemplate
from featurekit.dataset.info import DatasetInfo
from featurekit.dataset.naming import check_split_name
from featurekit.dataset.splits import SplitDict, SplitInfo
from featurekit.errors import (
    BuildError,
    DuplicateKeyError,
    FeatureKitError,
    InvalidTypeError,
    add_context,
    short_repr,
)
from featurekit.io.record_files import check_file_format, check_installed, open_writer

__all__ = ["check_split", "write_splits"]


def write_splits(
    folder: str,
    info: DatasetInfo,
    splits: Mapping[str, Iterable[Any]],
    options: BuildOptions,
) -> SplitDict:
    """Write the shards of all splits.

    Args:
        folder: An existing folder, for the shards and for temporary files.
        info: What the dataset is, with its features.
        splits: What yields `(key, example)`, by the name of the split.
        options: How to build.

    Raises:
        BuildError: There are no features or splits, a key is there twice, a split is empty, or a
            worker was killed.
        InvalidNameError: A split cannot be called so.
        InvalidTypeError: A split or an item is none, or a key has another type.
        EncodeError: An example does not fit the features.
        UnsupportedError: The file format cannot be written.
        MissingDependencyError: The package that writes the file format is not installed.
        WriteError: The disk is full.
    """
    _check_info(info)
    if not splits:
        raise BuildError(f"{info.full_name} has no splits", hint="give {'train': examples}")
    for name, examples in splits.items():
        check_split(name, examples)
    return SplitDict(
        [_SplitBuild(info, name, options).write(folder, split) for name, split in splits.items()]
    )


def _check_info(info: DatasetInfo) -> None:
    if info.features is None:
        raise BuildError(
            f"{info.full_name} has no features",
            hint="give its DatasetInfo features=FeaturesDict({...})",
        )
    info.file_format = check_file_format(info.file_format)
    check_installed(info.file_format)  # now rather than when all examples have been encoded


def check_split(name: str, examples: Any) -> None:
    """Refuse what is no split: a name that none may have, or no iterable of examples."""
    check_split_name(name)
    if not isinstance(examples, Iterable) or isinstance(examples, (str, bytes, Mapping)):
        raise InvalidTypeError(
            f"split {name!r} is no iterable of (key, example), but {type(examples).__name__}",
            hint="give {'train': self._generate_examples(...)}, which must yield",
        )


class _SplitBuild:
    """The build of one split."""

    def __init__(self, info: DatasetInfo, split: str, options: BuildOptions) -> None:
        self._info = info
        self._split = split
        self._options = options
        self._template = ShardedFileTemplate(
            dataset_name=info.name, split=split, suffix=info.file_format, data_dir=info.data_dir
        )
        config = f"/{info.config_name}" if info.config_name else ""
        self._building = f"{info.name}{config}:{info.version}, split {split}"

    @property
    def _features(self) -> FeatureConnector:
        features: FeatureConnector = self._info.features
        return features

    def write(self, folder: str, examples: Iterable[Any]) -> SplitInfo:
        """Write the shards to a folder."""
        writer = SplitWriter(
            folder,
            self._split,
            self._template.filename,
            policy=self._options.policy,
            open_shard=functools.partial(open_writer, file_format=self._info.file_format),
            disable_shuffling=self._info.disable_shuffling or self._info.nondeterministic_order,
            ignore_duplicates=self._options.ignore_duplicates,
        )
        try:
            with writer, closing(self._records(examples)) as records:
                for key, record in progress.count(
                    records, self._building, quiet=self._options.quiet
                ):
                    writer.write(key, record)
                written = writer.finalize()
        except DuplicateKeyError as error:
            self._show_examples(error)
            raise
        except FeatureKitError as error:
            self._add_context(error)
            raise
        split = SplitInfo(self._split, written.shard_lengths, written.num_bytes, self._template)
        progress.log_split(split, self._building)
        return split

    def _records(self, examples: Iterable[Any]) -> Generator[tuple[Key, bytes], None, None]:
        if isinstance(examples, SerializedExamples):
            return examples.records
        examples = itertools.islice(examples, self._options.max_examples)
        serializer = ExampleSerializer(self._features, self._building)
        if self._options.num_processes == 1:
            return serializer.records(examples)
        return records_from_workers(serializer, examples, self._options.num_processes)

    def _add_context(self, error: FeatureKitError) -> None:
        """Say what was being built, unless the error knows it better already."""
        if not error.context:
            add_context(error, f"while building {self._building}")

    def _show_examples(self, error: DuplicateKeyError) -> None:
        """Add both examples of a key to the error, as they read."""
        self._add_context(error)
        for key, payload in zip(error.keys, error.payloads, strict=True):
            example = self._features.deserialize_example(payload)
            add_context(error, f"key {short_repr(key)} has the example {short_repr(example, 200)}")
