"""What builders of CoNLL and CoNLL-U files share: a config that says what a sentence holds."""

from __future__ import annotations

from typing import Any, ClassVar

from featurekit.builders.base import GeneratorBasedBuilder
from featurekit.dataset.info import DatasetInfo
from featurekit.errors import InvalidArgumentError

__all__ = ["SentenceFilesBuilder"]


class SentenceFilesBuilder(GeneratorBasedBuilder, skip_registration=True):
    """A builder whose features are those of its config."""

    # What a config describes, for the message where there is none.
    _described: ClassVar[str]

    @property
    def builder_config(self) -> Any:
        """The config.

        Raises:
            InvalidArgumentError: There is none.
        """
        if self._builder_config is None:
            raise InvalidArgumentError(
                f"{type(self).__name__} has no config, which says what the {self._described} are",
                hint="state BUILDER_CONFIGS",
            )
        return self._builder_config

    def create_dataset_info(self, **fields: Any) -> DatasetInfo:
        """A `DatasetInfo` with the features of the config.

        Args:
            **fields: As `DatasetInfo` takes them.
        """
        return self.dataset_info_from_configs(features=self.builder_config.features_dict, **fields)
