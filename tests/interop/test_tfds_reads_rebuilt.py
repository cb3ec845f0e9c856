"""The real TFDS reads what we write from its own sample inputs, with its own values."""

import os

import golden
import numpy as np
import pytest
from rebuilding import DATASETS, REFUSED, rebuild

import featurekit as fk

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
tf = pytest.importorskip("tensorflow", reason="TensorFlow is not installed")
tfds = pytest.importorskip("tensorflow_datasets", reason="TFDS is not installed")

pytestmark = pytest.mark.filterwarnings("ignore")

READABLE = {
    name: expected
    for name, expected in DATASETS.items()
    if name not in REFUSED and all(map(expected.tensorflow_reads, expected.json["examples"]))
}


def ours(value):
    """What TensorFlow gives, as we would give it."""
    if isinstance(value, dict):
        return {key: ours(item) for key, item in value.items()}
    if isinstance(value, (tf.RaggedTensor, tf.compat.v1.ragged.RaggedTensorValue)):
        if isinstance(value, tf.RaggedTensor):
            values, splits = value.values, value.row_splits.numpy()
        else:
            values, splits = value.values, value.row_splits
        values = values.numpy() if isinstance(values, tf.Tensor) else values
        return fk.io.RaggedTensor(ours(values), np.asarray(splits, np.int64))
    if isinstance(value, (bytes, np.ndarray, np.generic)):
        return value
    return [ours(step) for step in value]  # a nested dataset


@pytest.mark.parametrize("name", READABLE)
def test_tfds_reads_equal_values(name, tmp_path):
    expected = READABLE[name]
    if expected.entry["name"] == "audio_lazy_wav":
        pytest.importorskip("pydub", reason="TFDS decodes stored sound with pydub")
    if expected.entry["name"] == "video_file":
        pytest.importorskip("av", reason="video files need PyAV")
    if expected.json["write_options"].get("download_config", {}).get("ignore_duplicates"):
        pytest.skip("duplicate keys are an error")
    reader = rebuild(expected, tmp_path)
    builder = tfds.builder_from_directory(reader.data_dir)
    config = tfds.ReadConfig(interleave_cycle_length=1)
    for split in expected.json["written"]:
        want = expected.examples(split)
        found = tfds.as_numpy(builder.as_dataset(split=split, read_config=config))
        got = [ours(example) for example in found]
        if expected.name == "ordered_np_ints":
            want, got = (sorted(examples, key=str) for examples in (want, got))
        assert golden.difference(want, got) is None
