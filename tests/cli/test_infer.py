"""`featurekit infer`: whole outputs."""

import json
import pathlib
import struct
import zlib

import numpy as np
import pytest
from click.testing import CliRunner

import featurekit as fk
from featurekit.cli import main
from featurekit.connector import FeatureConnector
from featurekit.io.columns import write_example


def png(height, width):
    """A PNG whose size does not depend on the zlib library: nothing is compressed."""

    def chunk(kind, body):
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress(bytes((1 + 3 * width) * height), 0)
    chunks = chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


RECORDS = [
    {
        "image": [png(2, 3)],
        "label": np.array([7]),
        "tags": [b"a", b"b"],
        "boxes/ragged_flat_values": np.arange(6, dtype=np.float32),
        "boxes/ragged_row_lengths_0": np.array([2, 1]),
    },
    {
        "image": [png(4, 3)],
        "label": np.array([9]),
        "tags": [],
        "boxes/ragged_flat_values": np.empty(0, np.float32),
        "boxes/ragged_row_lengths_0": np.array([0]),
    },
]

PYTHON = """\
import numpy as np

import featurekit as fk

# Fits all that was looked at: 2 records of 2 files.

features = {
    # 2 levels of lists: 0 to 5; first 0, 1, 2, 3, ...
    "boxes": fk.io.RaggedFeature(
        np.float32,
        "boxes/ragged_flat_values",
        [fk.io.RaggedFeature.RowLengths("boxes/ragged_row_lengths_0"), \
fk.io.RaggedFeature.UniformRowLength(2)],
        row_splits_dtype=np.int64,
    ),
    # PNG image 2..4 x 3 x 3 (88 to 108 bytes)
    "image": fk.io.FixedLenFeature([], bytes),
    # 7 to 9; first 7
    "label": fk.io.FixedLenFeature([], np.int64),
    # text (1 byte); first 'a', 'b'
    "tags": fk.io.VarLenFeature(bytes),
}
"""


@pytest.fixture
def paths(tmp_path):
    names = []
    for index, record in enumerate(RECORDS):
        names.append(str(tmp_path / f"{index}.tfrecord"))
        with fk.io.TFRecordWriter(names[-1]) as writer:
            writer.write(write_example(record))
    return names


def run(*arguments):
    result = CliRunner().invoke(main, ["infer", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.stdout, result.stderr


def test_python(paths):
    assert run(*paths) == (0, PYTHON, "")
    names = {}
    exec(PYTHON, names)
    parsed = fk.io.parse_example([write_example(r) for r in RECORDS], names["features"])
    assert parsed["label"].tolist() == [7, 9]
    assert parsed["boxes"].to_list() == [[[[0, 1], [2, 3]], [[4, 5]]], [[]]]


def test_json(paths, tmp_path):
    code, out, error = run(*paths, "--format", "json")
    assert (code, error) == (0, "")
    assert out == json.dumps(json.loads(out), indent=4, sort_keys=True) + "\n"
    (tmp_path / "features.json").write_text(out)
    assert FeatureConnector.from_config(tmp_path) == fk.FeaturesDict({
        "boxes": fk.Sequence(fk.Sequence(fk.Tensor(shape=(2,), dtype=np.float32))),
        "image": fk.Image(shape=(None, 3, 3), encoding_format="png"),
        "label": np.int64,
        "tags": fk.Sequence(fk.Text()),
    })  # fmt: skip


def test_sequence_examples_have_specs_only(tmp_path):
    path = str(tmp_path / "sequences")
    with fk.io.TFRecordWriter(path) as writer:
        writer.write(fk.io.serialize(fk.io.make_sequence_example({"id": "a"}, {"x": [["b"]]})))
    assert run(path) == (0, """\
import featurekit as fk

# Fits all that was looked at: 1 record of 1 file.

context = {
    # text (1 byte); first 'a'
    "id": fk.io.FixedLenFeature([], bytes),
}

lists = {
    # text (1 byte); first 'b'
    "x": fk.io.FixedLenSequenceFeature([], bytes),
}
""", "")  # fmt: skip
    assert run(path, "--format", "json") == (1, "", """\
UnsupportedError: the records are SequenceExamples, which features cannot describe
  hint: use the feature specs, with fk.io.parse_sequence_example
""")  # fmt: skip


def test_what_is_refused(paths, tmp_path):
    path = str(tmp_path / "lines")
    with fk.io.TFRecordWriter(path) as writer:
        writer.write(b"a line")
    assert run(paths[0], path) == (1, "", f"""\
ParseError: expected an Example, the record is text (6 bytes)
  at: {path}, record 0
  hint: see what is in the file with `featurekit inspect`
""")  # fmt: skip
    code, out, error = run()
    assert (code, out) == (2, "")
    assert "Missing argument 'FILES...'" in error
    assert run(paths[0], "--records", "1")[0] == 0


def test_index_files_are_passed_over(tmp_path):
    features = fk.FeaturesDict({"x": np.int64})
    folder = fk.write_dataset("a", {"train": [{"x": 1}]}, features, tmp_path).data_dir
    CliRunner().invoke(main, ["index", folder])
    files = sorted(str(path) for path in pathlib.Path(folder).glob("a-train*"))
    assert len(files) == 2
    result = CliRunner().invoke(main, ["infer", *files])
    assert result.exit_code == 0, result.stderr
    assert "# Fits all that was looked at: 1 record of 1 file." in result.stdout
