"""What builders and opened datasets have in common: examples to read."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any

from featurekit.dataset.examples import Examples
from featurekit.dataset.info import DatasetInfo
from featurekit.dataset.read_config import ReadConfig
from featurekit.dataset.source import DataSource
from featurekit.dataset.split_expressions import SplitLike

__all__ = ["ReadsExamples"]


class ReadsExamples(abc.ABC):
    """Gives the examples of a dataset that is on disk."""

    @property
    @abc.abstractmethod
    def info(self) -> DatasetInfo:
        """What the dataset is."""

    def as_data_source(self, split: SplitLike | None = None, **options: Any) -> Any:
        """The examples of a split, in any order; a dict of all splits for None.

        Args:
            split: Name of a split, a slice such as `"train[:10%]"`, or a split expression.
            **options: `decoders`, `columns` and `text`, as in `featurekit.load`.

        Returns:
            A `DataSource`, or a dict of them.

        Raises:
            SplitError: There is no such split.
        """
        if split is None:
            return {name: DataSource(self.info, name, **options) for name in self.info.splits}
        return DataSource(self.info, split, **options)

    def as_dataset(
        self,
        split: Any = None,
        *,
        batch_size: int | None = None,
        shuffle_files: bool = False,
        decoders: Any = None,
        read_config: ReadConfig | None = None,
        as_supervised: bool = False,
    ) -> Any:
        """The examples of a split in TFDS's order and with its values, to iterate over.

        Args:
            split: As in `as_data_source`; also a list or dict of splits.
            batch_size: Number of examples to join, padded where shapes differ; -1 gives all
                of the split as one batch.
            shuffle_files: Whether to read the files in a random order.
            decoders: As in `featurekit.load`.
            read_config: The order in which files are read.
            as_supervised: Whether to give `(input, target)` in place of dicts.

        Returns:
            `Examples`, an iterator of batches, or one batch; in the form of `split`.

        Raises:
            SplitError: There is no such split.
            InvalidArgumentError: There are no supervised keys, or the order is fixed.
        """
        if split is None:
            split = {name: name for name in self.info.splits}
        options = {
            "batch_size": batch_size,
            "shuffle_files": shuffle_files,
            "decoders": decoders,
            "read_config": read_config,
            "as_supervised": as_supervised,
        }
        if isinstance(split, Mapping):
            return {key: self.as_dataset(item, **options) for key, item in split.items()}
        if isinstance(split, (list, tuple)):
            return type(split)(self.as_dataset(item, **options) for item in split)
        examples = Examples(
            self.as_data_source(split, decoders=decoders),
            read_config,
            shuffle_files=shuffle_files,
            as_supervised=as_supervised,
        )
        if batch_size is None:
            return examples
        if batch_size == -1:
            return next(examples.batch(max(len(examples), 1)), None)
        return examples.batch(batch_size)
