"""GIF: the frames of an animation, as they are shown."""

from __future__ import annotations

import dataclasses
import io
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from featurekit.connectors.image_codecs.channels import Pixels, fit
from featurekit.connectors.image_codecs.limits import Size, check_size
from featurekit.errors import DecodeError

__all__ = ["SIGNATURE", "GifHeader", "decode_gif", "gif_frames", "read_gif"]

SIGNATURE = b"GIF8"

_EXTENSION, _IMAGE, _TRAILER = 0x21, 0x2C, 0x3B


@dataclasses.dataclass(frozen=True)
class GifHeader:
    """What the blocks of a GIF file say.

    Attributes:
        height: Of the canvas, in pixels.
        width: The same.
        frames: Number of frames.
    """

    height: int
    width: int
    frames: int


def read_gif(data: bytes) -> GifHeader:
    """Walk over the blocks of a GIF file, without decoding them.

    Raises:
        DecodeError: The file is cut short or damaged.
    """
    position = 13 + _palette_size(_byte(data, 10))
    width, height = struct.unpack_from("<2H", data, 6)
    frames = 0
    while (kind := _byte(data, position)) != _TRAILER:
        if kind == _EXTENSION:
            position = _skip_blocks(data, position + 2)
        elif kind == _IMAGE:
            palette = _palette_size(_byte(data, position + 9))
            left, top, columns, rows = struct.unpack_from("<4H", data, position + 1)
            if left + columns > width or top + rows > height:
                raise _damaged(f"its frame {frames} reaches beyond the picture")
            frames += 1
            position = _skip_blocks(data, position + 10 + palette + 1)
        elif kind == 0:
            position += 1  # filling, which some programs leave between blocks
        else:
            raise _damaged(f"there is no block of kind {kind}")
    if not frames:
        raise _damaged("it has no frames")
    return GifHeader(height, width, frames)


def _byte(data: bytes, position: int) -> int:
    if position >= len(data):
        raise _damaged("it is cut short")
    return data[position]


def _palette_size(flags: int) -> int:
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _skip_blocks(data: bytes, position: int) -> int:
    """Where a run of data blocks ends: each has its length in front, and 0 is the end."""
    while size := _byte(data, position):
        position += 1 + size
    return position + 1


def gif_frames(data: bytes, mode: str = "RGB") -> Iterator[Pixels]:
    """The frames of a GIF file, composed: each as a viewer shows it.

    TensorFlow leaves out what GIF calls disposal, so that what moves leaves a trail; here
    it is done.

    Args:
        data: The file.
        mode: `"RGB"` or `"RGBA"`.

    Yields:
        `(height, width, 3 or 4)` uint8.

    Raises:
        DecodeError: The file is cut short or damaged, or too large.
    """
    from PIL.GifImagePlugin import GifImageFile

    header = read_gif(data)
    check_size(header.height, header.width, frames=header.frames)
    try:
        image = GifImageFile(io.BytesIO(data))
        for index in range(header.frames):
            image.seek(index)
            yield np.array(image.convert(mode))
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        if isinstance(error, DecodeError):
            raise
        raise _damaged(str(error)) from error


def decode_gif(
    data: bytes, channels: int | None, dtype: np.dtype[Any], size: Size = (None, None)
) -> Pixels:
    """All frames of a GIF file.

    Args:
        data: The file.
        channels: 1 to 4; None gives RGB.
        dtype: uint8 or uint16.
        size: The declared height and width.

    Returns:
        `(frames, height, width, channels)` of `dtype`.

    Raises:
        DecodeError: The file is cut short or damaged, or larger or smaller than declared.
    """
    header = read_gif(data)
    check_size(header.height, header.width, size)
    frames = list(gif_frames(data, "RGBA" if channels in (2, 4) else "RGB"))
    return fit(np.stack(frames), channels or 3, dtype)


def _damaged(why: str) -> DecodeError:
    return DecodeError(f"the GIF file is damaged: {why}", hint="copy or download the file again")
