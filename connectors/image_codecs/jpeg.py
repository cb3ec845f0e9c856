"""JPEG, decoded as TensorFlow does it and encoded as TFDS does it.

Decoding takes libjpeg-turbo's fast integer DCT and fancy upsampling, and forgives what
libjpeg only warns of: bit for bit TensorFlow's result, except for CMYK (within 1 level) and
for rare subsamplings and bytes too many in the header, where Pillow decodes (within some
levels). A file without its end is refused, as TensorFlow does. Orientation tags are ignored.

Source: ITU-T T.81 for the markers.
"""

from __future__ import annotations

import dataclasses
import io
from typing import Any

import numpy as np

from featurekit.connectors.image_codecs.channels import Pixels, fit, put
from featurekit.connectors.image_codecs.limits import Size, check_size
from featurekit.errors import DecodeError

__all__ = ["SIGNATURE", "JpegHeader", "decode_jpeg", "encode_jpeg", "read_jpeg"]

SIGNATURE = b"\xff\xd8\xff"

_END = b"\xff\xd9"
_START_OF_SCAN = 0xDA
_STANDALONE = {0x01, *range(0xD0, 0xD9)}  # markers without a length
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


@dataclasses.dataclass
class JpegHeader:
    """What a JPEG file says before its first scan.

    Attributes:
        height: In pixels.
        width: In pixels.
        components: 1 gray, 3 colour, 4 CMYK.
        bits: Of each sample, 8 as a rule.
    """

    height: int
    width: int
    components: int
    bits: int

    @property
    def channels(self) -> int:
        """Number of channels of the decoded pixels."""
        return 1 if self.components == 1 else 3


def read_jpeg(data: bytes) -> JpegHeader:
    """Read the header of a JPEG file, and see whether its end is there.

    Raises:
        DecodeError: The file is cut short, or no JPEG.
    """
    header = None
    position = 2
    while True:
        position = data.find(b"\xff", position)
        while position >= 0 and data[position : position + 2] == b"\xff\xff":
            position += 1  # markers may be preceded by any number of fill bytes
        if position < 0 or position + 4 > len(data):
            raise _cut()
        marker = data[position + 1]
        if marker in _STANDALONE or marker == 0:
            position += 2
            continue
        if marker == _START_OF_SCAN:
            break
        length = int.from_bytes(data[position + 2 : position + 4], "big")
        if marker in _FRAMES:
            header = _read_frame(data[position + 4 : position + 10])
        position += 2 + max(length, 2)
    if header is None:
        raise DecodeError("the JPEG file is damaged: it has no frame header")
    if not data.endswith(_END) and data.rfind(_END) < position:
        raise _cut()
    return header


def _read_frame(body: bytes) -> JpegHeader:
    if len(body) < 6:
        raise _cut()
    height, width = int.from_bytes(body[1:3], "big"), int.from_bytes(body[3:5], "big")
    return JpegHeader(height, width, components=body[5], bits=body[0])


def decode_jpeg(
    data: bytes,
    channels: int | None,
    dtype: np.dtype[Any],
    size: Size = (None, None),
    *,
    dct: str = "fast",
    out: Pixels | None = None,
    reduce_to: tuple[int, int] = (0, 0),
) -> Pixels:
    """The pixels of a JPEG file.

    Args:
        data: The file.
        channels: 1 to 4; None gives what the file has.
        dtype: uint8 or uint16.
        size: The declared height and width.
        dct: `"fast"` gives TensorFlow's pixels, `"accurate"` Pillow's.
        out: C-contiguous; where the pixels have its shape and dtype they are put there.
        reduce_to: Smallest height and width, to decode to a smaller picture: the file's size
            times n/8 for the smallest n that gives as much or more. 0 asks for nothing.

    Returns:
        `(height, width, channels)` of `dtype`; `out` itself where they fit there.

    Raises:
        DecodeError: The file is cut short or damaged, or larger or smaller than declared.
    """
    import simplejpeg

    header = read_jpeg(data)
    check_size(header.height, header.width, size)
    wanted = channels or header.channels
    colours = "GRAY" if wanted <= 2 else "RGB"
    fits = (
        out is not None
        and out.shape == (header.height, header.width, wanted)
        and wanted in (1, 3)
        and out.dtype == np.uint8
        and not any(reduce_to)
    )
    try:
        pixels = simplejpeg.decode_jpeg(
            data,
            colours,
            fastdct=dct == "fast",
            fastupsample=False,
            min_height=reduce_to[0],
            min_width=reduce_to[1],
            buffer=out if fits else None,
            strict=False,
        )
        if fits and out is not None:
            return out
    except ValueError as error:
        # What libjpeg forgives simplejpeg does not, where it is in the header.
        if "subsampling" not in str(error) and "extraneous bytes" not in str(error):
            raise _damaged(error) from error
        pixels = _decode_by_pillow(data, "L" if colours == "GRAY" else "RGB", reduce_to)
    return put(fit(pixels, wanted, dtype), out)


def _decode_by_pillow(data: bytes, mode: str, reduce_to: tuple[int, int]) -> Pixels:
    from PIL.JpegImagePlugin import JpegImageFile

    try:
        image = JpegImageFile(io.BytesIO(data))
        wanted = (reduce_to[1], reduce_to[0]) if all(reduce_to) else image.size
        image.draft(mode, wanted)  # gray is the luma that the file has
        pixels = np.array(image.convert(mode))
    except (OSError, SyntaxError, ValueError) as error:
        raise _damaged(error) from error
    return pixels.reshape(*pixels.shape[:2], -1)


def encode_jpeg(pixels: Pixels) -> bytes:
    """A JPEG file of the pixels: quality 95, 4:2:0, 300 dpi, as TFDS writes it.

    Args:
        pixels: `(height, width, 1 or 3)` uint8. None of the sizes is 0.
    """
    from PIL import Image

    buffer = io.BytesIO()
    options: dict[str, Any] = {"quality": 95, "dpi": (300, 300)}
    if pixels.shape[2] == 1:
        Image.fromarray(pixels[..., 0]).save(buffer, "JPEG", **options)
    else:
        Image.fromarray(pixels).save(buffer, "JPEG", subsampling=2, **options)
    return buffer.getvalue()


def _cut() -> DecodeError:
    return DecodeError(
        "the JPEG file is cut short: its end is missing", hint="copy or download the file again"
    )


def _damaged(error: Exception) -> DecodeError:
    return DecodeError(f"the JPEG file is damaged: {error}", hint="copy or download the file again")
