"""PNG: 8 and 16 bits, gray, palette and RGB, with and without alpha.

Usual files are decoded by a compiled kernel, where there is one. What is here specifies
its results, and takes the rest: Pillow unpacks 8-bit files only, so the chunks are read
here, the pixels are inflated here to no more than the header declares, and Pillow's `zip`
codec undoes the row filters.

Source: ISO/IEC 15948 (PNG, third edition).
"""

from __future__ import annotations

import dataclasses
import struct
import zlib
from typing import Any

import numpy as np

from featurekit.connectors.image_codecs import limits
from featurekit.connectors.image_codecs.channels import Pixels, fit, put
from featurekit.connectors.image_codecs.limits import Size, check_size
from featurekit.errors import DecodeError
from featurekit.native import kernel

__all__ = ["SIGNATURE", "PngFile", "decode_png", "encode_png", "read_png"]

SIGNATURE = b"\x89PNG\r\n\x1a\n"

_KERNEL = kernel("png")

_GRAY, _RGB, _PALETTE, _GRAY_ALPHA, _RGBA = 0, 2, 3, 4, 6
_SAMPLES = {_GRAY: 1, _RGB: 3, _PALETTE: 1, _GRAY_ALPHA: 2, _RGBA: 4}
_COLOUR_TYPES = {1: _GRAY, 2: _GRAY_ALPHA, 3: _RGB, 4: _RGBA}
_DEPTHS = {
    _GRAY: (1, 2, 4, 8, 16),
    _RGB: (8, 16),
    _PALETTE: (1, 2, 4, 8),
    _GRAY_ALPHA: (8, 16),
    _RGBA: (8, 16),
}

# The seven passes of an interlaced file: first row and column, and the steps between them.
_ADAM7 = (
    (0, 0, 8, 8),
    (0, 4, 8, 8),
    (4, 0, 8, 4),
    (0, 2, 4, 4),
    (2, 0, 4, 2),
    (0, 1, 2, 2),
    (1, 0, 2, 1),
)

_SRGB_GAMMA = 45455

_LEVEL = 6  # of zlib; with the strategy below fixed, so that the same pixels give the same file
_MAX_RATIO = 1032  # deflate packs no tighter
_BLOCK = 1 << 16  # bytes that are filtered at once


@dataclasses.dataclass
class PngFile:
    """The chunks of a PNG file, its pixels still compressed.

    Attributes:
        height: In pixels.
        width: In pixels.
        bits: Of each sample: 1, 2, 4, 8 or 16.
        colour: The colour type: 0 gray, 2 RGB, 3 palette, 4 gray + alpha, 6 RGBA.
        interlaced: Whether rows come in the seven passes of Adam7.
        data: The zlib stream of the filtered rows.
        palette: Of colour type 3: `(n, 3)` uint8, else None.
        transparency: The `tRNS` chunk: alpha of palette entries, or the transparent colour.
        gamma: The exponent of the samples times 100000, 0 where none is stated.
    """

    height: int
    width: int
    bits: int
    colour: int
    interlaced: bool
    data: bytes = b""
    palette: Pixels | None = None
    transparency: bytes = b""
    gamma: int = 0

    @property
    def channels(self) -> int:
        """Number of channels of the decoded pixels, as TensorFlow counts them."""
        if self.colour == _PALETTE:
            return 4 if self.transparency else 3
        return _SAMPLES[self.colour]


def read_png(data: bytes) -> PngFile:
    """Read the chunks of a PNG file.

    Raises:
        DecodeError: The file is cut short, damaged (its checksums tell) or no PNG.
    """
    png: PngFile | None = None
    pieces: list[bytes] = []
    position, end = len(SIGNATURE), len(data)
    while True:
        if position + 12 > end:
            raise _cut(end, position + 12)
        length, kind = struct.unpack_from(">I4s", data, position)
        start, position = position + 8, position + 12 + length
        if position > end:
            raise _cut(end, position)
        body = data[start : position - 4]
        if kind[0] & 0x20 == 0 and zlib.crc32(body, zlib.crc32(kind)) != int.from_bytes(
            data[position - 4 : position], "big"
        ):
            raise _damaged(f"the checksum of its chunk {kind!r} is wrong")
        if kind == b"IDAT":
            pieces.append(body)
        elif kind == b"IHDR" and png is None:
            png = _read_header(body)
        elif png is None:
            raise _damaged("it does not begin with a header")
        elif kind == b"IEND":
            break
        else:
            _read_extra(png, kind, body)
    png.data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
    return png


def _read_header(body: bytes) -> PngFile:
    if len(body) != 13:
        raise _damaged(f"its header has {len(body)} bytes, not 13")
    width, height, bits, colour, compression, filtering, interlace = struct.unpack(">IIBBBBB", body)
    if bits not in _DEPTHS.get(colour, ()) or compression or filtering or interlace > 1:
        raise _damaged(f"its header says colour type {colour} with {bits} bits")
    return PngFile(height, width, bits, colour, bool(interlace))


