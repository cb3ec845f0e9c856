"""The sequence state saver with JAX: states as arrays and pytrees."""

import collections
import pickle

import numpy as np
import pytest
import savers

from featurekit.errors import FeatureKitError
from featurekit.sequences import static_state_saving_rnn

jax = pytest.importorskip("jax", reason="needs JAX")
jnp = jax.numpy

Carry = collections.namedtuple("Carry", "hidden memory")


@jax.tree_util.register_pytree_node_class
class Node:
    """A pytree of a user's own."""

    def __init__(self, value):
        self.value = value

    def tree_flatten(self):
        return (self.value,), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


def zeros():
    return {
        "carry": Carry(jnp.zeros(3), [jnp.zeros((2, 2))]),
        "own": Node(jnp.zeros(1)),
        "no": None,
    }


def make():
    return savers.make_padding(2, 2, state={"s": zeros()})


def test_pytrees():
    saver = make()
    savers.put(saver, "a", 4)
    savers.put(saver, "b", 4)
    savers.put(saver, "c", 2)
    batch = saver.next_batch()
    state = batch.state("s")
    assert isinstance(state["carry"], Carry)
    assert isinstance(state["own"], Node)
    assert isinstance(state["carry"].hidden, jax.Array)
    assert state["carry"].memory[0].shape == (2, 2, 2)

    def add_row_number(array):
        return array + jnp.arange(1, 3).reshape((2,) + (1,) * (array.ndim - 1))

    batch.save_state("s", jax.tree.map(add_row_number, state))
    after = saver.next_batch().state("s")
    assert after["own"].value.tolist() == [[1], [2]]
    assert jax.tree.structure(after) == jax.tree.structure(zeros())


def test_other_structure_is_refused():
    saver = make()
    savers.put(saver, "a", 2)
    savers.put(saver, "b", 2)
    batch = saver.next_batch()
    with pytest.raises(FeatureKitError, match="expected the structure of"):
        batch.save_state("s", {"carry": (), "own": (), "no": None})


def test_rnn_with_a_compiled_cell():
    saver = savers.make_padding(1, 3, x=((None,), np.float32), state={"s": jnp.float32(0)})
    saver.enqueue(key="a", sequences={"x": np.float32([1, 2, 3, 4, 5])})
    saver.close()
    cell = jax.jit(lambda x, state: (state, state + x))
    found = []
    for batch in saver:
        inputs = jnp.asarray(batch.sequences["x"])
        outputs, state = static_state_saving_rnn(cell, inputs, batch, "s")
        assert isinstance(state, jax.Array)
        found.append(jnp.stack(outputs, 1).tolist())
    assert found == [[[0, 1, 3]], [[6, 10, 0]]]


def test_traced_value_is_refused():
    saver = make()
    savers.put(saver, "a", 4)
    savers.put(saver, "b", 4)
    batch = saver.next_batch()
    state = batch.state("s")
    with pytest.raises(FeatureKitError) as caught:
        jax.jit(lambda value: batch.save_state("s", value))(state)
    assert str(caught.value) == (
        "a state is saved inside of a function that JAX traces, where it has no value\n"
        "  at: s.carry.hidden\n"
        "  hint: return it from the function, and save what that gives"
    )
    batch.save_state("s", jax.jit(lambda value: value)(state))


def test_checkpoint():
    saver, other = make(), make()
    for key in "ab":
        savers.put(saver, key, 4)
    batch = saver.next_batch()
    batch.save_state("s", jax.tree.map(lambda array: array + 1, batch.state("s")))
    # The user's own nodes must be such that pickle takes them, as JAX's arrays are.
    other.load_state_dict(pickle.loads(pickle.dumps(saver.state_dict())))
    assert other.next_batch().state("s")["carry"].hidden.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_torch_and_jax_do_not_mix():
    torch = pytest.importorskip("torch", reason="needs PyTorch")
    saver = savers.make(2, state={"s": jnp.float32(0)})
    savers.put(saver, "a", 4)
    savers.put(saver, "b", 2)
    savers.put(saver, "c", 2)
    batch = saver.next_batch()
    batch.save_state("s", torch.zeros(2))
    with pytest.raises(FeatureKitError, match="arrays of PyTorch and of JAX cannot be in one"):
        saver.next_batch().state("s")
