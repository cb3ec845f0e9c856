"""The compiled PNG decoder against the Python code that specifies it, on the same bytes."""

import io
import pathlib
import random
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pictures
import png_files
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as PilImage

from featurekit.connectors.image_codecs import limits, png
from featurekit.errors import DecodeError

pytest.importorskip("featurekit.native.png", exc_type=ImportError)

import differential_png as differential

DATA = pathlib.Path(__file__).parent.parent / "data"
UINT8 = np.dtype(np.uint8)
kinds = pytest.mark.parametrize(("colour", "bits"), png_files.KINDS)


def samples(colour, bits, size=(6, 11)):
    return png_files.random_samples(random.Random(1), colour, bits, size)


def palette(bits):
    return (b"PLTE", random.Random(2).randbytes(3 << bits))


def chunks_for(colour, bits):
    return [palette(bits)] if colour == 3 else []


# Files that others made.

PICTURES = dict(np.load(DATA / "image_codecs" / "png.npz"))
FILES = {key: data.tobytes() for key, data in PICTURES.items() if "/" not in key}


@pytest.mark.parametrize("name", FILES)
def test_pictures_of_every_form(name):
    taken = differential.check(FILES[name])
    assert taken == ("interlaced" not in name and "adam7" not in name), name


def stored_pngs(path):
    """The PNG files in a file of records."""
    data = path.read_bytes()
    start = data.find(png.SIGNATURE)
    while start >= 0:
        end = data.find(b"IEND\xaeB`\x82", start) + 8
        yield data[start:end]
        start = data.find(png.SIGNATURE, end)


RECORD_FILES = [
    path
    for path in sorted((DATA / "tfds").rglob("*.tfrecord*"))
    if path.is_file() and png.SIGNATURE in path.read_bytes()
]


@pytest.mark.parametrize("path", RECORD_FILES, ids=lambda path: path.parent.parent.name)
def test_stored_pictures(path):
    for data in stored_pngs(path):
        assert differential.check(data)
        assert differential.check_encoding(data) is None


def test_there_are_stored_pictures():
    assert len(RECORD_FILES) > 3


# Files made here, whose pixels are known.


@kinds
@pytest.mark.parametrize("filters", [[0], [1], [2], [3], [4], [4, 3, 2, 1, 0]], ids=str)
@pytest.mark.parametrize("size", [(1, 1), (1, 9), (7, 1), (6, 11), (3, 32)], ids=str)
def test_every_filter(colour, bits, filters, size):
    stored = samples(colour, bits, size)
    before = chunks_for(colour, bits)
    data = png_files.png_file(stored, colour, bits, filters=filters, before=before)
    assert differential.check(data)
    found = differential.decode(data)
    if colour == 3:
        stored = np.frombuffer(before[0][1], np.uint8).reshape(-1, 3)[stored[..., 0]]
    elif bits < 8:
        stored = stored * 255 // ((1 << bits) - 1)
    assert found.dtype == (np.uint16 if bits == 16 else np.uint8)
    np.testing.assert_array_equal(found, stored)
    assert found.flags.writeable
    assert found.flags.owndata


@kinds
def test_pixels_are_those_of_pillow(colour, bits):
    stored = samples(colour, bits)
    before = chunks_for(colour, bits)
    data = png_files.png_file(stored, colour, bits, filters=[4, 1, 3], before=before)
    image = PilImage.open(io.BytesIO(data))
    mode = {0: "L", 2: "RGB", 3: "RGB", 4: "LA", 6: "RGBA"}[colour]
    found = differential.decode(data)
    if bits == 16 and colour == 0:
        theirs = np.asarray(image)[..., None]
    else:  # of other files with 16 bits, Pillow keeps the higher 8
        theirs = np.asarray(image.convert(mode)).reshape(found.shape)
        found = (found >> 8).astype(np.uint8) if bits == 16 else found
    np.testing.assert_array_equal(found, theirs)


