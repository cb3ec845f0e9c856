"""Image: what is taken for a picture, how it is stored, and what it reads back as."""

import io
import pathlib

import golden
import numpy as np
import pictures
import pytest
from PIL import Image as PilImage

from featurekit.connector import Documentation
from featurekit.connectors.class_label import ClassLabel
from featurekit.connectors.features_dict import FeaturesDict
from featurekit.connectors.image import Image
from featurekit.connectors.sequence import Sequence
from featurekit.errors import (
    DecodeError,
    EncodeError,
    EncodeTypeError,
    InvalidArgumentError,
    InvalidTypeError,
    MissingFileError,
)
from featurekit.testing import Bad, Case, ConnectorSuite, assert_same

NAME = "tensorflow_datasets.core.features.image_feature.Image"

RGB = pictures.noise((4, 5, 3))
RGB_PNG = pictures.png(RGB)
GRAY = pictures.noise((4, 5, 1))
WIDE = np.array([[1, 4096], [15000, 65535]], np.uint16)[..., None]
FLOATS = np.array([0, -0.0, np.nan, np.inf, 1e-45, 3.4e38], np.float32).reshape(2, 3, 1)


class TestImage(ConnectorSuite):
    connector = Image()
    valid = (
        Case(value=RGB, id="array"),
        Case(value=np.asfortranarray(RGB[:, ::-1]), id="array in another order"),
        Case(value=RGB_PNG, stored=[RGB_PNG], decoded=RGB, id="bytes"),
        Case(value=bytearray(RGB_PNG), stored=[RGB_PNG], decoded=RGB, id="bytearray"),
        Case(value=lambda: io.BytesIO(RGB_PNG), stored=[RGB_PNG], decoded=RGB, id="open file"),
        Case(value=PilImage.fromarray(RGB), decoded=RGB, id="PIL image"),
        Case(
            value=PilImage.fromarray(GRAY[..., 0]),
            decoded=np.repeat(GRAY, 3, axis=-1),
            id="gray PIL image",
        ),
    )
    invalid = (
        Bad(
            value=RGB.astype(np.int32),
            error=EncodeError,
            message="expected an array of dtype uint8, got one of dtype int32\n"
            "  hint: convert it with array.astype(np.uint8), or declare the dtype that it has",
        ),
        Bad(value=RGB.astype(np.float64), error=EncodeError, match="got one of dtype float64"),
        Bad(
            value=RGB[..., 0],
            error=EncodeError,
            message="expected shape (None, None, 3), got (4, 5)\n"
            "  hint: fix the value, or declare the shape that it has (None for a varying size)",
        ),
        Bad(
            value=pictures.noise((2, 2, 4)),
            error=EncodeError,
            match=r"expected shape \(None, None, 3\), got \(2, 2, 4\)",
        ),
        Bad(
            value=np.zeros((0, 3, 3), np.uint8),
            error=EncodeError,
            message="an array of shape (0, 3, 3) cannot be a png file\n"
            "  hint: sizes are 1 or more, channels 1 to 4 (1 or 3 for jpeg)",
        ),
        Bad(
            value="/does/not/exist.png",
            error=MissingFileError,
            message="there is no such file\n  at: /does/not/exist.png\n  hint: check the path",
        ),
        Bad(
            value=None,
            error=EncodeTypeError,
            message="expected a picture, got NoneType None\n"
            "  hint: give an array, a path, the bytes of a file, an open file or a PIL image",
        ),
        Bad(value=[[1, 2]], error=EncodeTypeError, match="expected a picture, got list"),
        Bad(value=5, error=EncodeTypeError, match="expected a picture, got int 5"),
        Bad(value=b"", error=EncodeError, match="expected the bytes of a picture, got none"),
        Bad(value=b"junk", error=EncodeError, match="expected a PNG, JPEG, GIF or BMP file"),
        Bad(value=RGB_PNG[:-4], error=EncodeError, match="the PNG file is cut short"),
        Bad(
            value=pictures.png(pictures.noise((2, 2, 3), np.uint16)),
            error=EncodeError,
            message="the PNG file has 16 bits a sample, and the feature is uint8\n"
            "  hint: declare dtype=np.uint16, or convert the file",
            id="16 bits",
        ),
        Bad(
            value=pictures.gif(pictures.noise((2, 4, 5, 3))),
            error=EncodeError,
            message="a GIF file does not fit shape (None, None, 3): a GIF has shape "
            "(frames, height, width, 3), other pictures (height, width, channels)\n"
            "  hint: convert the file to PNG",
            id="GIF",
        ),
        Bad(
            value=PilImage.fromarray(RGB).convert("CMYK"),
            error=EncodeError,
            message="a PIL image of mode 'CMYK' has no exact form as a picture file\n"
            "  hint: convert it first, as with image.convert('RGB')",
            id="CMYK PIL image",
        ),
        Bad(
            value=lambda: io.StringIO("text"),
            error=EncodeTypeError,
            message="expected a file of bytes, its read() gave str\n"
            "  hint: open the file in binary mode: open(path, 'rb')",
            id="text file",
        ),
    )
    unequal = (Image(shape=(None, None, 1)), Image(encoding_format="png"), Image(dtype=np.uint16))
    tfds_json = {
        "pythonClassName": NAME,
        "image": {"shape": {"dimensions": ["-1", "-1", "3"]}, "dtype": "uint8"},
    }
    tfds_repr = "Image(shape=(None, None, 3), dtype=uint8)"


