"""Many pictures at once: into the batch's own memory, and at a smaller size."""

import numpy as np
import pytest
from pictures import gif, noise, png, save
from PIL import Image as PilImage

import featurekit as fk
from featurekit.connectors.image_codecs.files import decode_image
from featurekit.errors import DecodeError, InvalidArgumentError, InvalidTypeError

U8 = np.dtype(np.uint8)


def jpeg(height, width, channels=3, seed=0, **options):
    pixels = np.repeat(np.repeat(noise((height // 8, width // 8, 3), seed=seed), 8, 0), 8, 1)
    pixels = pixels if channels == 3 else pixels[..., 0]
    return save(pixels, "JPEG", quality=90, **options)


FILES = {
    "jpeg": [jpeg(64, 48, seed=seed) for seed in range(4)],
    "gray": [jpeg(64, 48, 1, seed=seed) for seed in range(3)],
    "mixed": [jpeg(64, 48), png(noise((64, 48, 4))), jpeg(64, 48, 1)],
    "bmp": [jpeg(64, 48), save(noise((64, 48, 3)), "BMP")],
    "png": [png(noise((5, 7, 3), seed=seed)) for seed in range(3)],
    "one": [jpeg(16, 16)],
    "cmyk": [save(PilImage.new("CMYK", (48, 64), (9, 80, 70, 3)), "JPEG")] * 2,
}  # fmt: skip


def stored(files):
    array = np.empty(len(files), object)
    array[:] = files
    return array


@pytest.mark.parametrize("channels", [1, 3, 4, None])
@pytest.mark.parametrize("name", FILES)
def test_a_batch_has_the_pixels_of_its_pictures(name, channels):
    image = fk.Image(shape=(None, None, channels))
    expected = [image.decode_example(file) for file in FILES[name]]
    batch = image.decode_batch_example(stored(FILES[name]))
    assert len(batch) == len(expected)
    assert all(np.array_equal(a, b) for a, b in zip(batch, expected, strict=True))
    if len({picture.shape for picture in expected}) == 1:
        assert isinstance(batch, np.ndarray)
        assert batch.dtype == np.uint8
    else:
        assert isinstance(batch, list)


@pytest.mark.parametrize("order", [[0, 1, 2], [1, 0, 2], [0, 0, 1]])
def test_pictures_of_several_sizes(order):
    sizes = [jpeg(64, 48), jpeg(48, 64), jpeg(64, 48, seed=1)]
    files = [sizes[i] for i in order]
    batch = fk.Image().decode_batch_example(stored(files))
    assert isinstance(batch, list)
    for picture, file in zip(batch, files, strict=True):
        assert np.array_equal(picture, fk.Image().decode_example(file))


def test_other_dtypes():
    deep = [png(noise((3, 4, 1), np.uint16, seed)) for seed in range(3)]
    image = fk.Image(shape=(3, 4, 1), dtype=np.uint16)
    batch = image.decode_batch_example(stored(deep))
    assert batch.dtype == np.uint16
    assert np.array_equal(batch[2], image.decode_example(deep[2]))
    floats = fk.Image(shape=(2, 2, 1), dtype=np.float32)
    values = [np.full((2, 2, 1), v, np.float32) for v in (1.5, -2)]
    batch = floats.decode_batch_example(stored([floats.encode_example(v) for v in values]))
    assert np.array_equal(batch, values)
    frames = fk.Image(shape=(None, None, None, 3))
    files = [gif([noise((4, 4, 3), seed=1), noise((4, 4, 3), seed=2)])] * 2
    assert frames.decode_batch_example(stored(files)).shape == (2, 2, 4, 4, 3)


def test_no_pictures():
    assert fk.Image(shape=(3, 4, 1)).decode_batch_example(stored([])).shape == (0, 3, 4, 1)


def test_the_picture_that_is_damaged_is_named():
    with pytest.raises(DecodeError) as error:
        fk.Image().decode_batch_example(stored([*FILES["jpeg"], FILES["jpeg"][0][:100]]))
    assert error.value.path == (4,)
    assert error.value.connector == "Image"


def test_a_subclass_that_decodes_itself():
    class Negative(fk.Image):
        def decode_example(self, stored):
            return 255 - super().decode_example(stored)

    batch = Negative().decode_batch_example(stored(FILES["png"]))
    assert np.array_equal(batch, 255 - fk.Image().decode_batch_example(stored(FILES["png"])))


def test_pixels_are_put_where_they_fit():
    out = np.zeros((2, 64, 48, 3), np.uint8)
    file = FILES["jpeg"][0]
    assert np.shares_memory(decode_image(file, 3, U8, out=out[1]), out)
    assert not out[0].any()
    assert np.array_equal(out[1], decode_image(file, 3, U8))
    assert not np.shares_memory(decode_image(file, 1, U8, out=out[1]), out)
    assert not np.shares_memory(decode_image(FILES["png"][0], 3, U8, out=out[1]), out)


# At a smaller size.


@pytest.mark.parametrize(("least", "shape"), [
    ((1, 1), (8, 12, 3)), ((8, 12), (8, 12, 3)), ((8, 13), (16, 24, 3)), ((30, 1), (32, 48, 3)),
    ((33, 1), (40, 60, 3)), ((64, 96), (64, 96, 3)), ((500, 500), (64, 96, 3)),
])  # fmt: skip
def test_reduced(least, shape):
    rows, columns = np.mgrid[:64, :96]
    smooth = np.stack([rows * 3, columns * 2, rows + columns], -1).astype(np.uint8)
    file = save(smooth, "JPEG", quality=95)
    features = fk.FeaturesDict({"image": fk.Image(), "id": np.int64})
    record = features.serialize_example({"image": file, "id": 1})
    decoders = {"image": fk.ReducedImage(*least)}
    reduced = features.deserialize_example(record, decoders=decoders)["image"]
    assert reduced.shape == shape
    factor = 64 // shape[0]
    if factor * shape[0] == 64 and factor > 1:  # it is the picture, seen from farther away
        whole = fk.Image().decode_example(file).astype(float)
        mean = whole.reshape(shape[0], factor, shape[1], factor, 3).mean((1, 3))
        assert np.abs(mean - reduced).mean() < 4


def test_what_is_no_jpeg_comes_whole():
    features = fk.FeaturesDict({"images": fk.Sequence(fk.Image())})
    record = features.serialize_example({"images": [FILES["png"][0], jpeg(64, 96, 1)]})
    decoders = {"images": fk.ReducedImage(3, 3)}
    first, second = features.deserialize_example(record, decoders=decoders)["images"]
    assert first.shape == (5, 7, 3)
    assert second.shape == (8, 12, 3)


def test_what_cannot_be_reduced():
    with pytest.raises(InvalidArgumentError, match="sizes of 1 or more, got 0 x 5"):
        fk.ReducedImage(0, 5)
    for feature in (fk.Text(), fk.Image(shape=(2, 2, 1), dtype=np.float32)):
        with pytest.raises(InvalidTypeError, match="decodes an Image of one picture of uint8"):
            fk.decode.with_decoders(fk.FeaturesDict({"x": feature}), {"x": fk.ReducedImage(2, 2)})
    assert repr(fk.ReducedImage(2, 3)) == "ReducedImage(2, 3)"
