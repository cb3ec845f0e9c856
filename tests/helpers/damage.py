"""Makes a dataset with features of every kind, and damages copies of it."""

import functools
import io
import json
import shutil
import wave

import numpy as np

import featurekit as fk
from featurekit.io.framing import frame

FEATURES = {
    "id": np.int64,
    "small": np.uint8,
    "flag": np.bool_,
    "half": np.float16,
    "bounded": fk.Tensor(shape=(2,), dtype=np.float32, minimum=0, maximum=10),
    "label": fk.ClassLabel(names=["cat", "dog", "bird"]),
    "text": fk.Text(),
    "name": fk.Text(),
    "image": fk.Image(shape=(4, 6, 3)),
    "sound": fk.Audio(shape=(None,), dtype=np.int16, sample_rate=8000, lazy_decode=True),
    "packed": fk.Tensor(shape=(3,), dtype=np.int32, encoding="zlib"),
    "matrix": fk.Tensor(shape=(None, None), dtype=np.float32, encoding="bytes"),
    "box": fk.BBoxFeature(),
    "objects": fk.Sequence({"label": fk.ClassLabel(num_classes=5), "box": fk.BBoxFeature()}),
    "ragged": fk.Sequence(fk.Sequence(np.int64)),
    "words": fk.TranslationVariableLanguages(languages=["de", "en"]),
    "steps": fk.Dataset({"action": fk.Tensor(shape=(2,), dtype=np.float32), "view": fk.Image()}),
}


def wav(rate=8000, count=20):
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.arange(count, dtype="<i2").tobytes())
    return buffer.getvalue()


def example(i):
    box = fk.BBox(0.1, 0.2, 0.5, 0.75)
    pixels = np.full((4, 6, 3), i, np.uint8)
    return {
        "id": i,
        "small": i,
        "flag": i % 2,
        "half": i / 2,
        "bounded": [i, 10],
        "label": i % 3 if i else -1,
        "text": f"text {i}",
        "name": "ä" * i,
        "image": pixels,
        "sound": wav(),
        "packed": [i, 1, 2],
        "matrix": np.ones((i % 3, 2), np.float32),
        "box": box,
        "objects": [{"label": j, "box": box} for j in range(i % 3)],
        "ragged": [[1] * j for j in range(i % 4)],
        "words": {"en": f"word {i}", "de": ["Wort", "Wörter"]},
        "steps": [{"action": [j, 0], "view": pixels[: j + 1]} for j in range(3)],
    }


@functools.cache
def examples(start, stop):
    return [example(i) for i in range(start, stop)]


def write_sample(data_dir):
    """The dataset: 8 examples in two shards of split train, 2 in one of test."""
    splits = {"train": examples(0, 8), "test": examples(8, 10)}
    return fk.write_dataset(
        "sample",
        {name: [(str(e["id"]), e) for e in rows] for name, rows in splits.items()},
        fk.FeaturesDict(FEATURES),
        data_dir,
        num_shards=2,
        quiet=True,
        description="A dataset with features of every kind.",
        supervised_keys=("image", "label"),
        metadata={"made": "here"},
    )


class Damaged:
    """A copy of a dataset, to be damaged."""

    def __init__(self, source, folder):
        self.folder = folder
        shutil.copytree(source, folder)

    def path(self, name):
        return self.folder / name

    def shard(self, split="train", index=0):
        return self.path(f"sample-{split}.tfrecord-0000{index}-of-00002")

    def text(self, name, old, new):
        """Replace text in a metadata file; it must be there."""
        path = self.path(name)
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def info(self, change):
        """Change the JSON of dataset_info.json."""
        path = self.path("dataset_info.json")
        value = json.loads(path.read_text())
        change(value)
        path.write_text(json.dumps(value, indent=2, sort_keys=True))

    def features(self, change):
        path = self.path("features.json")
        value = json.loads(path.read_text())
        change(value["featuresDict"]["features"])
        path.write_text(json.dumps(value, indent=4, sort_keys=True))

    def bytes(self, change, **shard):
        """Change the bytes of a shard: `change` takes and gives a bytearray."""
        path = self.shard(**shard)
        path.write_bytes(bytes(change(bytearray(path.read_bytes()))))

    def records(self, change, *, split="train", index=0, record=0):
        """Change one record, and numBytes with it; `change` takes and gives its bytes."""
        path = self.shard(split, index)
        records = list(fk.io.TFRecordReader(path))
        before = len(records[record])
        records[record] = change(records[record])
        path.write_bytes(b"".join(map(frame, records)))
        self.add_bytes(len(records[record]) - before, split)

    def entries(self, change, **where):
        """Change the entries of one record: `change` takes the dict and changes it."""

        def rewrite(record):
            entries = fk.io.example_to_dict(record)
            change(entries)
            return fk.io.serialize(fk.io.make_example(entries))

        self.records(rewrite, **where)

    def add_bytes(self, count, split="train"):
        def change(info):
            for item in info["splits"]:
                if item["name"] == split:
                    item["numBytes"] = str(int(item["numBytes"]) + count)

        self.info(change)
