"""PyTorch: tensors, workers, epochs and resuming, with the real DataLoader."""

import subprocess
import sys

import numpy as np
import pytest
import training_data

import featurekit as fk
from featurekit.errors import InvalidArgumentError, UnsupportedError

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from torch.utils.data import DataLoader, Dataset, IterableDataset  # noqa: E402

pytestmark = [
    # JAX, where another test has used it, warns of every fork.
    pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore:.*pin_memory.*"),
]

COLUMNS = ["id", "image", "name", "vector", "inner"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("torch")
    training_data.write(folder)
    return folder


@pytest.fixture(scope="module")
def source(folder):
    return fk.load("training", "train", data_dir=folder, columns=COLUMNS)


def check(batch, i):
    """Whether place i of a batch is the example whose id it has."""
    number = int(batch["id"][i])
    expected = training_data.example(number)
    assert batch["image"][i].dtype == torch.uint8
    assert np.array_equal(batch["image"][i], expected["image"])
    assert batch["vector"][i].tolist() == expected["vector"].tolist()
    assert batch["name"][i].decode() == expected["name"]
    assert batch["inner"]["flag"][i].dtype == torch.bool
    assert int(batch["inner"]["deep"][i]) == expected["inner"]["deep"]
    return number


def ids(batches):
    return [number for batch in batches for number in batch["id"].tolist()]


EVERYTHING = list(range(training_data.COUNT))


def test_one_example(source):
    dataset = source.to_torch()
    assert isinstance(dataset, Dataset)
    assert len(dataset) == 200
    one = dataset[3]
    assert one["id"].dtype == torch.int64
    assert one["image"].shape == (4, 6, 3)
    assert isinstance(one["name"], bytes)
    one["image"][:] = 0  # its own memory, which may be written to


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_dataset_by_index(source, workers, method):
    loader = DataLoader(
        source.to_torch(), batch_size=16, shuffle=True, num_workers=workers,
        multiprocessing_context=method if workers else None,
        generator=torch.Generator().manual_seed(0),
    )  # fmt: skip
    for _ in range(2):
        batches = list(loader)
        found = [check(batch, i) for batch in batches for i in range(len(batch["id"]))]
        assert sorted(found) == EVERYTHING
        assert found != EVERYTHING


@pytest.mark.parametrize("workers", [0, 1, 2, 3, 8])
@pytest.mark.parametrize("shuffled", [False, True])
def test_workers_have_each_record_once(source, workers, shuffled):
    source = source.shuffle(7) if shuffled else source
    dataset = source.to_torch(iterable=True)
    assert isinstance(dataset, IterableDataset)
    orders = []
    for epoch in range(2):
        dataset.set_epoch(epoch)
        orders.append(ids(DataLoader(dataset, batch_size=8, num_workers=workers)))
        assert sorted(orders[-1]) == EVERYTHING
    assert (orders[0] != orders[1]) == shuffled


def test_workers_share_what_has_no_end(source):
    dataset = source.repeat().to_torch(iterable=True)
    batches = iter(DataLoader(dataset, batch_size=4, num_workers=2))
    assert len(ids(next(batches) for _ in range(100))) == 400


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_batches_by_workers_over_three_epochs(source, method):
    batches = source.shuffle(3).batches(16)
    loader = batches.to_torch(num_workers=2, multiprocessing_context=method)
    assert len(loader) == 13
    epochs = []
    for epoch in range(3):
        found = [[check(batch, i) for i in range(len(batch["id"]))] for batch in loader]
        assert loader.epoch == epoch
        epochs.append([number for numbers in found for number in numbers])
        assert sorted(epochs[-1]) == EVERYTHING
        assert epochs[-1] == ids(batches.epoch(epoch))  # whatever the number of workers
    assert epochs[0] != epochs[1] != epochs[2]


RESUME = """
import sys, json, featurekit as fk
if __name__ == "__main__":
    source = fk.load("training", "train", data_dir=sys.argv[1], columns=["id"])
    loader = source.shuffle(3).batches(16).to_torch(num_workers=2)
    loader.load_state_dict(json.loads(sys.argv[2]))
    print(json.dumps([[n for b in loader for n in b["id"].tolist()] for _ in range(2)]))
"""


def test_resuming_in_a_new_process(folder):
    import json

    source = fk.load("training", "train", data_dir=folder, columns=["id"])
    loader = source.shuffle(3).batches(16).to_torch(num_workers=2)
    first = ids(loader)
    second = []
    for count, batch in enumerate(loader, 1):
        second += batch["id"].tolist()
        if count == 5:
            break
    state = json.dumps(loader.state_dict())
    assert json.loads(state)["batches"] == 5  # those given, not those read ahead
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RESUME, str(folder), state],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    rest, third = json.loads(done.stdout)
    assert sorted(first) == sorted(second + rest) == sorted(third) == EVERYTHING
    reference = source.shuffle(3)
    assert second + rest == [int(one["id"]) for one in reference.epoch(1)]
    assert third == [int(one["id"]) for one in reference.epoch(2)]


