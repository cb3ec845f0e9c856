"""`featurekit inspect`: whole outputs."""

import json
import struct
import zlib

import numpy as np
import pytest
from click.testing import CliRunner

import featurekit as fk
from featurekit.cli import main
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


def example(**features):
    return write_example(features)


def ints(*values):
    return np.array(values, np.int64)


def sequence(context, lists):
    return fk.io.serialize(fk.io.make_sequence_example(context, lists))


FULL = [
    write_example({
        "image": [png(2, 3)],
        "label": ints(7),
        "name": [b"cat", "K\xe4tzin".encode(), b"kitten"],
        "score": np.array([0.5, np.nan], np.float32),
        "b/ragged_flat_values": ints(1, 2, 3),
        "b/ragged_row_lengths_0": ints(2, 1),
        "tensor": [fk.io.serialize_tensor(np.ones((2, 2), np.int16))],
        "nested": [example(a=ints(1))],
        "unset": None,
        "data": ints(*range(100)),
    }),
    write_example({
        "image": [png(2, 9)],
        "label": ints(-1),
        "name": [],
        "score": np.array([-1.25, 3], np.float32),
        "b/ragged_flat_values": ints(),
        "b/ragged_row_lengths_0": ints(),
        "tensor": [fk.io.serialize_tensor(np.ones((2, 5), np.int16))],
        "data": ints(*range(100)),
    }),
    write_example({
        "label": ints(3),
        "name": [b"\xff\x00"],
        "image": [png(2, 3)[:-9]],
        "json": [b'{"a": 1}'],
    }),
]  # fmt: skip


@pytest.fixture
def write(tmp_path):
    def write(*records, compression=None):
        path = tmp_path / "data.tfrecord"
        with fk.io.TFRecordWriter(path, compression) as writer:
            for record in records:
                writer.write(record)
        return path

    return write


def run(path, *options):
    result = CliRunner().invoke(main, ["inspect", str(path), *options])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    shown = (text.replace(str(path), "FILE") for text in (result.stdout, result.stderr))
    return result.exit_code, *shown


def test_examples(write):
    assert run(write(*FULL)) == (0, """\
FILE
  file      1.04 KiB, not compressed
  records   3
  payloads  151 to 439 bytes, 1,016 in all
  holds     tf.train.Example

key                     kind        records  values  what
b/ragged_flat_values    int64_list  2        0 to 3  1 to 3; first 1, 2, 3
b/ragged_row_lengths_0  int64_list  2        0 to 2  1 to 2; first 2, 1
data                    int64_list  2        100     0 to 99; first 0, 1, 2, 3, ...
image                   bytes_list  all      1       PNG image 2 x 3..9 x 3 (79 to 124 bytes) (1 damaged)
json                    bytes_list  1        1       JSON (8 bytes); first '{"a": 1}'
label                   int64_list  all      1       -1 to 7; first 7
name                    bytes_list  all      0 to 3  3 of text (3 to 7 bytes), 1 of binary (2 bytes)
nested                  bytes_list  1        1       serialized Example (14 bytes)
score                   float_list  2        2       -1.25 to 3, 1 NaN; first 0.5, nan
tensor                  bytes_list  2        1       serialized tensor 2 x 2..5 int16 (22 to 34 bytes)
unset                   none        0                no kind of list is set

b/...: 2 levels of lists, as TFDS stores them
""", "")  # fmt: skip  # noqa: E501


def test_sequence_examples(write):
    records = [
        sequence({"id": 1}, {"frames": [[png(2, 2)]] * 3, "reward": [[0.5], [1.0], [0.0]]}),
        sequence({"id": 2, "who": "me"}, {"reward": []}),
    ]
    assert run(write(*records)) == (0, """\
FILE
  file      414 bytes, not compressed
  records   2
  payloads  44 to 338 bytes, 382 in all
  holds     tf.train.SequenceExample

context
key  kind        records  values  what
id   int64_list  all      1       1 to 2; first 1
who  bytes_list  1        1       text (2 bytes); first 'me'

feature lists
key     kind        records  steps   values  what
frames  bytes_list  1        3       1       PNG image 2 x 2 x 3 (82 bytes)
reward  float_list  all      0 to 3  1       0 to 1; first 0.5
""", "")  # fmt: skip


def test_payloads_that_are_no_examples(write):
    path = write(b"one line", b"another one", b"\x00\x01", png(2, 2), example(a=ints(1)))
    assert run(path) == (0, """\
FILE
  file      197 bytes, not compressed
  records   5
  payloads  2 to 82 bytes, 117 in all
  holds     tf.train.Example: 1 record
  holds     text (8 to 11 bytes): 2 records
  holds     binary (2 bytes): 1 record
  holds     PNG image 2 x 2 x 3 (82 bytes): 1 record

key  kind        records  values  what
a    int64_list  all      1       1; first 1
""", "")  # fmt: skip


