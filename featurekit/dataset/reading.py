"""What builders and opened datasets have in common: examples to read."""

from __future__ import annotations

import abc
from typing import Any

from featurekit.dataset.info import DatasetInfo
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
