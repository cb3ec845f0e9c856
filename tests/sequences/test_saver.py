"""Feeding, forgetting, closing and waiting; the rest is in test_scenarios.py."""

import gc
import signal
import threading
import weakref

import numpy as np
import pytest
import savers
from stage import Stage

import featurekit as fk
from featurekit import TensorInfo, errors
from featurekit.sequences import barrier


@pytest.fixture
def stage(monkeypatch):
    stage = Stage()
    monkeypatch.setattr(barrier, "threading", stage.threading)
    return stage


# What it is.


def test_public_names():
    assert fk.sequences.SequenceQueueingStateSaver(
        *(1, 2, savers.LENGTH, savers.KEY, {"x": TensorInfo((None,), np.int64)}, {}),
        {"s": np.float32(0)},
    )
    assert set(fk.sequences.__all__) <= set(dir(fk.sequences))


def test_properties():
    saver = savers.make(3, 2, capacity=4)
    assert (saver.batch_size, saver.num_unroll, saver.prefetch_op) == (3, 2, None)
    assert repr(saver) == "SequenceQueueingStateSaver(batch_size=3, num_unroll=2, active=0)"


def test_batch():
    saver = savers.make(2, 2)
    savers.put(saver, "a", 4, length=3)
    savers.put(saver, b"\xff", 2)
    batch = saver.next_batch()
    assert batch.key.tolist() == [b"00000_of_00002:a", b"00000_of_00001:\xff"]
    assert batch.next_key.tolist() == [b"00001_of_00002:a", b"STOP:\xff"]
    assert repr(batch) == (
        "NextQueuedSequenceBatch(batch_size=2, key=[b'00000_of_00002:a', b'00000_of_00001:\\xff'])"
    )
    assert batch.insertion_index.tolist() == [-(2**63), -(2**63) + 1]


# Refusals: whole messages.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"sequences": {"y": [1, 2]}},
            "sequences: 'y' was not declared; there are 'x'\n  in the example 'k'",
        ),
        ({"sequences": {}}, "sequences: 'x' was declared, but is missing\n  in the example 'k'"),
        (
            {"sequences": {"x": [1.5, 2]}},
            "1.5 is not an integer, and the feature is int64\n  at: sequences.x\n"
            "  hint: round the value yourself, or declare a float dtype\n  in the example 'k'",
        ),
        (
            {"sequences": {"x": np.arange(3)}},
            "Tensor x first dimension should be a multiple of: 2, but saw value: 3. Consider "
            "setting pad=True.\n  hint: batch_sequences_with_states pads, "
            "SequenceQueueingStateSaver does not\n  in the example 'k'",
        ),
        (
            {"length": 2**31},
            "length must fit 32 bits, got 2147483648\n  in the example 'k'",
        ),
        ({"length": "3"}, "length must be an integer, got '3'\n  in the example 'k'"),
        (
            {"initial_states": {"s": np.zeros(2, np.int64)}},
            "Shape check failed for state 's': expected (), shape received: (2,)\n"
            "  at: s\n  in the example 'k'",
        ),
        (
            {"initial_states": {"t": 1}},
            "initial_states: 't' was not declared; there are 's'\n  in the example 'k'",
        ),
        (
            {"context": {"c": 1}},
            "context: 'c' was not declared\n  in the example 'k'",
        ),
        (
            {"key": 3},
            "expected text or bytes, got int 3\n  at: key\n"
            "  hint: give str or bytes; convert other values with str() first\n"
            "  in the example 3",
        ),
    ],
)
def test_refused_example_changes_nothing(arguments, message):
    saver = savers.make(1, 2)
    with pytest.raises(errors.FeatureKitError) as caught:
        saver.enqueue(**{"key": "k", "sequences": {"x": [1, 2]}, **arguments})
    assert str(caught.value) == message
    savers.put(saver, "k", 2)
    assert saver.next_batch().insertion_index.tolist() == [-(2**63)]
    assert (saver.active_size(), saver.barrier.incomplete_size()) == (0, 0)


def test_key_that_is_active():
    saver = savers.make(1, 2)
    savers.put(saver, "a", 4)
    with pytest.raises(errors.InvalidArgumentError) as caught:
        savers.put(saver, "a", 2)
    assert str(caught.value) == (
        "Key 00000_of_00002:a already has a value for component 'x': the example 'a' is still "
        "active\n  hint: give each example a key of its own; one may come again after its last "
        "segment was taken"
    )


