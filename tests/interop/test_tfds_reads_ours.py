"""TFDS itself opens what we write, and reads the same values."""

import numpy as np
import pytest

import featurekit as fk
from featurekit.builders.catalog.digits import Digits

pytest.importorskip("tensorflow", reason="TensorFlow is not installed")
tfds = pytest.importorskip("tensorflow_datasets", reason="TFDS is not installed")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def equal(ours, theirs):
    """Whether two examples have the same values, dtypes and shapes."""
    if isinstance(ours, dict):
        return ours.keys() == theirs.keys() and all(equal(ours[k], theirs[k]) for k in ours)
    if isinstance(ours, fk.io.RaggedTensor):
        return ours.to_list() == theirs.to_list()
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    return (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape) and np.array_equal(
        ours, theirs, equal_nan=ours.dtype.kind == "f"
    )


def read_by_tfds(folder, split, **options):
    builder = tfds.builder_from_directory(str(folder))
    return list(tfds.as_numpy(builder.as_dataset(split=split, **options)))


def test_digits(tmp_path):
    ours = Digits(data_dir=tmp_path)
    ours.download_and_prepare(quiet=True)
    theirs = read_by_tfds(ours.data_dir, "train")
    assert len(theirs) == 1797
    pairs = zip(ours.as_data_source("train"), theirs, strict=True)
    assert all(equal(a, b) for a, b in pairs)


def test_digits_by_name_supervised_and_in_batches(tmp_path):
    Digits(data_dir=tmp_path).download_and_prepare(quiet=True)
    dataset, info = tfds.load(
        "digits", split="train[:100]", data_dir=str(tmp_path), as_supervised=True, with_info=True,
        batch_size=50, download=False,
    )  # fmt: skip
    ours = fk.load("digits", "train[:100]", data_dir=tmp_path)
    images, labels = zip(*tfds.as_numpy(dataset), strict=True)
    assert np.array_equal(np.concatenate(images), np.stack([e["image"] for e in ours]))
    assert np.array_equal(np.concatenate(labels), np.stack([e["label"] for e in ours]))
    assert info.supervised_keys == ("image", "label")
    assert info.features["label"].num_classes == 10
    assert info.redistribution_info.license == "CC BY 4.0"


DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
          "float16", "float32"]  # fmt: skip

FEATURES = {
    **{f"{dtype}_scalar": fk.Scalar(getattr(np, dtype, np.bool_)) for dtype in DTYPES},
    **{f"{dtype}_list": fk.Tensor(shape=(None,), dtype=dtype) for dtype in DTYPES},
    "matrix": fk.Tensor(shape=(2, None), dtype=np.float32),
    "bytes": fk.Tensor(shape=(2, 2), dtype=np.float64, encoding="bytes"),
    "zlib": fk.Tensor(shape=(None, None, 3), dtype=np.uint16, encoding="zlib"),
    "texts": fk.Tensor(shape=(None,), dtype=np.str_),
    "text": fk.Text(),
    "label": fk.ClassLabel(names=["bird", "cat", "dog"]),
    "a/b": np.int64,
    "nested": {"x": np.int32, "deeper": {"y": fk.Text(), "label": fk.ClassLabel(num_classes=3)}},
    "sequence": fk.Sequence(np.int32),
    "fixed": fk.Sequence(np.float32, length=2),
    "labels": fk.Sequence(fk.ClassLabel(names=["a", "b"])),
    "objects": fk.Sequence({"id": np.int64, "name": fk.Text(), "box": fk.BBoxFeature()}),
    "ragged": fk.Sequence(fk.Sequence(np.int64)),
    "ragged_text": fk.Sequence(fk.Sequence(fk.Text())),
    "ragged_of_three": fk.Sequence(fk.Sequence(fk.Sequence(np.float32))),
    "vectors": fk.Sequence(fk.Tensor(shape=(2,), dtype=np.int64)),
    "image": fk.Image(shape=(None, None, 3)),
}


