"""Datasets that stay in the files they came in: nothing is built, and no shard written."""

from __future__ import annotations

import abc
import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from featurekit.connector import FeatureConnector
from featurekit.dataset.identity import DatasetIdentity
from featurekit.dataset.info import DatasetInfo
from featurekit.dataset.reading import ReadsExamples
from featurekit.dataset.splits import SplitDict, SplitInfo
from featurekit.dataset.version import Version
from featurekit.decode import with_decoders
from featurekit.errors import SplitError, UnsupportedError, did_you_mean
from featurekit.tensor_info import TensorInfo, Tree

__all__ = ["InPlaceBuilder", "InPlaceSource"]


class InPlaceSource(Sequence[Any]):
    """The examples of a split, read from their own files when they are asked for.

    Args:
        info: The dataset.
        split: Name of the split.
        stored: What each example consists of, as its features decode it.
        decoders: Decoders in place of the features' own; see `featurekit.decode`.
    """

    def __init__(
        self, info: DatasetInfo, split: str, stored: Sequence[Any], decoders: Any = None
    ) -> None:
        features: FeatureConnector = info.features
        self.info = info
        self.split = split
        self.features = with_decoders(features, decoders)
        self._stored = stored

    @property
    def element_spec(self) -> Tree[TensorInfo]:
        """Shape and dtype of every value."""
        return self.features.get_tensor_info()

    def __len__(self) -> int:
        return len(self._stored)

    def __getitem__(self, index: Any) -> Any:
        """One example; of a slice, a source of those."""
        if isinstance(index, slice):
            part = object.__new__(type(self))
            part.__dict__.update(self.__dict__, _stored=self._stored[index])
            return part
        return self.features.decode_example(self._stored[index])

    @property
    def file_ranges(self) -> list[range]:
        """All positions: the order is the one they have."""
        return [range(len(self))]

    def at(self, ranges: Iterable[range]) -> Iterator[Any]:
        """The examples at some ranges of positions."""
        return (self[position] for wanted in ranges for position in wanted)

    def locate(self, position: int) -> tuple[str, int]:
        """The split, and the position: there are no shards."""
        return self.split, position

    def __repr__(self) -> str:
        name = self.info.full_name
        return f"{type(self).__name__}({name}, split={self.split!r}, num_examples={len(self)})"


class InPlaceBuilder(ReadsExamples):
    """Reads a folder of files as a dataset; subclasses say how they are laid out."""

    VERSION = Version("1.0.0")

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """Name of the dataset."""

    @abc.abstractmethod
    def _features(self) -> FeatureConnector:
        """The features of an example."""

    @abc.abstractmethod
    def _splits(self) -> dict[str, Sequence[Any]]:
        """What each example consists of, by the name of the split."""

    _description = ""
    _supervised_keys: tuple[str, str] | None = None

    @functools.cached_property
    def _stored(self) -> dict[str, Sequence[Any]]:
        return self._splits()

    @functools.cached_property
    def _info(self) -> DatasetInfo:
        splits = [SplitInfo(name, [len(stored)]) for name, stored in self._stored.items()]
        return DatasetInfo(
            identity=DatasetIdentity(name=self.name, version=self.VERSION),
            description=self._description,
            features=self._features(),
            supervised_keys=self._supervised_keys,
            disable_shuffling=True,
            splits=SplitDict(splits),
        )

    @property
    def info(self) -> DatasetInfo:
        """What the dataset is."""
        return self._info

    def as_data_source(self, split: Any = None, **options: Any) -> Any:
        """The examples of a split; a dict of all splits for None.

        Args:
            split: Name of a split.
            **options: `decoders`, as in `featurekit.load`.

        Raises:
            SplitError: There is no such split; slices of splits are not offered.
        """
        if split is None:
            return {name: self.as_data_source(name, **options) for name in self._stored}
        if str(split) not in self._stored:
            known = did_you_mean(str(split), self._stored)
            raise SplitError(
                f"there is no split {str(split)!r}{known}",
                hint="take a whole split, and slice it: builder.as_data_source('train')[:100]",
            )
        return InPlaceSource(self.info, str(split), self._stored[str(split)], **options)

    def download_and_prepare(self, **options: Any) -> None:
        """Refuse: there is nothing to build.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError(
            f"{type(self).__name__} reads files where they are, and builds nothing",
            hint="read it with as_dataset or as_data_source, or write it with "
            "featurekit.write_dataset",
        )
