"""From what people give to arrays: what fits, and what would change and is refused."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from featurekit.errors import EncodeError, EncodeTypeError
from featurekit.testing import assert_same
from featurekit.values import as_array, check_shape, narrow_float

INT_DTYPES = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
STRING = np.dtype(object)


def strings(*items):
    array = np.empty(len(items), object)
    array[:] = items
    return array


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (3, np.int8, np.array(3, np.int8)),
        (np.uint64(2**64 - 1), np.uint64, np.array(2**64 - 1, np.uint64)),
        ([2**63, 1], np.uint64, np.array([2**63, 1], np.uint64)),
        ([2**63 - 1, -(2**63)], np.int64, np.array([2**63 - 1, -(2**63)])),
        ([True, 2, np.int8(3), 4.0], np.uint8, np.array([1, 2, 3, 4], np.uint8)),
        ([], np.int32, np.array([], np.int32)),
        ([[], []], np.int32, np.zeros((2, 0), np.int32)),
        ((1, 2), np.float32, np.array([1, 2], np.float32)),
        ([True, 0.5], np.float32, np.array([1, 0.5], np.float32)),
        (2**70, np.float32, np.array(2**70, np.float32)),
        (0.1, np.float16, np.array(0.1, np.float16)),
        (1.5, ml_dtypes.bfloat16, np.array(1.5, ml_dtypes.bfloat16)),
        ([1j, 2], np.complex64, np.array([1j, 2], np.complex64)),
        (1, np.bool_, np.array(True)),
        ([False, np.True_], np.bool_, np.array([False, True])),
        ("é", STRING, np.array("é".encode(), object)),
        ([["a"], [b"\xff"]], STRING, strings(b"a", b"\xff").reshape(2, 1)),
        (np.array(["a", b"b"], object), STRING, strings(b"a", b"b")),
        ([], STRING, np.array([], object)),
        ([np.array(b"a", object)], STRING, strings(b"a")),
    ],
)
def test_what_fits_is_taken(value, dtype, expected):
    shape = (None,) * expected.ndim
    assert_same(as_array(value, np.dtype(dtype), shape), expected)


@pytest.mark.parametrize(
    ("value", "dtype", "error", "message"),
    [
        (128, np.int8, EncodeError, "128 does not fit int8"),
        ([1, -1], np.uint8, EncodeError, "-1 does not fit uint8"),
        (2**64, np.uint64, EncodeError, "18446744073709551616 does not fit uint64"),
        ([2**63, -1], np.int64, EncodeError, "9223372036854775808 does not fit int64"),
        (1.5, np.int64, EncodeError, "1.5 is not an integer, and the feature is int64"),
        (float("nan"), np.int8, EncodeError, "nan is not an integer, and the feature is int8"),
        (np.float32("inf"), np.int8, EncodeError, "inf is not an integer"),
        ("5", np.int8, EncodeTypeError, "expected int8, got str '5'"),
        (b"5", np.float32, EncodeTypeError, "expected float32, got bytes b'5'"),
        ("", np.bool_, EncodeTypeError, "expected bool, got str ''"),
        (None, np.float32, EncodeTypeError, "expected float32, got NoneType None"),
        ([1, None], np.float32, EncodeTypeError, "expected float32, got NoneType None"),
        ({}, np.float32, EncodeTypeError, "expected float32, got dict {}"),
        (1j, np.float32, EncodeTypeError, "expected float32, got complex 1j"),
        (2, np.bool_, EncodeError, "2 is neither true (1) nor false (0)"),
        ([[1], [2, 3]], np.int8, EncodeError, "has rows of different lengths, or no numbers"),
        ([["a"], ["b", "c"]], STRING, EncodeTypeError, "expected text or bytes, got list ['a']"),
        (1e39, np.float32, EncodeError, "1e+39 is too large for float32"),
        (10**400, np.float64, EncodeError, "does not fit float64"),
        (np.array([1.0]), np.float32, EncodeError, "expected an array of dtype float32, got one"),
        (np.array(["a"]), STRING, EncodeError, "expected an array of dtype string, got one of"),
        (np.array([1], object), STRING, EncodeTypeError, "expected text or bytes, got int 1"),
        (np.array([1], object), np.int64, EncodeError, "got one of dtype object"),
        (np.array([1], ">i8"), np.int64, EncodeError, "got one of dtype >i8"),
        (np.datetime64("2020"), np.int64, EncodeTypeError, "expected int64, got datetime64"),
        (object(), np.float32, EncodeTypeError, "expected float32, got object"),
        ("\udc80", STRING, EncodeError, "cannot be written as UTF-8"),
    ],
)
def test_what_would_change_is_refused(value, dtype, error, message):
    dtype = np.dtype(dtype)
    with pytest.raises(error) as caught:
        as_array(
            value, dtype, (None,) * np.ndim(np.array(value, object) if dtype.kind != "O" else 0)
        )
    assert message in str(caught.value)
    assert caught.value.hint


def test_an_array_that_fits_is_not_copied():
    array = np.zeros((2, 3), np.float32)
    assert as_array(array, array.dtype, (2, None)) is array


def test_an_array_of_texts_is_not_written_to():
    given_array = np.array(["a", "b"], object)
    as_array(given_array, STRING, (2,))
    assert given_array.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("got", "expected"), [((), ()), ((2, 3), (2, 3)), ((2, 3), (None, 3)), ((0,), (None,))]
)
def test_shapes_that_fit(got, expected):
    check_shape(got, expected)


@pytest.mark.parametrize(
    ("got", "expected"), [((1,), ()), ((2, 3), (3, 2)), ((2,), (None, 2)), ((1,), (0,))]
)
def test_shapes_that_do_not_fit(got, expected):
    with pytest.raises(EncodeError) as caught:
        check_shape(got, expected)
    assert str(caught.value) == (
        f"expected shape {expected}, got {got}\n"
        "  hint: fix the value, or declare the shape that it has (None for a varying size)"
    )


def test_rounding_is_no_change_and_overflow_is():
    narrow = narrow_float(np.array([0.1, 1e-300, np.inf, np.nan]), np.float32)
    assert_same(narrow, np.array([0.1, 0, np.inf, np.nan], np.float32))
    with pytest.raises(EncodeError, match=r"-1e\+300 is too large for float32"):
        narrow_float(np.array([0, -1e300]), np.float32)


# Properties.


@given(number=st.integers(min_value=-(2**65), max_value=2**65), dtype=st.sampled_from(INT_DTYPES))
def test_an_integer_is_kept_or_refused(number, dtype):
    limits = np.iinfo(dtype)
    if limits.min <= number <= limits.max:
        assert int(as_array(number, np.dtype(dtype), ())) == number
    else:
        with pytest.raises(EncodeError):
            as_array(number, np.dtype(dtype), ())


@given(value=st.floats(), dtype=st.sampled_from(INT_DTYPES))
def test_a_float_is_an_integer_only_where_it_equals_one(value, dtype):
    try:
        got = as_array(value, np.dtype(dtype), ())
    except EncodeError:
        return
    assert int(got) == value


@given(value=st.floats(width=64))
def test_a_float_is_rounded_to_the_nearest_or_refused(value):
    with np.errstate(over="ignore"):
        nearest = np.float32(value)
    if np.isinf(nearest) and np.isfinite(value):
        with pytest.raises(EncodeError):
            as_array(value, np.dtype(np.float32), ())
    else:
        assert_same(as_array(value, np.dtype(np.float32), ()), np.array(nearest))


@given(
    arrays.arrays(
        st.sampled_from(INT_DTYPES + [np.float16, np.float32, np.bool_]),
        arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
    )
)
def test_an_array_and_its_list_are_the_same(array):
    from_list = as_array(array.tolist(), array.dtype, (None,) * np.ndim(array.tolist()))
    if from_list.ndim == array.ndim:  # a list shows no dimensions within an empty one
        assert_same(from_list, array)