def example(index):
    numbers = np.random.default_rng(index)
    limits = {d: np.iinfo(d) for d in DTYPES if np.dtype(d).kind in "iu"}
    scalars = {f"{d}_scalar": limits[d].max if index % 2 else limits[d].min for d in limits}
    lists = {f"{d}_list": np.array([0, 1, limits[d].max][: index % 4], d) for d in limits}
    return {
        **scalars,
        **lists,
        "bool_scalar": index % 2 == 0,
        "float16_scalar": np.float16(index) / 3,
        "float32_scalar": np.float32(index) / 3,
        "bool_list": [True, False][: index % 3],
        "float16_list": np.array([1.5, np.inf, np.nan], np.float16),
        "float32_list": np.array([], np.float32),
        "matrix": numbers.random((2, index % 3), np.float32),
        "bytes": numbers.random((2, 2)),
        "zlib": numbers.integers(0, 2**16, (index % 3, 2, 3), np.uint16),
        "texts": ["é", b"\xff", ""][: index % 4],
        "text": f"text {index}",
        "label": index % 3,
        "a/b": -index,
        "nested": {"x": index, "deeper": {"y": "", "label": 2}},
        "sequence": list(range(index % 4)),
        "fixed": [0.5, index],
        "labels": ["b"] * (index % 3),
        "objects": [{"id": i, "name": "n", "box": (0, 0, 0.5, 1)} for i in range(index % 3)],
        "ragged": [[1, 2, 3], [], [index]][: index % 4],
        "ragged_text": [["a"], [], ["b", "é"]][: index % 4],
        "ragged_of_three": [[[1, 2], []], [], [[3]]][: index % 4],
        "vectors": np.full((index % 3, 2), index),
        "image": numbers.integers(0, 256, (3, 2 + index % 2, 3), np.uint8),
    }


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    return fk.write_dataset(
        "everything",
        {"train": map(example, range(40)), "test": map(example, range(3))},
        fk.FeaturesDict(FEATURES),
        tmp_path_factory.mktemp("everything"),
        num_shards=3,
        quiet=True,
    )


@pytest.mark.parametrize("split", ["train", "test", "train[5:30]", "test+train[50%:]"])
def test_every_kind_of_feature(everything, split):
    ours = list(everything.as_data_source(split))
    options = {}
    if "train" in split:  # by default TFDS mixes shards, 16 examples of each
        options["read_config"] = tfds.ReadConfig(interleave_cycle_length=1)
    theirs = read_by_tfds(everything.data_dir, split, **options)
    assert len(ours) == len(theirs)
    for number, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        wrong = [key for key in a if not equal(a[key], b[key])]
        assert not wrong, (number, wrong)
        assert a.keys() == b.keys()


def test_metadata(everything):
    theirs = tfds.builder_from_directory(str(everything.data_dir)).info
    assert str(theirs.features["label"].names) == "['bird', 'cat', 'dog']"
    assert {name: split.shard_lengths for name, split in theirs.splits.items()} == {
        "train": [13, 14, 13],
        "test": [1, 1, 1],
    }
    assert theirs.full_name == "everything/1.0.0"


def test_metadata_beside_bare_files(tmp_path):
    features = fk.FeaturesDict({"i": np.int64, "label": fk.ClassLabel(names=["a", "b"])})
    for split, count in {"train": 5, "test": 2}.items():
        with fk.io.TFRecordWriter(tmp_path / f"{split}-00000-of-00001.rec") as writer:
            for index in range(count):
                writer.write(features.serialize_example({"i": index, "label": index % 2}))
    fk.write_metadata(tmp_path, features, filename_template="{SPLIT}-{SHARD_X_OF_Y}.rec")
    assert [int(e["i"]) for e in read_by_tfds(tmp_path, "test+train")] == [0, 1, 0, 1, 2, 3, 4]


def test_configs_and_named_metadata(tmp_path):
    folder = tmp_path / "named_ds/3.1.0"
    folder.mkdir(parents=True)
    features = fk.FeaturesDict({"i": np.int64})
    for index in range(2):
        with fk.io.TFRecordWriter(
            folder / f"named_ds-train.tfrecord-0000{index}-of-00002"
        ) as writer:
            writer.write(features.serialize_example({"i": index}))
    fk.write_metadata(folder, features)
    found = tfds.load("named_ds:3.*.*", split="train", data_dir=str(tmp_path), download=False)
    assert [int(e["i"]) for e in tfds.as_numpy(found)] == [0, 1]
    fk.write_dataset("with_config", {"train": [{"i": 7}]}, features, tmp_path, config="small")
    found = tfds.load("with_config/small", split="train", data_dir=str(tmp_path), download=False)
    assert [int(e["i"]) for e in tfds.as_numpy(found)] == [7]