def test_key_again_starts_from_the_initial_state():
    saver = savers.make(2, 2, capacity=2, allow_small_batch=True)
    savers.put(saver, "a", 4)
    savers.put(saver, "b", 2)
    savers.count(saver.next_batch())
    savers.put(saver, "b", 4)
    batch = saver.next_batch()
    assert batch.key.tolist() == [b"00001_of_00002:a", b"00000_of_00002:b"]
    assert batch.state("s").tolist() == [1, 0]


def test_missing_initial_state():
    saver = savers.make(state={"h": {"c": TensorInfo((2,), np.float32)}})
    with pytest.raises(errors.InvalidArgumentError) as caught:
        savers.put(saver, "a", 2)
    assert str(caught.value) == (
        "the initial value of state 'h' is missing\n"
        "  hint: give it with each example, or declare an array that examples start from\n"
        "  in the example 'a'"
    )


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            np.zeros((1, 1), np.int64),
            "Shape check failed for state 's': expected (1,), shape received: (1, 1)\n  at: s",
        ),
        (
            np.zeros(1, np.int32),
            "state 's' is declared as int64, got int32\n  at: s\n"
            "  hint: convert the value, or declare the dtype that it has",
        ),
        ([0.5], "0.5 is not an integer, and the feature is int64"),
    ],
)
def test_refused_state_can_be_saved_again(value, message):
    saver = savers.make()
    savers.put(saver, "a", 4)
    batch = saver.next_batch()
    with pytest.raises(errors.FeatureKitError) as caught:
        batch.save_state("s", value)
    assert str(caught.value).startswith(message)
    batch.save_state("s", [7])
    with pytest.raises(errors.InvalidArgumentError, match="'s' of this batch was saved already"):
        batch.save_state("s", [7])
    assert saver.next_batch().state("s").tolist() == [7]


def test_state_that_was_not_declared():
    saver = savers.make()
    savers.put(saver, "a", 4)
    with pytest.raises(KeyError) as caught:
        saver.next_batch().state("t")
    assert str(caught.value) == "state was not declared: t; there are 's'"


def test_save_all_wants_every_state():
    saver = savers.make(state={"a": np.int64(0), "b": np.int64(0)})
    savers.put(saver, "k", 4)
    batch = saver.next_batch()
    with pytest.raises(errors.InvalidArgumentError) as caught:
        batch.save_all({"a": [1]})
    assert str(caught.value) == "expected a value for every state, 'b' missing"
    batch.save_all({"a": [1], "b": [2]})
    batch = saver.next_batch()
    assert (batch.state("a"), batch.state("b")) == ([1], [2])


def test_batch_size_is_given_once():
    with pytest.raises(errors.InvalidArgumentError, match="batch_size was given twice"):
        savers.make(2).next_batch(2)
    with pytest.raises(errors.InvalidArgumentError, match="neither to the saver nor here"):
        savers.make(None).next_batch()
    with pytest.raises(errors.InvalidArgumentError, match="batch_size must be 0 or more, got -1"):
        savers.make(-1)
    with pytest.raises(errors.InvalidArgumentError) as caught:
        savers.make(None, capacity=2).next_batch(3)
    assert str(caught.value) == (
        "capacity needs to be >= batch_size. The capacity is 2, the batch_size 3"
    )


# States are copies, and trees.


def test_later_changes_do_not_reach_what_was_saved():
    saver = savers.make(state={"s": np.zeros(2, np.float32)})
    data = np.arange(4)
    saver.enqueue(key="a", sequences={"x": data})
    data[:] = 9
    batch = saver.next_batch()
    assert batch.sequences["x"].tolist() == [[0, 1]]
    state = batch.state("s")
    state += 1
    batch.save_state("s", state)
    state += 1
    savers.put(saver, "b", 2)
    assert saver.next_batch().state("s").tolist() == [[1, 1]]
    assert saver.next_batch().state("s").tolist() == [[0, 0]]


def test_states_that_are_trees():
    zeros = {"h": np.zeros(2, np.float32), "c": (np.int64(5), [np.ones((1, 1))])}
    saver = savers.make(2, state={"lstm": zeros})
    savers.put(saver, "a", 4)
    savers.put(saver, "b", 4)
    batch = saver.next_batch()
    state = batch.state("lstm")
    assert state["h"].shape == (2, 2)
    assert state["c"][0].tolist() == [5, 5]
    with pytest.raises(errors.InvalidArgumentError, match="expected the structure of") as caught:
        batch.save_state("lstm", {**state, "c": (state["c"][0],)})
    assert caught.value.path == ("lstm", "c")
    batch.save_state("lstm", {"h": state["h"] + 1, "c": (state["c"][0] * [1, 2], state["c"][1])})
    after = saver.next_batch().state("lstm")
    assert after["c"][0].tolist() == [5, 10]
    assert isinstance(after["c"], tuple)
    assert after["c"][1][0].shape == (2, 1, 1)


