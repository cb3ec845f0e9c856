"""What examples are made of, as frameworks with types of their own need to know it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from featurekit.connector import FeatureConnector
from featurekit.tensor_info import TensorInfo, Tree

__all__ = ["StepsOf", "has_steps", "structure"]


class StepsOf(NamedTuple):
    """Stands for the steps of a `Dataset`.

    Attributes:
        step: What one of them is made of.
    """

    step: Any


def structure(items: Any) -> Any:
    """Nested dicts of `TensorInfo`, with a `StepsOf` in the place of each `Dataset`.

    Args:
        items: A `DataSource`, or windows of steps.
    """
    features = getattr(items, "decoding_features", None)
    return items.element_spec if features is None else _of(features)


def _of(feature: FeatureConnector) -> Any:
    inner = feature.inner_features()
    if None in inner:
        if _levels(feature) > _levels(inner[None]):
            return StepsOf(_of(inner[None]))
        return feature.get_tensor_info()
    if inner:
        return {key: _of(item) for key, item in inner.items()}
    return feature.get_tensor_info()


def _levels(feature: FeatureConnector) -> int:
    return max((info.dataset_lvl for info in _leaves(feature.get_tensor_info())), default=0)


def _leaves(infos: Tree[TensorInfo]) -> Iterator[TensorInfo]:
    if isinstance(infos, TensorInfo):
        yield infos
        return
    for info in infos.values():
        yield from _leaves(info)


def has_steps(structure: Any) -> bool:
    """Whether there is a `StepsOf` in it."""
    if isinstance(structure, StepsOf):
        return True
    return isinstance(structure, Mapping) and any(map(has_steps, structure.values()))