class TestFixedSize(ConnectorSuite):
    connector = Image(shape=(4, 5, 1), encoding_format="png", use_colormap=True)
    valid = (
        Case(value=GRAY, id="array"),
        Case(value=pictures.png(GRAY), decoded=GRAY, id="bytes"),
        Case(
            value=pictures.png(np.concatenate([GRAY, 255 - GRAY], axis=-1)),
            decoded=GRAY,
            id="gray and alpha",
        ),
    )
    invalid = (
        Bad(
            value=GRAY[:3], error=EncodeError, match=r"expected shape \(4, 5, 1\), got \(3, 5, 1\)"
        ),
        Bad(
            value=pictures.png(GRAY[:3]),
            error=EncodeError,
            message="expected a picture of 4 x 5 pixels (height x width), got one of 3 x 5\n"
            "  hint: resize the picture, or declare None for the sizes that vary",
            id="file of another size",
        ),
        Bad(
            value=pictures.save(pictures.noise((4, 5, 3)), "BMP"),
            error=EncodeError,
            message="TFDS cannot read a BMP file into 1 channels\n"
            "  hint: convert the file to PNG, or give the pixels as an array",
            id="BMP",
        ),
    )
    tfds_json = {
        "pythonClassName": NAME,
        "image": {
            "shape": {"dimensions": ["4", "5", "1"]},
            "dtype": "uint8",
            "encodingFormat": "png",
            "useColormap": True,
        },
    }


class TestUint16(ConnectorSuite):
    connector = Image(shape=(2, 2, 1), dtype=np.uint16)
    valid = (
        Case(value=WIDE, id="array"),
        Case(value=pictures.png(WIDE), decoded=WIDE, id="file"),
        Case(value=PilImage.fromarray(WIDE[..., 0]), decoded=WIDE, id="PIL image"),
        Case(
            value=pictures.png(np.array([[0, 1], [128, 255]], np.uint8)),
            decoded=np.array([[0, 257], [32896, 65535]], np.uint16)[..., None],
            id="file of 8 bits",
        ),
    )
    invalid = (
        Bad(value=WIDE.astype(np.uint8), error=EncodeError, match="dtype uint16, got .* uint8"),
        Bad(value=WIDE.tolist(), error=EncodeTypeError, match="expected a picture, got list"),
    )


class TestUint16Colour(ConnectorSuite):
    connector = Image(shape=(None, None, 4), dtype=np.uint16, encoding_format="png")
    valid = (Case(value=pictures.noise((3, 7, 4), np.uint16), id="RGBA"),)


class TestFloat32(ConnectorSuite):
    connector = Image(shape=(None, None, 1), dtype=np.float32)
    valid = (Case(value=FLOATS, id="array"), Case(value=FLOATS[::-1, ::2], id="view"))
    invalid = (
        Bad(value=FLOATS.astype(np.float64), error=EncodeError, match="float32, got .* float64"),
        Bad(value=FLOATS[..., 0], error=EncodeError, match="expected shape"),
        Bad(
            value="/a/path.png",
            error=EncodeTypeError,
            message="a float32 image takes arrays only, got str '/a/path.png'\n"
            "  hint: read the file yourself, and give its values as a float32 array",
        ),
    )
    tfds_json = {
        "pythonClassName": NAME,
        "image": {"shape": {"dimensions": ["-1", "-1", "1"]}, "dtype": "float32"},
    }


FRAMES = pictures.noise((3, 4, 5, 3)) // 64 * 64
GIF = pictures.gif(FRAMES)