def _read_extra(png: PngFile, kind: bytes, body: bytes) -> None:
    if kind == b"PLTE":
        if not body or len(body) % 3 or len(body) > 768:
            raise _damaged(f"its palette has {len(body)} bytes")
        png.palette = np.frombuffer(body, np.uint8).reshape(-1, 3)
    elif kind == b"tRNS":
        # libpng ignores more alphas than there are colours.
        fits = png.colour != _PALETTE or png.palette is None or len(body) <= len(png.palette)
        png.transparency = body if fits else b""
    elif kind == b"sRGB":
        png.gamma = _SRGB_GAMMA
    elif kind == b"gAMA" and len(body) == 4 and png.gamma != _SRGB_GAMMA:
        gamma = int.from_bytes(body, "big")
        # What is as good as linear does not count.
        png.gamma = gamma if abs(gamma - 100000) > 5000 and 16 <= gamma <= 625000000 else 0


def decode_png(
    data: bytes,
    channels: int | None,
    dtype: np.dtype[Any],
    size: Size = (None, None),
    *,
    out: Pixels | None = None,
) -> Pixels:
    """The pixels of a PNG file.

    Args:
        data: The file.
        channels: 1 to 4; None gives what the file has.
        dtype: uint8 or uint16.
        size: The declared height and width.
        out: Where the pixels have its shape and dtype they are put there.

    Returns:
        `(height, width, channels)` of `dtype`; `out` itself where they fit there.

    Raises:
        DecodeError: The file is damaged, or larger or smaller than declared.
    """
    if _KERNEL is not None and (channels is None or channels <= 4):
        found = _KERNEL.decode(data, channels, size, limits.MAX_PIXELS, out)
        if found is not None:
            return put(fit(found, channels, dtype, widen=257), out)
    # Rare or damaged, which is for the following to tell.
    png = read_png(data)
    check_size(png.height, png.width, size)
    pixels = _unpack(png)
    if png.colour == _PALETTE:
        pixels = _look_up(png, pixels)
    elif png.transparency and channels in (2, 4):
        pixels = _add_alpha(png, pixels)
    if png.bits < 8 and png.colour == _GRAY:
        pixels[..., :1] *= np.uint8(255 // ((1 << png.bits) - 1))
    return put(fit(pixels, channels, dtype, widen=257, gamma=png.gamma), out)


# From the zlib stream to samples.


def _unpack(png: PngFile) -> Pixels:
    """The samples as they are stored: uint8, or uint16 where they have 16 bits."""
    rows = _inflate(png)
    if png.bits < 8:
        return _unfilter(png, rows, "P", f"P;{png.bits}")
    if png.bits == 8:
        mode = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}[_SAMPLES[png.colour]]
        return _unfilter(png, rows, mode, mode)
    if png.colour in (_GRAY, _GRAY_ALPHA):
        # Read as 8-bit samples, twice as many: the same number of bytes a pixel.
        mode = {_GRAY: "LA", _GRAY_ALPHA: "RGBA"}[png.colour]
        return _unfilter(png, rows, mode, mode).view(">u2").astype(np.uint16)
    # Pillow keeps one byte of each sample: the first of a big-endian one, or, read as if it
    # were little-endian, the second.
    mode = {_RGB: "RGB", _RGBA: "RGBA"}[png.colour]
    high, low = (_unfilter(png, rows, mode, f"{mode};16{order}") for order in "BL")
    return high.astype(np.uint16) << 8 | low


def _inflate(png: PngFile) -> bytes:
    """The filtered rows: exactly as many bytes as the header declares."""
    size = _rows_size(png)
    # Nothing is allocated that the stream cannot fill.
    if size <= _MAX_RATIO * len(png.data):
        try:
            rows = zlib.decompressobj().decompress(png.data, size)
        except zlib.error as error:
            raise _damaged(f"its pixels cannot be unpacked: {error}") from error
        if len(rows) == size:
            return rows
    raise _damaged(f"its pixels are incomplete: {png.height} x {png.width} are declared")