def test_states_that_are_text():
    saver = savers.make(2, state={"words": np.array(["é", ""])})
    savers.put(saver, "a", 4)
    savers.put(saver, "b", 4, initial_states={"words": ["x", b"y"]})
    batch = saver.next_batch()
    assert batch.state("words").tolist() == [["é".encode(), b""], [b"x", b"y"]]
    batch.save_state("words", np.array([["a", "b"], ["c", "ü"]]))
    assert saver.next_batch().state("words").tolist() == [[b"a", b"b"], [b"c", "ü".encode()]]


# Forgetting to save.


def test_forgetting_is_said_at_once():
    saver = savers.make(2)
    savers.put(saver, "a", 4)
    savers.put(saver, "b", 6)
    batch = saver.next_batch()
    with pytest.raises(errors.UnsavedStateError) as caught:
        saver.next_batch()
    assert str(caught.value) == (
        "the next batch would never come: insufficient elements (requested 2, ready 0); "
        "state 's' of 'a', 'b' was not saved\n"
        "  hint: call save_state of a batch for every state before the next batch is taken; "
        "where another thread does that, say how long to wait with timeout="
    )
    savers.count(batch)
    assert saver.next_batch().state("s").tolist() == [1, 1]


def test_forgetting_is_said_at_the_end_of_a_loop():
    saver = savers.make_padding(1, 2)
    saver.feed([{"x": [1, 2, 3]}, {"x": [1]}])
    with pytest.raises(errors.UnsavedStateError) as caught:
        list(saver)
    assert str(caught.value) == (
        "examples did not come to their ends; state 's' of '0' was not saved"
    )


def test_forgetting_with_a_full_saver():
    saver = savers.make_padding(1, 2, capacity=2)
    saver.feed(({"x": [1, 2, 3]} for _ in range(9)), num_threads=1)
    saver.next_batch()
    saver.next_batch()
    with pytest.raises(errors.UnsavedStateError, match="state 's' of '0', '1' was not saved"):
        saver.next_batch()
    saver.close(cancel_pending_enqueues=True)


def test_batch_that_is_gone_wakes_who_waits_for_it(stage):
    saver = savers.make()
    savers.put(saver, "a", 4)
    batch = saver.next_batch()  # this thread could still save its state
    waiting = stage.run(saver.next_batch)
    assert not waiting.ended
    del batch
    gc.collect()
    stage.settle(waiting)
    assert isinstance(waiting.error, errors.UnsavedStateError)


def test_another_thread_may_save(stage):
    saver = savers.make()
    savers.put(saver, "a", 4)
    batch = saver.next_batch()
    waiting = stage.run(saver.next_batch)
    savers.count(batch)
    stage.settle(waiting)
    assert waiting.result.state("s").tolist() == [1]


def test_threads_that_wait_for_each_other_are_all_told(stage):
    saver = savers.make()
    savers.put(saver, "a", 4)
    savers.put(saver, "b", 4)
    first = saver.next_batch()
    batches = []
    other = stage.run(lambda: batches.append(saver.next_batch()) or saver.next_batch())
    assert not other.ended  # this thread may still save the state of the first batch
    with pytest.raises(errors.UnsavedStateError, match="of 'a', 'b' was not saved"):
        saver.next_batch()
    stage.settle(other)
    assert isinstance(other.error, errors.UnsavedStateError)
    savers.count(first)
    savers.count(batches[0])
    assert savers.drain(saver.close() or saver) == [["00001_of_00002:a"], ["00001_of_00002:b"]]


def test_time_limit_says_that_others_save(stage):
    saver = savers.make()
    savers.put(saver, "a", 4)
    batches = []
    taker = stage.run(lambda: batches.append(saver.next_batch()) or saver.next_batch(timeout=1000))
    assert not taker.ended
    savers.count(batches[0])
    stage.settle(taker)
    assert taker.result.state("s").tolist() == [1]


# Waiting.


def test_time_limits():
    saver = savers.make(capacity=1)
    with pytest.raises(errors.WaitTimeoutError) as caught:
        saver.next_batch(timeout=0)
    assert str(caught.value) == (
        "there was no batch for 0 s: insufficient elements (requested 1, ready 0)"
    )
    savers.put(saver, "a", 4)
    with pytest.raises(TimeoutError) as caught:
        savers.put(saver, "b", 2, timeout=0)
    assert str(caught.value) == "there was no room for the example 'b' for 0 s: 1 are active"
    assert saver.barrier.incomplete_size() == 1
    savers.count(saver.next_batch())
    savers.count(saver.next_batch(timeout=0))
    savers.put(saver, "b", 2, timeout=0)
    assert saver.next_batch().insertion_index.tolist() == [-(2**63) + 1]