class TestGif(ConnectorSuite):
    connector = Image(shape=(None, None, 5, 3))
    valid = (Case(value=GIF, stored=[GIF], decoded=FRAMES, id="GIF"),)
    invalid = (
        Bad(
            value=RGB_PNG,
            error=EncodeError,
            match=r"a PNG file does not fit shape \(None, None, 5, 3\)",
        ),
        Bad(
            value=FRAMES,
            error=EncodeTypeError,
            message="an image of shape (None, None, 5, 3) takes GIF files only, got an array\n"
            "  hint: declare a Video, which stores every frame",
        ),
        Bad(value=pictures.gif(FRAMES[:, :, :4]), error=EncodeError, match="any x 5 pixels"),
    )


def test_jpeg_stores_what_tfds_stores():
    expected = next(e for e in golden.datasets() if e.name == "image_jpeg")
    image = Image(shape=(None, None, 3), encoding_format="jpeg")
    for _, example in expected.inputs("train"):
        stored = image.encode_example(example["image"])
        theirs = PilImage.open(io.BytesIO(stored))
        assert (theirs.info["dpi"], theirs.layer[0][1:3]) == ((300, 300), (2, 2))
        assert theirs.quantization[0][:2] == [2, 1]  # quality 95


def test_png_files_do_not_depend_on_how_the_array_lies():
    image = Image()
    assert image.encode_example(RGB) == image.encode_example(np.asfortranarray(RGB))


@pytest.mark.parametrize("as_path", [str, pathlib.Path])
def test_paths(tmp_path, as_path):
    path = tmp_path / "really_png.jpg"  # what is in the file decides, not its name
    path.write_bytes(RGB_PNG)
    image = Image(encoding_format="jpeg")
    assert image.encode_example(as_path(path)) == RGB_PNG
    with path.open("rb") as file:
        assert image.encode_example(file) == RGB_PNG


def test_urls_are_read_through_fsspec():
    import fsspec

    fsspec.filesystem("memory").pipe_file("/pictures/a.png", RGB_PNG)
    assert Image().encode_example("memory://pictures/a.png") == RGB_PNG
    with pytest.raises(MissingFileError):
        Image().encode_example("memory://pictures/b.png")
    with pytest.raises(EncodeError, match="the file cannot be read"):
        Image().encode_example("nowhere://pictures/a.png")


def test_errors_of_paths_name_the_file(tmp_path):
    path = tmp_path / "notes.png"
    path.write_bytes(b"not a picture")
    with pytest.raises(EncodeError) as caught:
        FeaturesDict({"x": Image()}).encode_example({"x": path})
    assert str(caught.value) == (
        "expected a PNG, JPEG, GIF or BMP file, got b'not a picture'\n"
        f"  at: x (Image), {path}\n"
        "  hint: give the bytes of the file, a path, an array or a PIL image"
    )
    with pytest.raises(EncodeError, match="the file cannot be read"):
        Image().encode_example(tmp_path)


def test_the_example_of_the_tfds_guide(tmp_path):
    features = FeaturesDict(
        {
            "image": Image(shape=(28, 28, 1), doc="Grayscale image"),
            "label": ClassLabel(
                names=["no", "yes"],
                doc=Documentation(
                    desc="Whether this is a picture of a cat", value_range="yes or no"
                ),
            ),
            "metadata": {"id": np.int64, "language": np.str_},
        }
    )
    pixels = pictures.noise((28, 28, 1))
    path = tmp_path / "img0.png"
    path.write_bytes(pictures.png(pixels))
    wanted = {
        "image": pixels,
        "label": np.int64(1),
        "metadata": {"id": np.int64(43), "language": b"en"},
    }
    metadata = {"id": 43, "language": "en"}
    for image in (str(path), path.read_bytes(), pixels):
        for label in ("yes", 1):
            example = {"image": image, "label": label, "metadata": metadata}
            record = features.serialize_example(example)
            assert_same(features.deserialize_example(record), wanted)
    assert features["image"].doc.desc == "Grayscale image"
    assert features["label"].names == ["no", "yes"]


def odd_files():
    rgb = pictures.gradient()
    image = PilImage.fromarray(rgb)
    alpha = np.full((16, 24), 128, np.uint8)
    return {
        "rgba.png": pictures.png(np.dstack([rgb, rgb[..., :1]])),
        "la.png": pictures.png(np.dstack([rgb[..., 0], alpha])),
        "palette.png": pictures.save(image.convert("P"), "PNG"),
        "gray.jpg": pictures.save(image.convert("L"), "JPEG"),
        "cmyk.jpg": pictures.save(image.convert("CMYK"), "JPEG", quality=95),
        "really_png.jpg": pictures.save(image, "PNG"),
        "bilevel.png": pictures.save(image.convert("1"), "PNG"),
    }


