"""Windows of steps: parts of episodes, each read without decoding the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from featurekit.connector import FeatureConnector
from featurekit.dataset.item_reader import Chunk, ItemReader
from featurekit.dataset.ordered import Ordered
from featurekit.dataset.source import DataSource
from featurekit.errors import (
    InvalidArgumentError,
    UnsupportedError,
    add_context,
    add_path,
    did_you_mean,
)
from featurekit.io.ragged import RaggedTensor
from featurekit.nesting import stack
from featurekit.steps import Steps
from featurekit.tensor_info import TensorInfo, Tree, map_tree

__all__ = ["IS_PAD", "Padding", "WindowReader", "Windows", "check_padding"]

IS_PAD = "is_pad"
"""The entry of a window that says which of its places lie beyond the episode."""

Padding = Literal["edge", "zero"]
Numbers: TypeAlias = npt.NDArray[np.int64]


def check_padding(padding: str | None) -> Padding | None:
    """Check the name of a padding.

    Raises:
        InvalidArgumentError: There is no such one.
    """
    if padding is not None and padding not in get_args(Padding):
        raise InvalidArgumentError(
            f"padding={padding!r} is not known{did_you_mean(padding, get_args(Padding))}",
            hint="None leaves out windows that reach beyond their episode",
        )
    return padding  # type: ignore[return-value]


class Windows(Ordered):
    """Windows of steps, in any order: a sequence of examples, each with some steps only.

    Made by `Episodes.windows` and `Episodes.steps`. What a `DataSource` can, they can too:
    `shuffle`, `shard`, `batches`, ...
    """

    def locate(self, number: int) -> tuple[int, int]:
        """The episode and the step in it that a window is around, by its number in the order."""
        reader: Any = self._reader
        place: tuple[int, int] = reader.locate(self._order.one(self._position(number), self._epoch))
        return place

    @property
    def element_spec(self) -> Tree[TensorInfo]:
        """Shape and dtype of every value: nested dicts of `TensorInfo`."""
        return self._reader.infos

    def __repr__(self) -> str:
        """What it holds, without reading anything."""
        return f"Windows({self._name}, num_windows={self._order.size})"


class WindowReader(ItemReader):
    """Reads windows of the steps of episodes.

    Args:
        source: The episodes.
        steps: Name of the feature that holds the steps.
        parts: By name, the features that are read together, and which steps around a window's
            own they are read of.
        counts: `(episodes,)`, number of steps of each.
        stride: From the step of one window to that of the next.
        padding: What stands where an episode has no step.
    """

    def __init__(
        self,
        source: DataSource,
        steps: str,
        parts: Mapping[str, tuple[FeatureConnector, range]],
        counts: Numbers,
        stride: int,
        padding: Padding | None,
    ) -> None:
        self._source = source
        self._steps = steps
        self._parts = dict(parts)
        self._stride = stride
        self._padding = padding
        offsets = [span for _, span in self._parts.values()]
        low = 0 if padding else max(0, *(-min(span) for span in offsets))
        high = 0 if padding else max(0, *(max(span) for span in offsets))
        self._low = low
        per_episode = np.maximum(-(-(counts - low - high) // stride), 0)
        self._starts = np.concatenate([[0], np.cumsum(per_episode)])
        self._latest: tuple[int, Any] = (-1, None)

    def __len__(self) -> int:
        return int(self._starts[-1])

    def locate(self, number: int) -> tuple[int, int]:
        """The episode and the step in it that a window is around."""
        episode = int(np.searchsorted(self._starts, number, "right")) - 1
        return episode, self._low + (number - int(self._starts[episode])) * self._stride

    @property
    def decodes(self) -> bool:
        """True: steps are."""
        return True

    @property
    def infos(self) -> Tree[TensorInfo]:
        """What a window looks like."""
        infos = dict(self._source.element_spec)  # type: ignore[arg-type]
        merged: dict[str, Any] = {}
        for feature, span in self._parts.values():
            _merge(merged, map_tree(_with_steps(len(span)), feature.get_tensor_info()))
        masks: Any = {
            name: TensorInfo((len(span),), np.bool_) for name, (_, span) in self._parts.items()
        }
        return {**infos, self._steps: merged, IS_PAD: masks.get("", masks)}

    def one(self, number: int) -> Any:
        """One window."""
        episode, step = self.locate(number)
        example = self._episode(episode)
        try:
            return self._window(example, step)
        except Exception as error:
            add_path(error, self._steps)
            add_context(error, f"while reading steps around step {step} of episode {episode}")
            raise

    def batch(self, chunk: Chunk) -> Any:
        """Several windows; those of one episode read it once."""
        order = np.argsort(np.searchsorted(self._starts, chunk.numbers, "right"), kind="stable")
        windows: list[Any] = [None] * len(order)
        for place in order.tolist():
            windows[place] = self.one(int(chunk.numbers[place]))
        return stack_trees(windows, self.infos)

    def _episode(self, number: int) -> Any:
        """The example of an episode, its steps not decoded; the latest one is kept."""
        latest, example = self._latest
        if latest != number:
            example = self._source[number]
            if not isinstance(example[self._steps], Steps):
                raise InvalidArgumentError(
                    f"{self._steps!r} is read by a decoder of its own, not as steps",
                    hint="give decoders for the features of a step",
                )
            self._latest = (number, example)
        return example

    def _window(self, example: Mapping[str, Any], step: int) -> dict[str, Any]:
        steps: Steps = example[self._steps]
        values: dict[str, Any] = {}
        masks: dict[str, Any] = {}
        for name, (feature, span) in self._parts.items():
            wanted = np.arange(span.start, span.stop, span.step) + step
            masks[name] = (wanted < 0) | (wanted >= len(steps))
            _merge(values, self._read(steps.of(feature), wanted, masks[name]))
        # The episode may be read from again: nobody is to write into what is kept of it.
        rest = {key: _copied(value) for key, value in example.items() if key != self._steps}
        return {**rest, self._steps: values, IS_PAD: masks.get("", masks)}

    def _read(self, steps: Steps, wanted: Numbers, is_pad: npt.NDArray[np.bool_]) -> Any:
        """Steps, each decoded once, however often it is wanted."""
        needed, places = np.unique(np.clip(wanted, 0, len(steps) - 1), return_inverse=True)
        decoded = steps.together(needed.tolist())
        if not is_pad.any() and (places == np.arange(len(needed))).all():
            return decoded
        zero = is_pad if self._padding == "zero" else None
        return map_tree(lambda values: _spread(values, places, zero), decoded)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_latest": (-1, None)}


def stack_trees(items: Sequence[Any], infos: Tree[TensorInfo]) -> Any:
    """Join windows along a new first axis: arrays, or lists where their shapes differ."""
    if isinstance(infos, Mapping):
        return {key: stack_trees([item[key] for item in items], infos[key]) for key in infos}
    if any(isinstance(item, (RaggedTensor, list, Steps)) for item in items):
        return list(items)
    return stack(items, infos)


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(item) for key, item in value.items()}
    return value.copy() if isinstance(value, np.ndarray) else value


def _with_steps(count: int) -> Any:
    return lambda info: info.replace(shape=(count, *info.shape))


def _merge(target: dict[str, Any], values: Any) -> None:
    for key, value in values.items():
        if isinstance(value, Mapping) and key in target:
            _merge(target[key], value)
        else:
            target[key] = value


def _spread(values: Any, places: Numbers, is_zero: npt.NDArray[np.bool_] | None) -> Any:
    """The values at places, some of them several times; zeros where that is asked for."""
    if not isinstance(values, np.ndarray):
        if is_zero is not None and is_zero.any():
            raise UnsupportedError(
                "steps whose shapes differ cannot be padded with zeros",
                hint='repeat the first and last ones: padding="edge"',
            )
        if isinstance(values, RaggedTensor):
            return values[places]
        return [values[place] for place in places.tolist()]
    spread = values[places]
    if is_zero is not None:
        spread[is_zero] = b"" if values.dtype == object else 0
    return spread
