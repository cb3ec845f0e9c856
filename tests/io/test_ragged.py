import pickle
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featurekit.errors import (
    InvalidArgumentError,
    InvalidTypeError,
    MissingDependencyError,
    RecordIndexError,
)
from featurekit.io.ragged import RaggedTensor

NESTED = {
    "flat": ([[1, 2], [], [3]], 1),
    "no rows": ([], 1),
    "empty rows": ([[], []], 1),
    "two levels": ([[[1, 2], []], [], [[3]]], 2),
    "two levels, first empty": ([[], [[1]]], 2),
    "two levels, all empty": ([[], []], 2),
    "three levels": ([[[[1], []], []], [[[2, 3]]]], 3),
}


@pytest.mark.parametrize(("rows", "rank"), NESTED.values(), ids=NESTED)
def test_lists_come_back(rows, rank):
    ragged = RaggedTensor.from_list(rows, np.int64, ragged_rank=rank)
    assert ragged.to_list() == rows
    assert ragged.ragged_rank == rank
    assert ragged.shape == (len(rows),) + (None,) * rank
    assert ragged.ndim == rank + 1
    assert len(ragged) == len(rows)
    assert [as_list(row) for row in ragged] == rows
    assert ragged.dtype == np.int64
    assert (
        RaggedTensor.from_nested_row_splits(ragged.flat_values, ragged.nested_row_splits) == ragged
    )
    assert (
        RaggedTensor.from_nested_row_lengths(ragged.flat_values, ragged.nested_row_lengths())
        == ragged
    )


def as_list(row):
    return row.to_list() if isinstance(row, RaggedTensor) else row.tolist()


rows_of_rows = st.lists(st.lists(st.lists(st.integers(-9, 9), max_size=3), max_size=3), max_size=4)
bound = st.none() | st.integers(-6, 6)


@given(
    rows=rows_of_rows,
    start=bound,
    stop=bound,
    step=st.sampled_from([None, 1, 2, -1, -3]),
)
def test_slices_are_those_of_a_list(rows, start, stop, step):
    ragged = RaggedTensor.from_list(rows, np.int64, ragged_rank=2)
    part = ragged[start:stop:step]
    assert part.to_list() == rows[start:stop:step]
    assert part.row_splits[0] == 0
    assert RaggedTensor(part.values, part.row_splits) == part


def test_parts():
    ragged = RaggedTensor.from_list([[[1, 2], []], [], [[3]]])
    assert isinstance(ragged.values, RaggedTensor)
    assert ragged.row_splits.tolist() == [0, 2, 2, 3]
    assert ragged.values.row_splits.tolist() == [0, 2, 2, 3]
    assert ragged.flat_values.tolist() == [1, 2, 3]
    assert ragged.row_lengths().tolist() == [2, 0, 1]
    assert [lengths.tolist() for lengths in ragged.nested_row_lengths()] == [[2, 0, 1], [2, 0, 1]]
    assert ragged.uniform_row_length is None


def test_rows_by_index():
    ragged = RaggedTensor([b"a", b"b", b"c"], [0, 2, 2, 3])
    assert ragged[0].tolist() == [b"a", b"b"]
    assert ragged[-1].tolist() == ragged[np.int64(2)].tolist() == [b"c"]
    assert ragged[0, 1] == ragged[(0,)][1] == b"b"
    assert ragged[[2, 0, 2]].to_list() == [[b"c"], [b"a", b"b"], [b"c"]]
    assert ragged[np.array([True, False, True])].to_list() == [[b"a", b"b"], [b"c"]]
    assert ragged[[]].to_list() == []


@pytest.mark.parametrize("index", [3, -4, 2**70])
def test_rows_that_do_not_exist(index):
    with pytest.raises(RecordIndexError, match=rf"^row {index} does not exist: there are 3$"):
        RaggedTensor([1, 2, 3], [0, 2, 2, 3])[index]


@pytest.mark.parametrize("index", ["a", 1.5, None, [0.5]])
def test_indices_that_are_none(index):
    with pytest.raises((InvalidTypeError, TypeError), match="index"):
        RaggedTensor([1, 2, 3], [0, 2, 2, 3])[index]


def test_nothing_is_copied():
    values = np.arange(10)
    splits = np.array([0, 4, 10])
    ragged = RaggedTensor(values, splits)
    assert ragged.values is values
    assert ragged.row_splits is splits
    assert np.shares_memory(ragged[1], values)
    assert np.shares_memory(ragged[1:].values, values)


