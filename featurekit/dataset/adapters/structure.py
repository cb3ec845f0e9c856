"""What examples are made of, as frameworks with types of their own need to know it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from featurekit.connector import FeatureConnector
from featurekit.errors import UnsupportedError
from featurekit.io.ragged import RaggedTensor
from featurekit.steps import Steps
from featurekit.tensor_info import TensorInfo, Tree, map_tree

__all__ = ["StepsOf", "all_steps", "has_steps", "structure"]


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
        element = inner[None]
        if _levels(feature) > _levels(element):
            return StepsOf(_of(element))
        if None in element.inner_features() and _levels(element):
            # A sequence of datasets: one entry for each, which has all of its steps.
            return StepsOf(map_tree(_listed, element.get_tensor_info()))
        return feature.get_tensor_info()
    if inner:
        return {key: _of(item) for key, item in inner.items()}
    return feature.get_tensor_info()


def _listed(info: TensorInfo) -> TensorInfo:
    return info.replace(shape=(None, *info.shape))


def _levels(feature: FeatureConnector) -> int:
    return max((info.dataset_lvl for info in _leaves(feature.get_tensor_info())), default=0)


def _leaves(infos: Tree[TensorInfo]) -> Iterator[TensorInfo]:
    if isinstance(infos, TensorInfo):
        yield infos
        return
    for info in infos.values():
        yield from _leaves(info)


def all_steps(steps: Any) -> Any:
    """All steps decoded at once: nested dicts of what has one entry a step.

    Args:
        steps: A `Steps`, or what a batch has in place of one.
    """
    if not isinstance(steps, Steps):
        return steps
    if not steps.rank:
        return steps.together(range(len(steps)))
    return _joined(list(steps), steps.feature.get_tensor_info())


def _joined(episodes: list[Any], infos: Tree[TensorInfo]) -> Any:
    """The steps of several episodes: of each one a row of a `RaggedTensor`."""
    if isinstance(infos, Mapping):
        return {key: _joined([one[key] for one in episodes], infos[key]) for key in infos}
    if any(not isinstance(one, np.ndarray) for one in episodes):
        raise UnsupportedError(
            "steps within steps whose shapes differ have no such form",
            hint="leave the feature out: columns=",
        )
    empty = np.empty((0, *(dim or 0 for dim in infos.shape)), infos.dtype)
    rows = [one for one in episodes if len(one)] or [empty]
    return RaggedTensor.from_row_lengths(np.concatenate(rows), [len(one) for one in episodes])


def has_steps(structure: Any) -> bool:
    """Whether there is a `StepsOf` in it."""
    if isinstance(structure, StepsOf):
        return True
    return isinstance(structure, Mapping) and any(map(has_steps, structure.values()))
