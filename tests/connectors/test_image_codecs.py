"""Encoded pictures: every form of every format, damaged and hostile ones."""

import io
import pathlib
import struct
import subprocess
import sys
import zlib

import numpy as np
import pictures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as PilImage

from featurekit.connectors.image_codecs import limits
from featurekit.connectors.image_codecs.channels import fit
from featurekit.connectors.image_codecs.files import ImageHeader, decode_image, read_header
from featurekit.connectors.image_codecs.gif import gif_frames
from featurekit.connectors.image_codecs.jpeg import decode_jpeg, encode_jpeg
from featurekit.connectors.image_codecs.png import decode_png, encode_png
from featurekit.errors import DecodeError

DATA = pathlib.Path(__file__).parent.parent / "data" / "image_codecs"
UINT8, UINT16 = np.dtype(np.uint8), np.dtype(np.uint16)


def tensorflow(name):
    """`(file, channels, dtype, pixels)` by name, as TensorFlow decodes them."""
    arrays = dict(np.load(DATA / name))
    for key, pixels in arrays.items():
        file, _, asked = key.partition("/")
        if asked:
            yield pytest.param(arrays[file].tobytes(), int(asked[0]), pixels, id=key)


# Levels by which a decoder that is not libjpeg-turbo's fast one may differ.
ONE, SOME = 1, 6


@pytest.mark.parametrize(
    ("data", "channels", "pixels"), [*tensorflow("png.npz"), *tensorflow("gif_bmp.npz")]
)
def test_pixels_are_those_of_tensorflow(data, channels, pixels):
    decoded = decode_image(data, channels, pixels.dtype)
    assert (decoded.dtype, decoded.shape) == (pixels.dtype, pixels.shape)
    np.testing.assert_array_equal(decoded, pixels)
    assert decoded.flags.writeable


@pytest.mark.parametrize(("data", "channels", "pixels"), [*tensorflow("jpeg.npz")])
def test_pixels_of_jpeg_are_those_of_tensorflow(data, channels, pixels, request):
    name = request.node.callspec.id.partition("/")[0]
    levels = {"cmyk": ONE, "subsampling_311": SOME, "extra_bytes_in_the_header": SOME}.get(name, 0)
    decoded = decode_image(data, channels, pixels.dtype)
    assert (decoded.dtype, decoded.shape) == (pixels.dtype, pixels.shape)
    difference = np.abs(decoded.astype(int) - pixels.astype(int)).max()
    assert difference <= (levels if pixels.dtype == np.uint8 else 256 * levels)
    assert decoded.flags.writeable


def test_the_accurate_transform_gives_the_pixels_of_pillow(tmp_path):
    path = tmp_path / "x.jpg"
    path.write_bytes(pictures.save(pictures.noise((33, 47, 3)), "JPEG"))
    accurate = decode_jpeg(path.read_bytes(), 3, UINT8, dct="accurate")
    np.testing.assert_array_equal(accurate, np.asarray(PilImage.open(path)))
    assert not np.array_equal(accurate, decode_jpeg(path.read_bytes(), 3, UINT8))


@pytest.mark.parametrize("bits", [1, 2, 4])
@pytest.mark.parametrize("kind", ["gray", "palette"])
def test_few_bits_without_alpha_are_opaque(kind, bits):
    data = np.load(DATA / "png.npz")[f"{kind}_{bits}"].tobytes()
    decoded = decode_png(data, 4, UINT8)
    assert (decoded[..., 3] == 255).all()
    np.testing.assert_array_equal(decoded[..., :3], decode_png(data, 3, UINT8))


def test_cmyk_becomes_gray():
    data = np.load(DATA / "jpeg.npz")["cmyk"].tobytes()
    colour = decode_jpeg(data, 3, UINT8)
    difference = decode_jpeg(data, 1, UINT8).astype(int) - fit(colour, 1, UINT8)
    assert np.abs(difference).max() <= 1


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("size", [(1, 1), (2, 31), (17, 3)])
@pytest.mark.parametrize("smooth", [False, True])
def test_png_gives_back_what_it_took(size, channels, dtype, smooth):
    pixels = pictures.noise((*size, channels), dtype)
    if smooth:
        pixels = np.cumsum(np.cumsum(pixels % 5, 0), 1).astype(dtype)
    data = encode_png(pixels)
    assert data == encode_png(np.asfortranarray(pixels))
    decoded = decode_png(data, None, np.dtype(dtype))
    assert decoded.dtype == dtype
    np.testing.assert_array_equal(decoded, pixels)
    if dtype == np.uint8:
        theirs = np.asarray(PilImage.open(io.BytesIO(data)))
        np.testing.assert_array_equal(theirs.reshape(pixels.shape), pixels)


