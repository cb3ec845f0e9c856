"""Made-up values: they fit their features, and are the same every time."""

import golden
import ml_dtypes
import numpy as np
import pytest
import schemas

import featurekit as fk
from featurekit.connector import FeatureConnector
from featurekit.errors import InvalidArgumentError, UnsupportedError
from featurekit.io.ragged import RaggedTensor
from featurekit.tensor_info import TensorInfo
from featurekit.testing import Fakes, assert_same, fake_examples, fake_value
from featurekit.testing.infos import check_decoded

STORABLE = [
    row
    for row in golden.table("feature_json")["rows"]
    if "t" not in row["tf_example_spec"] and row["schema"].get("dtype") != "bfloat16"
]
ALL = fk.FeaturesDict(
    {
        "int": np.int8,
        "uint": np.uint64,
        "bool": np.bool_,
        "float": np.float16,
        "bounded": fk.Scalar(np.int32, minimum=-3, maximum=-1),
        "positive": fk.Scalar(np.float32, minimum=10, maximum=20),
        "text": fk.Text(),
        "texts": fk.Tensor(shape=(None,), dtype=np.str_),
        "complex": fk.Tensor(shape=(2,), dtype=np.complex64, encoding="zlib"),
        "bfloat16": fk.Tensor(shape=(2,), dtype=ml_dtypes.bfloat16, encoding="bytes"),
        "optional": fk.Scalar(np.int16, optional=True),
        "label": fk.ClassLabel(names=["a", "b"]),
        "unlabelled": fk.ClassLabel(num_classes=0),
        "box": fk.BBoxFeature(),
        "image": fk.Image(shape=(None, 4, 3)),
        "mask": fk.LabeledImage(labels=3),
        "sound": fk.Audio(shape=(None, 2), dtype=np.int16),
        "file": fk.Audio(file_format="flac", dtype=np.int16, lazy_decode=True),
        "video": fk.Video(shape=(None, 2, 2, 3)),
        "translation": fk.Translation(["en", "de"]),
        "variable": fk.TranslationVariableLanguages(["en", "de"]),
        "list": fk.Sequence({"a": fk.ClassLabel(num_classes=2), "b": np.float32}),
        "fixed": fk.Sequence(np.int32, length=3),
        "rows": fk.Sequence(fk.Sequence(np.int32)),
        "steps": fk.Dataset({"reward": np.float32}),
    }
)


@pytest.mark.parametrize("row", STORABLE, ids=lambda row: f"{row['id']}-{row['schema']['kind']}")
def test_values_fit_every_feature(row):
    features = fk.FeaturesDict({"x": schemas.feature(row["schema"])})
    for example in fake_examples(features, 3):
        check_decoded(example, features.get_tensor_info())


def test_values_are_those_of_the_rules():
    for example in fake_examples(ALL, 20, seed=5):
        assert 0 <= example["int"] <= 127
        assert example["uint"] < 255
        assert 0 <= example["float"] <= 1
        assert -3 <= example["bounded"] <= -1
        assert 10 <= example["positive"] <= 20
        assert 10 <= len(example["text"]) < 20
        assert set(example["text"]) <= set(b" abcdefghij")
        assert 5 <= len(example["texts"]) < 50
        assert example["label"] in (0, 1)
        assert example["unlabelled"] == -1
        assert example["mask"].max() < 3
        assert 5 <= example["image"].shape[0] < 50
        assert example["sound"].shape[1] == 2
        assert set(example["variable"]["language"].tolist()) == {b"en", b"de"}
        assert 5 <= len(example["list"]["a"]) < 50
        assert len(example["fixed"]) == 3
        assert isinstance(example["rows"], RaggedTensor)
        assert len(example["steps"]) == 1


def test_an_example_depends_on_its_number_alone():
    first, second = fake_examples(ALL, 3), fake_examples(ALL, 2, seed=1)
    assert_same(first[1], as_plain(second[0]))
    assert_same(first[2], as_plain(second[1]))
    with pytest.raises(AssertionError):
        assert_same(first[0], as_plain(first[1]))


def as_plain(example):
    return example | {"steps": list(example["steps"])}


def test_numbers_of_steps_and_values_can_be_chosen():
    (example,) = fake_examples(ALL, num_sub_examples=4, max_value=2)
    assert len(example["steps"]) == 4
    assert example["uint"] < 2
    assert example["image"].max() < 2


@pytest.mark.parametrize("number", [-1, -10])
def test_a_negative_number_is_refused(number):
    with pytest.raises(InvalidArgumentError, match="num_examples must be >= 0, got"):
        fake_examples(ALL, number)
    assert fake_examples(ALL, 0) == []


class Point(FeatureConnector):
    """Takes a pair, and reads as a dict."""

    def get_tensor_info(self):
        return {"x": TensorInfo((), np.float32), "y": TensorInfo((), np.float32)}

    def encode_example(self, value):
        x, y = value
        return {"x": np.float32(x), "y": np.float32(y)}


def test_a_connector_of_ones_own_says_how_its_values_are_made():
    features = fk.FeaturesDict({"p": Point()})
    with pytest.raises(UnsupportedError) as caught:
        fake_examples(features)
    assert str(caught.value) == (
        "values of a Point cannot be made up\n"
        "  hint: register a function for it: featurekit.testing.fake_value.register"
    )

    @fake_value.register
    def _(feature: Point, fakes: Fakes):
        return fakes.rng.random(2)

    (example,) = fake_examples(features)
    assert example["p"].keys() == {"x", "y"}


def test_features_of_a_folder(tmp_path):
    ALL.save_config(tmp_path)
    features = FeatureConnector.from_config(tmp_path)
    assert_same(fake_examples(features)[0], as_plain(fake_examples(ALL)[0]))
