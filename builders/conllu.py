"""Builders for files in the CoNLL-U format of Universal Dependencies."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from featurekit.builders.config import BuilderConfig
from featurekit.builders.sentence_files import SentenceFilesBuilder
from featurekit.connector import FeatureConnector
from featurekit.connectors.features_dict import FeaturesDict
from featurekit.optional import import_optional

__all__ = [
    "ConllUBuilderConfig",
    "ConllUDatasetBuilder",
    "get_conllu_example",
    "get_xtreme_pos_example",
]

# The columns that have another name in the features.
_COLUMNS = {"tokens": "form", "lemmas": "lemma"}


class ConllUBuilderConfig(BuilderConfig):
    """A variant of a CoNLL-U dataset.

    Args:
        features: The features of an example, by name.
        language: The language of the text.
        **fields: As `BuilderConfig` takes them.
    """

    def __init__(
        self, *, features: Mapping[str, FeatureConnector], language: str, **fields: Any
    ) -> None:
        super().__init__(**fields)
        self.features = dict(features)
        self.language = language

    @property
    def features_dict(self) -> FeaturesDict:
        """The features of an example."""
        return FeaturesDict(self.features)


def get_conllu_example(
    sentence: Any, example_id: int, features: Mapping[str, FeatureConnector]
) -> dict[str, Any]:
    """The example that a sentence makes.

    Args:
        sentence: A sentence as the package `conllu` parses it.
        example_id: Its number, which is its id where it has none of its own.
        features: The features of an example: `idx` and `text` are those of the sentence,
            `tokens` and `lemmas` its words, any other is the column of that name.
    """
    example: dict[str, Any] = {}
    for name in features:
        values = [token[_COLUMNS.get(name, name)] for token in sentence] if _is_column(name) else []
        if name == "idx":
            example[name] = str(sentence.metadata.get("sent_id", example_id))
        elif name == "text":
            words = " ".join(token["form"] for token in sentence)
            example[name] = sentence.metadata.get("text", words)
        elif name in (*_COLUMNS, "upos"):
            example[name] = values
        else:
            example[name] = [str(value) for value in values]
    return example


def _is_column(name: str) -> bool:
    return name not in ("idx", "text")


def get_xtreme_pos_example(
    sentence: Any, example_id: int, features: Mapping[str, FeatureConnector]
) -> dict[str, Any]:
    """The example that a sentence makes in XTREME: words that have a form and a tag.

    Args:
        sentence: A sentence as the package `conllu` parses it.
        example_id: Not used.
        features: The features: `tokens` and `upos`.
    """
    kept = [token for token in sentence if token["form"] != "_" and token["upos"] != "_"]
    columns = {"tokens": "form", "upos": "upos"}
    return {name: [token[columns[name]] for token in kept] for name in features}


class ConllUDatasetBuilder(SentenceFilesBuilder, skip_registration=True):
    """A builder whose examples are the sentences of CoNLL-U files.

    Subclasses state `VERSION` and `BUILDER_CONFIGS`, and define `_info` (with
    `create_dataset_info`) and `_split_generators` (which gives paths to
    `_generate_examples`).
    """

    _described = "features"

    def _generate_examples(
        self,
        filepaths: str | os.PathLike[str] | list[Any],
        process_example_fn: Callable[..., Mapping[str, Any]] = get_conllu_example,
    ) -> Iterable[tuple[Any, Any]]:
        conllu = import_optional("conllu", extra="conllu", purpose="a CoNLL-U file")
        paths = filepaths if isinstance(filepaths, list) else [filepaths]
        index = 0
        for path in paths:
            with open(path, encoding="utf-8") as file:
                for sentence in conllu.parse_incr(file):
                    example = process_example_fn(
                        sentence=sentence,
                        example_id=index,
                        features=self.builder_config.features,
                    )
                    yield index, example
                    index += 1