def test_a_state_of_other_batches(source):
    state = source.shuffle(1).batches(16).to_torch().state_dict()
    for other in (source.shuffle(2).batches(16), source.shuffle(1).batches(8)):
        with pytest.raises(InvalidArgumentError, match="the state belongs to batches with the"):
            other.to_torch().load_state_dict(state)
    with pytest.raises(InvalidArgumentError, match="expected what state_dict gave"):
        source.batches(16).to_torch().load_state_dict({})
    with pytest.raises(InvalidArgumentError, match="shuffle= is settled by the batches"):
        source.batches(16).to_torch(shuffle=True)


def scale(batch):
    return {"image": batch["image"].astype(np.float32) / 255, "id": batch["id"]}


@pytest.mark.parametrize("workers", [0, 2])
def test_a_transform(source, workers):
    batch = next(iter(source.batches(4).to_torch(transform=scale, num_workers=workers)))
    assert batch["image"].dtype == torch.float32
    assert float(batch["image"].max()) <= 1
    one = next(iter(DataLoader(source.to_torch(transform=scale), num_workers=workers)))
    assert list(one) == ["image", "id"]


def test_all_kinds_of_values(folder, tmp_path):
    source = fk.load("training", "train", data_dir=folder)
    (batch,) = source.take(5).batches(5).to_torch()
    rows = source.take(5).batches(5)[0]["list"].to_list()
    assert [row.tolist() for row in batch["list"]] == rows
    assert all(row.dtype == torch.int32 for row in batch["list"])
    assert batch["label"].dtype == torch.int64
    assert [len(rows) for rows in batch["nested"]] == [int(i) % 3 for i in batch["id"]]
    more = {
        "maybe": (fk.Tensor(shape=(), dtype=np.int64, optional=True), lambda i: i or None),
        "brain": (fk.Tensor(shape=(2,), dtype="bfloat16", encoding="bytes"),
                  lambda i: np.array([i, 1.5]).astype("bfloat16")),
    }  # fmt: skip
    pytest.importorskip("ml_dtypes")
    source = training_data.write(tmp_path, 9, more=more)
    with pytest.raises(UnsupportedError, match="an optional value is missing") as error:
        list(source.batches(9).to_torch())
    assert error.value.path == ("maybe",)
    chosen = fk.load("training", "train", data_dir=tmp_path, columns=["brain", "id"])
    (batch,) = chosen.batches(9).to_torch()
    assert batch["brain"].dtype == torch.bfloat16
    assert batch["brain"][:, 0].tolist() == batch["id"].tolist()


def test_windows_of_episodes(tmp_path):
    schema = fk.FeaturesDict(
        {"steps": fk.Dataset({"action": fk.Tensor(shape=(2,), dtype=np.float32)})}
    )
    examples = [(e, {"steps": [{"action": [e, i]} for i in range(10)]}) for e in range(6)]
    fk.write_dataset("robots", {"train": examples}, schema, tmp_path, quiet=True)
    windows = fk.episodes(fk.load("robots", "train", data_dir=tmp_path)).windows(4, padding="edge")
    loader = windows.shuffle(0).batches(8).to_torch(num_workers=2)
    seen = []
    for batch in loader:
        assert batch["steps"]["action"].shape[1:] == (4, 2)
        assert batch["is_pad"].dtype == torch.bool
        seen += [tuple(action.tolist()) for action in batch["steps"]["action"][:, 0]]
    assert sorted(seen) == [(e, i) for e in range(6) for i in range(10)]