def test_all_kinds_of_files_become_rgb(tmp_path):
    decoded = {}
    image = Image(shape=(None, None, 3))
    for name, data in odd_files().items():
        path = tmp_path / name
        path.write_bytes(data)
        decoded[name] = image.decode_example(image.encode_example(path))
        assert (decoded[name].shape, decoded[name].dtype) == ((16, 24, 3), np.uint8)
    rgb = pictures.gradient()
    np.testing.assert_array_equal(decoded["rgba.png"], rgb)
    assert decoded["la.png"][0, 1].tolist() == [10, 10, 10]
    assert decoded["palette.png"][3, 3].tolist() == [0, 51, 0]
    np.testing.assert_array_equal(decoded["really_png.jpg"], rgb)
    assert set(np.unique(decoded["bilevel.png"])) == {0, 255}
    assert np.abs(decoded["cmyk.jpg"].astype(int) - rgb).mean() < 6
    assert (decoded["gray.jpg"] == decoded["gray.jpg"][..., :1]).all()


@pytest.mark.parametrize("mode", ["1", "L", "LA", "RGB", "RGBA", "P", "I;16"])
def test_pil_images_lose_nothing(mode):
    rgba = PilImage.fromarray(pictures.noise((6, 7, 4)))
    if mode == "I;16":
        image = PilImage.fromarray(pictures.noise((6, 7), np.uint16))
    else:
        image = rgba.convert(mode)
    feature = Image(shape=(None, None, None), dtype=np.uint16 if mode == "I;16" else np.uint8)
    decoded = feature.decode_example(feature.encode_example(image))
    plain = image.convert({"1": "L", "P": "RGB"}.get(mode, mode))
    assert_same(decoded.reshape(np.asarray(plain).shape), np.array(plain))


def test_a_palette_with_transparency_keeps_it():
    image = PilImage.fromarray(np.array([[0, 1]], np.uint8), "P")
    image.putpalette([1, 2, 3, 4, 5, 6])
    image.info["transparency"] = 1
    feature = Image(shape=(None, None, 4))
    decoded = feature.decode_example(feature.encode_example(image))
    assert decoded.tolist() == [[[1, 2, 3, 255], [4, 5, 6, 0]]]


