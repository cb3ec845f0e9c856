"""Arrow, pandas and Hugging Face datasets: tables of examples."""

import golden
import numpy as np
import pytest
import training_data

import featurekit as fk
from featurekit.errors import UnsupportedError

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

MORE = {
    "maybe": (fk.Tensor(shape=(), dtype=np.int32, optional=True), lambda i: i if i % 3 else None),
    "steps": (fk.Dataset({"action": fk.Tensor(shape=(2,), dtype=np.float32), "note": fk.Text()}),
              lambda i: [{"action": [i, k], "note": f"{k}"} for k in range(i % 3)]),
    "picture": (fk.Image(shape=(None, None, 1)),
                lambda i: np.full((1 + i % 2, 3, 1), i % 256, np.uint8)),
}  # fmt: skip


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return training_data.write(tmp_path_factory.mktemp("arrow"), 300, more=MORE)


def plain(value):
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (fk.io.RaggedTensor,)):
        return value.to_list()
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, (bytes, type(None))):
        return value
    return [plain(item) for item in value]


def test_a_table(source):
    table = source.to_arrow()
    assert table.num_rows == 300
    assert table.schema.field("image").type == pa.list_(pa.list_(pa.list_(pa.uint8(), 3), 6), 4)
    assert table.schema.field("list").type == pa.list_(pa.int32())
    assert table.schema.field("nested").type == pa.list_(pa.list_(pa.binary()))
    assert table.schema.field("inner").type == pa.struct(
        [("byte", pa.uint8()), ("deep", pa.uint16()), ("flag", pa.bool_())]
    )
    assert table.schema.field("steps").type == pa.list_(
        pa.struct([("action", pa.list_(pa.float32(), 2)), ("note", pa.binary())])
    )
    for row, one in zip(table.to_pylist(), source, strict=True):
        assert row == plain(one)
    assert table.column("maybe").null_count == 100


def test_text_as_strings(source):
    folder = source.info.data_dir
    source = fk.builder_from_directory(folder).as_data_source(
        "train[:5]", text="str", columns=["name", "nested"]
    )
    table = source.to_arrow(text="str")
    assert table.schema.field("nested").type == pa.list_(pa.list_(pa.string()))
    assert table.column("name").to_pylist() == [one["name"] for one in source]


def test_no_examples(source):
    table = source[:0].to_arrow()
    assert table.num_rows == 0
    assert table.schema == source.to_arrow().schema


@pytest.mark.parametrize(
    "entry",
    golden.datasets(
        "scalars",
        "tensors",
        "sequence",
        "nested",
        "optional",
        "mixtures",
        "bbox",
        "dataset_feature",
    ),
    ids=lambda entry: f"{entry.topic}-{entry.name}",
)
def test_what_tfds_wrote(entry):
    reader = fk.builder_from_directory(entry.folder)
    for split in reader.info.splits:
        source = reader.as_data_source(split)
        if entry.name in ("tensor_bytes", "tensor_zlib"):
            with pytest.raises(UnsupportedError, match="Arrow has no type for complex"):
                source.to_arrow()
            continue
        for row, one in zip(source.to_arrow().to_pylist(), source, strict=True):
            assert repr(row) == repr(plain(one))


# pandas.


def test_a_data_frame(source):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = fk.as_dataframe(source)
    assert len(frame) == 300
    assert sorted(frame.columns) == [
        "id", "image", "inner/byte", "inner/deep", "inner/flag", "label", "list", "maybe", "name",
        "nested", "picture", "steps", "vector",
    ]  # fmt: skip
    assert frame["id"].dtype == np.int64
    assert frame["inner/deep"].dtype == np.uint16
    assert frame["inner/flag"].dtype == np.bool_
    assert frame["maybe"].dtype == pandas.Int32Dtype()
    for index, one in enumerate(source):
        row = frame.iloc[index]
        assert row["name"] == one["name"]
        assert np.array_equal(row["image"], one["image"])
        assert np.array_equal(row["picture"], one["picture"])
        assert row["list"].tolist() == one["list"].tolist()
        assert row["nested"].to_list() == one["nested"].to_list()
        assert len(row["steps"]) == len(one["steps"])
        assert pandas.isna(row["maybe"]) if one["maybe"] is None else row["maybe"] == one["maybe"]
    assert fk.as_dataframe(source.take(0)).columns.tolist() == frame.columns.tolist()
    assert source.take(3).to_pandas()["id"].tolist() == frame["id"][:3].tolist()


# Hugging Face.


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("streaming", [False, True])
def test_a_dataset_of_hugging_face(source, streaming, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    data = source.to_huggingface(streaming=streaming)
    assert isinstance(data, datasets.IterableDataset if streaming else datasets.Dataset)
    assert data.features["label"] == datasets.ClassLabel(names=["ant", "bee", "cow"])
    assert data.features["name"] == datasets.Value("string")
    assert isinstance(data.features["image"], datasets.Image)
    assert data.features["vector"] == datasets.Sequence(datasets.Value("float32"), length=3)
    count = 0
    for row, one in zip(data, source, strict=True):
        assert row["id"] == one["id"]
        assert row["name"] == one["name"].decode()
        assert row["label"] == one["label"]
        assert row["vector"] == one["vector"].tolist()
        assert row["nested"] == one["nested"].to_list()
        assert np.array_equal(np.asarray(row["image"]), one["image"])
        assert row["maybe"] == one["maybe"]
        count += 1
    assert count == 300
