"""The features of an example one by one, with their places in it and in a record."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from featurekit.connector import FeatureConnector
from featurekit.connectors.translation import TranslationVariableLanguages
from featurekit.errors import format_path

__all__ = ["FeatureLeaf", "feature_leaves"]


@dataclasses.dataclass(frozen=True)
class FeatureLeaf:
    """A feature that is not made of others, or decodes them itself.

    Attributes:
        path: Its keys from the outside in; None stands for "each element of the sequence".
        connector: The feature.
        owner: The feature that it is part of, where that has rules for it, or None.
    """

    path: tuple[str | None, ...]
    connector: FeatureConnector
    owner: FeatureConnector | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """Its keys in a record: sequences add none."""
        return tuple(key for key in self.path if key is not None)

    @property
    def rank(self) -> int:
        """Number of sequences that it is in."""
        return self.path.count(None)

    @property
    def name(self) -> str:
        """Its path for people: `objects[].label`."""
        return self.name_at(())

    def name_at(self, indices: tuple[int, ...]) -> str:
        """Its path for people, with the indices of an element: `objects[2].label`."""
        left = list(indices)
        parts = [key if key is not None else (left.pop(0) if left else "[]") for key in self.path]
        return format_path(parts).replace(".[]", "[]")

    def find(self, stored: Any) -> Any:
        """What a tree of stored values has in its place."""
        for key in self.keys:
            stored = stored[key]
        return stored


def feature_leaves(features: FeatureConnector) -> list[FeatureLeaf]:
    """All features of an example that hold values.

    Example:
        >>> from featurekit.connectors.features_dict import FeaturesDict
        >>> from featurekit.connectors.sequence import Sequence
        >>> from featurekit.connectors.text import Text
        >>> features = FeaturesDict({"id": Text(), "objects": Sequence({"name": Text()})})
        >>> [leaf.name for leaf in feature_leaves(features)]
        ['id', 'objects[].name']
    """
    return list(_walk(features, (), None))


def _walk(
    feature: FeatureConnector, path: tuple[str | None, ...], owner: FeatureConnector | None
) -> Iterator[FeatureLeaf]:
    inner = feature.inner_features()
    if not inner:
        if not (isinstance(feature, Mapping) and not feature):  # a dict without features
            yield FeatureLeaf(path, feature, owner)
        return
    if isinstance(feature, TranslationVariableLanguages):
        owner = feature
    for key, part in inner.items():
        yield from _walk(part, (*path, key), owner)
