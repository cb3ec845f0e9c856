"""The TFRecord and tf.train.Example tutorial, walked through."""

import io
import os

import numpy as np
import pytest
from google.protobuf import text_format
from PIL import Image

from featurekit.io import (
    BytesList,
    Example,
    Feature,
    Features,
    FloatList,
    Int64List,
    TFRecordReader,
    TFRecordWriter,
    bytes_feature,
    float_feature,
    int64_feature,
    make_example,
    serialize,
)
from featurekit.io.parse import parse_example, parse_single_example
from featurekit.io.specs import FixedLenFeature

ANIMALS = [b"cat", b"dog", b"chicken", b"horse", b"goat"]
GOAT = (
    b"\nR\n\x14\n\x08feature2\x12\x08\n\x06\n\x04goat\n\x11\n\x08feature1\x12\x05\x1a\x03\n\x01\x04"
    b"\n\x11\n\x08feature0\x12\x05\x1a\x03\n\x01\x00\n\x14\n\x08feature3\x12\x08\x12\x06\n\x04[\xd3|?"
)
GOAT_SORTED = (
    b"\nR\n\x11\n\x08feature0\x12\x05\x1a\x03\n\x01\x00\n\x11\n\x08feature1\x12\x05\x1a\x03\n\x01\x04"
    b"\n\x14\n\x08feature2\x12\x08\n\x06\n\x04goat\n\x14\n\x08feature3\x12\x08\x12\x06\n\x04[\xd3|?"
)
DESCRIPTION = {
    "feature0": FixedLenFeature([], np.int64, default_value=0),
    "feature1": FixedLenFeature([], np.int64, default_value=0),
    "feature2": FixedLenFeature([], np.str_, default_value=""),
    "feature3": FixedLenFeature([], np.float32, default_value=0.0),
}


def observation(feature0, feature1, feature2, feature3):
    feature = {
        "feature0": int64_feature(feature0),
        "feature1": int64_feature(feature1),
        "feature2": bytes_feature(feature2),
        "feature3": float_feature(feature3),
    }
    return Example(features=Features(feature=feature))


def test_features_of_one_value():
    assert bytes_feature(b"test_string") == Feature(bytes_list=BytesList(value=[b"test_string"]))
    assert bytes_feature(b"test_bytes").bytes_list.value == [b"test_bytes"]
    assert float_feature(np.exp(1)).float_list.value == [2.7182817459106445]
    assert int64_feature(True) == int64_feature(1) == Feature(int64_list=Int64List(value=[1]))
    assert float_feature(np.exp(1)).SerializeToString() == b"\x12\x06\n\x04T\xf8-@"


def test_a_value_of_another_type_is_an_exception():
    with pytest.raises(TypeError):
        int64_feature(1.0)
    with pytest.raises(TypeError):
        Int64List(value=[1.0])


def test_the_goat():
    example = observation(False, 4, b"goat", 0.9876)
    assert serialize(example) == GOAT_SORTED
    assert Example.FromString(GOAT) == Example.FromString(example.SerializeToString()) == example
    features = example.features.feature
    assert features["feature0"].int64_list.value == [0]
    assert features["feature1"].int64_list.value == [4]
    assert features["feature2"].bytes_list.value == [b"goat"]
    assert features["feature3"].float_list.value == [0.9876000285148621]
    assert features["feature3"].WhichOneof("kind") == "float_list"
    assert make_example(
        {"feature0": False, "feature1": 4, "feature2": "goat", "feature3": 0.9876}
    ) == (example)


def test_text_format():
    example = observation(False, 4, b"goat", 0.5)
    text = str(example)
    assert text_format.Parse(text, Example()) == example
    assert str(Example(features=Features(feature={"feature3": float_feature(0.5)}))) == (
        "features {\n"
        "  feature {\n"
        '    key: "feature3"\n'
        "    value {\n"
        "      float_list {\n"
        "        value: 0.5\n"
        "      }\n"
        "    }\n"
        "  }\n"
        "}\n"
    )


