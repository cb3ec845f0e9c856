"""Tags and features of Universal Dependencies.

Source: the CoNLL-U format of Universal Dependencies; tags in the order in which TFDS numbers
them.
"""

from __future__ import annotations

from collections.abc import Mapping

from featurekit.builders.conllu import ConllUBuilderConfig
from featurekit.connector import FeatureConnector
from featurekit.connectors.class_label import ClassLabel
from featurekit.connectors.sequence import Sequence
from featurekit.connectors.text import Text

__all__ = [
    "UNIVERSAL_DEPENDENCIES_FEATURES",
    "UPOS",
    "XTREME_POS_FEATURES",
    "get_universal_morphology_config",
]

_TAGS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X _"
UPOS = tuple(_TAGS.split())

UNIVERSAL_DEPENDENCIES_FEATURES: dict[str, FeatureConnector] = {
    "idx": Text(),
    "tokens": Sequence(Text()),
    "lemmas": Sequence(Text()),
    "upos": Sequence(ClassLabel(names=UPOS)),
    "xpos": Sequence(Text()),
    "feats": Sequence(Text()),
    "head": Sequence(Text()),
    "deprel": Sequence(Text()),
    "deps": Sequence(Text()),
    "misc": Sequence(Text()),
    "text": Text(),
}

XTREME_POS_FEATURES: dict[str, FeatureConnector] = {
    "tokens": Sequence(Text()),
    "upos": Sequence(ClassLabel(names=UPOS)),
}


def get_universal_morphology_config(
    language: str,
    features: Mapping[str, FeatureConnector],
    name: str | None = None,
    description: str | None = None,
) -> ConllUBuilderConfig:
    """The config for a language.

    Args:
        language: The language, which also names the config.
        features: The features of an example.
        name: Another name for the config.
        description: Of the config.
    """
    return ConllUBuilderConfig(
        name=name or language, description=description, features=features, language=language
    )
