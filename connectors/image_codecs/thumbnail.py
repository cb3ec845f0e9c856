"""Small pictures in HTML, for reports and notebooks."""

from __future__ import annotations

import base64
import colorsys
import functools
import io
import itertools
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from featurekit.connectors.image_codecs.channels import Pixels, fit

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["animation_html", "image_html"]

_SIZE = 128  # of the longer side, in pixels
_FRAMES = 100  # shown at most
_DURATION = 100  # of a frame, in milliseconds


def image_html(pixels: Pixels, *, use_colormap: bool = False) -> str:
    """A picture as an `<img>` of at most 128 x 128 pixels.

    Args:
        pixels: `(height, width, channels)`, any dtype of a picture.
        use_colormap: Show every value in a colour of its own.
    """
    buffer = io.BytesIO()
    _thumbnail(pixels, use_colormap).save(buffer, "PNG")
    return _img("png", buffer.getvalue())


def animation_html(frames: Iterable[Pixels], *, use_colormap: bool = False) -> str:
    """Frames as an animated `<img>`; the first 100 of them.

    Args:
        frames: `(frames, height, width, channels)`, or a list of pictures.
        use_colormap: Show every value in a colour of its own.
    """
    images = [_thumbnail(frame, use_colormap) for frame in itertools.islice(frames, _FRAMES)]
    if not images:
        return "0 frames"
    buffer = io.BytesIO()
    images[0].save(
        buffer, "GIF", save_all=True, append_images=images[1:], duration=_DURATION, loop=0
    )
    return _img("gif", buffer.getvalue())


def _img(kind: str, data: bytes) -> str:
    text = base64.b64encode(data).decode("ascii")
    return f'<img src="data:image/{kind};base64,{text}" alt="image">'


def _thumbnail(pixels: Any, use_colormap: bool) -> Image:
    from PIL import Image

    pixels = np.asarray(pixels)
    if use_colormap:
        colours = _colormap()[pixels[..., 0] & 0xFF]
    else:
        colours = fit(_to_uint8(pixels), 3, np.dtype(np.uint8))
    image = Image.fromarray(np.ascontiguousarray(colours))
    # Classes must not be mixed into others.
    resampling = Image.Resampling.NEAREST if use_colormap else Image.Resampling.BILINEAR
    image.thumbnail((_SIZE, _SIZE), resampling)
    return image


def _to_uint8(pixels: Pixels) -> Pixels:
    """Floats between their least and greatest finite value; 16 bits by their high byte."""
    if pixels.dtype.kind != "f":
        return fit(pixels, None, np.dtype(np.uint8))
    finite = pixels[np.isfinite(pixels)].astype(np.float64)
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
    scaled = (pixels.astype(np.float64) - low) * (255.0 / max(high - low, 1e-300))
    return np.nan_to_num(scaled, nan=0, posinf=255, neginf=0).clip(0, 255).astype(np.uint8)


@functools.cache
def _colormap() -> Pixels:
    """256 colours, black first, neighbours far apart: hues by the golden ratio."""
    colours = [(0.0, 0.0, 0.0)]
    for number in range(1, 256):
        hue = number * 0.6180339887498949 % 1
        colours.append(
            colorsys.hsv_to_rgb(hue, 0.9 - 0.4 * (number % 3 == 0), 1 - 0.2 * (number % 2))
        )
    return (np.array(colours) * 255).round().astype(np.uint8)
