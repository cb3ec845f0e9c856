"""Made-up values that fit a feature: random, and the same every time."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence as SequenceOf
from typing import Any

import numpy as np

from featurekit.connector import FeatureConnector
from featurekit.connectors.audio import Audio
from featurekit.connectors.bbox import BBoxFeature
from featurekit.connectors.class_label import ClassLabel
from featurekit.connectors.dataset import Dataset
from featurekit.connectors.features_dict import FeaturesDict
from featurekit.connectors.image import Image
from featurekit.connectors.labeled_image import LabeledImage
from featurekit.connectors.sequence import Sequence
from featurekit.connectors.translation import TranslationVariableLanguages
from featurekit.errors import InvalidArgumentError, UnsupportedError
from featurekit.tensor_info import Shape, TensorInfo

__all__ = ["Fakes", "fake_examples", "fake_value"]

_LETTERS = np.array(list(" abcdefghij"))
_LENGTHS = (5, 50)  # of texts they are 10 to 19
_INTEGERS = 255


@dataclasses.dataclass
class Fakes:
    """How values are made up.

    Attributes:
        rng: Where chance comes from.
        num_sub_examples: Number of steps of a `Dataset`.
        max_value: Integers are below it where the feature has no bounds of its own.
    """

    rng: np.random.Generator
    num_sub_examples: int = 1
    max_value: int | None = None

    def length(self, declared: int | None) -> int:
        """A size, where none is declared."""
        return int(self.rng.integers(*_LENGTHS)) if declared is None else declared

    def shape(self, declared: Shape) -> tuple[int, ...]:
        """A shape, with sizes for those that vary."""
        return tuple(map(self.length, declared))

    def text(self) -> bytes:
        """A text."""
        size = int(self.rng.integers(10, 20))
        return "".join(self.rng.choice(_LETTERS, size)).encode()

    def integers(self, shape: SequenceOf[int], low: int, high: int, dtype: Any) -> Any:
        """Integers from `low` to below `high`, as far as the dtype has them."""
        limits = np.iinfo(dtype)
        low, high = max(low, int(limits.min)), min(high, int(limits.max) + 1)
        return self.rng.integers(low, max(high, low + 1), tuple(shape), dtype)

    def array(self, info: TensorInfo) -> Any:
        """An array, or a scalar, of what a tensor info says."""
        shape, dtype = self.shape(info.shape), info.dtype
        if dtype.kind == "O":
            array = np.empty(shape, object)
            for index in np.ndindex(shape):
                array[index] = self.text()
            return array[()]
        if dtype.kind == "b":
            return self.rng.random(shape) < 0.5
        if dtype.kind in "iu":
            low = 0 if info.minimum is None else info.minimum
            high = low + (self.max_value or _INTEGERS) if info.maximum is None else info.maximum + 1
            return self.integers(shape, min(low, high - 1), high, dtype)[()]
        return self._floats(shape, info)

    def _floats(self, shape: tuple[int, ...], info: TensorInfo) -> Any:
        low = 0.0 if info.minimum is None else float(info.minimum)
        high = low + 1.0 if info.maximum is None else float(info.maximum)
        values = low + self.rng.random(shape) * (high - low)
        # Rounding may pass a bound by an ulp.
        return np.clip(np.asarray(values).astype(info.dtype), low, high).astype(info.dtype)[()]


@functools.singledispatch
def fake_value(feature: FeatureConnector, fakes: Fakes) -> Any:
    """A made-up value that a feature takes.

    By default an array of what the feature's tensor info says. A connector that takes
    something else registers how its values are made::

        @fake_value.register
        def _(feature: Percent, fakes: Fakes) -> float:
            return fakes.rng.random()

    Args:
        feature: The feature.
        fakes: How values are made up.

    Raises:
        UnsupportedError: The feature's values are dicts, and nothing is registered for it.

    Source: the sizes and ranges are those of TFDS's mock_data.
    """
    info = feature.get_tensor_info()
    if not isinstance(info, TensorInfo):
        raise UnsupportedError(
            f"values of a {type(feature).__name__} cannot be made up",
            hint="register a function for it: featurekit.testing.fake_value.register",
        )
    return fakes.array(info)


@fake_value.register
def _(feature: FeaturesDict, fakes: Fakes) -> Any:
    # Sorted, since features.json does not keep the order.
    return {key: fake_value(inner, fakes) for key, inner in sorted(feature.items())}


@fake_value.register
def _(feature: TranslationVariableLanguages, fakes: Fakes) -> Any:
    languages = feature.languages or ["en", "fr"]
    return {language: fakes.text() for language in languages}


@fake_value.register
def _(feature: Sequence, fakes: Fakes) -> Any:
    return [fake_value(feature.feature, fakes) for _ in range(fakes.length(feature.length))]


@fake_value.register
def _(feature: Dataset, fakes: Fakes) -> Any:
    count = fakes.num_sub_examples if feature.length is None else feature.length
    return [fake_value(feature.feature, fakes) for _ in range(count)]


@fake_value.register
def _(feature: ClassLabel, fakes: Fakes) -> Any:
    if not feature.num_classes:
        return -1
    return int(fakes.rng.integers(0, feature.num_classes))


@fake_value.register
def _(feature: Image, fakes: Fakes) -> Any:
    info: Any = feature.get_tensor_info()
    pixels = fakes.array(info)
    return pixels if pixels.ndim == 3 else _gif(pixels)


def _gif(frames: np.ndarray[Any, Any]) -> bytes:
    """A file, for a feature that takes animations."""
    import io

    import PIL.Image

    first, *others = map(PIL.Image.fromarray, frames)
    file = io.BytesIO()
    first.save(file, "GIF", save_all=True, append_images=others)
    return file.getvalue()


@fake_value.register
def _(feature: LabeledImage, fakes: Fakes) -> Any:
    info: Any = feature.get_tensor_info()
    return fakes.integers(fakes.shape(info.shape), 0, feature.num_classes or _INTEGERS, info.dtype)


@fake_value.register
def _(feature: BBoxFeature, fakes: Fakes) -> Any:
    numbers = np.sort(fakes.rng.random((2, 2)), axis=0)  # upper left, lower right
    return numbers.reshape(4).astype(np.float32)


@fake_value.register
def _(feature: Audio, fakes: Fakes) -> Any:
    info: Any = feature.get_tensor_info()
    return _sound_file(feature, fakes) if feature.lazy_decode else fakes.array(info)


def _sound_file(feature: Audio, fakes: Fakes) -> bytes:
    """A file, for a feature that stores files as they are."""
    import io

    import soundfile

    info: Any = feature.get_tensor_info()
    samples = fakes.integers(fakes.shape(info.shape), 0, _INTEGERS, np.int16)
    file, rate = io.BytesIO(), feature.sample_rate or 8000
    soundfile.write(file, samples, rate, format=(feature.file_format or "wav").upper())
    return file.getvalue()


def fake_examples(
    features: FeatureConnector,
    num_examples: int = 1,
    *,
    seed: int = 0,
    num_sub_examples: int = 1,
    max_value: int | None = None,
) -> list[Any]:
    """Made-up examples, as a dataset of such features gives them.

    Args:
        features: The features; of a dataset's folder, `FeatureConnector.from_config(folder)`.
        num_examples: Number of examples.
        seed: Example `i` depends on `seed + i` and the features alone.
        num_sub_examples: Number of steps of a `Dataset`.
        max_value: Integers are below it; 255 by default.

    Returns:
        Decoded examples: sizes that vary are 5 to 49, texts have 10 to 19 letters, floats
        are in [0, 1), labels are classes.

    Raises:
        InvalidArgumentError: A number is negative.
        UnsupportedError: See `fake_value`.

    Example:
        >>> from featurekit.connectors.class_label import ClassLabel
        >>> features = FeaturesDict({"label": ClassLabel(num_classes=3), "x": np.float32})
        >>> fake_examples(features)[0]["label"] < 3
        np.True_
    """
    return [
        features.deserialize_example(
            fake_record(features, seed + i, num_sub_examples=num_sub_examples, max_value=max_value)
        )
        for i in range(check_count(num_examples))
    ]


def fake_record(features: FeatureConnector, seed: int, **options: Any) -> bytes:
    """A made-up example, as it is stored."""
    fakes = Fakes(np.random.default_rng(seed), **options)
    return features.serialize_example(fake_value(features, fakes))


def check_count(num_examples: int) -> int:
    """Raise an `InvalidArgumentError` where a number of examples is negative."""
    if num_examples < 0:
        raise InvalidArgumentError(f"num_examples must be >= 0, got {num_examples}")
    return num_examples
