"""JAX: batches as arrays, on one device and sharded over several."""

import os

import numpy as np
import pytest
import training_data

import featurekit as fk
from featurekit.errors import InvalidArgumentError, UnsupportedError

# Before JAX looks for devices: eight of them, on this CPU.
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ.setdefault("JAX_PLATFORMS", "cpu")
jax = pytest.importorskip("jax", reason="JAX is not installed")

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    columns = ["id", "image", "name", "vector", "inner"]
    folder = tmp_path_factory.mktemp("jax")
    training_data.write(folder)
    return fk.load("training", "train", data_dir=folder, columns=columns)


def test_batches_are_arrays(source):
    seen = []
    for batch in source.shuffle(0).batches(16).to_jax():
        assert all(isinstance(batch[key], jax.Array) for key in ("id", "image", "vector"))
        assert batch["image"].dtype == np.uint8
        assert batch["inner"]["flag"].dtype == np.bool_
        assert batch["inner"]["deep"].dtype == np.uint16
        assert batch["id"].dtype == np.int32  # JAX's own default
        for i, number in enumerate(batch["id"].tolist()):
            expected = training_data.example(number)
            assert np.array_equal(batch["image"][i], expected["image"])
            assert batch["vector"][i].tolist() == expected["vector"].tolist()
            assert batch["name"][i].decode() == expected["name"]
            seen.append(number)
    assert sorted(seen) == list(range(200))


def test_sharded_over_devices(source):
    assert len(jax.devices()) == 8
    mesh = jax.make_mesh((8,), ("batch",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("batch"))
    mean = jax.jit(lambda x: x.astype(np.float32).mean(axis=(1, 2, 3)))
    images = fk.load("training", "train", data_dir=_data_dir(source), columns=["image"])
    count = 0
    for batch in images.batches(40, drop_remainder=True).to_jax(sharding):
        image = batch["image"]
        assert image.sharding == sharding
        assert {shard.data.shape for shard in image.addressable_shards} == {(5, 4, 6, 3)}
        assert np.allclose(mean(image), np.asarray(image)[:, 0, 0, 0])
        count += len(image)
    assert count == 200


def _data_dir(source):
    return os.path.dirname(os.path.dirname(source.info.data_dir))


def test_resuming(source):
    batches = source.shuffle(5).batches(16)
    first = batches.to_jax()
    seen = [batch["id"].tolist() for batch, _ in zip(first, range(4), strict=False)]
    again = batches.to_jax()
    again.load_state_dict(first.state_dict())
    seen += [batch["id"].tolist() for batch in again]
    # zip took a fifth batch of the first one before it saw that it had enough
    expected = [batch["id"].tolist() for batch in batches]
    assert seen == expected[:4] + expected[5:]


def test_integers_are_never_cut(tmp_path):
    more = {"large": (fk.Scalar(np.int64), lambda i: 2**31 + i)}
    source = training_data.write(tmp_path, 5, more=more)
    batches = source.batches(5, ragged="pad")
    with pytest.raises(InvalidArgumentError) as error:
        next(batches.to_jax())
    assert str(error.value) == (
        "values from 2147483648 to 2147483652 do not fit int32, which JAX has for int64\n"
        '  at: large\n  hint: call jax.config.update("jax_enable_x64", True)'
    )
    jax.config.update("jax_enable_x64", True)
    try:
        assert sorted(next(batches.to_jax())["large"].tolist()) == [2**31 + i for i in range(5)]
    finally:
        jax.config.update("jax_enable_x64", False)


def test_what_is_no_array(tmp_path):
    maybe = fk.Tensor(shape=(), dtype=np.float32, optional=True)
    source = training_data.write(
        tmp_path, 6, more={"maybe": (maybe, lambda i: i / 2 if i else None)}
    )
    with pytest.raises(UnsupportedError, match="an optional value is missing"):
        next(source.batches(6, ragged="pad").to_jax())
    with pytest.raises(UnsupportedError, match="the examples' shapes differ") as error:
        next(source.batches(6).to_jax())
    assert error.value.path == ("list",)
    filled = source.batches(6).to_jax(transform=lambda batch: {"x": batch["maybe"].filled(-1)})
    assert sorted(next(filled)["x"].tolist()) == [-1, 0.5, 1, 1.5, 2, 2.5]
