"""BMP, read by Pillow."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from featurekit.connectors.image_codecs.channels import Pixels, fit
from featurekit.connectors.image_codecs.limits import Size, check_size
from featurekit.errors import DecodeError

if TYPE_CHECKING:
    from PIL.BmpImagePlugin import BmpImageFile

__all__ = ["SIGNATURE", "decode_bmp", "open_bmp"]

SIGNATURE = b"BM"

_CHANNELS = {"1": 1, "L": 1, "RGBA": 4}


def open_bmp(data: bytes) -> tuple[BmpImageFile, int]:
    """Read the header of a BMP file.

    Returns:
        Pillow's image, whose pixels are not read yet, and its number of channels.

    Raises:
        DecodeError: The header is damaged.
    """
    from PIL.BmpImagePlugin import BmpImageFile

    try:
        image = BmpImageFile(io.BytesIO(data))
    except (OSError, SyntaxError, ValueError) as error:
        raise _damaged(error) from error
    return image, _CHANNELS.get(image.mode, 3)


def decode_bmp(
    data: bytes, channels: int | None, dtype: np.dtype[Any], size: Size = (None, None)
) -> Pixels:
    """The pixels of a BMP file; a palette is looked up.

    Args:
        data: The file.
        channels: 1 to 4; None gives what the file has.
        dtype: uint8 or uint16.
        size: The declared height and width.

    Returns:
        `(height, width, channels)` of `dtype`.

    Raises:
        DecodeError: The file is cut short or damaged, or larger or smaller than declared.
    """
    image, count = open_bmp(data)
    check_size(image.height, image.width, size)
    mode = {1: "L", 3: "RGB", 4: "RGBA"}[count]
    try:
        pixels = np.array(image.convert(mode))
    except (OSError, SyntaxError, ValueError) as error:
        raise _damaged(error) from error
    return fit(pixels.reshape(image.height, image.width, count), channels, dtype)


def _damaged(error: Exception) -> DecodeError:
    return DecodeError(
        f"the BMP file is damaged or cut short: {error}", hint="copy or download the file again"
    )
