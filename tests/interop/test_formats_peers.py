"""TFDS reads our ArrayRecord and Parquet files, and we read its own; pyarrow reads ours."""

import numpy as np
import pytest

import featurekit as fk
from featurekit.dataset.lost_rows import rows_kept
from featurekit.io.record_files import open_records

pytest.importorskip("tensorflow", reason="TensorFlow is not installed")
tfds = pytest.importorskip("tensorflow_datasets", reason="TFDS is not installed")
pytest.importorskip("array_record", reason="array-record is not installed")
pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

COUNT = 250
FEATURES = fk.FeaturesDict(
    {
        "i": np.int64,
        "f": fk.Tensor(shape=(3,), dtype=np.float32),
        "t": fk.Text(),
        "l": fk.ClassLabel(names=["a", "b"]),
        "im": fk.Image(shape=(4, 4, 3)),
    }
)


def examples(count=COUNT):
    rng = np.random.default_rng(0)
    for i in range(count):
        yield (
            f"key {i}",
            {
                "i": i,
                "f": rng.random(3, np.float32),
                "t": f"number {i}",
                "l": i % 2,
                "im": rng.integers(0, 256, (4, 4, 3), np.uint8),
            },
        )


def ours(folder, file_format, **options):
    return fk.write_dataset(
        "numbers", {"train": examples()}, FEATURES, folder, file_format=file_format,
        num_shards=3, **options,
    )  # fmt: skip


def values(example):
    return {key: np.asarray(value).tolist() for key, value in example.items()}


@pytest.mark.parametrize("split", ["train", "train[40:170]"])
def test_the_data_source_of_tfds_reads_our_array_record(tmp_path, split):
    written = ours(tmp_path, "array_record")
    theirs = tfds.builder_from_directory(written.data_dir).as_data_source(split)
    source = written.as_data_source(split)
    assert len(theirs) == len(source)
    for one, other in zip(theirs, source, strict=True):
        assert values(one) == values(other)
    assert values(theirs[100]) == values(source[100])


def test_tfds_loads_our_array_record_by_name(tmp_path):
    written = ours(tmp_path, "array_record")
    theirs = tfds.data_source("numbers", split="train", data_dir=str(tmp_path), download=False)
    assert [int(e["i"]) for e in theirs] == [int(e["i"]) for e in written.as_data_source("train")]


def test_tfds_reads_all_rows_of_our_parquet(tmp_path):
    written = ours(tmp_path, "parquet")
    builder = tfds.builder_from_directory(written.data_dir)
    read = list(tfds.as_numpy(builder.as_dataset(split="train")))
    by_number = {int(example["i"]): values(example) for example in read}
    assert len(read) == len(by_number) == COUNT
    assert by_number == {int(e["i"]): values(e) for e in written.as_data_source("train")}
    theirs = builder.as_data_source("train")
    assert [int(e["i"]) for e in theirs] == [int(e["i"]) for e in written.as_data_source("train")]


def test_options_in_array_record_files_are_those_of_tfds(tmp_path):
    from array_record.python import array_record_module

    written = ours(tmp_path, "array_record")
    built = build_with_tfds(tmp_path / "theirs", "array_record")
    paths = (written.info.splits["train"].filepaths[0], shard_of(built))
    options = [
        array_record_module.ArrayRecordReader(path).writer_options_string() for path in paths
    ]
    assert options[0] == options[1]


def test_columns_of_parquet_files_are_those_of_tfds(tmp_path):
    written = ours(tmp_path, "parquet")
    built = build_with_tfds(tmp_path / "theirs", "parquet")
    paths = (written.info.splits["train"].filepaths[0], shard_of(built))
    assert pq.read_schema(paths[0]) == pq.read_schema(paths[1])


def build_with_tfds(folder, file_format):
    """The same dataset, written by TFDS in one shard."""

    class Numbers(tfds.core.GeneratorBasedBuilder, skip_registration=True):
        VERSION = tfds.core.Version("1.0.0")
        code_path = None  # else TFDS looks for it with a package that it does not install

        def _info(self):
            features = tfds.features.FeaturesDict({"i": np.int64, "t": tfds.features.Text()})
            return tfds.core.DatasetInfo(builder=self, features=features)

        def _split_generators(self, dl_manager):
            return {"train": self._generate_examples()}

        def _generate_examples(self):
            for key, example in examples():
                yield key, {name: example[name] for name in ("i", "t")}

    builder = Numbers(data_dir=str(folder), file_format=file_format)
    builder.download_and_prepare()
    return builder


def shard_of(builder):
    return str(builder.info.splits["train"].filepaths[0])


def test_we_read_what_tfds_writes(tmp_path):
    built = build_with_tfds(tmp_path, "array_record")
    source = fk.builder_from_directory(built.data_dir).as_data_source("train")
    theirs = built.as_data_source("train")
    assert len(source) == COUNT
    assert [values(e) for e in source] == [values(e) for e in theirs]


def test_tfds_still_loses_rows_as_we_expect(tmp_path):
    built = build_with_tfds(tmp_path, "parquet")
    assert len(open_records(shard_of(built), "parquet")) == rows_kept(COUNT) == 150
    source = fk.builder_from_directory(built.data_dir).as_data_source("train")
    assert len(list(source)) == 150
