"""Whatever lengths, capacities and threads: each segment comes once, in order, with its state."""

import collections
import threading

import numpy as np
import savers
from hypothesis import given, settings
from hypothesis import strategies as st

from featurekit.errors import OutOfRangeError

LENGTHS = st.lists(st.integers(1, 9), max_size=25)


@settings(max_examples=60, deadline=None)
@given(
    lengths=LENGTHS,
    num_unroll=st.integers(1, 4),
    batch_size=st.integers(1, 5),
    room=st.none() | st.integers(0, 5),
    feeders=st.integers(1, 4),
    takers=st.integers(1, 3),
)
def test_each_segment_once_and_in_order(lengths, num_unroll, batch_size, room, feeders, takers):
    saver = savers.make_padding(
        batch_size, num_unroll, capacity=None if room is None else batch_size + room
    )
    seen = collections.defaultdict(list)
    noting = threading.Lock()

    def take():
        while True:
            try:
                batch = saver.next_batch()
            except OutOfRangeError:
                return
            with noting:
                note(batch, seen)
            savers.count(batch)

    saver.feed(({"x": np.arange(length)} for length in lengths), num_threads=feeders)
    run_in_threads(take, takers)
    saver.prefetch_op.join()
    assert dict(seen) == {
        str(index): segments(length, num_unroll) for index, length in enumerate(lengths)
    }
    assert (saver.barrier.ready_size(), saver.barrier.incomplete_size()) == (0, 0)
    assert saver.active_size() == 0


def note(batch, seen):
    assert batch.batch_size <= 5
    for row in range(batch.batch_size):
        name, _, key = batch.key[row].decode().partition(":")
        assert name == f"{batch.sequence[row]:05}_of_{batch.sequence_count[row]:05}"
        length = batch.length[row]
        steps = batch.sequences["x"][row]
        assert not steps[length:].any()
        # The state counts the segments before, so it tells where the example is.
        seen[key].append((int(batch.state("s")[row]), steps[:length].tolist()))


def segments(length, num_unroll):
    steps = list(range(length))
    return [
        (number, steps[start : start + num_unroll])
        for number, start in enumerate(range(0, length, num_unroll))
    ]


def run_in_threads(function, number):
    failures = []

    def target():
        try:
            function()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=target) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@settings(max_examples=60, deadline=None)
@given(lengths=LENGTHS, batch_size=st.integers(1, 4), room=st.integers(0, 3))
def test_one_feeder_gives_the_order_of_a_plain_loop(lengths, batch_size, room):
    saver = savers.make_padding(batch_size, 2, capacity=batch_size + room)
    saver.feed([{"x": np.arange(length)} for length in lengths], num_threads=1)
    assert savers.drain(saver) == plain_order(lengths, batch_size)


def plain_order(lengths, batch_size):
    """The oldest examples that are left, again and again."""
    left = [(index, 0, -(-length // 2)) for index, length in enumerate(lengths)]
    batches = []
    while left:
        batch, left = left[:batch_size], left[batch_size:]
        batches.append([f"{i:05}_of_{count:05}:{index}" for index, i, count in batch])
        left = [(index, i + 1, count) for index, i, count in batch if i + 1 < count] + left
    return batches
