"""Encoded pictures of any of the formats that TFDS has: PNG, JPEG, GIF and BMP."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from featurekit.connectors.image_codecs import bmp, gif, jpeg, png
from featurekit.connectors.image_codecs.channels import Pixels, put
from featurekit.connectors.image_codecs.limits import Size
from featurekit.errors import DecodeError, short_repr

__all__ = ["ImageHeader", "decode_image", "image_format", "read_header"]

_SIGNATURES = {
    "PNG": png.SIGNATURE,
    "JPEG": jpeg.SIGNATURE,
    "GIF": gif.SIGNATURE,
    "BMP": bmp.SIGNATURE,
}

_DECODERS = {
    "PNG": png.decode_png,
    "GIF": gif.decode_gif,
    "BMP": bmp.decode_bmp,
}

# Formats that people try, by what is found at an offset.
_OTHERS = (
    ("WebP", 8, b"WEBP"),
    ("TIFF", 0, b"II*\0"),
    ("TIFF", 0, b"MM\0*"),
    ("JPEG 2000", 4, b"jP  "),
    ("JPEG XL", 4, b"JXL "),
    ("AVIF or HEIF", 4, b"ftyp"),
    ("PDF", 0, b"%PDF"),
    ("HTML", 0, b"<"),
)


@dataclasses.dataclass(frozen=True)
class ImageHeader:
    """What an encoded picture is, without its pixels.

    Attributes:
        format: `"PNG"`, `"JPEG"`, `"GIF"` or `"BMP"`.
        height: In pixels.
        width: In pixels.
        channels: Number of channels that it decodes to by itself.
        bits: Of each sample, or of a palette's index: 1 to 16.
        frames: Number of frames of a GIF, else None.
    """

    format: str
    height: int
    width: int
    channels: int
    bits: int = 8
    frames: int | None = None


def image_format(data: bytes) -> str:
    """The format of an encoded picture, by its first bytes.

    Raises:
        DecodeError: It is none that TFDS reads.

    >>> image_format(b"GIF89a")
    'GIF'
    """
    for name, signature in _SIGNATURES.items():
        if data.startswith(signature):
            return name
    if not data:
        raise DecodeError("expected the bytes of a picture, got none", hint="the file is empty")
    for name, offset, magic in _OTHERS:
        if data.startswith(magic, offset):
            raise DecodeError(
                f"the file is {name}, which TFDS does not read as a picture",
                hint="convert it to PNG or JPEG, or give the pixels as an array",
            )
    raise DecodeError(
        f"expected a PNG, JPEG, GIF or BMP file, got {short_repr(data)}",
        hint="give the bytes of the file, a path, an array or a PIL image",
    )


def read_header(data: bytes) -> ImageHeader:
    """Read what an encoded picture is, and see whether the file is whole; no pixel is decoded.

    Raises:
        DecodeError: It is no picture, cut short or damaged.
    """
    name = image_format(data)
    if name == "PNG":
        header = png.read_png(data)
        return ImageHeader(name, header.height, header.width, header.channels, header.bits)
    if name == "JPEG":
        found = jpeg.read_jpeg(data)
        return ImageHeader(name, found.height, found.width, found.channels, found.bits)
    if name == "GIF":
        canvas = gif.read_gif(data)
        return ImageHeader(name, canvas.height, canvas.width, 3, frames=canvas.frames)
    image, channels = bmp.open_bmp(data)
    return ImageHeader(name, image.height, image.width, channels)


def decode_image(
    data: bytes,
    channels: int | None,
    dtype: np.dtype[Any],
    size: Size = (None, None),
    *,
    out: Pixels | None = None,
    reduce_to: tuple[int, int] = (0, 0),
) -> Pixels:
    """Decode a picture of any format.

    Args:
        data: The file.
        channels: 1 to 4; None gives what the file has.
        dtype: uint8 or uint16.
        size: The declared height and width.
        out: C-contiguous; where the pixels have its shape and dtype they are put there.
        reduce_to: Smallest height and width, to decode a JPEG to a smaller picture; other
            formats are decoded whole.

    Returns:
        `(height, width, channels)` of `dtype`; of a GIF, the frames come first. `out` itself
        where they fit there.

    Raises:
        DecodeError: It is no picture, cut short or damaged, or larger or smaller than declared.
    """
    name = image_format(data)
    if name == "JPEG":
        return jpeg.decode_jpeg(data, channels, dtype, size, out=out, reduce_to=reduce_to)
    if name == "PNG":
        return png.decode_png(data, channels, dtype, size, out=out)
    return put(_DECODERS[name](data, channels, dtype, size), out)
