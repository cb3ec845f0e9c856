"""The sequence state saver with PyTorch, and the part of its tutorial that needs it."""

import doctest
import pathlib
import re

import numpy as np
import pytest
import savers

from featurekit.errors import FeatureKitError
from featurekit.sequences import static_state_saving_rnn

torch = pytest.importorskip("torch", reason="needs PyTorch")

TUTORIAL = pathlib.Path(__file__).parents[2] / "docs" / "sequences.md"


@pytest.fixture(autouse=True)
def one_thread():
    """Two networks as small as these are slower with more."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_tutorial_shows_that_carrying_the_state_helps():
    text = TUTORIAL.read_text(encoding="utf-8")
    before, _, after = text.partition("### In PyTorch")
    names = {}
    for example in doctest.DocTestParser().get_examples(before):
        exec(example.source, names)
    blocks = re.findall(r"^```python\n(?!>>>)(.*?)^```$", after, re.M | re.S)
    assert len(blocks) == 2
    for block in blocks:
        exec(block.replace("epochs=10", "epochs=4"), names)
    assert names["with_state"][-1] < names["without_state"][-1] - 0.1


def make(**options):
    state = {"lstm": (torch.zeros(3), torch.zeros(3)), "n": torch.tensor(0)}
    return savers.make_padding(2, 2, state=state, **options)


def test_states_stay_tensors_and_are_detached():
    saver = make()
    savers.put(saver, "a", 4)
    savers.put(saver, "b", 2)
    savers.put(saver, "c", 2)
    batch = saver.next_batch()
    weight = torch.ones(3, requires_grad=True)
    hidden, memory = batch.state("lstm")
    assert isinstance(hidden, torch.Tensor)
    hidden = hidden + weight
    batch.save_all({"lstm": (hidden, memory), "n": batch.state("n") + 1})
    hidden.detach().zero_()  # does not reach what was saved
    batch = saver.next_batch()
    assert batch.key.tolist() == [b"00001_of_00002:a", b"00000_of_00001:c"]
    state = batch.state("lstm")[0]
    assert state.tolist() == [[1, 1, 1], [0, 0, 0]]
    assert not state.requires_grad
    assert batch.state("n").dtype == torch.int64
    assert batch.state("n").tolist() == [1, 0]


def test_states_keep_their_graph_on_request():
    saver = savers.make(state={"s": torch.zeros(())})
    savers.put(saver, "a", 4)
    weight = torch.tensor(2.0, requires_grad=True)
    batch = saver.next_batch()
    batch.save_state("s", batch.state("s") + weight, detach=False)
    saver.next_batch().state("s").sum().backward()
    assert weight.grad == 1


def test_device_is_kept():
    saver = savers.make(state={"s": torch.zeros(2, device="meta")})
    savers.put(saver, "a", 4)
    batch = saver.next_batch()
    assert batch.state("s").device.type == "meta"
    batch.save_state("s", batch.state("s") + 1)
    assert saver.next_batch().state("s").device.type == "meta"


def test_half_precision():
    saver = savers.make(state={"s": torch.zeros(2, dtype=torch.bfloat16)})
    savers.put(saver, "a", 4)
    batch = saver.next_batch()
    with pytest.raises(FeatureKitError, match="declared as bfloat16, got float32"):
        batch.save_state("s", torch.zeros(1, 2))
    batch.save_state("s", batch.state("s") + 1)
    assert saver.next_batch().state("s").dtype == torch.bfloat16


def test_numpy_initial_states_join_saved_tensors():
    saver = savers.make(2, state={"s": np.float32(0)})
    savers.put(saver, "a", 4)
    savers.put(saver, "b", 2)
    savers.put(saver, "c", 2)
    batch = saver.next_batch()
    batch.save_state("s", torch.as_tensor(batch.state("s")) + 1)
    state = saver.next_batch().state("s")
    assert isinstance(state, torch.Tensor)
    assert state.tolist() == [1, 0]


def test_rnn_is_that_of_torch_on_the_whole_sequences():
    torch.manual_seed(0)
    cell = torch.nn.GRUCell(1, 4)
    lengths = [5, 8, 2, 7]
    data = [np.random.default_rng(n).normal(size=(n, 1)).astype(np.float32) for n in lengths]
    saver = savers.make_padding(
        2, 3, x=((None, 1), np.float32), state={"h": torch.zeros(4)}, capacity=2
    )
    saver.feed([{"x": steps} for steps in data], num_threads=1)
    found = {str(number): [] for number in range(4)}
    for batch in saver:
        inputs = torch.from_numpy(batch.sequences["x"])
        outputs, state = static_state_saving_rnn(lambda x, h: (cell(x, h),) * 2, inputs, batch, "h")
        assert state.requires_grad
        for row, key in enumerate(batch.key):
            steps = torch.stack(outputs, 1)[row, : batch.length[row]]
            found[key.decode().partition(":")[2]].append(steps)
    whole = torch.nn.GRU(1, 4, batch_first=True)
    whole.load_state_dict({f"{name}_l0": value for name, value in cell.state_dict().items()})
    for number, steps in enumerate(data):
        expected, _ = whole(torch.from_numpy(steps)[None])
        torch.testing.assert_close(torch.cat(found[str(number)]), expected[0])


def test_checkpoint_with_tensors(tmp_path):
    saver = make()
    savers.put(saver, "a", 4)
    savers.put(saver, "b", 4)
    batch = saver.next_batch()
    batch.save_all({"lstm": tuple(s + 1 for s in batch.state("lstm")), "n": batch.state("n") + 1})
    path = tmp_path / "saver.pt"
    torch.save(saver.state_dict(), path)
    other = make()
    other.load_state_dict(torch.load(path, weights_only=False))
    mine, theirs = (each.next_batch().state("lstm")[1] for each in (saver, other))
    assert mine.tolist() == [[1, 1, 1], [1, 1, 1]]
    torch.testing.assert_close(mine, theirs)