def test_a_pil_image_whose_file_is_cut_short_is_refused():
    data = pictures.save(pictures.noise((64, 64, 3)), "PNG")
    image = PilImage.open(io.BytesIO(data[: len(data) // 2]))
    with pytest.raises(EncodeError, match="the PIL image cannot be read"):
        Image().encode_example(image)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_arrays_of_every_form(channels, dtype):
    feature = Image(shape=(None, None, channels), dtype=dtype)
    pixels = pictures.noise((5, 6, channels), dtype)
    assert_same(feature.decode_example(feature.encode_example(pixels)), pixels)


def test_sequences_of_images():
    feature = FeaturesDict({"x": Sequence(Image())})

    def read(values):
        return feature.deserialize_example(feature.serialize_example({"x": values}))["x"]

    assert_same(read([]), np.zeros((0, 0, 0, 3), np.uint8))
    assert_same(read([RGB, RGB_PNG]), np.stack([RGB, RGB]))
    assert_same(read([RGB, RGB[:2]]), [RGB, RGB[:2]])
    with pytest.raises(EncodeError) as caught:
        read([RGB, b"junk"])
    assert "at: x[1] (Image)" in str(caught.value)


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        (pictures.png(GRAY[:3]), "expected a picture of 4 x 5 pixels"),
        (b"", "expected the bytes of a picture, got none"),
        (pictures.png(GRAY)[:-1], "the PNG file is cut short"),
        (pictures.gif(pictures.noise((1, 4, 5, 3))), r"expected shape \(4, 5, 1\), got \(1, 4, 5"),
    ],
    ids=["size", "empty", "cut", "GIF"],
)
def test_records_that_do_not_fit_are_refused(stored, message):
    feature = FeaturesDict({"x": Image(shape=(4, 5, 1))})
    with pytest.raises(DecodeError, match=message) as caught:
        feature.decode_example({"x": stored})
    assert caught.value.path == ("x",)


def test_a_float_image_is_no_other_picture():
    with pytest.raises(DecodeError) as caught:
        Image(shape=(None, None, 1), dtype=np.float32).decode_example(RGB_PNG)
    assert str(caught.value) == (
        "a float32 image is an RGBA PNG, got a PNG file with 3 channels of 8 bits\n"
        "  hint: the record was written with other features; check features.json"
    )


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"shape": (2, 2)}, InvalidArgumentError, "an image has shape (height, width, channels)"),
        ({"shape": (1,) * 5}, InvalidArgumentError, "an image has shape (height, width, channels)"),
        ({"encoding_format": "gif"}, InvalidArgumentError, "'gif' is not a format to store"),
        ({"encoding_format": "jpg"}, InvalidArgumentError, "did you mean 'jpeg'?"),
        (
            {"shape": (2, 2, 5), "encoding_format": "png"},
            InvalidArgumentError,
            "png does not store 5 channels",
        ),
        (
            {"shape": (2, 2, 4), "encoding_format": "jpeg"},
            InvalidArgumentError,
            "jpeg does not store 4 channels",
        ),
        (
            {"dtype": np.uint16, "encoding_format": "jpeg"},
            InvalidArgumentError,
            "a jpeg image has dtype uint8, got uint16",
        ),
        ({"dtype": np.int64}, InvalidArgumentError, "has dtype uint8 or uint16 or float32"),
        ({"dtype": "pixels"}, InvalidTypeError, "is not the dtype of a feature"),
        ({"dtype": np.float32}, InvalidArgumentError, "a float32 image has shape"),
        (
            {"shape": (2, 2, 1), "use_colormap": True, "encoding_format": "jpeg"},
            InvalidArgumentError,
            "use_colormap= is for classes, which JPEG does not keep exactly",
        ),
        ({"use_colormap": True}, InvalidArgumentError, "use_colormap= is for one channel"),
        (
            {"shape": (2, 2, 1), "use_colormap": True, "dtype": np.float32},
            InvalidArgumentError,
            "use_colormap= is for integers, got float32",
        ),
    ],
)
def test_arguments_that_do_not_go_together(arguments, error, message):
    with pytest.raises(error) as caught:
        Image(**arguments)
    assert message in str(caught.value)


def test_five_channels_can_be_declared_and_not_stored():
    with pytest.raises(EncodeError, match=r"shape \(2, 2, 5\) cannot be a png file"):
        Image(shape=(2, 2, 5)).encode_example(pictures.noise((2, 2, 5)))


def test_legacy_json():
    old = {
        "type": NAME,
        "content": {"shape": [28, None, 1], "dtype": "uint8", "encoding_format": "png"},
    }
    assert Image.from_json(old) == Image(shape=(28, None, 1), encoding_format="png")


@pytest.mark.parametrize(
    ("feature", "value"),
    [
        (Image(), pictures.noise((300, 200, 3))),
        (Image(shape=(None, None, 1), dtype=np.float32), FLOATS),
        (Image(shape=(None, None, 1), dtype=np.uint16), WIDE),
        (Image(shape=(None, None, 1), use_colormap=True), GRAY),
        (Image(shape=(None, None, None, 3)), FRAMES),
    ],
    ids=["rgb", "float32", "uint16", "colormap", "gif"],
)
def test_html_is_a_small_picture(feature, value):
    import base64

    shown = feature.repr_html(value)
    kind, text = (
        shown.removeprefix('<img src="data:image/').partition('" alt=')[0].split(";base64,")
    )
    picture = PilImage.open(io.BytesIO(base64.b64decode(text)))
    assert kind == "png"
    assert max(picture.size) <= 128


@pytest.mark.parametrize("topic", ["image", "video"])
def test_inputs_of_tfds_read_back_as_tfds_reads_them(topic):
    """Encoding what TFDS was given, and decoding it, gives what TensorFlow gives."""
    count = 0
    for expected in golden.datasets():
        if expected.topic != topic or expected.name in ("image_depth_mismatch", "video_file"):
            continue  # 16 bits into 8 are refused; video files need PyAV
        features = FeaturesDict.from_config(expected.folder)
        inputs, written = expected.inputs("train"), expected.json["written"]["train"]
        for index, wanted in zip(written["input_index"], expected.examples("train"), strict=True):
            record = features.serialize_example(inputs[index][1])
            for value in inputs[index][1].values():
                if hasattr(value, "close"):
                    value.close()
            assert golden.difference(wanted, features.deserialize_example(record)) is None
            count += 1
    assert count
