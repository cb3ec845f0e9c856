"""tf.data: TFDS's element_spec and values, read by featurekit."""

import golden
import numpy as np
import pytest

import featurekit as fk

tf = pytest.importorskip("tensorflow", reason="TensorFlow is not installed")
tfds = pytest.importorskip("tensorflow_datasets", reason="TFDS is not installed")

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    # TensorFlow itself, on its way from the smallest float64 to a float16.
    pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning"),
]

TOPICS = ("bbox", "class_label", "dataset_feature", "image", "nested", "optional", "scalars",
          "sequence", "tensors", "text", "mixtures")  # fmt: skip
READABLE = [
    entry for entry in golden.datasets(*TOPICS)
    if all(entry.tensorflow_reads(split) for split in entry.json["examples"])
]  # fmt: skip


@pytest.mark.parametrize("entry", READABLE, ids=lambda entry: f"{entry.topic}-{entry.name}")
def test_spec_and_values_are_those_of_tfds(entry):
    theirs = tfds.builder_from_directory(str(entry.folder))
    ours = fk.builder_from_directory(entry.folder)
    config = tfds.ReadConfig(interleave_cycle_length=1, try_autocache=False)
    for split in ours.info.splits:
        expected = theirs.as_dataset(split=split, read_config=config)
        found = ours.as_data_source(split).to_tf()
        assert found.element_spec == expected.element_spec
        assert int(found.cardinality()) == int(expected.cardinality())
        for one, other in zip(found, expected, strict=True):
            assert same(one, other)


def same(first, second):
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(first[k], second[k]) for k in first)
    if isinstance(first, tf.data.Dataset):
        return all(same(a, b) for a, b in zip(first, second, strict=True))
    if isinstance(first, tf.RaggedTensor):
        return first.to_list() == second.to_list()
    first, second = first.numpy(), second.numpy()
    floats = getattr(first, "dtype", np.dtype(object)).kind == "f"
    return np.array_equal(first, second, equal_nan=floats)


def test_it_can_be_batched_and_repeated():
    folder = golden.ROOT / "sharding/shard_many/1.0.0"
    source = fk.builder_from_directory(folder).as_data_source("train")
    data = source.shuffle(1).to_tf().batch(64).prefetch(1)
    for _ in range(2):
        ids = np.concatenate([batch["id"] for batch in tfds.as_numpy(data)])
        assert ids.tolist() == [int(one["id"]) for one in source.shuffle(1)]
