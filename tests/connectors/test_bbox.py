"""BBoxFeature: what boxes are taken, how they are stored, and what the format says."""

import numpy as np
import pytest

from featurekit.connector import FeatureConnector
from featurekit.connectors.bbox import BBox, BBoxFeature, BBoxFormat
from featurekit.connectors.features_dict import FeaturesDict
from featurekit.connectors.sequence import Sequence
from featurekit.errors import EncodeError, EncodeTypeError, InvalidArgumentError, SchemaError
from featurekit.io.columns import read_example
from featurekit.testing import Bad, Case, ConnectorSuite

TFDS_NAME = "tensorflow_datasets.core.features.bounding_boxes.BBoxFeature"
NAN, INF = float("nan"), float("inf")


class TestBBoxFeature(ConnectorSuite):
    connector = BBoxFeature()
    valid = (
        Case(BBox(0, 0.25, 0.5, 1), np.array([0, 0.25, 0.5, 1], np.float32), [0.0, 0.25, 0.5, 1.0]),
        Case((0.0, 0.0, 0.0, 0.0), np.zeros(4, np.float32), [0.0] * 4),
    )
    invalid = (
        Bad((0.5, 0, 0.25, 1), EncodeError, match="is inverted"),
        Bad((0, 0, 1), EncodeError, match="a box is four numbers, got 3"),
        Bad("box", EncodeTypeError, match="expected float64, got str 'box'"),
    )
    unequal = (BBoxFeature(bbox_format="XYXY"), BBoxFeature(bbox_format=None))
    tfds_json = {
        "pythonClassName": TFDS_NAME,
        "boundingBox": {
            "shape": {"dimensions": ["4"]},
            "dtype": "float32",
            "bboxFormat": "REL_YXYX",
        },
    }
    tfds_repr = "BBoxFeature(shape=(4,), dtype=float32)"


@pytest.mark.parametrize(
    "box",
    [
        BBox(ymin=0.1, xmin=0.2, ymax=0.3, xmax=0.4),
        (0.1, 0.2, 0.3, 0.4),
        [0.1, 0.2, 0.3, 0.4],
        np.array([0.1, 0.2, 0.3, 0.4], np.float32),
        np.array([0.1, 0.2, 0.3, 0.4]),
        (0.1, 0.2, 0.1, 0.4),  # no height
        BBox(0, 0, 1, 1),
        np.array([0, 0, 1, 1]),
        (np.float32(0), np.float64(0.5), 1, True),
    ],
)
def test_a_box_is_stored_as_four_floats_and_read_back(box):
    feature = BBoxFeature()
    record = feature.serialize_example(box)
    decoded = feature.deserialize_example(record)
    assert decoded.dtype == np.float32
    np.testing.assert_array_equal(decoded, np.array([float(x) for x in box], np.float32))


@pytest.mark.parametrize(
    ("box", "message"),
    [
        ((0.5, 0.2, 0.3, 0.4), "BBox(ymin=0.5, xmin=0.2, ymax=0.3, xmax=0.4) is inverted"),
        ((0.1, 0.9, 0.3, 0.4), "BBox(ymin=0.1, xmin=0.9, ymax=0.3, xmax=0.4) is inverted"),
        ((0.1, 0.2, 1.0140625, 0.4), "ymax=1.0140625, xmax=0.4) is not within 0 and 1"),
        ((-0.1, 0, 1, 1), "BBox(ymin=-0.1, xmin=0.0, ymax=1.0, xmax=1.0) is not within 0 and 1"),
        ((NAN, 0, 1, 1), "BBox(ymin=nan, xmin=0.0, ymax=1.0, xmax=1.0) has a border that is not"),
        ((0, 0, 1, INF), "xmax=inf) has a border that is not finite"),
        ((10, 10, 20, 20), "is not within 0 and 1"),
        ((0.1, 0.2, 0.3), "a box is four numbers, got 3"),
        (np.zeros(3, np.float32), "a box is four numbers, got 3"),
        (np.zeros((1, 4), np.float32), "expected shape (None,), got (1, 4)"),
        (0.5, "expected shape (None,), got ()"),
    ],
)
def test_a_box_that_cannot_be_is_refused_and_printed(box, message):
    with pytest.raises(EncodeError) as caught:
        BBoxFeature().encode_example(box)
    assert message in str(caught.value)


@pytest.mark.parametrize("box", [None, "0.1", ("a", 0, 0, 0), {"ymin": 0}, (None, 0, 0, 0)])
def test_what_is_no_number_is_refused(box):
    with pytest.raises(EncodeTypeError):
        BBoxFeature().encode_example(box)