def test_alpha_and_colour_make_every_number_of_channels():
    rgba = np.array([[[10, 200, 30, 7]]], np.uint8)
    assert fit(rgba, 3, UINT8).tolist() == [[[10, 200, 30]]]
    assert fit(rgba, 2, UINT8).tolist() == [[[123, 7]]]  # 123.8, cut off
    assert fit(rgba, 1, UINT8).tolist() == [[[123]]]
    assert fit(rgba[..., :1], 4, UINT8).tolist() == [[[10, 10, 10, 255]]]
    assert fit(rgba, None, UINT16).tolist() == [[[2560, 51200, 7680, 1792]]]
    wide = np.array([[[0x1234, 0x8000]]], np.uint16)
    assert fit(wide, 4, UINT16).tolist() == [[[0x1234, 0x1234, 0x1234, 0x8000]]]
    assert fit(wide, None, UINT8).tolist() == [[[0x12, 0x80]]]
    assert fit(rgba, 4, UINT8) is rgba


@pytest.mark.parametrize("disposal", [1, 2])
def test_frames_of_a_gif_are_what_a_viewer_shows(disposal):
    """A spot that moves to the right; with disposal 2 the background comes back first."""
    data = np.load(DATA / "gif_bmp.npz")[f"gif_disposal_{disposal}"].tobytes()
    frames = np.zeros((3, 6, 8, 3), np.uint8)
    for column in range(3):
        frames[column, 2:4, column : column + 2] = (200, 100, 50)
    np.testing.assert_array_equal(list(gif_frames(data)), frames)


@pytest.mark.parametrize(
    ("data", "header"),
    [
        (pictures.png(pictures.noise((2, 3, 4))), ImageHeader("PNG", 2, 3, 4)),
        (pictures.png(pictures.noise((2, 3), np.uint16)), ImageHeader("PNG", 2, 3, 1, bits=16)),
        (pictures.save(pictures.noise((2, 3, 3)), "JPEG"), ImageHeader("JPEG", 2, 3, 3)),
        (pictures.save(pictures.noise((2, 3)), "JPEG"), ImageHeader("JPEG", 2, 3, 1)),
        (pictures.gif(pictures.noise((4, 2, 3, 3))), ImageHeader("GIF", 2, 3, 3, frames=4)),
        (pictures.save(pictures.noise((2, 3, 3)), "BMP"), ImageHeader("BMP", 2, 3, 3)),
    ],
    ids=lambda value: value.format if isinstance(value, ImageHeader) else "",
)
def test_headers(data, header):
    assert read_header(data) == header


# Damaged and hostile files.

WHOLE = {
    "png": pictures.png(pictures.noise((9, 7, 3))),
    "palette": pictures.save(
        PilImage.fromarray(pictures.noise((9, 7, 3))).convert("P"), "PNG", transparency=3
    ),
    "png16": encode_png(pictures.noise((9, 7, 4), np.uint16)),
    "jpeg": pictures.save(pictures.noise((19, 17, 3)), "JPEG"),
    "progressive": pictures.save(pictures.noise((19, 17)), "JPEG", progressive=True),
    "gif": pictures.gif(pictures.noise((3, 9, 7, 3))),
    "bmp": pictures.save(pictures.noise((9, 8, 3)), "BMP"),
}
every_file = pytest.mark.parametrize("data", WHOLE.values(), ids=WHOLE.keys())


@every_file
def test_a_file_cut_anywhere_is_refused(data):
    assert decode_image(data, 3, UINT8).size
    for length in range(len(data)):
        with pytest.raises(DecodeError):
            decode_image(data[:length], 3, UINT8)


@every_file
def test_what_follows_the_end_does_not_count(data):
    for rest in (b"\0", b"\xff", b"something else" * 9):
        decoded = decode_image(data + rest, 3, UINT8)
        np.testing.assert_array_equal(decoded, decode_image(data, 3, UINT8))


@every_file
@given(change=st.data())
def test_a_damaged_file_is_decoded_or_refused(data, change):
    damaged = bytearray(data)
    for _ in range(change.draw(st.integers(1, 3))):
        position = change.draw(st.integers(0, len(damaged) - 1))
        size = change.draw(st.integers(0, 4))
        damaged[position : position + size] = change.draw(st.binary(max_size=4))
    try:
        decode_image(bytes(damaged), change.draw(st.sampled_from([None, 1, 3, 4])), UINT8)
        read_header(bytes(damaged))
    except DecodeError:
        pass


