"""`tfds.load` and its kin."""

import numpy as np
import pytest

import featurekit as fk
import featurekit.tfds as tfds
from featurekit.errors import DatasetNotFoundError, InvalidArgumentError


class TfdsSquares(tfds.core.GeneratorBasedBuilder):
    """Numbers and their squares."""

    VERSION = tfds.core.Version("1.1.0")
    SUPPORTED_VERSIONS = [tfds.core.Version("1.0.0")]
    BUILDER_CONFIGS = [
        tfds.core.BuilderConfig(name="few", description="3"),
        tfds.core.BuilderConfig(name="many"),
    ]

    def _info(self):
        return tfds.core.DatasetInfo(
            builder=self,
            features=tfds.features.FeaturesDict({"n": np.int64, "square": np.int64}),
            supervised_keys=("n", "square"),
        )

    def _split_generators(self, dl_manager):
        count = 3 if self.builder_config.name == "few" else 50
        return [tfds.core.SplitGenerator(name=tfds.Split.TRAIN, gen_kwargs={"count": count})]

    def _generate_examples(self, count):
        for n in range(count):
            yield n, {"n": n, "square": n * n}


def test_load_builds_what_is_not_there(tmp_path):
    ds, info = tfds.load("tfds_squares", split="train", data_dir=tmp_path, with_info=True)
    assert (info.full_name, len(ds)) == ("tfds_squares/few/1.1.0", 3)
    assert {int(e["n"]): int(e["square"]) for e in tfds.as_numpy(ds)} == {0: 0, 1: 1, 2: 4}
    pairs = tfds.load("tfds_squares/few", split="train", data_dir=tmp_path, as_supervised=True)
    assert sorted(int(square) for _, square in pairs) == [0, 1, 4]
    whole = tfds.load("tfds_squares", split="train", data_dir=tmp_path, batch_size=-1)
    assert sorted(whole["square"].tolist()) == [0, 1, 4]
    assert list(tfds.load("tfds_squares", data_dir=tmp_path)) == ["train"]


def test_load_gives_the_interleaved_order_and_data_source_the_stored_one(tmp_path):
    config = tfds.download.DownloadConfig(num_shards=2)
    kwargs = {"download_config": config}
    options = {"data_dir": tmp_path, "download_and_prepare_kwargs": kwargs}
    ds = tfds.load("tfds_squares/many", split="train", **options)
    source = tfds.data_source("tfds_squares/many", split="train", data_dir=tmp_path)
    stored = [int(e["n"]) for e in source]
    first, second = stored[:25], stored[25:]
    expected = [*first[:16], *second[:16], *first[16:], *second[16:]]
    assert [int(e["n"]) for e in ds] == expected
    read_config = tfds.ReadConfig(add_tfds_id=True)
    ids = [
        e["tfds_id"]
        for e in tfds.load(
            "tfds_squares/many", split="train", data_dir=tmp_path, read_config=read_config
        )
    ]
    assert ids[16] == b"tfds_squares-train.tfrecord-00001-of-00002__0"
    parts = tfds.data_source("tfds_squares/many", split=["train[:5]", "train"], data_dir=tmp_path)
    assert [len(part) for part in parts] == [5, 50]
    assert len(tfds.data_source("tfds_squares/many", split={"a": "train"}, data_dir=tmp_path)["a"])


def test_datasets_without_code_are_opened(tmp_path):
    features = fk.FeaturesDict({"x": np.int64})
    reader = fk.write_dataset("no_code_here", {"train": [{"x": 1}]}, features, tmp_path)
    for name in ("no_code_here", "no_code_here:1.*.*", reader.data_dir):
        builder = tfds.builder(name, data_dir=tmp_path)
        assert [e["x"] for e in builder.as_dataset("train")] == [1]
    with pytest.raises(DatasetNotFoundError, match="and no builder of that name"):
        tfds.builder("no_code_at_all", data_dir=tmp_path)


def test_versions_are_those_of_the_code_or_of_the_disk(tmp_path):
    assert str(tfds.builder("tfds_squares:1.0.0", data_dir=tmp_path).version) == "1.0.0"
    features = fk.FeaturesDict({"x": np.int64})
    fk.write_dataset(
        "tfds_squares", {"train": [{"x": 1}]}, features, tmp_path, version="0.9.0", config="few"
    )
    old = tfds.builder("tfds_squares/few:0.9.0", data_dir=tmp_path)
    assert list(old.info.features) == ["x"]


def test_builders_are_listed():
    assert {"tfds_squares", "digits"} <= set(tfds.list_builders())
    assert tfds.builder_cls("tfds_squares") is TfdsSquares


def test_nothing_is_taken_from_the_bucket():
    with pytest.raises(InvalidArgumentError, match="try_gcs=True is not offered"):
        tfds.load("tfds_squares", try_gcs=True)


def test_a_frame_has_a_column_a_feature():
    pytest.importorskip("pandas")
    examples = [{"b": {"c": 1}, "a": b"x"}, {"b": {"c": 2}, "a": b"y"}]
    frame = tfds.as_dataframe(examples)
    assert frame.columns.tolist() == ["a", "b/c"]
    assert frame["b/c"].tolist() == [1, 2]
    info = TfdsSquares().info
    assert tfds.as_dataframe([(1, 1)], info).columns.tolist() == ["n", "square"]


def test_other_file_formats_are_written_and_read(tmp_path):
    pytest.importorskip("pyarrow")
    ds, info = tfds.load(
        "tfds_squares", split="train", data_dir=tmp_path, file_format="parquet", with_info=True
    )
    assert info.file_format == "parquet"
    assert sorted(int(e["n"]) for e in ds) == [0, 1, 2]
