"""TFDS's test case for connectors, on connectors here."""

import unittest

import numpy as np
import pytest

import featurekit.tfds as tfds


class Connectors(tfds.testing.FeatureExpectationsTestCase):
    """Each method is a check that the tests below run."""

    __test__ = False

    def right(self):
        self.assertFeature(
            feature=tfds.features.Tensor(shape=(2,), dtype=np.int32),
            shape=(2,),
            dtype=np.int32,
            serialized_info=tfds.features.TensorInfo((2,), np.int32),
            test_attributes={"encoding": tfds.features.Encoding.NONE, "_private": 1},
            tests=[
                tfds.testing.FeatureExpectationItem(value=[1, 2], expected=[1, 2]),
                tfds.testing.FeatureExpectationItem(
                    value=[1], raise_cls=ValueError, raise_msg="any"
                ),
            ],
        )

    def missing(self):
        self.assertFeature(
            feature=tfds.features.Scalar(np.int32, optional=True),
            shape=(),
            dtype=np.int32,
            tests=[
                tfds.testing.FeatureExpectationItem(
                    value=None,
                    expected=np.iinfo(np.int32).min,
                    expected_np=tfds.testing.TestValue.NONE,
                )
            ],
        )

    def ragged(self):
        self.assertFeature(
            feature=tfds.features.Sequence(tfds.features.Sequence(tfds.features.Text())),
            shape=(None, None),
            dtype=np.object_,
            tests=[
                tfds.testing.FeatureExpectationItem(
                    value=[["a"], []], expected=tfds.testing.RaggedConstant([["a"], []])
                )
            ],
        )

    def wrong_value(self):
        self.assertFeature(
            feature=tfds.features.Scalar(np.int32),
            shape=(),
            dtype=np.int32,
            tests=[tfds.testing.FeatureExpectationItem(value=1, expected=2)],
        )

    def wrong_shape(self):
        self.assertFeature(
            feature=tfds.features.Scalar(np.int32), shape=(1,), dtype=np.int32, tests=[]
        )

    def no_error(self):
        self.assertFeature(
            feature=tfds.features.Scalar(np.int32),
            shape=(),
            dtype=np.int32,
            tests=[tfds.testing.FeatureExpectationItem(value=1, raise_cls=ValueError)],
        )


def run(name):
    result = unittest.TestResult()
    Connectors(name).run(result)
    return [text for _, text in (*result.failures, *result.errors)]


@pytest.mark.parametrize("name", ["right", "missing", "ragged"])
def test_what_holds_passes(name):
    assert run(name) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("wrong_value", "expected 2, got np.int32(1)"),
        ("wrong_shape", "() != (1,)"),
        ("no_error", "ValueError not raised"),
    ],
)
def test_what_does_not_hold_fails(name, text):
    failures = run(name)
    assert failures
    assert all(text in failure for failure in failures)


def test_folders_are_removed():
    import os

    with tfds.testing.tmp_dir() as folder:
        assert os.path.isdir(folder)
    assert not os.path.exists(folder)
