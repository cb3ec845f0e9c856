"""Episodes: examples that hold steps, as RLDS and Open X-Embodiment have them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from featurekit.connector import FeatureConnector
from featurekit.dataset.source import DataSource
from featurekit.dataset.step_counts import step_counts
from featurekit.dataset.windows import IS_PAD, WindowReader, Windows, check_padding
from featurekit.decode import select_features
from featurekit.errors import InvalidArgumentError, UnknownNameError, did_you_mean

__all__ = ["Episodes", "episodes"]


def episodes(source: DataSource, *, steps: str = "steps") -> Episodes:
    """Look at the examples of a source as episodes.

    Args:
        source: Examples of which one feature is a `Dataset` of steps.
        steps: Name of that feature.

    Raises:
        UnknownNameError: There is no such feature.
        InvalidArgumentError: It is no `Dataset`.

    Example:
        >>> source = fk.load("bridge", split="train")  # doctest: +SKIP
        >>> windows = fk.episodes(source).windows(8, padding="edge")  # doctest: +SKIP
        >>> windows[1000]["steps"]["observation"]["image"].shape  # doctest: +SKIP
        (8, 224, 224, 3)
    """
    return Episodes(source, steps)


class Episodes:
    """Episodes, and windows of their steps; see `episodes`."""

    def __init__(self, source: DataSource, steps: str) -> None:
        infos: Any = source.element_spec
        if steps not in infos:
            raise UnknownNameError(f"there is no feature {steps!r}{did_you_mean(steps, infos)}")
        feature = _step_feature(source.decoding_features, steps)
        if feature is None or not isinstance(feature.get_tensor_info(), Mapping):
            raise InvalidArgumentError(
                f"the feature {steps!r} is no Dataset of dicts, which are the steps of an episode",
                hint="name the one that is: steps=",
            )
        self._names = list(infos)
        self._source = source
        self._steps = steps
        self._feature = feature

    @property
    def source(self) -> DataSource:
        """The examples."""
        return self._source

    def __len__(self) -> int:
        """Number of episodes."""
        return len(self._source)

    @functools.cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Number of steps of each episode, `(episodes,)`.

        The first time the files are gone through once; of a larger dataset the numbers are
        kept in the cache.
        """
        return step_counts(self._source, self._steps)

    def windows(
        self,
        steps: int | range | Mapping[str, range],
        *,
        stride: int = 1,
        padding: str | None = None,
    ) -> Windows:
        """Windows of steps, as random-access items: only their own steps are decoded.

        A window lies around one step. It has the form of an example, with the steps' values
        joined along a new first axis in place of the steps, and one more entry, `is_pad`:
        a mask of the places for which the episode has no step.

        Args:
            steps: Which steps around its own a window has: a number n for its own and those
                after it, the same as `range(n)`; a range, in which 0 is its own, such as
                `range(-3, 1)` for three steps before it; or a range for each of some features
                of a step, such as `{"observation/image": range(-1, 1), "action": range(8)}`.
                Features that are not named are not read then, and `is_pad` is a dict.
            stride: From the step of one window to that of the next; 1 gives each step of each
                episode its window.
            padding: What stands in for steps that an episode does not have: `"edge"` repeats
                its first or last, `"zero"` gives zeros and `b""`. None leaves out windows that
                reach beyond their episode.

        Raises:
            InvalidArgumentError: There are no steps in a window, the stride is below 1, or
                there is no such padding.
            UnknownNameError: A step has no such feature.

        Example:
            >>> windows = fk.episodes(source).windows(range(-1, 2))  # doctest: +SKIP
            >>> window = windows[0]  # around step 1 of the first episode  # doctest: +SKIP
            >>> window["is_pad"]  # doctest: +SKIP
            array([False, False, False])
        """
        parts = self._parts(steps)
        if IS_PAD in self._names:
            raise InvalidArgumentError(
                f"the dataset has a feature {IS_PAD!r}, which windows have too",
                hint="leave it out: columns=",
            )
        if stride < 1:
            raise InvalidArgumentError(f"expected a stride of 1 or more, got {stride}")
        source = self._source
        if "" not in parts:
            source = source.decoded_by(self._only(list(parts)))
        reader = WindowReader(
            source, self._steps, parts, self.lengths, stride, check_padding(padding)
        )
        shown = {name: span for name, (_, span) in parts.items()}
        name = f"{source.order}.windows({shown}, stride={stride}, padding={padding!r})"
        return Windows(reader, len(reader), name)

    def steps(self) -> Windows:
        """All steps of all episodes, each an item by itself: a dict of the step's values."""
        parts = {"": (self._feature, range(1))}
        reader = StepReader(self._source, self._steps, parts, self.lengths, 1, None)
        return Windows(reader, len(reader), f"{self._source.order}.steps()")

    def _parts(
        self, steps: int | range | Mapping[str, range]
    ) -> dict[str, tuple[FeatureConnector, range]]:
        if not isinstance(steps, Mapping):
            return {"": (self._feature, _as_range(steps))}
        if not steps:
            raise InvalidArgumentError("no feature is named", hint="name one or more")
        return {
            name: (select_features(self._feature, [name]), _as_range(span))
            for name, span in steps.items()
        }

    def _only(self, names: list[str]) -> FeatureConnector:
        """The features of an example, with some of a step's only."""
        features = self._source.decoding_features
        chosen: dict[str, Any] = dict.fromkeys(_top_names(features), True)
        return select_features(features, {**chosen, self._steps: names})

    def __repr__(self) -> str:
        """What it holds, without reading anything."""
        return f"Episodes({self._source!r}, steps={self._steps!r})"


class StepReader(WindowReader):
    """Reads steps by themselves."""

    @property
    def infos(self) -> Any:
        """What a step looks like."""
        return self._parts[""][0].get_tensor_info()

    def _window(self, example: Mapping[str, Any], step: int) -> Any:
        return example[self._steps][step]


def _step_feature(features: FeatureConnector, steps: str) -> FeatureConnector | None:
    """The feature of one step; None where there are no steps."""
    feature = features.inner_features().get(steps)
    if feature is None or not any(info.dataset_lvl for info in _leaves(feature.get_tensor_info())):
        return None
    return feature.inner_features().get(None)


def _leaves(infos: Any) -> list[Any]:
    if isinstance(infos, Mapping):
        return [leaf for info in infos.values() for leaf in _leaves(info)]
    return [infos]


def _top_names(features: FeatureConnector) -> list[str]:
    return [name for name in features.inner_features() if name is not None]


def _as_range(steps: int | range) -> range:
    span = range(steps) if isinstance(steps, (int, np.integer)) else steps
    if not isinstance(span, range) or not len(span):
        raise InvalidArgumentError(
            f"a window has one step or more, got {steps!r}",
            hint="give a number, or a range in which 0 is the window's own step",
        )
    return span