def test_a_damaged_png_is_never_decoded():
    data = WHOLE["png"]
    for position in range(len(data)):
        damaged = bytearray(data)
        damaged[position] ^= 0x55
        with pytest.raises(DecodeError):
            decode_image(bytes(damaged), 3, UINT8)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "expected the bytes of a picture, got none\n  hint: the file is empty"),
        (
            b"junk",
            "expected a PNG, JPEG, GIF or BMP file, got b'junk'\n"
            "  hint: give the bytes of the file, a path, an array or a PIL image",
        ),
        (
            b"RIFF\0\0\0\0WEBPVP8 ",
            "the file is WebP, which TFDS does not read as a picture\n"
            "  hint: convert it to PNG or JPEG, or give the pixels as an array",
        ),
        (
            WHOLE["png"][:-5],
            f"the PNG file is cut short: it has {len(WHOLE['png']) - 5} bytes and needs "
            f"{len(WHOLE['png'])} or more\n  hint: copy or download the file again",
        ),
        (
            WHOLE["jpeg"][:-1],
            "the JPEG file is cut short: its end is missing\n"
            "  hint: copy or download the file again",
        ),
        (
            WHOLE["gif"][:-1],
            "the GIF file is damaged: it is cut short\n  hint: copy or download the file again",
        ),
        (
            pictures.png(pictures.noise((2, 2)), size=(60000, 60000)),
            "60000 x 60000 pixels pass the limit of 178956970 pixels\n"
            "  hint: the file is damaged or hostile; if you trust it, raise "
            "featurekit.connectors.image_codecs.limits.MAX_PIXELS",
        ),
        (
            pictures.png(pictures.noise((2, 2)), size=(9000, 9000)),
            "the PNG file is damaged: its pixels are incomplete: 9000 x 9000 are declared\n"
            "  hint: copy or download the file again",
        ),
        (
            pictures.png(pictures.noise((2, 2)), size=(3, 2)),
            "the PNG file is damaged: its pixels are incomplete: 3 x 2 are declared\n"
            "  hint: copy or download the file again",
        ),
        (
            pictures.png(pictures.noise((2, 2)), size=(0, 2)),
            "a picture of 0 x 2 pixels is empty",
        ),
        (
            pictures.png(pictures.noise((2, 2)), data=zlib.compress(b"\7ab\0cd")),
            "the PNG file is damaged: its rows have filters that do not exist\n"
            "  hint: copy or download the file again",
        ),
        (
            pictures.png(pictures.noise((2, 2)), data=b"no zlib stream"),
            "the PNG file is damaged: its pixels cannot be unpacked: Error -3 while "
            "decompressing data: incorrect header check\n  hint: copy or download the file again",
        ),
    ],
    ids=range(12),
)
def test_messages(data, message):
    with pytest.raises(DecodeError) as caught:
        decode_image(data, 3, UINT8)
    assert str(caught.value) == message


@pytest.mark.parametrize("name", ["webp", "tiff"])
def test_other_formats_are_named(name):
    data = pictures.save(pictures.noise((4, 4, 3)), name.upper())
    with pytest.raises(DecodeError, match=f"(?i)the file is {name}, which TFDS"):
        decode_image(data, 3, UINT8)


def test_a_small_file_that_unpacks_to_much_gives_what_is_declared():
    bomb = zlib.compress(bytes(50_000_000))
    data = pictures.png(pictures.noise((2, 2)), data=bomb)
    assert decode_png(data, 1, UINT8).shape == (2, 2, 1)


@pytest.mark.parametrize("kind", ["jpeg", "gif", "bmp"])
def test_a_picture_beyond_the_limit_is_not_allocated(kind):
    data = bytearray(WHOLE[kind])
    if kind == "jpeg":
        start = data.index(b"\xff\xc0") + 5
        data[start : start + 4] = struct.pack(">HH", 65000, 65000)
    elif kind == "gif":
        data[6:10] = struct.pack("<HH", 65000, 65000)
    else:
        data[18:26] = struct.pack("<ii", 65000, 65000)
    with pytest.raises(DecodeError, match="65000 x 65000 pixels pass the limit"):
        decode_image(bytes(data), 3, UINT8)


def test_the_limit_counts_all_frames_and_can_be_raised(monkeypatch):
    data = pictures.gif(pictures.noise((3, 9, 7, 3)))
    monkeypatch.setattr(limits, "MAX_PIXELS", 100)
    with pytest.raises(DecodeError, match="3 frames of 9 x 7 pixels pass the limit of 100"):
        decode_image(data, 3, UINT8)
    monkeypatch.setattr(limits, "MAX_PIXELS", 3 * 9 * 7)
    assert decode_image(data, 3, UINT8).shape == (3, 9, 7, 3)


def test_a_size_that_is_not_the_declared_one_is_refused():
    with pytest.raises(DecodeError) as caught:
        decode_image(WHOLE["png"], 3, UINT8, (None, 8))
    assert str(caught.value) == (
        "expected a picture of any x 8 pixels (height x width), got one of 9 x 7\n"
        "  hint: resize the picture, or declare None for the sizes that vary"
    )


def test_gray_jpeg_is_written_with_one_component():
    data = encode_jpeg(pictures.noise((9, 7, 1)))
    assert read_header(data).channels == 1
    assert b"\x01\x01\x2c\x01\x2c" in data  # 300 x 300 dots an inch


def test_importing_the_connectors_imports_no_codec():
    code = (
        "import sys, featurekit.connectors.labeled_image, featurekit.connectors.video; "
        "sys.exit(len({'PIL', 'simplejpeg', 'av'} & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("channels", [5, 10**12])
def test_more_channels_than_pictures_have(channels):
    data = encode_png(np.zeros((2, 2, 3), np.uint8))
    with pytest.raises(DecodeError, match=f"at most 4 channels, and the feature has {channels}"):
        decode_png(data, channels, np.dtype(np.uint8))
