"""From the channels and depth that a file has to those that a feature declares.

Everything as TensorFlow's `decode_image` does it: gray becomes three equal channels, alpha
is dropped or added opaque, colour becomes gray by the weights of ITU-R BT.601 in 15-bit
fixed point (8-bit results are cut off, 16-bit ones rounded, as libpng does). 16 bits become
8 by their high byte; 8 bits become 16 times 257 in a PNG, times 256 in other formats.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from featurekit.errors import DecodeError

__all__ = ["Pixels", "fit", "luma", "put"]

Pixels = np.ndarray[Any, np.dtype[Any]]

# 0.299 and 0.587 of 2 ** 15, cut off; blue gets the rest.
_RED, _GREEN = 9797, 19234
_BLUE = (1 << 15) - _RED - _GREEN
_HALF = 1 << 14


def fit(
    pixels: Pixels,
    channels: int | None,
    dtype: np.dtype[Any],
    *,
    widen: int = 256,
    gamma: int = 0,
) -> Pixels:
    """Convert pixels to a number of channels and a depth; not copied where they fit.

    Args:
        pixels: `(height, width, 1 to 4)`, or more leading dimensions; uint8 or uint16.
        channels: Gray, gray + alpha, RGB or RGBA as 1 to 4; None keeps what there is.
        dtype: uint8 or uint16.
        widen: Factor from 8 to 16 bits.
        gamma: As of `luma`.

    Raises:
        DecodeError: Pictures do not have that many channels.
    """
    if channels is not None and channels > 4:
        raise DecodeError(
            f"a picture has at most 4 channels, and the feature has {channels}",
            hint="the metadata is damaged, or meant for a Tensor",
        )
    if channels is not None and channels != pixels.shape[-1]:
        pixels = _to_channels(pixels, channels, gamma)
    if pixels.dtype == dtype:
        return pixels
    if pixels.dtype == np.uint16:
        return (pixels >> 8).astype(np.uint8)
    return pixels.astype(np.uint16) * np.uint16(widen)


def put(pixels: Pixels, out: Pixels | None) -> Pixels:
    """Copy pixels to `out` and give that, where they have its shape and dtype; else themselves."""
    if out is None or out is pixels or out.shape != pixels.shape or out.dtype != pixels.dtype:
        return pixels
    out[...] = pixels
    return out


def _to_channels(pixels: Pixels, channels: int, gamma: int) -> Pixels:
    has_alpha = pixels.shape[-1] in (2, 4)
    colour = pixels[..., :-1] if has_alpha else pixels
    if channels <= 2 and colour.shape[-1] == 3:
        colour = luma(colour, gamma)
    if channels >= 3 and colour.shape[-1] == 1:
        colour = np.repeat(colour, 3, axis=-1)
    if channels in (1, 3):
        return np.ascontiguousarray(colour)
    opaque = np.iinfo(pixels.dtype).max
    alpha = pixels[..., -1:] if has_alpha else np.full_like(pixels[..., :1], opaque)
    return np.concatenate([colour, alpha], axis=-1)


def luma(colour: Pixels, gamma: int = 0) -> Pixels:
    """Gray from RGB: `(..., 3)` to `(..., 1)`.

    Args:
        colour: uint8 or uint16.
        gamma: The exponent of the file's samples times 100000, as a PNG may state it: they
            are then mixed as the light that they stand for. 0 mixes the samples themselves.
    """
    parts = [colour[..., i : i + 1] for i in range(3)]
    if not gamma:
        return _mix(parts, rounding=0 if colour.dtype == np.uint8 else _HALF)
    to_light, from_light = _gamma_tables(colour.dtype, gamma)
    mixed = from_light[_mix([to_light[part] for part in parts], rounding=_HALF)]
    is_gray = (parts[0] == parts[1]) & (parts[0] == parts[2])
    return np.where(is_gray, parts[0], mixed)


def _mix(parts: list[Pixels], rounding: int) -> Pixels:
    red, green, blue = (part.astype(np.uint32) for part in parts)
    gray = (_RED * red + _GREEN * green + _BLUE * blue + rounding) >> 15
    return gray.astype(parts[0].dtype)


@functools.lru_cache(maxsize=8)
def _gamma_tables(dtype: np.dtype[Any], gamma: int) -> tuple[Pixels, Pixels]:
    top = np.iinfo(dtype).max
    levels = np.arange(top + 1) / top
    inverse = round(1e10 / gamma)
    to_light, from_light = (
        np.floor(top * levels ** (exponent * 1e-5) + 0.5).astype(dtype)
        for exponent in (inverse, round(1e10 / inverse))
    )
    return to_light, from_light