@pytest.fixture(scope="module")
def observations():
    random = np.random.default_rng(0)
    index = random.integers(0, 5, 10_000)
    return {
        "feature0": random.choice([False, True], 10_000),
        "feature1": index,
        "feature2": np.array(ANIMALS, object)[index],
        "feature3": random.standard_normal(10_000),
    }


@pytest.fixture(scope="module")
def file(observations, tmp_path_factory):
    path = tmp_path_factory.mktemp("tutorial") / "test.tfrecord"
    with TFRecordWriter(path) as writer:
        for row in zip(*observations.values(), strict=True):
            writer.write(serialize(observation(*row)))
    return path


def test_the_size_of_10000_observations(file):
    assert os.path.getsize(file) == pytest.approx(984 * 1024, rel=0.005)


def test_observations_one_by_one(file, observations):
    reader = TFRecordReader(file)
    assert len(reader) == 10_000
    for i in (0, 1, 4567, 9_999):
        parsed = parse_single_example(reader[i], DESCRIPTION)
        assert parsed == {
            "feature0": observations["feature0"][i],
            "feature1": observations["feature1"][i],
            "feature2": observations["feature2"][i],
            "feature3": np.float32(observations["feature3"][i]),
        }
        assert parsed["feature0"].dtype == parsed["feature1"].dtype == np.int64
        assert parsed["feature3"].dtype == np.float32
        assert type(parsed["feature2"]) is bytes


def test_observations_as_one_batch(file, observations):
    parsed = parse_example(list(TFRecordReader(file)), DESCRIPTION)
    for key, wanted in observations.items():
        assert parsed[key].shape == (10_000,)
        if key == "feature3":
            np.testing.assert_array_equal(parsed[key], wanted.astype(np.float32))
        else:
            assert parsed[key].tolist() == wanted.tolist()


def test_observations_by_walking_the_message(file, observations):
    result = {}
    example = Example.FromString(next(iter(TFRecordReader(file))))
    for key, feature in example.features.feature.items():
        kind = feature.WhichOneof("kind")
        result[key] = np.array(getattr(feature, kind).value)
    assert sorted(result) == sorted(observations)
    assert all(values.shape == (1,) for values in result.values())
    assert result["feature2"][0] == observations["feature2"][0]


def jpeg(height, width, colour):
    across = np.linspace(0, 255, width, dtype=np.uint8)
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[:, :, colour] = across
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG")
    return out.getvalue()


def test_images(tmp_path):
    images = {"cat": (jpeg(213, 320, 0), 0), "bridge": (jpeg(239, 194, 2), 1)}
    with TFRecordWriter(tmp_path / "images.tfrecords") as writer:
        for data, label in images.values():
            width, height = Image.open(io.BytesIO(data)).size
            example = make_example(
                {"height": height, "width": width, "depth": 3, "label": label, "image_raw": data}
            )
            writer.write(serialize(example))

    description = {
        key: FixedLenFeature([], np.int64) for key in ("height", "width", "depth", "label")
    } | {"image_raw": FixedLenFeature([], np.str_)}
    parsed = [
        parse_single_example(record, description)
        for record in TFRecordReader(tmp_path / "images.tfrecords")
    ]
    assert [(image["height"], image["width"], image["depth"]) for image in parsed] == [
        (213, 320, 3),
        (239, 194, 3),
    ]
    for image, (data, label) in zip(parsed, images.values(), strict=True):
        assert image["label"] == label
        assert image["image_raw"] == data
        pixels = np.asarray(Image.open(io.BytesIO(image["image_raw"])))
        assert pixels.shape == (image["height"], image["width"], image["depth"])


def test_messages_are_built_from_their_parts():
    floats = FloatList(value=[0.5])
    assert Feature(float_list=floats).float_list == floats
