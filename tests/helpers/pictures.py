"""Small pictures for tests, and files of them made without our own code."""

import io
import struct
import zlib

import numpy as np
from PIL import Image as PilImage

COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}


def gradient(height=16, width=24):
    """RGB: red grows to the right, green downwards, no blue."""
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[..., 0] = np.arange(width) * 10
    pixels[..., 1] = (np.arange(height) * 15)[:, None]
    return pixels


def noise(shape, dtype=np.uint8, seed=0):
    top = np.iinfo(dtype).max
    return np.random.default_rng(seed).integers(0, top, shape, dtype, endpoint=True)


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(pixels, *, before=b"", data=None, size=None):
    """A PNG file with no row filters: `(height, width, 1 to 4)`, uint8 or uint16."""
    pixels = pixels[..., None] if pixels.ndim == 2 else pixels
    height, width = size or pixels.shape[:2]
    bits = 8 * pixels.dtype.itemsize
    header = struct.pack(">IIBBBBB", width, height, bits, COLOUR_TYPES[pixels.shape[2]], 0, 0, 0)
    rows = b"".join(b"\0" + row.astype(f">u{bits // 8}").tobytes() for row in pixels)
    body = zlib.compress(rows) if data is None else data
    chunks = chunk(b"IHDR", header) + before + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def save(image, format_, **options):
    """The file that Pillow makes of a PIL image or an array."""
    image = PilImage.fromarray(image) if isinstance(image, np.ndarray) else image
    buffer = io.BytesIO()
    image.save(buffer, format_, **options)
    return buffer.getvalue()


def gif(frames, **options):
    first, *others = (PilImage.fromarray(frame) for frame in frames)
    return save(first, "GIF", save_all=True, append_images=others, **options)
