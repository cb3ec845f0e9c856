"""Whether stored values are in the domain of their features."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from featurekit.connector import FeatureConnector
from featurekit.connectors.audio import Audio
from featurekit.connectors.bbox import BBox, BBoxFeature, BBoxFormat
from featurekit.connectors.class_label import ClassLabel
from featurekit.connectors.image import Image
from featurekit.connectors.image_codecs.files import read_header
from featurekit.connectors.opaque import Opaque
from featurekit.connectors.tensor import Tensor
from featurekit.connectors.text import Text
from featurekit.connectors.translation import TranslationVariableLanguages
from featurekit.dtypes import dtype_name
from featurekit.errors import DecodeError, FeatureKitError, did_you_mean, short_repr
from featurekit.io.audio import AudioFile
from featurekit.nesting import unstack
from featurekit.schema.elements import flat_elements
from featurekit.schema.feature_leaves import FeatureLeaf
from featurekit.tensor_info import TensorInfo

__all__ = ["LeafChecker", "Problem"]

Array = np.ndarray[Any, Any]


@dataclasses.dataclass(frozen=True)
class Problem:
    """One value that is wrong.

    Attributes:
        code: The code of the rule.
        message: What was expected and what was found.
        element: Number of the element, in the order of `flat_elements`; None where the value
            is no sequence of single elements.
    """

    code: str
    message: str
    element: int | None = None


Check = Callable[[Array], Iterator[Problem]]


class LeafChecker:
    """Finds the values of one feature that are wrong, in many records at once.

    Args:
        leaf: The feature.
    """

    def __init__(self, leaf: FeatureLeaf) -> None:
        self.leaf = leaf
        info = leaf.connector.get_serialized_info()
        single = isinstance(info, TensorInfo) and (
            leaf.connector.is_plain or None not in info.shape
        )
        self._info = info if isinstance(info, TensorInfo) and single else None
        self._checks = tuple(_checks(leaf))
        self._idle = isinstance(leaf.connector, Opaque) or (
            not self._checks and self._info is not None
        )

    @property
    def inner_rank(self) -> int:
        """Number of dimensions of one stored element."""
        return len(self._info.shape) if self._info is not None else 0

    def problems(self, stored: Any) -> Iterator[Problem]:
        """What is wrong with the values of a batch.

        Args:
            stored: The stored values of all features of a batch of records.
        """
        if self._idle:
            return
        values = self.leaf.find(stored)
        if self._info is None:
            yield from self._composite_problems(values)
            return
        elements = flat_elements(values, self.inner_rank)
        for check in self._checks:
            yield from check(elements)

    def _composite_problems(self, values: Mapping[str, Any]) -> Iterator[Problem]:
        """Decode values that are stored as several entries."""
        connector = self.leaf.connector
        decode = (
            connector.decode_example,
            connector.decode_batch_example,
            connector.decode_ragged_example,
        )[min(self.leaf.rank, 2)]
        code = "FK410" if isinstance(connector, Tensor) else "FK411"
        for value in unstack(values):
            try:
                decode(value)
            except Exception as error:  # an author's connector may fail in any way
                yield Problem(code, _text_of(error))


def _checks(leaf: FeatureLeaf) -> Iterator[Check]:
    """The checks of a feature whose elements are stored as one array each."""
    connector = leaf.connector
    if isinstance(connector, ClassLabel) and connector.num_classes:
        yield _LabelCheck(connector)
    elif isinstance(connector, BBoxFeature) and connector.bbox_format is not None:
        yield _BoxCheck(connector.bbox_format)
    elif isinstance(connector, Text):
        yield _check_utf8
        if isinstance(leaf.owner, TranslationVariableLanguages) and leaf.path[-1] == "language":
            yield _LanguageCheck(leaf.owner)
    elif isinstance(connector, Image):
        yield _ImageCheck(connector)
        return
    elif isinstance(connector, Audio) and connector.lazy_decode:
        yield _AudioCheck(connector)
        return
    elif isinstance(connector, Tensor) and connector.is_plain and _has_bounds(connector):
        yield _BoundsCheck(connector)
    if not connector.is_plain and not isinstance(connector, Opaque):
        yield _DecodeCheck(connector)


def _has_bounds(connector: FeatureConnector) -> bool:
    info: Any = connector.get_tensor_info()
    return info.minimum is not None or info.maximum is not None


def _text_of(error: BaseException) -> str:
    if isinstance(error, FeatureKitError):
        return error.message
    return f"{type(error).__name__}: {error}"


def _wrong(elements: Array, wrong: Array) -> Iterator[tuple[int, Any]]:
    """The elements of which something is wrong: number and first wrong value."""
    axes = tuple(range(1, wrong.ndim))
    for number in np.flatnonzero(wrong.any(axis=axes)).tolist():
        yield number, elements[number][wrong[number]].flat[0]


class _LabelCheck:
    """Labels are numbers of classes, or -1 for an example without one."""

    def __init__(self, label: ClassLabel) -> None:
        self._count = label.num_classes or 0

    def __call__(self, elements: Array) -> Iterator[Problem]:
        for number, value in _wrong(elements, (elements < -1) | (elements >= self._count)):
            text = f"expected a label from 0 to {self._count - 1}, or -1, got {value}"
            yield Problem("FK401", text, number)


class _BoundsCheck:
    """Values are within the declared bounds; what is no number is neither in nor out."""

    def __init__(self, tensor: FeatureConnector) -> None:
        info: Any = tensor.get_tensor_info()
        self._bounds = ((info.minimum, np.less, "least"), (info.maximum, np.greater, "most"))

    def __call__(self, elements: Array) -> Iterator[Problem]:
        for bound, beyond, word in self._bounds:
            if bound is None:
                continue
            for number, value in _wrong(elements, beyond(elements, bound)):
                yield Problem("FK402", f"expected at {word} {bound}, got {value}", number)


class _BoxCheck:
    """Boxes are finite, in range where they are fractions, and not upside down."""

    def __init__(self, bbox_format: BBoxFormat) -> None:
        self._relative = bbox_format.value.startswith("REL_")
        self._ordered = bbox_format in (BBoxFormat.YXYX, BBoxFormat.REL_YXYX)

    def __call__(self, elements: Array) -> Iterator[Problem]:
        wrong = ~np.isfinite(elements)
        if self._relative:
            wrong |= (elements < 0) | (elements > 1)
        outside = np.logical_or.reduce(wrong, axis=-1)
        for number in np.flatnonzero(outside).tolist():
            range_ = "within 0 and 1" if self._relative else "of finite numbers"
            yield Problem("FK403", f"expected a box {range_}, got {_box(elements, number)}", number)
        if self._ordered:
            inverted = (elements[..., :2] > elements[..., 2:]).any(axis=-1)
            for number in np.flatnonzero(inverted & ~outside).tolist():
                text = f"expected ymin <= ymax and xmin <= xmax, got {_box(elements, number)}"
                yield Problem("FK404", text, number)


def _box(elements: Array, number: int) -> str:
    values = (float(f"{value:.7g}") for value in elements[number])
    return str(BBox(*values))


def _check_utf8(elements: Array) -> Iterator[Problem]:
    try:
        b"\n".join(elements.flat).decode()  # valid as a whole if each part is
        return
    except UnicodeDecodeError:
        pass
    for number, text in enumerate(elements.flat):
        try:
            text.decode()
        except UnicodeDecodeError as error:
            message = f"the text is not UTF-8: {error.reason} at byte {error.start} of "
            yield Problem("FK405", message + short_repr(text), number)


class _LanguageCheck:
    """Translations are in one of the languages that the feature lists."""

    def __init__(self, translation: TranslationVariableLanguages) -> None:
        self._languages = translation.languages
        self._known = {language.encode() for language in self._languages or ()}

    def __call__(self, elements: Array) -> Iterator[Problem]:
        if self._languages is None or self._known.issuperset(elements.flat):
            return
        for number, language in enumerate(elements.flat):
            if language not in self._known:
                name = language.decode("utf-8", "replace")
                text = f"{name!r} is not one of the languages"
                yield Problem("FK412", text + did_you_mean(name, self._languages), number)


class _ImageCheck:
    """Pictures decode to what the feature declares."""

    def __init__(self, image: Image) -> None:
        self._image = image
        self._shape = image.get_tensor_info().shape

    def __call__(self, elements: Array) -> Iterator[Problem]:
        for number, data in enumerate(elements.flat):
            try:
                self._image.decode_example(data)
            except Exception as error:  # a codec may fail in other ways on damaged files
                code = "FK407" if self._is_whole(data) else "FK406"
                yield Problem(code, _text_of(error), number)

    def _is_whole(self, data: bytes) -> bool:
        """Whether the file is a picture, of another size or kind than declared."""
        try:
            header = read_header(data)
        except DecodeError:
            return False
        if (header.format == "GIF") != (len(self._shape) == 4):
            return True
        declared = (*self._shape[:-3], *self._shape[-3:-1])
        found = (*((header.frames,) if header.frames else ()), header.height, header.width)
        return any(want not in (None, got) for want, got in zip(declared, found, strict=False))


class _AudioCheck:
    """Sound files decode to what the feature declares, and have its sample rate."""

    def __init__(self, audio: Audio) -> None:
        self._audio = audio

    def __call__(self, elements: Array) -> Iterator[Problem]:
        for number, data in enumerate(elements.flat):
            try:
                self._audio.decode_example(data)
                rate = AudioFile(data).sample_rate
            except Exception as error:  # a codec may fail in other ways on damaged files
                yield Problem("FK408", _text_of(error), number)
                continue
            if self._audio.sample_rate not in (None, rate):
                text = f"expected a sample rate of {self._audio.sample_rate} Hz, got {rate} Hz"
                yield Problem("FK409", text, number)


class _DecodeCheck:
    """Encoded arrays, and what authors' connectors decode, come out as declared."""

    def __init__(self, connector: FeatureConnector) -> None:
        self._connector = connector
        self._is_ours = type(connector).__module__.startswith("featurekit.connectors.")
        self._code = "FK410" if self._is_ours else "FK411"
        self._bounds = None
        if isinstance(connector, Tensor) and _has_bounds(connector):
            self._bounds = _BoundsCheck(connector)

    def __call__(self, elements: Array) -> Iterator[Problem]:
        for number, element in enumerate(elements):
            try:
                value = self._connector.decode_example(element)
            except Exception as error:  # an author's connector may fail in any way
                yield Problem(self._code, _text_of(error), number)
                continue
            if not self._is_ours:
                yield from self._misfits(value, number)
            if self._bounds is not None:
                for problem in self._bounds(np.asarray(value)[None]):
                    yield dataclasses.replace(problem, element=number)

    def _misfits(self, value: Any, number: int) -> Iterator[Problem]:
        info = self._connector.get_tensor_info()
        if not isinstance(info, TensorInfo) or info.dtype.kind == "O":
            return
        array = np.asarray(value)
        fits = len(array.shape) == len(info.shape) and all(
            want in (None, got) for want, got in zip(info.shape, array.shape, strict=True)
        )
        if not fits or array.dtype != info.dtype:
            text = (
                f"expected {dtype_name(info.dtype)} of shape {info.shape}, "
                f"got {array.dtype} of shape {array.shape}"
            )
            yield Problem("FK411", text, number)
