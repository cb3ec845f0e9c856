"""LabeledImage: pictures of classes, and where the classes' names are kept."""

import numpy as np
import pictures
import pytest
from PIL import Image as PilImage

from featurekit.connectors.labeled_image import LabeledImage
from featurekit.errors import EncodeError, InvalidArgumentError, InvalidTypeError, SchemaError
from featurekit.testing import Bad, Case, ConnectorSuite

NAME = "tensorflow_datasets.core.features.labeled_image.LabeledImage"

PALETTE = PilImage.fromarray(np.array([[0, 1], [2, 1]], np.uint8), "P")
PALETTE.putpalette([0, 0, 0, 128, 0, 0, 0, 128, 0])

MASK = np.array([[0, 1, 2], [2, 255, 0]], np.uint8)[..., None]


class TestNames(ConnectorSuite):
    connector = LabeledImage(labels=["background", "car", "tree"])
    valid = (
        Case(value=MASK, id="array"),
        Case(value=pictures.png(MASK), decoded=MASK, id="file"),
    )
    invalid = (
        Bad(
            value=pictures.noise((2, 2, 3)),
            error=EncodeError,
            match=r"expected shape \(None, None, 1\), got \(2, 2, 3\)",
        ),
        Bad(
            value=pictures.save(PALETTE, "PNG"),
            error=EncodeError,
            message="the classes of a PNG file of 3 channels and 2 bits would change when it is "
            "read as uint8\n"
            "  hint: give them as an array: np.asarray(PIL.Image.open(path))[..., np.newaxis]",
            id="palette",
        ),
        Bad(value=PALETTE, error=EncodeError, match="the classes of a PNG file of 3 channels"),
        Bad(
            value=pictures.save(PilImage.fromarray(MASK[..., 0] > 1), "PNG"),
            error=EncodeError,
            match="of 1 channels and 1 bits would change",
            id="bilevel",
        ),
    )
    unequal = (
        LabeledImage(labels=3),
        LabeledImage(labels=["background", "car", "house"]),
        LabeledImage(labels=["background", "car", "tree"], shape=(2, 3, 1)),
    )
    tfds_json = {
        "pythonClassName": NAME,
        "image": {
            "shape": {"dimensions": ["-1", "-1", "1"]},
            "dtype": "uint8",
            "useColormap": True,
            "label": {"numClasses": "3"},
        },
    }
    tfds_repr = "LabeledImage(shape=(None, None, 1), dtype=uint8, num_classes=3)"
    files = {"x.labels.txt": "background\ncar\ntree\n"}


class TestNumber(ConnectorSuite):
    connector = LabeledImage(labels=300, shape=(None, 2, 1), dtype=np.uint16, encoding_format="png")
    valid = (Case(value=np.array([[[0], [299]]], np.uint16), id="array"),)
    tfds_repr = "LabeledImage(shape=(None, 2, 1), dtype=uint16, num_classes=300)"


class TestNothingKnown(ConnectorSuite):
    connector = LabeledImage(labels=None)
    valid = (Case(value=MASK, id="array"),)
    tfds_json = {
        "pythonClassName": NAME,
        "image": {
            "shape": {"dimensions": ["-1", "-1", "1"]},
            "dtype": "uint8",
            "useColormap": True,
            "label": {},
        },
    }
    tfds_repr = "LabeledImage(shape=(None, None, 1), dtype=uint8, num_classes=None)"


def test_classes_of_8_bits_do_not_become_others_of_16():
    with pytest.raises(EncodeError, match="of 1 channels and 8 bits would change"):
        LabeledImage(labels=3, dtype=np.uint16).encode_example(pictures.png(MASK))


def test_indices_of_a_palette_are_given_as_an_array():
    image = LabeledImage(labels=3)
    decoded = image.decode_example(image.encode_example(np.asarray(PALETTE)[..., np.newaxis]))
    assert decoded[..., 0].tolist() == [[0, 1], [2, 1]]


def test_labels_can_be_a_list_a_path_a_number_or_unknown(tmp_path):
    path = tmp_path / "names.txt"
    path.write_text("a\nb\n")
    for labels in (["a", "b"], ("a", "b"), path, str(path)):
        image = LabeledImage(labels=labels)
        assert (image.names, image.num_classes) == (["a", "b"], 2)
    assert LabeledImage(labels=np.int64(2)).names == ["0", "1"]
    assert LabeledImage(labels=None).names is None


@pytest.mark.parametrize("labels", [b"a", 1.5, {"a": 1}])
def test_other_labels_are_refused(labels):
    with pytest.raises(InvalidTypeError, match="labels are a list of names, a path or a number"):
        LabeledImage(labels=labels)


@pytest.mark.parametrize(
    "arguments", [{"shape": (2, 2, 3)}, {"encoding_format": "jpeg"}, {"dtype": np.float32}]
)
def test_pictures_that_cannot_be_classes_are_refused(arguments):
    with pytest.raises(InvalidArgumentError, match="use_colormap="):
        LabeledImage(labels=2, **arguments)


def test_names_that_contradict_the_file_are_refused(tmp_path):
    LabeledImage(labels=["a", "b"]).save_metadata(tmp_path, "x")
    with pytest.raises(SchemaError):
        LabeledImage(labels=["a", "c"]).load_metadata(tmp_path, "x")
    restored = LabeledImage(labels=2)
    restored.load_metadata(tmp_path, "x")
    assert restored == LabeledImage(labels=["a", "b"])


def test_legacy_json():
    content = {"labels": 5, "shape": [None, None, 1], "dtype": "uint8", "encoding_format": None}
    assert LabeledImage.from_json({"type": NAME, "content": content}) == LabeledImage(labels=5)
