"""Tags and features of the CoNLL datasets that many of its kind share.

Source: the tag sets of the CoNLL-2002 and CoNLL-2003 shared tasks, in the order in which
TFDS numbers them.
"""

from __future__ import annotations

from featurekit.builders.conll import ConllBuilderConfig
from featurekit.connector import FeatureConnector
from featurekit.connectors.class_label import ClassLabel
from featurekit.connectors.sequence import Sequence
from featurekit.connectors.text import Text

__all__ = [
    "CHUNK_TAGS",
    "CONLL_2002_SEPARATOR",
    "CONLL_2003_CONFIG",
    "CONLL_2003_ORDERED_FEATURES",
    "NER_TAGS",
    "POS_TAGS",
]

_PUNCTUATION = ('"', "''", "#", "$", "(", ")", ",", ".", ":", "``")
_WORD_TAGS = (
    "CC CD DT EX FW IN JJ JJR JJS LS MD NN NNP NNPS NNS NN|SYM PDT POS PRP PRP$ RB RBR RBS RP "
    "SYM TO UH VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB"
)
_CHUNKS = "ADJP ADVP CONJP INTJ LST NP PP PRT SBAR UCP VP"
_ENTITIES = "PER ORG LOC MISC"


def _begin_and_inside(kinds: str) -> tuple[str, ...]:
    return ("O", *(f"{mark}-{kind}" for kind in kinds.split() for mark in "BI"))


POS_TAGS = (*_PUNCTUATION, *_WORD_TAGS.split())
CHUNK_TAGS = _begin_and_inside(_CHUNKS)
NER_TAGS = _begin_and_inside(_ENTITIES)

CONLL_2002_SEPARATOR = " "
CONLL_2003_ORDERED_FEATURES: dict[str, FeatureConnector] = {
    "tokens": Sequence(Text()),
    "pos": Sequence(ClassLabel(names=POS_TAGS)),
    "chunks": Sequence(ClassLabel(names=CHUNK_TAGS)),
    "ner": Sequence(ClassLabel(names=NER_TAGS)),
}
CONLL_2003_CONFIG = ConllBuilderConfig(
    name="conll2003",
    separator=CONLL_2002_SEPARATOR,
    ordered_features=CONLL_2003_ORDERED_FEATURES,
)
