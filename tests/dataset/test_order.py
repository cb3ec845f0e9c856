"""The order in which examples are read: shuffled, in parts, repeated; without a list of them."""

import hashlib
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featurekit.dataset.order import Part, Repeated, Shuffled, Span
from featurekit.dataset.permutation import Permutation
from featurekit.errors import InvalidArgumentError


def numbers(order, epoch=0):
    return order.at(np.arange(order.size), epoch).tolist()


@given(size=st.integers(0, 3000), seed=st.integers(-(2**70), 2**70), epoch=st.integers(0, 9))
@settings(deadline=None, max_examples=50)
def test_a_permutation_has_everything_once(size, seed, epoch):
    permutation = Permutation(size, seed, epoch)
    found = permutation.at(np.arange(size))
    assert sorted(found.tolist()) == list(range(size))
    assert [permutation[i] for i in range(0, size, 97)] == found[::97].tolist()


def test_a_permutation_is_the_same_everywhere():
    digest = hashlib.sha256()
    for size in (1, 5, 256, 257, 100_000):
        for seed, epoch in ((0, 0), (0, 1), (-7, 0), (2**80, 3)):
            digest.update(
                Permutation(size, seed, epoch).at(np.arange(size)).astype("<i8").tobytes()
            )
    assert digest.hexdigest() == "eb8cbca0440b75df38cc7541ff47e8331ad7b86965e4c1d8607fc05b9600251c"
    assert Permutation(10**12, 1).at(np.array([0, 10**12 - 1])).tolist() == [
        592345116549,
        851166476472,
    ]


def test_other_seeds_and_epochs_give_other_orders():
    orders = {
        tuple(Permutation(50, seed, epoch).at(np.arange(50)).tolist())
        for seed in range(10)
        for epoch in range(10)
    }
    assert len(orders) == 100


@pytest.mark.parametrize("size", [3, 4, 300])
def test_a_permutation_favours_no_place(size):
    counts = np.zeros((size, size))
    repeats = 4000
    for seed in range(repeats):
        counts[np.arange(size), Permutation(size, seed).at(np.arange(size))] += 1
    expected = repeats / size
    # The sum of squared deviations has the mean (size - 1)^2, and rarely twice that.
    assert ((counts - expected) ** 2 / expected).sum() < 2 * (size - 1) ** 2 + 20


def test_neighbours_do_not_stay_neighbours():
    size = 100_000
    places = Permutation(size, 5).at(np.arange(size))
    assert (np.abs(np.diff(places)) == 1).sum() < 20
    assert abs(np.corrcoef(places[:-1], places[1:])[0, 1]) < 0.02


@pytest.mark.parametrize("seed", [1.5, "1", None, True])
def test_a_seed_is_an_integer(seed):
    with pytest.raises(InvalidArgumentError, match="a seed is an integer"):
        Permutation(5, seed)


@given(data=st.data())
@settings(deadline=None)
def test_parts_of_parts(data):
    order, model = Span(range(40), "x"), list(range(40))
    for _ in range(data.draw(st.integers(1, 4))):
        if data.draw(st.booleans()):
            bound = st.integers(-45, 45) | st.none()
            step = data.draw(st.integers(-3, 3).filter(bool) | st.none())
            chosen = slice(data.draw(bound), data.draw(bound), step)
            order = Part.of(order, range(order.size)[chosen])
            model = model[chosen]
        elif model:
            picked = data.draw(st.lists(st.integers(0, len(model) - 1), max_size=10))
            order, model = Part.of(order, picked), [model[i] for i in picked]
    assert numbers(order) == model
    assert [order.one(i, 0) for i in range(len(model))] == model


def test_each_epoch_of_what_is_repeated_is_shuffled_anew():
    shuffled = Shuffled(Span(range(30), "x"), 1)
    thrice = Repeated(shuffled, 3)
    assert numbers(thrice) == [n for epoch in range(3) for n in numbers(shuffled, epoch)]
    assert numbers(thrice, epoch=1) == [n for e in (3, 4, 5) for n in numbers(shuffled, e)]
    endless = Repeated(shuffled, None)
    assert endless.size is None
    assert endless.at(np.arange(60, 90), 0).tolist() == numbers(shuffled, 2)
    assert Repeated(Span(range(0), "x"), None).size == 0
    with pytest.raises(InvalidArgumentError, match="cannot be shuffled"):
        Shuffled(endless, 0)


def test_equal_orders_read_alike():
    def make(seed, picked):
        return Repeated(Part.of(Shuffled(Span(range(9), "train"), seed), picked), 2)

    assert repr(make(1, [3, 1])) == repr(make(1, [3, 1]))
    assert repr(make(1, range(2, 5))) == "train[0:9:1].shuffle(1)[2:5:1].repeat(2)"
    assert len({repr(make(s, p)) for s in (1, 2) for p in ([3, 1], [1, 3], range(2))}) == 6


def test_a_shuffled_order_takes_no_memory():
    assert len(pickle.dumps(Shuffled(Span(range(10**12), "x"), 0))) < 500
