import pickle
import sys

import numpy as np
import pytest

from featurekit.errors import InvalidArgumentError, InvalidTypeError, MissingDependencyError
from featurekit.io.sparse import SparseTensor


def test_parts():
    sparse = SparseTensor([[0, 3], [0, 20], [1, 42]], np.float32([0.5, -1, 0]), (2, 100))
    assert sparse.indices.dtype == sparse.dense_shape.dtype == np.int64
    assert sparse.indices.shape == (3, 2)
    assert sparse.dense_shape.tolist() == [2, 100]
    assert sparse.shape == (2, 100)
    assert sparse.dtype == np.float32


def test_nothing_is_copied():
    indices, values = np.array([[0, 1]]), np.array([5])
    sparse = SparseTensor(indices, values, [1, 2])
    assert sparse.indices is indices
    assert sparse.values is values


@pytest.mark.parametrize("indices", [[], np.empty((0, 2)), np.empty((0, 2), np.int32)])
def test_no_values(indices):
    sparse = SparseTensor(indices, [], [2, 0])
    assert sparse.indices.shape == (0, 2)
    assert sparse.indices.dtype == np.int64
    assert sparse.to_dense().shape == (2, 0)


@pytest.mark.parametrize(
    ("values", "default", "wanted"),
    [
        ([1, 2], None, [[0, 1], [2, 0]]),
        (np.float32([1, 2]), -1, [[-1, 1], [2, -1]]),
        ([b"a", b"b"], None, [[b"", b"a"], [b"b", b""]]),
        (["a", "b"], b"-", [[b"-", b"a"], [b"b", b"-"]]),
        ([True, True], None, [[False, True], [True, False]]),
    ],
)
def test_dense(values, default, wanted):
    assert SparseTensor([[1, 0], [0, 1]], values[::-1], [2, 2]).to_dense(default).tolist() == wanted


def test_dense_of_rank_3():
    dense = SparseTensor([[0, 1, 2]], [7], [1, 2, 3]).to_dense()
    assert dense.tolist() == [[[0, 0, 0], [0, 0, 7]]]


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        ([[0, 0], [0, 2]], r"^cell \[0, 2\] is outside of the shape \(2, 2\)$"),
        ([[0, 0], [-1, 0]], r"^cell \[-1, 0\] is outside of the shape \(2, 2\)$"),
        ([[0, 1], [0, 1]], r"^cell \[0, 1\] has more than one value$"),
    ],
)
def test_cells_that_an_array_cannot_have(indices, message):
    sparse = SparseTensor(indices, [1, 2], [2, 2])
    with pytest.raises(InvalidArgumentError, match=message):
        sparse.to_dense()


BAD = {
    "indices too few": ([[0, 0]], [1, 2], [2, 2]),
    "indices of another rank": ([[0], [1]], [1, 2], [2, 2]),
    "flat indices": ([0, 1], [1, 2], [2, 2]),
    "values of rank 2": ([[0, 0]], [[1]], [2, 2]),
    "negative size": ([[0, 0]], [1], [2, -1]),
    "shape of rank 2": ([[0, 0]], [1], [[2, 2]]),
}


@pytest.mark.parametrize("arguments", BAD.values(), ids=BAD)
def test_shapes_that_do_not_fit(arguments):
    with pytest.raises(InvalidArgumentError, match=r"^expected "):
        SparseTensor(*arguments)


@pytest.mark.parametrize("arguments", [([[0.5, 0]], [1], [2, 2]), ([[0, 0]], [1], [2.5, 2])])
def test_numbers_that_are_no_integers(arguments):
    with pytest.raises(InvalidTypeError, match="as integers, got"):
        SparseTensor(*arguments)


def test_equality_and_pickle():
    sparse = SparseTensor([[0, 0], [0, 1]], [np.nan, 1], [1, 2])
    assert sparse == SparseTensor([[0, 0], [0, 1]], [np.nan, 1], [1, 2])
    assert sparse == pickle.loads(pickle.dumps(sparse))
    assert sparse != SparseTensor([[0, 0], [0, 1]], [np.nan, 1], [2, 2])
    assert sparse != SparseTensor([[0, 0], [0, 1]], [np.nan, 2], [1, 2])
    assert sparse != SparseTensor([[0, 1], [0, 0]], [np.nan, 1], [1, 2])
    assert sparse != [1]


def test_repr():
    sparse = SparseTensor([[0, 1], [2, 0]], ["a", b"b"], [3, 2])
    assert repr(sparse) == "SparseTensor({(0, 1): b'a', (2, 0): b'b'}, shape=(3, 2), dtype=string)"
    big = SparseTensor(np.zeros((9, 1), np.int64), np.arange(9), [1])
    assert repr(big) == "SparseTensor(9 values, shape=(1,), dtype=int64)"


def test_it_never_becomes_an_array_of_objects():
    with pytest.raises(InvalidTypeError, match=r"^a SparseTensor is not an array"):
        np.asarray(SparseTensor([[0]], [1], [1]))


def test_scipy():
    pytest.importorskip("scipy")
    sparse = SparseTensor([[0, 1], [2, 0]], np.float32([1, 2]), [3, 2])
    matrix = sparse.to_scipy()
    assert matrix.dtype == np.float32
    np.testing.assert_array_equal(matrix.toarray(), sparse.to_dense())


def test_what_scipy_cannot_hold():
    with pytest.raises(InvalidArgumentError, match=r"^expected rank 2, got the shape"):
        SparseTensor([[0]], [1], [1]).to_scipy()
    with pytest.raises(InvalidTypeError, match=r"^expected numbers, got strings"):
        SparseTensor([[0, 0]], ["a"], [1, 1]).to_scipy()


def test_scipy_is_optional(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    with pytest.raises(MissingDependencyError, match=r"^to_scipy needs the package 'scipy'"):
        SparseTensor([[0, 0]], [1], [1, 1]).to_scipy()
