"""Builders for files in the CoNLL formats: a token a line, its tags in columns."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from featurekit.builders.config import BuilderConfig
from featurekit.builders.sentence_files import SentenceFilesBuilder
from featurekit.connector import FeatureConnector
from featurekit.connectors.features_dict import FeaturesDict
from featurekit.errors import BuildError

__all__ = ["ConllBuilderConfig", "ConllDatasetBuilder"]


class ConllBuilderConfig(BuilderConfig):
    """A variant of a CoNLL dataset.

    Args:
        separator: What stands between the columns, such as a blank or a tab.
        ordered_features: The feature of each column, in the order of the columns.
        **fields: As `BuilderConfig` takes them.
    """

    def __init__(
        self, *, separator: str, ordered_features: Mapping[str, FeatureConnector], **fields: Any
    ) -> None:
        super().__init__(**fields)
        self.separator = separator
        self.ordered_features = dict(ordered_features)

    @property
    def features_dict(self) -> FeaturesDict:
        """The features of an example."""
        return FeaturesDict(self.ordered_features)


class ConllDatasetBuilder(SentenceFilesBuilder, skip_registration=True):
    """A builder whose examples are the sentences of CoNLL files.

    Sentences end with an empty line or one that begins with `-DOCSTART-`. Subclasses state
    `VERSION` and `BUILDER_CONFIGS`, and define `_info` (with `create_dataset_info`) and
    `_split_generators` (which gives paths to `_generate_examples`).
    """

    _described = "columns"

    def _generate_examples(
        self, filepaths: str | os.PathLike[str] | list[Any]
    ) -> Iterable[tuple[Any, Any]]:
        paths = filepaths if isinstance(filepaths, list) else [filepaths]
        index = 0
        for path in paths:
            for sentence in self._sentences(path):
                yield index, sentence
                index += 1

    def _sentences(self, path: str | os.PathLike[str]) -> Iterator[dict[str, list[str]]]:
        names = list(self.builder_config.ordered_features)
        sentence: dict[str, list[str]] = {name: [] for name in names}
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line == "\n" or line.startswith("-DOCSTART-"):
                    if sentence[names[0]]:
                        yield sentence
                        sentence = {name: [] for name in names}
                    continue
                columns = line.split(self.builder_config.separator)
                if len(columns) != len(names):
                    raise BuildError(
                        f"line {number} has {len(columns)} columns, expected {len(names)}: "
                        f"{', '.join(names)}",
                        file=path,
                    )
                for name, column in zip(names, columns, strict=True):
                    sentence[name].append(column.rstrip())
        # Also where it is empty: TFDS gives one more example at the end of each file.
        yield sentence
