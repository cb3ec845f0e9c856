"""Statistics of one feature, gathered a batch of records at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from featurekit.connector import FeatureConnector
from featurekit.connectors.audio import Audio
from featurekit.connectors.class_label import ClassLabel
from featurekit.connectors.image import Image
from featurekit.connectors.image_codecs.files import read_header
from featurekit.connectors.opaque import Opaque
from featurekit.io.audio import AudioFile
from featurekit.io.ragged import RaggedTensor
from featurekit.nesting import unstack
from featurekit.schema.elements import element_counts, flat_elements, missing_count
from featurekit.schema.feature_leaves import FeatureLeaf
from featurekit.schema.numbers_seen import NumbersSeen
from featurekit.schema.tally import Tally
from featurekit.tensor_info import TensorInfo

__all__ = ["FeatureStatistics"]


class FeatureStatistics:
    """Sees the values of one feature once; two of one feature can be merged.

    Args:
        leaf: The feature.

    Attributes:
        count: Number of examples.
        missing: Number of those without a value.
        parts: What is counted of the values: `values`, `lengths` (of lists, in elements),
            `sizes` (of text and files, in bytes), `height` and `width` (of pictures, in pixels),
            `samples` (of sound files, in each channel).
        tally: How often values occur, where that is counted.
    """

    def __init__(self, leaf: FeatureLeaf) -> None:
        self.leaf = leaf
        self.count = self.missing = 0
        self.parts: dict[str, NumbersSeen] = {}
        connector = leaf.connector
        self.tally = Tally() if _is_counted(connector) else None
        self._names: list[str] = []
        if isinstance(connector, ClassLabel):
            self.tally = Tally(None)
            self._names = connector.names if connector.num_classes else []

    def add(self, stored: Any, count: int) -> None:
        """Take in the stored values of a batch of `count` examples."""
        self.count += count
        connector = self.leaf.connector
        if isinstance(connector, Opaque):
            return
        values = self.leaf.find(stored)
        info = connector.get_serialized_info()
        is_single = isinstance(info, TensorInfo) and (connector.is_plain or None not in info.shape)
        if not isinstance(info, TensorInfo) or not is_single:
            self._add_composite(values)
            return
        self.missing += missing_count(values)
        if self.leaf.rank or isinstance(values, RaggedTensor):
            self._numbers("lengths").add(element_counts(values))
        elements = flat_elements(values, len(info.shape))
        if not len(elements):
            return
        if isinstance(connector, Image):
            self._add_images(connector, elements)
        elif isinstance(connector, Audio) and connector.lazy_decode:
            self._add_sounds(elements)
        elif connector.is_plain:
            self._add_values(elements)
        else:
            for element in elements:
                self._add_decoded(connector.decode_example(element))

    def _numbers(self, part: str, *, quantiles: bool = True) -> NumbersSeen:
        if part not in self.parts:
            self.parts[part] = NumbersSeen(quantiles=quantiles)
        return self.parts[part]

    def _add_values(self, elements: np.ndarray[Any, Any]) -> None:
        if elements.dtype.kind == "O":
            sizes = np.fromiter(map(len, elements.flat), np.int64, elements.size)
            self._numbers("sizes").add(sizes)
        else:
            self._numbers("values").add(elements)
        if self.tally is not None:
            self.tally.add(elements)

    def _add_images(self, image: Image, elements: np.ndarray[Any, Any]) -> None:
        headers = [read_header(data) for data in elements.flat]
        self._numbers("height").add(np.array([header.height for header in headers]))
        self._numbers("width").add(np.array([header.width for header in headers]))
        self._numbers("sizes").add(np.array([len(data) for data in elements.flat]))
        for data in elements.flat:  # of so many numbers, quantiles would take too long
            self._numbers("values", quantiles=False).add(image.decode_example(data))

    def _add_sounds(self, elements: np.ndarray[Any, Any]) -> None:
        self._numbers("sizes").add(np.array([len(data) for data in elements.flat]))
        frames = [AudioFile(data).frames for data in elements.flat]
        self._numbers("samples").add(np.array(frames))

    def _add_composite(self, values: Any) -> None:
        """Values that are stored as several entries: only their number, and what they decode to."""
        rank = self.leaf.rank
        connector = self.leaf.connector
        decode = (
            connector.decode_example,
            connector.decode_batch_example,
            connector.decode_ragged_example,
        )[min(rank, 2)]
        for value in unstack(values):
            decoded = decode(value)
            if decoded is None:
                self.missing += 1
                continue
            if rank:
                self._numbers("lengths").add(np.array([len(decoded)]))
            for element in decoded if rank == 1 else [decoded]:
                self._add_decoded(element)

    def _add_decoded(self, value: Any) -> None:
        array = np.asarray(value)
        if array.dtype.kind in "biuf":
            self._numbers("values").add(array)

    def merge(self, other: FeatureStatistics) -> None:
        """Take in what another one has seen."""
        self.count += other.count
        self.missing += other.missing
        for name, part in other.parts.items():
            self._numbers(name, quantiles=part.has_quantiles).merge(part)
        if self.tally is not None and other.tally is not None:
            self.tally.merge(other.tally)

    def as_json(self) -> dict[str, Any]:
        """All of it, as JSON values."""
        result: dict[str, Any] = {
            "type": type(self.leaf.connector).__name__,
            "count": self.count,
            "missing": self.missing,
            **{name: part.as_json() for name, part in sorted(self.parts.items())},
        }
        if self.tally is not None:
            result["distinct"] = self.tally.distinct
            result["top"] = [[self._shown(v), n] for v, n in self.tally.top()]
        if isinstance(self.leaf.connector, ClassLabel) and self.tally is not None:
            result["labels"] = {str(self._shown(v)): n for v, n in sorted(self.tally.top(None))}
        return result

    def _shown(self, value: Any) -> Any:
        if isinstance(value, bytes):
            return value.decode("utf-8", "backslashreplace")
        if self._names and 0 <= value < len(self._names):
            return self._names[value]
        return value


def _is_counted(connector: FeatureConnector) -> bool:
    """Whether values are such that the same ones may well occur again."""
    info = connector.get_tensor_info()
    if not isinstance(info, TensorInfo) or not connector.is_plain or isinstance(connector, Audio):
        return False
    return info.dtype.kind in "biuO" and not isinstance(connector, Opaque)