@kinds
@pytest.mark.parametrize("transparency", [0, 1, 2, 6, 256, 300])
def test_transparency(colour, bits, transparency):
    stored = samples(colour, bits)
    alpha = (b"tRNS", bytes(range(transparency % 256)) + b"\1" * (transparency // 256))
    before = [*chunks_for(colour, bits), alpha]
    for chunks in (before, before[::-1], [*before, (b"tRNS", b"\5")]):
        differential.check(png_files.png_file(stored, colour, bits, before=chunks))


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 6, 300, 768, 771, 900])
@kinds
def test_palettes(colour, bits, size):
    """Too small, too large, missing, twice, for colour types that have none, and late."""
    body = random.Random(4).randbytes(size)
    stored = samples(colour, bits)
    for chunks in ([], [(b"PLTE", body)], [(b"PLTE", body), palette(1)]):
        differential.check(png_files.png_file(stored, colour, bits, before=chunks))
        differential.check(png_files.png_file(stored, colour, bits, after=chunks))


@kinds
def test_gamma_matters_for_gray_only(colour, bits):
    before = [*chunks_for(colour, bits), (b"gAMA", (45455).to_bytes(4, "big"))]
    data = png_files.png_file(samples(colour, bits), colour, bits, before=before)
    assert differential.check(data)
    for channels in (1, 2):
        is_colour = colour in (2, 3, 6)
        assert (differential.decode(data, channels) is None) == is_colour


