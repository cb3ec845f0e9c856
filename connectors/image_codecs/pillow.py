"""Pixels of a PIL image, with all its channels and bits."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from featurekit.connectors.image_codecs.channels import Pixels
from featurekit.errors import EncodeError

__all__ = ["is_pil_image", "pil_pixels"]

_DIRECT = {"L", "LA", "RGB", "RGBA"}
_16_BIT = {"I;16", "I;16L", "I;16B", "I;16N"}


def is_pil_image(value: object) -> bool:
    """Whether a value is a PIL image; Pillow is not imported for it."""
    pillow = sys.modules.get("PIL.Image")
    return pillow is not None and isinstance(value, pillow.Image)


def pil_pixels(image: Any) -> Pixels:
    """The pixels of a PIL image.

    A palette is looked up and a bilevel image becomes gray; nothing is lost.

    Args:
        image: A `PIL.Image.Image`.

    Returns:
        `(height, width, channels)`, uint8 or uint16.

    Raises:
        EncodeError: The image's mode is none that PNG and JPEG have, or it cannot be read.
    """
    try:
        if image.mode == "1":
            image = image.convert("L")
        elif image.mode == "P":
            image = image.convert("RGBA" if "transparency" in image.info else "RGB")
        elif image.mode not in _DIRECT | _16_BIT:
            raise EncodeError(
                f"a PIL image of mode {image.mode!r} has no exact form as a picture file",
                hint="convert it first, as with image.convert('RGB')",
            )
        pixels = np.array(image)
    except (OSError, SyntaxError) as error:
        raise EncodeError(
            f"the PIL image cannot be read: {error}", hint="copy or download its file again"
        ) from error
    if image.mode in _16_BIT:
        pixels = pixels.astype(np.uint16)
    return pixels.reshape(*pixels.shape[:2], -1)