def test_the_whole_error_says_which_box():
    features = FeaturesDict({"objects": Sequence({"box": BBoxFeature()})})
    with pytest.raises(EncodeError) as caught:
        features.encode_example({"objects": [{"box": (0, 0, 1, 1)}, {"box": (0.5, 0, 0.25, 1)}]})
    assert str(caught.value) == (
        "BBox(ymin=0.5, xmin=0.0, ymax=0.25, xmax=1.0) is inverted: "
        "a lower border is above an upper one\n"
        "  at: objects[1].box (BBoxFeature)\n"
        "  hint: swap the borders; the order is ymin, xmin, ymax, xmax"
    )


@pytest.mark.parametrize(
    ("bbox_format", "box", "fits"),
    [
        ("XYXY", (1, 2, 30, 4), True),
        ("XYWH", (10, 20, 5, 6), True),
        ("YXYX", (1, 2, 3, 4), True),
        ("YXYX", (5, 5, 1, 1), False),
        ("YXYX", (0, 0, NAN, 1), False),
        ("XYXY", (0, 0, INF, 1), False),
        ("REL_XYXY", (0.9, 0.1, 0.2, 0.05), True),
        ("REL_XYXY", (2.0, 0, 0, 0), False),
        (None, (-1, 1e6, 3, 0), True),
        (None, (NAN, 0, 0, 0), True),
        (None, (1e300, 0, 0, 0), False),
    ],
)
def test_the_format_says_what_is_checked(bbox_format, box, fits):
    feature = BBoxFeature(bbox_format=bbox_format)
    if fits:
        expected = np.array(box, np.float32)
        np.testing.assert_array_equal(feature.encode_example(BBox(*box)), expected)
    else:
        with pytest.raises(EncodeError):
            feature.encode_example(BBox(*box))


def test_an_unknown_format_is_refused():
    with pytest.raises(InvalidArgumentError) as caught:
        BBoxFeature(bbox_format="REL_YXXY")
    assert str(caught.value) == "'REL_YXXY' is not a format of boxes; did you mean 'REL_YXYX'?"


@pytest.mark.parametrize("bbox_format", [None, *BBoxFormat, "XYWH"])
def test_the_json_keeps_the_format(bbox_format):
    feature = BBoxFeature(bbox_format=bbox_format, doc="where it is")
    name = getattr(bbox_format, "value", bbox_format)
    content = {"shape": {"dimensions": ["4"]}, "dtype": "float32"}
    if name:
        content["bboxFormat"] = name
    assert feature.to_feature_json() == {
        "pythonClassName": TFDS_NAME,
        "boundingBox": content,
        "description": "where it is",
    }
    again = FeatureConnector.from_json(feature.to_feature_json())
    assert again == feature
    assert again.bbox_format == feature.bbox_format


@pytest.mark.parametrize(
    ("content", "expected"), [({}, BBoxFormat.REL_YXYX), ({"bbox_format": "XYXY"}, BBoxFormat.XYXY)]
)
def test_the_legacy_json(content, expected):
    feature = FeatureConnector.from_json({"type": TFDS_NAME, "content": content})
    assert feature.bbox_format is expected


@pytest.mark.parametrize(
    "json_",
    [
        {"type": TFDS_NAME, "content": {"shape": [4], "dtype": "float32"}},
        {"pythonClassName": TFDS_NAME, "tensor": {"dtype": "float32"}},
        {"pythonClassName": TFDS_NAME, "boundingBox": {"bboxFormat": "WRONG"}},
    ],
)
def test_json_that_makes_no_sense_is_refused(json_):
    with pytest.raises((SchemaError, InvalidArgumentError)):
        FeatureConnector.from_json(json_)


def test_boxes_in_a_sequence():
    feature = Sequence(BBoxFeature())
    record = feature.serialize_example([BBox(0, 0, 1, 1), (0.5, 0.5, 0.5, 0.5)])
    assert list(read_example(record)[""]) == [0, 0, 1, 1, 0.5, 0.5, 0.5, 0.5]
    decoded = feature.deserialize_example(record)
    assert (decoded.shape, decoded.dtype) == ((2, 4), np.float32)
    assert feature.deserialize_example(feature.serialize_example([])).shape == (0, 4)


def test_repr_and_html():
    assert repr(BBoxFeature()) == "BBoxFeature(shape=(4,), dtype=float32)"
    assert repr(BBox(0, 0.5, 1, 1)) == "BBox(ymin=0, xmin=0.5, ymax=1, xmax=1)"
    box = np.array([0, 0.25, 0.5, 1], np.float32)
    drawing = BBoxFeature().repr_html(box)
    assert '<rect x="0.25" y="0" width="0.75" height="0.5"' in drawing
    assert BBoxFeature(bbox_format="YXYX").repr_html(box) == str(box)
