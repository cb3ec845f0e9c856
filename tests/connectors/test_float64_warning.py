import warnings

import numpy as np
import pytest

from featurekit.connector import FeatureConnector
from featurekit.connectors import tensor
from featurekit.connectors.features_dict import FeaturesDict
from featurekit.connectors.scalar import Scalar
from featurekit.connectors.sequence import Sequence
from featurekit.connectors.tensor import Tensor
from featurekit.errors import FeatureKitWarning

MESSAGE = (
    "a float64 feature is stored as float32, which rounds its values; "
    "keep them exactly with encoding='bytes'"
)


@pytest.fixture(autouse=True)
def nobody_was_warned():
    tensor._warn_of_rounding.cache_clear()
    yield
    tensor._warn_of_rounding.cache_clear()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Tensor(shape=(2,), dtype=np.float64),
        lambda: Scalar("float64"),
        lambda: FeaturesDict({"x": np.float64}),
        lambda: Sequence(np.float64),
    ],
)
def test_a_float64_feature_warns_once(make):
    with pytest.warns(FeatureKitWarning) as caught:
        make()
    assert [str(warning.message) for warning in caught] == [MESSAGE]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Tensor(shape=(2,), dtype=np.float64, encoding="bytes"),
        lambda: Scalar(np.float64, encoding="zlib"),
        lambda: FeaturesDict({"x": np.float32, "y": np.float16}),
    ],
)
def test_what_is_kept_exactly_does_not_warn(make):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make()


def test_features_that_are_read_do_not_warn(tmp_path):
    with pytest.warns(FeatureKitWarning):
        features = FeaturesDict({"x": np.float64, "y": Sequence(np.float64)})
    tensor._warn_of_rounding.cache_clear()
    features.save_config(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert FeatureConnector.from_config(tmp_path) == features
        assert FeatureConnector.from_json(features.to_json()) == features
