"""What we write from the inputs that TFDS was given: the same records in the same order."""

import io

import numpy as np
import pytest
from PIL import Image
from rebuilding import DATASETS, OTHER_ORDER, REFUSED, rebuild

import featurekit as fk
from featurekit.errors import FeatureKitError


def plain(record):
    """The entries of a record; PNG files by their pixels, since compression may differ."""
    return {
        key: [_pixels(item) for item in values] if values is not None else None
        for key, values in fk.io.example_to_dict(record).items()
    }


def _pixels(item):
    if isinstance(item, bytes) and item.startswith(b"\x89PNG"):
        image = Image.open(io.BytesIO(item))
        return (image.mode, image.size, np.asarray(image).tobytes())
    return item.tobytes() if isinstance(item, np.generic) else item


@pytest.mark.parametrize("name", DATASETS)
def test_records(name, tmp_path):
    expected = DATASETS[name]
    if expected.entry["name"] == "video_file":
        pytest.importorskip("av", reason="video files need PyAV")
    if expected.json["write_options"].get("download_config", {}).get("ignore_duplicates"):
        pytest.skip("duplicate keys are an error; ignoring them is tested with the builders")
    if name in REFUSED:
        with pytest.raises(FeatureKitError) as error:
            rebuild(expected, tmp_path)
        assert REFUSED[name] in str(error.value)
        return
    ours = rebuild(expected, tmp_path)
    theirs = fk.builder_from_directory(expected.folder)
    for split in expected.json["written"]:
        want = [plain(record) for record in theirs.as_data_source(split).serialized()]
        got = [plain(record) for record in ours.as_data_source(split).serialized()]
        if name in OTHER_ORDER:
            want, got = (sorted(map(repr, records)) for records in (want, got))
        assert want == got
        info = theirs.info.splits[split]
        assert ours.info.splits[split].shard_lengths == info.shard_lengths
