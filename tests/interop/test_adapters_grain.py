"""Grain: a source for its pipelines and its DataLoader."""

import numpy as np
import pytest
import training_data

import featurekit as fk

grain = pytest.importorskip("grain", reason="Grain is not installed")

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("grain")
    training_data.write(folder)
    return fk.load("training", "train", data_dir=folder, columns=["id", "image", "label", "vector"])


def ids(batches):
    return [int(number) for batch in batches for number in np.atleast_1d(batch["id"])]


def test_a_pipeline(source):
    data = source.to_grain().shuffle(seed=3).map(lambda one: {**one, "twice": 2 * one["id"]})
    batches = data.batch(16)
    assert len(batches) == 13
    assert sorted(ids(batches)) == list(range(200))
    assert batches[0]["image"].shape == (16, 4, 6, 3)
    assert (batches[0]["twice"] == 2 * batches[0]["id"]).all()
    assert sorted(ids(data.to_iter_dataset())) == list(range(200))


def test_our_own_order(source):
    shuffled = source.shuffle(1)
    assert ids(shuffled.to_grain()) == ids(shuffled)


def test_it_is_what_grain_asks_of_a_source(source):
    assert isinstance(source, grain.sources.RandomAccessDataSource)
    sampler = grain.samplers.IndexSampler(
        num_records=len(source), num_epochs=2, shuffle=True, seed=1,
        shard_options=grain.sharding.NoSharding(),
    )  # fmt: skip
    loader = grain.DataLoader(data_source=source, sampler=sampler, worker_count=0)
    found = ids(loader)
    assert sorted(found[:200]) == sorted(found[200:]) == list(range(200))


def test_resuming(source):
    data = source.to_grain().shuffle(seed=3).to_iter_dataset()
    first = iter(data)
    seen = ids(next(first) for _ in range(50))
    state = first.get_state()
    again = iter(data)
    again.set_state(state)
    assert seen + ids(again) == ids(data)
