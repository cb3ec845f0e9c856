"""Makes PNG files of every kind, with no code but zlib's, and damages them."""

import itertools
import struct
import zlib

import numpy as np
from pictures import chunk
from wire_messages import damaged

SIGNATURE = b"\x89PNG\r\n\x1a\n"
SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
KINDS = [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16), (3, 1), (3, 2), (3, 4), (3, 8)]
KINDS += [(4, 8), (4, 16), (6, 8), (6, 16)]
"""Colour types with their bits a sample."""


def png_file(samples, colour, bits, *, filters=(0,), stream=None, before=(), cuts=(), after=()):
    """A file of `(height, width, samples a pixel)`.

    Args:
        filters: Of the rows, in turn.
        stream: The zlib stream, or a function that makes it of the filtered rows.
        before: Chunks, as kind and body, before the pixels.
        cuts: Where the stream is cut into IDAT chunks.
        after: Chunks after the pixels.
    """
    height, width, _ = samples.shape
    header = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0)
    if not isinstance(stream, bytes):
        stream = (stream or zlib.compress)(filtered_rows(samples, bits, filters))
    edges = [0, *sorted(cuts), len(stream)]
    pieces = [stream[start:end] for start, end in itertools.pairwise(edges)]
    chunks = [(b"IHDR", header), *before, *((b"IDAT", piece) for piece in pieces), *after]
    return SIGNATURE + b"".join(chunk(*each) for each in [*chunks, (b"IEND", b"")])


def filtered_rows(samples, bits, filters):
    step = max(1, samples.shape[-1] * bits // 8)
    above = None
    parts = []
    for y, row in enumerate(packed_rows(samples, bits)):
        above = above or bytes(len(row))
        kind = filters[y % len(filters)]
        parts.append(bytes([kind]) + filtered(kind, row, above, step))
        above = row
    return b"".join(parts)


def packed_rows(samples, bits):
    rows = samples.reshape(len(samples), -1)
    if bits == 16:
        return [row.astype(">u2").tobytes() for row in rows]
    if bits == 8:
        return [row.astype(np.uint8).tobytes() for row in rows]
    digits = rows[..., None] >> np.arange(bits - 1, -1, -1) & 1
    return [np.packbits(row.astype(np.uint8)).tobytes() for row in digits]


def filtered(kind, row, above, step):
    out = bytearray()
    for i, (x, b) in enumerate(zip(row, above, strict=True)):
        a, c = (row[i - step], above[i - step]) if i >= step else (0, 0)
        nearest = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
        out.append((x - (0, a, b, (a + b) // 2, nearest)[kind]) & 255)
    return bytes(out)


def one_row(content):
    """A file whose pixels are a single row, the filter's number in front: any bytes at all."""
    return raw_stream(zlib.compress(content), len(content))


def raw_stream(stream, size):
    """A gray file of one row, with a stream that unpacks to `size` bytes, or does not."""
    return png_file(np.zeros((1, size - 1, 1), np.uint8), 0, 8, stream=stream)


# At random.


def compressor(rng):
    """Some way to compress: stored, fixed and own codes, one or several blocks."""
    level = rng.choice([0, 1, 6, 9])
    strategy = rng.choice([zlib.Z_DEFAULT_STRATEGY, zlib.Z_FILTERED, zlib.Z_FIXED])
    strategy = rng.choice([strategy, zlib.Z_HUFFMAN_ONLY, zlib.Z_RLE])
    window = rng.choice([9, 12, 15])
    flush = rng.choice([zlib.Z_NO_FLUSH, zlib.Z_SYNC_FLUSH, zlib.Z_FULL_FLUSH])

    def compress(data):
        packer = zlib.compressobj(level, zlib.DEFLATED, window, rng.choice([1, 8, 9]), strategy)
        middle = rng.randrange(len(data) + 1)
        return (
            packer.compress(data[:middle])
            + packer.flush(flush)
            + packer.compress(data[middle:])
            + packer.flush()
        )

    return compress


def random_samples(rng, colour, bits, size=None):
    """Noise, plain areas, or something between."""
    height, width = size or (rng.randrange(1, 12), rng.randrange(1, 20))
    numbers = np.random.default_rng(rng.getrandbits(32))
    samples = numbers.integers(0, 1 << bits, (height, width, SAMPLES[colour]))
    way = rng.randrange(3)
    if way == 1:
        samples[:] = samples[:1, :1]
    elif way == 2:
        samples = np.cumsum(samples % 3, 1) + np.cumsum(samples % 2, 0) & (1 << bits) - 1
    return samples


def random_chunks(rng, colour, bits):
    """Chunks before the pixels: usual ones, and some odd ones."""
    chunks = []
    if colour == 3 or rng.random() < 0.1:
        chunks.append((b"PLTE", rng.randbytes(3 * rng.choice([1, 2, 1 << min(bits, 8), 256]))))
    if rng.random() < 0.4:
        size = rng.choice([0, 1, 2, 2 * SAMPLES[colour], 300])
        chunks.append((b"tRNS", bytes(size) if rng.random() < 0.5 else rng.randbytes(size)))
    if rng.random() < 0.3:
        chunks.append((b"gAMA", struct.pack(">I", rng.choice([0, 45455, 100000, 2**31]))))
    if rng.random() < 0.2:
        chunks.append((b"sRGB", b"\0"))
    if rng.random() < 0.3:
        chunks.append((rng.choice([b"tEXt", b"prVt", b"ABCD"]), rng.randbytes(5)))
    if rng.random() < 0.2:
        rng.shuffle(chunks)
    return chunks


def random_png(rng):
    colour, bits = rng.choice(KINDS)
    samples = random_samples(rng, colour, bits)
    filters = [rng.randrange(5) for _ in range(5)]
    stream = compressor(rng)(filtered_rows(samples, bits, filters))
    cuts = [rng.randrange(len(stream) + 1) for _ in range(rng.choice([0, 0, 1, 4]))]
    chunks = random_chunks(rng, colour, bits)
    after = random_chunks(rng, colour, bits) if rng.random() < 0.1 else ()
    return png_file(samples, colour, bits, stream=stream, before=chunks, cuts=cuts, after=after)


def split_chunks(data):
    """`(kind, body)` of the chunks that are whole, and what follows them."""
    position, chunks = len(SIGNATURE), []
    while position + 12 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, position)
        if position + 12 + length > len(data):
            break
        chunks.append((kind, data[position + 8 : position + 8 + length]))
        position += 12 + length
    return chunks, data[position:]


def damaged_png(rng, data):
    """Damage anywhere, or within a chunk, whose checksum is then right again."""
    chunks, rest = split_chunks(data)
    way = rng.randrange(8)
    if way == 0 or not chunks:
        return damaged(rng, data)
    place = rng.randrange(len(chunks))
    kind, body = chunks[place]
    if way == 1:
        chunks.insert(rng.randrange(len(chunks) + 1), chunks.pop(place))
    elif way == 2:
        chunks.insert(rng.randrange(len(chunks) + 1), chunks[place])
    elif way == 3 and kind == b"IDAT":
        chunks[place] = kind, repacked(rng, body)
    else:
        chunks[place] = kind, damaged(rng, body)
    return SIGNATURE + b"".join(chunk(*each) for each in chunks) + rest


def repacked(rng, stream):
    """The same rows, damaged, in a stream that is whole."""
    try:
        rows = zlib.decompressobj().decompress(stream, 100_000)
    except zlib.error:
        return damaged(rng, stream)
    return compressor(rng)(damaged(rng, rows))
