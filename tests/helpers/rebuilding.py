"""Builds TFDS's sample datasets again with our writer; see `golden.py`."""

import golden
import schemas

import featurekit as fk

DATASETS = {
    f"{e.topic}-{e.folder.parent.name}-{e.folder.name}": e
    for e in golden.datasets()
    if e.entry["file_format"] == "tfrecord"
    and "written" in e.json
    and e.topic != "legacy"  # their metadata was edited after writing
}

# Inputs that TFDS takes and we refuse, and what we say.
REFUSED = {
    "audio-audio_wav_files-1.0.0": "channel",
    "image-image_depth_mismatch-1.0.0": "the PNG file has 16 bits a sample",
    "scalars-scalars_python_values-1.0.0": "1e+300 is too large for float32",
    "tensors-tensor_minmax-1.0.0": "9.0 is above the maximum 2",
    "tensors-tensor_zero_size-1.0.0": "would read back with 1 as its unknown size",
}
# Keys that are NumPy integers count as integers, so the order is theirs.
OTHER_ORDER = {"ordered-ordered_np_ints-1.0.0"}


def rebuild(expected, folder):
    """Build a dataset again from its inputs."""
    written = expected.json["written"]
    options = expected.json["write_options"]
    info = fk.builder_from_directory(expected.folder).info
    limit = options.get("download_config", {}).get("max_examples_per_split")
    return fk.write_dataset(
        info.name,
        {split: expected.inputs(split)[:limit] for split in written},
        schemas.feature(expected.json["schema"]),
        folder,
        version=info.version,
        config=info.config_name,
        num_shards=max(len(rows["shards"]) for rows in written.values()),
        disable_shuffling=info.disable_shuffling,
        quiet=True,
    )
