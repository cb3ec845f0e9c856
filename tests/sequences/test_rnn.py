"""static_state_saving_rnn with NumPy; with PyTorch and JAX: tests/interop."""

import numpy as np
import pytest
import savers

from featurekit import errors
from featurekit.sequences import static_state_saving_rnn


def cell(x, state):
    new = state * 2 + x
    return new * 10, new


def batches():
    saver = savers.make_padding(2, 3, allow_small_batch=True)
    savers.put(saver, "a", 5)
    savers.put(saver, "b", 2)
    saver.close()
    return saver


def test_state_goes_on_and_stops_at_the_length():
    found = []
    for batch in batches():
        outputs, state = static_state_saving_rnn(cell, batch.sequences["x"], batch, "s")
        found.append((np.stack(outputs, 1).tolist(), state.tolist()))
    # a: 0, 1, 2 and then 3, 4, padding; b: 0, 1, padding
    assert found == [
        ([[0, 10, 40], [0, 10, 0]], [4, 1]),
        ([[110, 260, 0]], [26]),
    ]


def test_list_of_inputs_and_lengths_of_ones_own():
    batch = next(iter(batches()))
    steps = [batch.sequences["x"][:, i] for i in range(3)]
    outputs, state = static_state_saving_rnn(cell, steps, batch, "s", sequence_length=[1, 3])
    assert np.stack(outputs, 1).tolist() == [[0, 0, 0], [0, 10, 20]]
    assert state.tolist() == [0, 2]


def test_several_states_are_a_tuple():
    saver = savers.make(state={"h": np.zeros(2), "c": {"x": np.int64(1)}})
    savers.put(saver, "a", 4)

    def two(x, states):
        h, c = states
        return h, (h + x[:, None], {"x": c["x"] + 1})

    batch = saver.next_batch()
    outputs, state = static_state_saving_rnn(two, batch.sequences["x"], batch, ("h", "c"))
    assert len(outputs) == 2
    assert state[1]["x"].tolist() == [3]
    batch = saver.next_batch()
    assert batch.state("h").tolist() == [[1, 1]]
    assert batch.state("c")["x"].tolist() == [3]


def test_outputs_beyond_the_length_are_zeros_whatever_the_cell_gives():
    saver = savers.make(1, 2)
    savers.put(saver, "a", 2, length=1)
    batch = saver.next_batch()
    outputs, _ = static_state_saving_rnn(
        lambda x, s: (np.where(x > 0, np.nan, 1.0), s), batch.sequences["x"], batch, "s"
    )
    assert np.stack(outputs, 1).tolist() == [[1.0, 0.0]]


def test_refusals():
    saver = savers.make()
    savers.put(saver, "a", 4)
    batch = saver.next_batch()
    with pytest.raises(errors.InvalidArgumentError, match="inputs must have one step at least"):
        static_state_saving_rnn(cell, [], batch, "s")
    with pytest.raises(errors.UnknownNameError, match="state was not declared: t"):
        static_state_saving_rnn(cell, batch.sequences["x"], batch, "t")
    with pytest.raises(errors.InvalidArgumentError, match="declared as int64, got float64"):
        static_state_saving_rnn(lambda x, s: (x, s + 0.5), batch.sequences["x"], batch, "s")