@pytest.mark.parametrize("count", [1, 2, 3, 10, 1000])
def test_the_stream_is_in_several_chunks(count):
    stored = samples(6, 8, (19, 23))
    stream = zlib.compress(png_files.filtered_rows(stored, 8, [0]))
    cuts = [i * len(stream) // count for i in range(count)]
    for before in ([], [(b"tEXt", b"something else")]):
        data = png_files.png_file(stored, 6, 8, cuts=cuts, before=before)
        assert differential.check(data)
        np.testing.assert_array_equal(differential.decode(data), stored)


@pytest.mark.parametrize("kind", [b"tEXt", b"IDAt", b"ABCD", b"IHDR", b"IEND", b"gAMA"])
@pytest.mark.parametrize("body", [b"", b"\0", b"\0\0\xb1\x8f", bytes(13), bytes(999)], ids=len)
def test_other_chunks(kind, body):
    stored = samples(2, 8)
    for place in ("before", "after"):
        data = png_files.png_file(stored, 2, 8, **{place: [(kind, body)]})
        assert differential.check(data) == (kind != b"IEND" or place == "after")
        # What is ancillary may have a wrong checksum.
        at = data.index(kind) if kind != b"IHDR" else data.rindex(kind)
        damaged = bytearray(data)
        damaged[at + 4 + len(body)] ^= 1
        differential.check(bytes(damaged))


@pytest.mark.parametrize("bits", [0, 1, 2, 3, 4, 7, 8, 16, 17, 32])
@pytest.mark.parametrize("colour", range(8))
def test_headers(colour, bits):
    header = png_files.png_file(samples(2, 8), 2, 8)[16:29]
    for at, value in ((10, 0), (10, 1), (11, 1), (12, 1), (12, 2)):
        body = bytearray(header)
        body[8:10] = bits, colour
        body[at] = value
        stream = zlib.compress(bytes(9999))
        chunks = [(b"IHDR", bytes(body)), palette(1), (b"IDAT", stream), (b"IEND", b"")]
        data = png.SIGNATURE + b"".join(pictures.chunk(*each) for each in chunks)
        differential.check(data)
        differential.check(data.replace(b"IDAT", b"IDAT" * 2, 1))


@pytest.mark.parametrize("length", [0, 12, 14])
def test_a_header_of_another_length(length):
    data = png.SIGNATURE + pictures.chunk(b"IHDR", bytes([0, 0, 0, 1] * 4)[:length])
    assert not differential.check(data + pictures.chunk(b"IEND", b""))


# Streams.


def test_streams_of_every_kind():
    rng = random.Random(3)
    content = bytes([0]) + rng.randbytes(700) + b"abcabcab" * 90 + bytes(3000) + rng.randbytes(99)
    for _ in range(100):
        data = png_files.raw_stream(png_files.compressor(rng)(content), len(content))
        assert differential.decode(data) is not None
        assert differential.decode(data).tobytes() == content[1:]


def test_codes_of_every_length():
    """Numbers of Fibonacci's make the longest codes: 15 bits."""
    counts = [1, 1]
    while len(counts) < 22:
        counts.append(counts[-1] + counts[-2])
    content = b"\0" + b"".join(bytes([i]) * count for i, count in enumerate(counts))
    packer = zlib.compressobj(9, zlib.DEFLATED, 15, 9, zlib.Z_HUFFMAN_ONLY)
    rows = bytearray(content)
    random.Random(1).shuffle(rows)
    rows[0] = 0
    data = png_files.raw_stream(packer.compress(rows) + packer.flush(), len(rows))
    assert differential.decode(data).tobytes() == rows[1:]
    assert differential.check(data)


@pytest.mark.parametrize("distance", [1, 2, 3, 7, 8, 9, 255, 4097, 32506, 32768, 33000])
def test_repeats_from_afar(distance):
    pattern = random.Random(1).randbytes(distance)
    content = b"\0" + (pattern * (70_000 // distance + 2))[:70_000]
    data = png_files.one_row(content)
    assert differential.decode(data).tobytes() == content[1:]


@pytest.mark.parametrize("size", [1, 2, 15, 16, 5551, 5552, 5553, 65535, 65536, 300_000])
def test_checksums_of_every_size(size):
    content = b"\0" + b"\xff" * size
    for level in (0, 9):
        data = png_files.raw_stream(zlib.compress(content, level), size + 1)
        assert differential.decode(data).tobytes() == content[1:]
        assert differential.decode(data[:-17] + bytes([data[-17] ^ 1]) + data[-16:]) is None
    wrong = bytearray(zlib.compress(content))
    wrong[-1] ^= 1
    assert not differential.check(png_files.raw_stream(bytes(wrong), size + 1))


def bits_of(*fields):
    """A deflate stream from (value, number of bits), the lowest bits first, behind a header."""
    value = place = 0
    for field, count in fields:
        value |= field << place
        place += count
    return b"\x78\x01" + value.to_bytes(place // 8 + 1, "little")


STREAMS = {
    "nothing": b"",
    "a header": b"\x78\x9c",
    "wrong method": b"\x77\x85" + bytes(9),
    "window too large": b"\x88\x1c" + zlib.compress(bytes(5))[2:],
    "wrong check of the header": b"\x78\x9d" + zlib.compress(bytes(5))[2:],
    "a dictionary": b"\x78\xbb" + zlib.compress(bytes(5))[2:],
    "a block of kind 3": bits_of((1, 1), (3, 2), (0, 64)),
    "stored, with wrong lengths": bits_of((1, 1), (0, 7), (5, 16), (5, 16), (0, 64)),
    "stored, cut": bits_of((1, 1), (0, 7), (5, 16), (0xFFFA, 16), (0, 16)),
    "stored, too long": bits_of((1, 1), (0, 7), (9, 16), (0xFFF6, 16), (0, 128)),
    "a match before the start": bits_of((1, 1), (1, 2), (64, 7), (0, 5), (0, 64)),
    "length code 286": bits_of((1, 1), (1, 2), (0b01100011, 8), (0, 64)),
    "distance code 30": bits_of((1, 1), (1, 2), (12, 8), (64, 7), (0b01111, 5), (0, 64)),
    "287 literals": bits_of((1, 1), (2, 2), (30, 5), (0, 5), (0, 4), (0, 64)),
    "31 distances": bits_of((1, 1), (2, 2), (0, 5), (30, 5), (0, 4), (0, 64)),
    "no code lengths": bits_of((1, 1), (2, 2), (0, 5), (0, 5), (0, 4), (0, 200)),
    "too many code lengths": bits_of((1, 1), (2, 2), (0, 5), (0, 5), (15, 4), (2**57 - 1, 57)),
    "one code length": bits_of((1, 1), (2, 2), (0, 5), (0, 5), (0, 4), (1, 12), (0, 200)),
    "a repeat of nothing": bits_of((1, 1), (2, 2), (0, 5), (0, 5), (0, 4), (0b1001, 12), (0, 99)),
    "zeros": b"\x78\x01" + bytes(99),
    "ones": b"\x78\x01" + b"\xff" * 99,
}


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
def test_streams_that_are_none(stream):
    assert not differential.check(png_files.raw_stream(stream, 5))


@pytest.mark.parametrize("extra", [-9, -2, -1, 1, 2, 9])
@pytest.mark.parametrize("level", [0, 1, 9])
def test_streams_of_another_size(extra, level):
    """One that holds more is read as far as is needed, by the slower way."""
    data = png_files.raw_stream(zlib.compress(bytes(20), level), 20 - extra)
    assert not differential.check(data)


def test_what_follows_the_stream_does_not_count():
    content = bytes(range(50))
    for rest in (b"\0", b"\xff" * 9, bytes(100)):
        data = png_files.raw_stream(zlib.compress(content[:1] + content) + rest, 51)
        assert differential.check(data)


def test_cut_anywhere():
    data = png_files.png_file(samples(2, 8), 2, 8, filters=[1, 4], cuts=[30])
    chunks, _ = png_files.split_chunks(data)
    stream = b"".join(body for kind, body in chunks if kind == b"IDAT")
    for length in range(len(data)):
        assert not differential.check(data[:length])
    for length in range(len(stream)):
        assert not differential.check(
            png_files.png_file(samples(2, 8), 2, 8, stream=stream[:length])
        )


# Damage.


@given(seed=st.integers(0, 2**32), damages=st.integers(0, 3))
def test_files_at_random(seed, damages):
    rng = random.Random(seed)
    data = png_files.random_png(rng)
    for _ in range(damages):
        data = png_files.damaged_png(rng, data)
    differential.check(data)
    differential.check_encoding(data)


@given(st.binary(max_size=60), st.integers(2, 300))
def test_any_bytes_as_a_stream(content, size):
    differential.check(png_files.raw_stream(b"\x78\x01" + content, size))


@given(st.binary(max_size=200))
def test_any_bytes_as_chunks(content):
    differential.check(content)
    differential.check(png.SIGNATURE + content)


# Limits and sizes.


@pytest.mark.parametrize("size", [(None, None), (6, 11), (6, None), (7, 11), (6, 12), (0, -1)])
def test_the_declared_size(size):
    data = png_files.png_file(samples(2, 8), 2, 8)
    fits = size[0] in (None, 6) and size[1] in (None, 11)
    assert differential.check(data, size) == fits


@pytest.mark.parametrize("limit", [0, 65, 66, 2**70, float("inf")])
def test_the_limit_of_pixels(limit, monkeypatch):
    monkeypatch.setattr(limits, "MAX_PIXELS", limit)
    assert differential.check(png_files.png_file(samples(2, 8), 2, 8)) == (limit >= 66)


@pytest.mark.parametrize("size", [(0, 5), (5, 0), (2**32 - 1, 2**32 - 1), (1, 2**32 - 1)])
def test_sizes_that_no_stream_fills(size, monkeypatch):
    """Nothing of that size is allocated, even where every size is allowed."""
    monkeypatch.setattr(limits, "MAX_PIXELS", float("inf"))
    data = pictures.png(pictures.noise((2, 2, 4), np.uint16), size=size)
    assert not differential.check(data)


def test_what_is_no_bytes_goes_to_the_slower_way():
    data = bytearray(png_files.png_file(samples(2, 8), 2, 8))
    assert differential.decode(data) is None
    assert differential.decode(np.bytes_(data)) is not None


# Into memory of the caller.


@pytest.mark.parametrize("bits", [8, 16])
def test_pixels_go_where_they_are_wanted(bits):
    data = png_files.png_file(samples(2, bits), 2, bits)
    wanted = differential.decode(data)
    batch = np.zeros((3, *wanted.shape), wanted.dtype)
    row = batch[1]
    assert differential.kernel.decode(data, 3, (None, None), 999, row) is row
    assert png.decode_png(data, 3, wanted.dtype, out=batch[2]).base is batch
    np.testing.assert_array_equal(batch, [wanted * 0, wanted, wanted])


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_pixels_that_are_converted_are_put_there_too(channels):
    data = png_files.png_file(samples(2, 8), 2, 8)
    wanted = png.decode_png(data, channels, np.dtype(np.uint16))
    out = np.zeros_like(wanted)
    assert png.decode_png(data, channels, out.dtype, out=out) is out
    np.testing.assert_array_equal(out, wanted)


def odd_places():
    shape = (6, 11, 3)
    read_only = np.zeros(shape, np.uint8)
    read_only.flags.writeable = False
    return {
        "another height": np.zeros((5, 11, 3), np.uint8),
        "another number of channels": np.zeros((6, 11, 4), np.uint8),
        "two dimensions": np.zeros((66, 3), np.uint8),
        "another dtype": np.zeros(shape, np.int8),
        "wider": np.zeros(shape, np.uint16),
        "strided": np.zeros((6, 11, 6), np.uint8)[..., ::2],
        "turned": np.zeros((3, 11, 6), np.uint8).T,
        "read-only": read_only,
        "nothing": np.zeros((0, 11, 3), np.uint8),
    }


@pytest.mark.parametrize("place", odd_places().values(), ids=odd_places())
def test_places_that_do_not_fit_are_left_alone(place):
    data = png_files.png_file(samples(2, 8), 2, 8)
    found = differential.kernel.decode(data, 3, (None, None), 999, place)
    assert not np.may_share_memory(found, place)
    np.testing.assert_array_equal(found, differential.decode(data))
    assert not place.any()


def test_a_place_of_another_byte_order_is_left_alone():
    data = png_files.png_file(samples(2, 16), 2, 16)
    place = np.zeros((6, 11, 3), ">u2")
    found = differential.kernel.decode(data, 3, (None, None), 999, place)
    assert found is not place
    np.testing.assert_array_equal(found, differential.decode(data))


# Rows to files.


@pytest.mark.parametrize("step", [1, 2, 3, 4, 6, 8])
@pytest.mark.parametrize("size", [(1, 1), (1, 40), (40, 1), (13, 29)], ids=str)
def test_filtering(step, size):
    numbers = np.random.default_rng(step)
    kinds = set()
    for top in (1, 3, 40, 256):
        rows = numbers.integers(0, top, (size[0], size[1] * step)).astype(np.uint8)
        smooth = np.cumsum(np.cumsum(rows, 0), 1).astype(np.uint8)
        for each in (rows, smooth, np.sort(rows, 0), np.sort(rows, 1), rows * np.uint8(0)):
            filtered = differential.check_rows(each, step)
            kinds |= set(filtered[:: 1 + each.shape[1]])
    assert size != (13, 29) or kinds == {0, 1, 2, 3, 4}


def test_filtering_in_blocks(monkeypatch):
    rows = pictures.noise((50, 30)) % 20
    for block in (1, 90, 10_000):
        monkeypatch.setattr(png, "_BLOCK", block)
        differential.check_rows(rows, 3)


def test_rows_of_another_form_are_not_filtered():
    rows = pictures.noise((4, 6))
    for other in (rows[0], rows[:, ::2], rows.astype(np.uint16), rows[:0], rows[:, :2]):
        assert differential.kernel.filter_rows(other, 3) is None
    assert differential.kernel.filter_rows(rows, 0) is None


# In use.


def test_threads_do_not_disturb_each_other():
    arrays = [pictures.noise((60 + i, 90, 3), seed=i) % (1 + 30 * i) for i in range(8)]
    files = [png.encode_png(array) for array in arrays]
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda data: png.decode_png(data, 3, UINT8), files * 20)
        for array, pixels in zip(arrays * 20, found, strict=True):
            np.testing.assert_array_equal(pixels, array)


def test_pillow_is_not_imported():
    code = (
        "import sys, numpy as np\n"
        "from featurekit.connectors.image_codecs.png import decode_png, encode_png\n"
        "pixels = np.zeros((3, 4, 3), np.uint8)\n"
        "decode_png(encode_png(pixels), 3, pixels.dtype)\n"
        "sys.exit('PIL' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_kernel_can_be_left_out(monkeypatch):
    data = png_files.png_file(samples(2, 8), 2, 8)
    wanted = png.decode_png(data, 3, UINT8)
    monkeypatch.setattr(png, "_KERNEL", None)
    np.testing.assert_array_equal(png.decode_png(data, 3, UINT8), wanted)
    with pytest.raises(DecodeError, match="cut short"):
        png.decode_png(data[:-1], 3, UINT8)