# Feeding.


def test_feeder_closes_and_ends():
    saver = savers.make_padding(2, 2)
    feeder = saver.feed([{"x": [1, 2, 3]}, {"x": [4]}, {"x": [5]}], num_threads=1)
    assert saver.prefetch_op is feeder
    assert savers.drain(saver) == [
        ["00000_of_00002:0", "00000_of_00001:1"],
        ["00001_of_00002:0", "00000_of_00001:2"],
    ]
    feeder.join()
    assert not feeder.is_running


def test_error_of_the_input_comes_after_what_was_before_it():
    def source():
        yield {"x": [1]}
        raise OSError("the disk is gone")

    saver = savers.make_padding(1, 2)
    saver.feed(source())
    savers.count(saver.next_batch())
    with pytest.raises(OSError, match="the disk is gone"):
        saver.next_batch()
    with pytest.raises(OSError, match="the disk is gone"):
        saver.next_batch()


def test_error_of_an_example_says_which():
    saver = savers.make_padding(1, 2)
    saver.feed([{"x": [1]}, {"x": ["one"]}], num_threads=1)
    savers.count(saver.next_batch())
    with pytest.raises(errors.EncodeError) as caught:
        saver.next_batch()
    assert str(caught.value) == (
        "expected int64, got str 'one'\n  at: sequences.x\n"
        "  hint: convert the value first; a value that may be missing needs optional=True\n"
        "  in the example '1'\n  while feeding example 1 of the input"
    )


def test_feeding_twice():
    saver = savers.make_padding(1, 2)
    saver.feed([])
    with pytest.raises(errors.InvalidArgumentError, match="the saver is fed already"):
        saver.feed([])
    with pytest.raises(errors.InvalidTypeError, match="expected an iterable of examples, got 3"):
        savers.make_padding(1, 2).feed(3)
    with pytest.raises(errors.InvalidArgumentError, match="num_threads must be above 0, got 0"):
        savers.make_padding(1, 2).feed([], num_threads=0)


def test_capacity_bounds_what_a_feeder_reads():
    read = []

    def source():
        for number in range(100):
            read.append(number)
            yield {"x": [1, 2, 3]}

    with savers.make_padding(1, 2, capacity=3, num_threads=1) as saver:
        saver.feed(source())
        for _ in range(20):
            savers.count(saver.next_batch())
        # Ten are finished, three are in, and one waits for room.
        assert len(read) <= 14


def test_closing_ends_the_threads():
    saver = savers.make_padding(1, 2, capacity=1)
    feeder = saver.feed(({"x": [1]} for _ in range(10**9)), num_threads=4)
    savers.count(saver.next_batch())
    saver.close(cancel_pending_enqueues=True)
    assert not feeder.is_running


def test_plain_close_lets_waiting_feeders_finish():
    saver = savers.make_padding(1, 2, capacity=1)
    feeder = saver.feed({"x": [1]} for _ in range(10**9))
    saver.close()
    assert len(savers.drain(saver)) <= 5
    feeder.join()
    assert not feeder.is_running


def test_saver_that_is_forgotten_ends_its_threads():
    saver = savers.make_padding(1, 2, capacity=1)
    feeder = saver.feed({"x": [1]} for _ in range(10**9))
    gone = weakref.ref(saver)
    del saver
    gc.collect()
    assert gone() is None
    feeder.join()
    assert not feeder.is_running


def test_interrupt_ends_the_threads(stage):
    main = threading.main_thread()

    def source():
        yield {"x": [1]}
        stage.wait_until_asleep(main)
        signal.pthread_kill(main.ident, signal.SIGINT)
        yield from ({"x": [1]} for _ in range(10**9))

    saver = savers.make_padding(10, 2, capacity=10, num_threads=1)
    feeder = saver.feed(source())
    with pytest.raises(KeyboardInterrupt):
        list(saver)
    assert not feeder.is_running


def test_closed_saver_is_a_closed_context():
    with savers.make_padding() as saver:
        savers.put(saver, "a", 3)
        batch = saver.next_batch()
    with pytest.raises(errors.CancelledError) as caught:
        savers.count(batch)
    assert str(caught.value) == "the saver was closed with cancelling: no state can be saved"
    with pytest.raises(errors.CancelledError) as caught:
        savers.put(saver, "b", 2)
    assert str(caught.value) == "the saver is closed: no example can be put in any more"
    with pytest.raises(EOFError) as caught:
        saver.next_batch()
    assert str(caught.value) == (
        "the saver is closed and has insufficient elements (requested 1, ready 0)"
    )