def test_compressed_and_limited(write):
    path = write(*FULL, compression="GZIP")
    code, out, _ = run(path, "--records", "1")
    assert code == 0
    size = path.stat().st_size
    assert out.splitlines()[1:4] == [
        f"  file      {size} bytes, compressed with GZIP",
        "  records   1 looked at, and there are more",
        "  payloads  439 bytes, 439 in all",
    ]
    assert "and there are more" not in run(path, "--records", "3")[1]


def test_damaged_files(write):
    path = write(example(a=ints(1)), example(a=ints(2)), example(a=ints(3)))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data[:-2] + b"!!")
    assert run(path) == (0, """\
FILE
  file      90 bytes, not compressed
  records   1
  payloads  14 bytes, 14 in all
  holds     tf.train.Example
  damage    2 places, at least 2 records lost, 60 bytes passed over
            first at record 1, byte 42: payload checksum is 0x60289ed2, the file says 0xeca0c698

key  kind        records  values  what
a    int64_list  all      1       1; first 1
""", "")  # fmt: skip


def test_keys_that_are_not_printable(write):
    record = write_example({"new\nline\x1b[31m": [b"\x1b"], "caf\xe9": [b"a\nb"]})
    assert run(write(record)) == (0, r"""
FILE
  file      60 bytes, not compressed
  records   1
  payloads  44 bytes, 44 in all
  holds     tf.train.Example

key                  kind        records  values  what
café                 bytes_list  all      1       text (3 bytes); first 'a\nb'
'new\nline\x1b[31m'  bytes_list  all      1       binary (1 byte)
""".lstrip("\n"), "")  # fmt: skip


def test_empty_files(write):
    assert run(write()) == (0, "FILE\n  file      0 bytes, not compressed\n  records   0\n", "")
    assert run(write(b"")) == (0, """\
FILE
  file      16 bytes, not compressed
  records   1
  payloads  0 bytes, 0 in all
  holds     tf.train.Example
""", "")  # fmt: skip


def test_no_record_file(tmp_path):
    path = tmp_path / "text"
    path.write_text("This is text, and no record file.\n")
    code, out, error = run(path)
    assert (code, out) == (1, "")
    assert error.startswith("CorruptRecordError: length checksum is 0x")
    assert "hint: this may be no TFRecord file" in error
    code, out, error = run(tmp_path / "missing")
    assert (code, out) == (1, "")
    assert error.startswith("MissingFileError: ")


def test_wrong_options(write):
    code, out, error = run(write(), "--records", "0")
    assert (code, out) == (2, "")
    assert "0 is not in the range x>=1" in error


def test_json(write):
    code, out, error = run(write(*FULL[1:]), "--json")
    assert (code, error) == (0, "")
    found = json.loads(out)
    assert list(found) == [
        *("path", "bytes", "compression", "is_complete", "damage", "records", "payload_bytes"),
        *("examples", "sequence_examples", "other_payloads", "keys", "ragged", "context"),
        *("feature_lists", "keys_not_told_apart"),
    ]
    assert found["keys"]["score"] == {
        "kinds": {"float_list": 1},
        "records": 1,
        "no_kind": 0,
        "values": {"min": 2, "max": 2},
        "numbers": {"min": -1.25, "max": 3.0},
        "nans": 0,
        "contents": [],
        "first": [-1.25, 3.0],
    }
    assert found["keys"]["image"]["contents"] == [{
        "kind": "image",
        "format": "PNG",
        "count": 2,
        "damaged": 1,
        "first_record": 0,
        "bytes": {"min": 79, "max": 124},
        "shape": [{"min": 2, "max": 2}, {"min": 9, "max": 9}, {"min": 3, "max": 3}],
        "dtypes": ["uint8"],
        "sample_rates": [],
    }]  # fmt: skip
    assert found["keys"]["name"]["first"] == [{"hex": "ff00"}]
    assert found["keys"]["json"]["first"] == ['{"a": 1}']
    assert found["ragged"] == {"b": {"levels": 2, "inner_size": None}}


def test_json_of_damaged_files_and_odd_numbers(write):
    path = write(example(a=np.array([np.nan, np.inf], np.float32)), example(a=ints(1)))
    path.write_bytes(path.read_bytes()[:-1])
    found = json.loads(run(path, "--json")[1])
    assert found["keys"]["a"]["first"] == ["nan", "inf"]
    assert found["keys"]["a"]["numbers"] == {"min": "inf", "max": "inf"}
    assert found["damage"] == {
        "places": 1,
        "records_lost": 1,
        "bytes_passed_over": 29,
        "first": "record 1, byte 37: record is cut: the file ends after 3 of the 4 bytes of its "
        "payload's checksum",
    }


@pytest.mark.parametrize("command", ["inspect", "infer"])
def test_a_folder_is_no_file(tmp_path, command):
    result = CliRunner().invoke(main, [command, str(tmp_path)])
    assert result.exit_code == 1
    assert result.stderr == (
        "InvalidArgumentError: this is not a regular file\n"
        f"  at: {tmp_path}\n"
        "  hint: pass the path of one record file\n"
    )
