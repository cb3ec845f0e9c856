"""Comparing values: what counts as the same."""

import numpy as np
import pytest

from featurekit.io.ragged import RaggedTensor
from featurekit.testing import assert_same


def ragged(values, lengths):
    return RaggedTensor.from_row_lengths(values, lengths)


@pytest.mark.parametrize(
    "value",
    [
        None,
        1,
        "a",
        b"a",
        float("nan"),
        np.float32("nan"),
        np.array([[1.0, np.nan]]),
        np.array([b"a", None, ["x"]], object),
        {"a": [1, {"b": np.int8(2)}]},
        ragged(np.array([1, 2]), [0, 2]),
        [],
    ],
)
def test_a_value_is_the_same_as_itself(value):
    assert_same(value, value)


@pytest.mark.parametrize(
    ("got", "expected", "message"),
    [
        (1, 2, "value: expected 2, got 1"),
        (1, 1.0, "value: expected 1.0, got 1"),
        (1, True, "value: expected True, got 1"),
        (b"a", "a", "value: expected 'a', got b'a'"),
        (None, 0, "value: expected 0, got None"),
        (np.int32(1), np.int64(1), "value: expected np.int64(1), got np.int32(1)"),
        (1, np.int64(1), "value: expected np.int64(1), got 1"),
        (np.array(1), np.int64(1), "value: expected np.int64(1), got array(1)"),
        (
            np.float32(0.0),
            np.float32(-0.0),
            "value: expected np.float32(-0.0), got np.float32(0.0)",
        ),
        (np.array([1, 2]), np.array([1, 3]), "value[1]: expected np.int64(3), got np.int64(2)"),
        (np.zeros((1, 2)), np.zeros((2, 1)), "shape of value: expected (2, 1), got (1, 2)"),
        (
            np.array(["a"], object),
            np.array([b"a"], object),
            "value.flat[0]: expected b'a', got 'a'",
        ),
        ([1], np.array([1]), "value: expected array([1]), got [1]"),
        (np.array([1]), [1], "value: expected [1], got array([1])"),
        ([1, 2], [1], "length of value: expected 1, got 2"),
        ([1, 2], [1, 3], "value[1]: expected 3, got 2"),
        ("ab", ["a", "b"], "value: expected ['a', 'b'], got 'ab'"),
        ({"a": 1}, {"b": 1}, "keys of value: expected ['b'], got ['a']"),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, "value['a']['b']: expected 2, got 1"),
        (1, {"a": 1}, "value: expected {'a': 1}, got 1"),
        (
            ragged(np.array([1]), [1]),
            ragged(np.array([1]), [0, 1]),
            "shape of value.row_splits: expected (3,), got (2,)",
        ),
        ([[1]], ragged(np.array([1]), [1]), "value: expected RaggedTensor([[1]]"),
    ],
)
def test_the_first_difference_is_named(got, expected, message):
    with pytest.raises(AssertionError) as caught:
        assert_same(got, expected)
    assert str(caught.value).startswith(message)