def test_values_of_higher_rank():
    ragged = RaggedTensor(np.arange(12).reshape(3, 2, 2), [0, 1, 3])
    assert ragged.shape == (2, None, 2, 2)
    assert ragged.ndim == 4
    assert ragged[1].shape == (2, 2, 2)
    assert ragged.to_dense().shape == (2, 2, 2, 2)


def test_uniform_rows():
    ragged = RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2)
    assert ragged.uniform_row_length == ragged[1:].uniform_row_length == 2
    assert ragged.shape == (2, 2)
    outer = RaggedTensor(ragged, [0, 2, 2])
    assert outer.shape == (2, None, 2)
    assert outer.to_dense().tolist() == [[[1, 2], [3, 4]], [[0, 0], [0, 0]]]
    empty = RaggedTensor.from_uniform_row_length([], 0, rows=3)
    assert empty.to_list() == [[], [], []]
    assert RaggedTensor.from_uniform_row_length(np.empty(0, int), 3).to_dense().shape == (0, 3)
    with pytest.raises(InvalidArgumentError, match=r"^expected row splits that end at"):
        RaggedTensor.from_uniform_row_length([1, 2, 3], 2)
    with pytest.raises(InvalidArgumentError, match=r"^expected a row length >= 0, got -1$"):
        RaggedTensor.from_uniform_row_length([1, 2, 3], -1)


BAD_SPLITS = {
    "no split": ([], "expected one row split or more, got none"),
    "first": ([1, 3], "expected row splits that begin at 0, got 1"),
    "falling": ([0, 2, 1, 3], "expected row splits that never fall, got 2 then 1 for row 1"),
    "short": ([0, 2], "expected row splits that end at the number of values, 3, got 2"),
    "long": ([0, 4], "expected row splits that end at the number of values, 3, got 4"),
}


@pytest.mark.parametrize(("splits", "message"), BAD_SPLITS.values(), ids=BAD_SPLITS)
def test_splits_that_do_not_fit(splits, message):
    with pytest.raises(InvalidArgumentError) as info:
        RaggedTensor([1, 2, 3], splits)
    assert info.value.message == message


def test_rows_that_are_not_uniform():
    with pytest.raises(InvalidArgumentError, match=r"^expected rows of length 2, got"):
        RaggedTensor([1, 2, 3], [0, 1, 3], uniform_row_length=2)


@pytest.mark.parametrize("splits", [[0.0, 3.0], [[0, 3]], ["0", "3"], 3])
def test_splits_that_are_no_integers(splits):
    with pytest.raises(InvalidTypeError, match=r"^expected row splits as 1-D integers, got"):
        RaggedTensor([1, 2, 3], splits)


def test_unchecked_splits_give_the_values_there_are():
    ragged = RaggedTensor([1, 2, 3], [0, 2, 9], validate=False)
    assert ragged.to_list() == [[1, 2], [3]]


@pytest.mark.parametrize("rows", [[[1], 2], [1, 2], [[[1]], [2]]])
def test_lists_of_several_depths(rows):
    with pytest.raises(InvalidArgumentError, match=r"^expected rows"):
        RaggedTensor.from_list(rows)


def test_lists_deeper_than_their_rank_hold_arrays():
    ragged = RaggedTensor.from_list([[[1, 2], [3, 4]], []], ragged_rank=1)
    assert ragged.shape == (2, None, 2)
    with pytest.raises(InvalidArgumentError, match=r"^expected rows nested 3 deep, got 1$"):
        RaggedTensor.from_list([[1]], ragged_rank=3)
    with pytest.raises(InvalidArgumentError, match=r"^expected the rows of one level or more"):
        RaggedTensor.from_nested_row_splits([1], [])


def test_text_becomes_bytes_and_keeps_its_nuls():
    ragged = RaggedTensor.from_list([["é", b"a\0"], []])
    assert ragged.dtype == object
    assert ragged.to_list() == [["é".encode(), b"a\0"], []]


