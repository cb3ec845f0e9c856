"""From what was seen in records to the features that read them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from featurekit.connector import FeatureConnector
from featurekit.connectors.audio import Audio
from featurekit.connectors.features_dict import FeaturesDict
from featurekit.connectors.image import Image
from featurekit.connectors.sequence import Sequence
from featurekit.connectors.tensor import Tensor
from featurekit.connectors.text import Text
from featurekit.io.columns import Kind
from featurekit.schema.ragged import RaggedStatistics
from featurekit.schema.statistics import ContentStatistics, KeyStatistics, Range, Statistics

__all__ = ["features_of", "ragged_of"]

_SOUNDS = ("WAV", "FLAC", "MP3", "OGG")  # which TFDS reads too
_DTYPES = {Kind.INT64: np.int64, Kind.FLOAT: np.float32, Kind.BYTES: np.object_}


def features_of(seen: Statistics) -> FeaturesDict:
    """The features of Examples, each under its key: what they read fits all that was seen.

    A key that has one value in every record is a scalar; one that has the same number of
    values in all records that have it, a tensor, optional where records lack it; any other
    a sequence. Bytes are pictures, sound files or text where all of them were recognised as
    such. Keys without a kind of list in any record are left out.
    """
    ragged = ragged_of(seen)
    hidden = {key for item in ragged for key in item.keys}
    features: dict[str, Any] = {
        name: _feature(key, seen.examples)
        for name, key in seen.keys.items()
        if key.kind is not None and name not in hidden
    }
    for item in ragged:
        features[item.name] = _nested(item, seen.keys[item.keys[0]])
    return FeaturesDict({name: features[name] for name in sorted(features)})


def ragged_of(seen: Statistics) -> list[RaggedStatistics]:
    """The features that are lists of lists in all records that have them."""
    return [
        item
        for item in seen.ragged.values()
        if item.fits
        and item.name not in seen.keys
        and all(seen.keys[key].records == item.records for key in item.keys)
        and seen.keys[item.keys[0]].kind is not None
    ]


def _feature(key: KeyStatistics, examples: int) -> FeatureConnector:
    count, is_everywhere = key.lengths.fixed, key.records == examples
    if not count:
        return Sequence(_element(key))
    if count == 1 and is_everywhere:
        return _element(key)
    if key.kind is Kind.BYTES and _recognised(key) is not None:
        # Only tensors and text can say that they may be missing.
        if is_everywhere:
            return Sequence(_element(key), length=count)
        return Text(optional=True) if count == 1 and _is_text(key) else Sequence(_element(key))
    shape = () if count == 1 else (count,)
    return Tensor(shape=shape, dtype=_dtype(key), optional=not is_everywhere)


def _nested(item: RaggedStatistics, flat: KeyStatistics) -> FeatureConnector:
    """Sequences of sequences of what the flat values are."""
    inner = item.inner_size or 1
    element = _element(flat) if inner == 1 else Tensor(shape=(inner,), dtype=_dtype(flat))
    return functools.reduce(lambda nested, _: Sequence(nested), range(item.levels), element)


def _element(key: KeyStatistics) -> FeatureConnector:
    """The feature of one value."""
    recognised = _recognised(key) if key.kind is Kind.BYTES else None
    return Tensor(shape=(), dtype=_dtype(key)) if recognised is None else recognised


def _dtype(key: KeyStatistics) -> Any:
    return np.int64 if key.kind is None else _DTYPES[key.kind]


def _recognised(key: KeyStatistics) -> FeatureConnector | None:
    """What reads all values of a key of bytes; None where nothing does but their bytes."""
    contents = list(key.contents.values())
    if not contents or any(content.damaged for content in contents):
        return None
    kinds = {content.kind for content in contents}
    if kinds == {"image"}:
        return _image(contents)
    if kinds == {"audio"} and len(contents) == 1:
        return _audio(contents[0])
    return Text() if _is_text(key) else None


def _is_text(key: KeyStatistics) -> bool:
    kinds = {kind for kind, _ in key.contents}
    return bool(kinds & {"text", "json"}) and kinds <= {"text", "json", "empty"}


def _image(contents: list[ContentStatistics]) -> Image | None:
    formats = {content.format for content in contents}
    if not formats <= {"PNG", "JPEG", "BMP", "GIF"} or ("GIF" in formats and len(formats) > 1):
        return None
    shapes = [content.shape for content in contents]
    dims = [_merged(parts) for parts in zip(*(shape or () for shape in shapes), strict=True)]
    *sizes, channels = (dim.fixed for dim in dims)
    if channels is None and formats & {"PNG", "BMP"}:
        channels = 4 if dims[-1].high == 4 else 3  # what all of them can be read as
    wide = any("uint16" in content.dtypes for content in contents)
    if wide and "JPEG" in formats:
        return None
    name = next(iter(formats)).lower()
    return Image(
        shape=(*sizes, channels or 3),
        dtype=np.uint16 if wide else np.uint8,
        encoding_format=name if formats in ({"PNG"}, {"JPEG"}) else None,
    )


def _merged(ranges: tuple[Range, ...]) -> Range:
    merged = Range()
    for part in ranges:
        merged.add(part.low, part.high)
    return merged


def _audio(content: ContentStatistics) -> Audio | None:
    """Sound that is decoded on reading; None where samples differ in a way this cannot."""
    channels = content.shape[1].fixed if content.shape else None
    if channels is None or content.format not in _SOUNDS or len(content.dtypes) != 1:
        return None
    (dtype,) = content.dtypes
    if content.format == "FLAC" and dtype == "int8":
        return None  # which TFDS does not read
    return Audio(
        file_format=content.format.lower(),
        shape=(None,) if channels == 1 else (None, channels),
        dtype=dtype,
        sample_rate=next(iter(content.rates)) if len(content.rates) == 1 else None,
        lazy_decode=True,
    )
