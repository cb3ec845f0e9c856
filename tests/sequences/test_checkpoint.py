"""Going on in the middle of an epoch, as if nothing had happened."""

import itertools
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import savers
from hypothesis import given, settings
from hypothesis import strategies as st

from featurekit import errors


def source():
    return [{"x": np.arange(length)} for length in (5, 1, 3, 8, 2, 2, 7, 4, 1, 6)]


def make(**options):
    state = {"s": np.zeros(2, np.float32), "n": np.int64(0)}
    return savers.make_padding(3, 2, capacity=4, state=state, **options)


def step(batch):
    """What a batch holds; saves its states."""
    batch.save_state("s", batch.state("s") + batch.sequences["x"].astype(np.float32))
    batch.save_state("n", batch.state("n") + batch.length)
    return (
        batch.key.tolist(),
        batch.insertion_index.tolist(),
        batch.sequences["x"].tolist(),
        batch.state("s").tolist(),
        batch.state("n").tolist(),
    )


def whole_epoch():
    saver = make()
    saver.feed(source(), num_threads=1)
    return [step(batch) for batch in saver]


@pytest.mark.parametrize("as_iterator", [False, True])
@pytest.mark.parametrize("taken", range(len(whole_epoch()) + 1))
def test_rest_of_the_epoch_is_the_same(taken, as_iterator):
    expected = whole_epoch()
    saver = make()
    saver.feed(source(), num_threads=1)
    assert [step(saver.next_batch()) for _ in range(taken)] == expected[:taken]
    state = pickle.loads(pickle.dumps(saver.state_dict()))
    saver.close(cancel_pending_enqueues=True)
    other = make()
    other.load_state_dict(state)
    other.feed(iter(source()) if as_iterator else source(), num_threads=1)
    assert [step(batch) for batch in other] == expected[taken:]


def test_in_a_new_process(tmp_path):
    saver = make()
    saver.feed(source(), num_threads=1)
    for _ in range(3):
        step(saver.next_batch())
    path = tmp_path / "saver.pickle"
    path.write_bytes(pickle.dumps(saver.state_dict()))
    saver.close(cancel_pending_enqueues=True)
    program = f"""
        import pickle, sys
        sys.path[:0] = {sys.path!r}
        sys.path.insert(0, {str(__file__).rpartition("/")[0]!r})
        from test_checkpoint import make, source, step
        saver = make()
        saver.load_state_dict(pickle.load(open({str(path)!r}, "rb")))
        saver.feed(source(), num_threads=1)
        print([step(batch) for batch in saver])
    """
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == repr(whole_epoch()[3:])


@settings(max_examples=40, deadline=None)
@given(lengths=st.lists(st.integers(1, 9), max_size=20), taken=st.integers(0, 9))
def test_several_feeders_lose_nothing_and_repeat_nothing(lengths, taken):
    items = [{"x": np.arange(length)} for length in lengths]
    saver = savers.make_padding(1, 2, capacity=3)
    saver.feed(items, num_threads=3)
    seen = []
    for batch in itertools.islice(saver, taken):
        seen += batch.key.tolist()
        savers.count(batch)
    state = saver.state_dict()
    saver.close(cancel_pending_enqueues=True)
    other = savers.make_padding(1, 2, capacity=3)
    other.load_state_dict(state)
    other.feed(items, num_threads=3)
    seen += [key.encode() for keys in savers.drain(other) for key in keys]
    assert sorted(seen) == sorted(
        b"%05d_of_%05d:%d" % (segment, -(-length // 2), index)
        for index, length in enumerate(lengths)
        for segment in range(-(-length // 2))
    )


def test_saver_that_is_filled_by_hand_stays_closed():
    saver = savers.make_padding(1, 2, make_keys_unique=True, make_keys_unique_seed=3)
    savers.put(saver, "a", 4)
    savers.put(saver, "a", 2)
    saver.close()
    savers.count(saver.next_batch())
    other = savers.make_padding(1, 2, make_keys_unique=True, make_keys_unique_seed=4)
    other.load_state_dict(saver.state_dict())
    with pytest.raises(errors.CancelledError):
        savers.put(other, "a", 4)
    assert savers.drain(other) == savers.drain(saver)


def test_unique_keys_go_on():
    def make_unique():
        return savers.make_padding(1, 2, make_keys_unique=True, make_keys_unique_seed=3)

    saver, other = make_unique(), make_unique()
    savers.put(saver, "a", 1)
    other.load_state_dict(saver.state_dict())
    savers.put(saver, "a", 1)
    savers.put(other, "a", 1)
    assert savers.drain(saver.close() or saver) == savers.drain(other.close() or other)


def test_refusals():
    saver = savers.make_padding()
    savers.put(saver, "a", 4)
    state = saver.state_dict()
    with pytest.raises(errors.InvalidArgumentError, match="the saver has examples already"):
        saver.load_state_dict(state)
    with pytest.raises(errors.InvalidArgumentError, match="a saver declared with"):
        savers.make_padding(1, 3).load_state_dict(state)
    with pytest.raises(errors.InvalidArgumentError, match="in format 1, got None"):
        savers.make_padding().load_state_dict({})
    fed = savers.make_padding()
    fed.feed([])
    with pytest.raises(errors.InvalidArgumentError, match="the saver is fed already"):
        fed.load_state_dict(state)
    saver.next_batch()
    with pytest.raises(errors.UnsavedStateError) as caught:
        saver.state_dict()
    assert str(caught.value) == (
        "a checkpoint needs all states of the batches taken; state 's' of 'a' was not saved\n"
        "  hint: take the checkpoint after save_state and before the next batch"
    )
    saver.close(cancel_pending_enqueues=True)
    with pytest.raises(errors.CancelledError, match="was closed with cancelling"):
        saver.state_dict()