def _rows_size(png: PngFile) -> int:
    bits = png.bits * _SAMPLES[png.colour]
    if not png.interlaced:
        return png.height * (1 + (png.width * bits + 7) // 8)
    size = 0
    for top, left, down, right in _ADAM7:
        height, width = -(-(png.height - top) // down), -(-(png.width - left) // right)
        if height > 0 and width > 0:
            size += height * (1 + (width * bits + 7) // 8)
    return size


def _unfilter(png: PngFile, rows: bytes, mode: str, raw_mode: str) -> Pixels:
    from PIL import Image

    # Pillow wants a zlib stream: this one is stored, not compressed.
    stream = zlib.compress(rows, 0)
    try:
        image = Image.frombytes(
            mode, (png.width, png.height), stream, "zip", (raw_mode, png.interlaced)
        )
    except ValueError as error:
        raise _damaged("its rows have filters that do not exist") from error
    array = np.frombuffer(image.tobytes(), np.uint8).reshape(png.height, png.width, -1)
    return array.copy()  # so that it can be written to


def _look_up(png: PngFile, indices: Pixels) -> Pixels:
    if png.palette is None:
        raise _damaged("it has no palette")
    # An index beyond the palette is black, as with libpng.
    colours = np.zeros((256, 4 if png.transparency else 3), np.uint8)
    colours[: len(png.palette), :3] = png.palette
    if png.transparency:
        alpha = np.frombuffer(png.transparency, np.uint8)[:256]
        colours[:, 3] = 255
        colours[: len(alpha), 3] = alpha
    return colours[indices[..., 0]]


def _add_alpha(png: PngFile, samples: Pixels) -> Pixels:
    """Alpha 0 for the one transparent colour of a gray or RGB file, else opaque."""
    count = samples.shape[-1]
    if count not in (1, 3) or len(png.transparency) != 2 * count:
        return samples
    colour = np.frombuffer(png.transparency, ">u2") & ((1 << png.bits) - 1)
    opaque = np.iinfo(samples.dtype).max
    alpha = np.where((samples == colour).all(-1, keepdims=True), 0, opaque)
    return np.concatenate([samples, alpha.astype(samples.dtype)], axis=-1)


def _cut(length: int, wanted: int) -> DecodeError:
    return DecodeError(
        f"the PNG file is cut short: it has {length} bytes and needs {wanted} or more",
        hint="copy or download the file again",
    )


def _damaged(why: str) -> DecodeError:
    return DecodeError(f"the PNG file is damaged: {why}", hint="copy or download the file again")


# From samples to a file.


def encode_png(pixels: Pixels) -> bytes:
    """A PNG file of the pixels: the same bytes each time.

    Args:
        pixels: `(height, width, channels)`, uint8 or uint16; 1 to 4 channels are gray,
            gray + alpha, RGB and RGBA. None of the sizes is 0.
    """
    height, width, channels = pixels.shape
    size = pixels.dtype.itemsize
    header = struct.pack(">IIBBBBB", width, height, 8 * size, _COLOUR_TYPES[channels], 0, 0, 0)
    rows = np.ascontiguousarray(pixels, f">u{size}").view(np.uint8).reshape(height, -1)
    stream = zlib.compressobj(_LEVEL, zlib.DEFLATED, strategy=zlib.Z_FILTERED)
    data = stream.compress(_filter(rows, size * channels)) + stream.flush()
    chunks = ((b"IHDR", header), (b"IDAT", data), (b"IEND", b""))
    return SIGNATURE + b"".join(_chunk(kind, body) for kind, body in chunks)


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I4s", len(body), kind) + body + struct.pack(">I", zlib.crc32(kind + body))


def _filter(rows: Pixels, step: int) -> bytes:
    """Filter each row as leaves the smallest differences; the filter's number goes first.

    Args:
        rows: `(height, bytes)` uint8, contiguous.
        step: Bytes a pixel.
    """
    filtered = None if _KERNEL is None else _KERNEL.filter_rows(rows, step)
    return _filter_slowly(rows, step) if filtered is None else filtered


def _filter_slowly(rows: Pixels, step: int) -> bytes:
    count = max(1, _BLOCK // rows.shape[1])
    starts = range(0, len(rows), count)
    padded = np.pad(rows, ((1, 0), (step, 0)))
    return b"".join(_filter_block(padded[start : start + 1 + count], step) for start in starts)


def _filter_block(padded: Pixels, step: int) -> bytes:
    """Filter all rows but the first, which is the one above; a pixel of zeros is to the left."""
    rows = padded[1:, step:]
    left, above, corner = padded[1:, :-step], padded[:-1, step:], padded[:-1, :-step]
    a, b, c = (part.astype(np.int16) for part in (left, above, corner))
    # The neighbour nearest to left + above - corner, the first one where there is a tie.
    to_a, to_b, to_c = np.abs(b - c), np.abs(a - c), np.abs(a + b - 2 * c)
    above_or_corner = np.where(to_b <= to_c, above, corner)
    paeth = np.where((to_a <= to_b) & (to_a <= to_c), left, above_or_corner)
    average = ((a + b) >> 1).astype(np.uint8)
    filtered = np.stack([rows, rows - left, rows - above, rows - average, rows - paeth])
    cost = np.minimum(filtered, -filtered).sum(axis=2, dtype=np.int64)
    best = cost.argmin(axis=0).astype(np.uint8)
    return np.column_stack([best, filtered[best, np.arange(len(rows))]]).tobytes()