@pytest.mark.parametrize(
    ("values", "default", "wanted"),
    [
        (np.float32([1, 2, 3]), None, [[1, 2], [0, 0], [3, 0]]),
        (np.array([True, True, True]), None, [[True, True], [False, False], [True, False]]),
        ([b"a", b"b", b"c"], None, [[b"a", b"b"], [b"", b""], [b"c", b""]]),
        ([b"a", b"b", b"c"], "x", [[b"a", b"b"], [b"x", b"x"], [b"c", b"x"]]),
        (np.uint8([1, 2, 3]), 255, [[1, 2], [255, 255], [3, 255]]),
    ],
)
def test_padding(values, default, wanted):
    dense = RaggedTensor(values, [0, 2, 2, 3]).to_dense(default)
    assert dense.tolist() == wanted
    assert dense.dtype == (values.dtype if isinstance(values, np.ndarray) else object)


@pytest.mark.parametrize(
    ("values", "default"),
    [(np.uint8([1]), 256), (np.int64([1]), 0.5), ([b"a"], 0), (np.float32([1]), "x")],
)
def test_padding_that_the_dtype_cannot_hold(values, default):
    with pytest.raises(InvalidArgumentError, match=r"^expected a default value of dtype"):
        RaggedTensor(values, [0, 1]).to_dense(default)


def test_padding_of_no_rows():
    assert RaggedTensor.from_list([], ragged_rank=2).to_dense().shape == (0, 0, 0)


def test_other_values_in_the_same_rows():
    ragged = RaggedTensor.from_list([[[1, 2], []], [], [[3]]])
    assert ragged.with_flat_values([b"a", b"b", b"c"]).to_list() == [
        [[b"a", b"b"], []],
        [],
        [[b"c"]],
    ]
    with pytest.raises(InvalidArgumentError, match=r"^expected 3 flat values, got 2$"):
        ragged.with_flat_values([1, 2])


def test_equality():
    ragged = RaggedTensor(np.float32([1, np.nan]), [0, 1, 2])
    assert ragged == RaggedTensor(np.float32([1, np.nan]), np.int32([0, 1, 2]))
    assert ragged == RaggedTensor.from_uniform_row_length(np.float32([1, np.nan]), 1)
    assert ragged != RaggedTensor(np.float32([1, np.nan]), [0, 0, 2])
    assert ragged != RaggedTensor(np.float64([1, np.nan]), [0, 1, 2])
    assert ragged != RaggedTensor(ragged, [0, 2])
    assert ragged != [[1], [2]]
    assert RaggedTensor([b"a"], [0, 1]) == RaggedTensor(["a"], [0, 1])


def test_int32_splits_stay():
    ragged = RaggedTensor([1, 2], np.int32([0, 2]))
    assert ragged.row_splits.dtype == ragged.row_lengths().dtype == ragged[:1].row_splits.dtype
    assert ragged.row_splits.dtype == np.int32


def test_pickle():
    ragged = RaggedTensor.from_list([[[1, 2], []], [], [[3]]])
    assert pickle.loads(pickle.dumps(ragged)) == ragged


def test_repr():
    assert repr(RaggedTensor([b"a"], [0, 1, 1])) == "RaggedTensor([[b'a'], []], dtype=string)"
    big = RaggedTensor(np.arange(100), [0, 50, 100])
    assert repr(big) == "RaggedTensor(shape=(2, None), dtype=int64)"


def test_it_never_becomes_an_array_of_objects():
    with pytest.raises(InvalidTypeError, match=r"^a RaggedTensor is not an array"):
        np.asarray(RaggedTensor([1, 2], [0, 1, 2]))


def test_values_must_be_arrays():
    with pytest.raises(InvalidTypeError, match=r"^expected values that form an array"):
        RaggedTensor([[1], [2, 3]], [0, 2])
    with pytest.raises(InvalidArgumentError, match=r"^expected values of rank 1 or more"):
        RaggedTensor(5, [0, 1])


def test_awkward():
    awkward = pytest.importorskip("awkward")
    for rows in ([[[1, 2], []], [], [[3]]], [[b"a\xff", b""], []]):
        array = RaggedTensor.from_list(rows).to_awkward()
        assert isinstance(array, awkward.Array)
        assert array.to_list() == rows


def test_awkward_is_optional(monkeypatch):
    monkeypatch.setitem(sys.modules, "awkward", None)
    with pytest.raises(MissingDependencyError) as info:
        RaggedTensor([1], [0, 1]).to_awkward()
    assert info.value.message.startswith("to_awkward needs the package 'awkward'")
    assert info.value.hint == "pip install 'featurekit[awkward]'"
