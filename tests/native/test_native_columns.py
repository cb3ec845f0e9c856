"""The compiled kernels against the Python code that specifies them, on the same bytes."""

import base64
import json
import logging
import pathlib
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_messages import KEYS, MessageMaker, damaged, varint

from featurekit import native
from featurekit.io.columns import ColumnSpec, Kind

pytest.importorskip("featurekit.native.columns", exc_type=ImportError)
pytest.importorskip("featurekit.native.records", exc_type=ImportError)

import differential

from featurekit.io import columns_native, columns_protobuf
from featurekit.native import columns as kernel
from featurekit.native import records

DATA = pathlib.Path(__file__).parent.parent / "data"
PARSE_FILES = sorted((DATA / "parse").glob("*.json"))
RECORD_FILES = sorted(path for path in (DATA / "tfrecord").iterdir() if ".tfrecord" in path.name)


def serialized(case):
    """All records of a parse case, whatever its nesting."""
    items = [case["serialized"]]
    while items:
        item = items.pop()
        if isinstance(item, str):
            yield base64.b64decode(item)
        else:
            items.extend(reversed(item))


@pytest.mark.parametrize("path", PARSE_FILES, ids=lambda path: path.stem)
def test_parse_cases(path):
    for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
        batch = list(serialized(case))
        specs = {}
        for record in batch:
            differential.check_example(record)
            features = differential.outcome(columns_protobuf.read_example, record)
            if isinstance(features, list):
                kinds = {"int64": 3, "float32": 2, "object": 1}
                specs |= {key: kinds[value[0]] for key, value in features if value is not None}
        specs = [ColumnSpec(key, Kind(kind)) for key, kind in specs.items()]
        differential.check_records(batch, specs)
        differential.check_records(batch, tuple(specs[:1]))


@pytest.mark.parametrize("path", RECORD_FILES, ids=lambda path: path.name)
def test_record_files(path):
    data = path.read_bytes()
    differential.check_frames(data)
    for record in records.read_block(data, 0, True)[0]:
        differential.check(record[:1000])


# Examples made at random, the same ones every time.


@pytest.mark.parametrize("sequence", [False, True])
def test_usual_examples_are_read_by_the_kernel_itself(sequence):
    maker = MessageMaker(random.Random(1), odd=0)
    for _ in range(30):
        batch = [maker.message(sequence) for _ in range(3)]
        differential.check_records(batch)
        for record in batch:
            differential.check_example(record)
            assert sequence or kernel.read_example(record) is not None
        if sequence:
            assert kernel.read_sequence_columns(batch, differential.SPECS, differential.SPECS)
        else:
            assert kernel.read_columns(batch, differential.SPECS) is not None


@pytest.mark.parametrize("odd", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("sequence", [False, True])
def test_odd_examples(sequence, odd):
    rng = random.Random(2)
    maker = MessageMaker(rng, odd)
    for _ in range(60):
        batch = [maker.message(sequence) for _ in range(rng.randrange(4))]
        specs = rng.choice([differential.SPECS, differential.SPECS[:2], ()])
        differential.check_records(batch, specs)
        for record in batch:
            differential.check_example(record)


@pytest.mark.parametrize("sequence", [False, True])
def test_damaged_examples(sequence):
    rng = random.Random(3)
    maker = MessageMaker(rng)
    for _ in range(200):
        batch = [maker.message(sequence) for _ in range(2)]
        batch[rng.randrange(2)] = damaged(rng, batch[0])
        differential.check_records(batch)
        differential.check_example(batch[0])


@given(st.binary(max_size=200))
def test_any_bytes(data):
    differential.check(data)


@pytest.mark.parametrize("sequence", [False, True])
def test_every_cut_and_every_flipped_bit(sequence):
    data = MessageMaker(random.Random(4), odd=0.02).message(sequence)[:250]
    for size in range(len(data)):
        differential.check_records([data[:size]])
        for bit in range(8):
            flipped = bytes([data[size] ^ 1 << bit])
            differential.check_records([data[:size] + flipped + data[size + 1 :]])


# What random bytes hardly reach.


def delimited(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def wrapped(data, kind=3):
    """An Example with one feature "a", whose list has `data` as its field 1."""
    entry = b"\n\x01a" + delimited(2, delimited(kind, delimited(1, data)))
    return delimited(1, delimited(1, entry))


def ints(*numbers):
    return wrapped(b"".join(map(varint, numbers)))


A = [ColumnSpec("a", Kind.INT64)]
EDGES = [0, 1, -1, 2**63 - 1, -(2**63)] + [
    sign * 2 ** (7 * n) + d for n in range(1, 9) for d in (-1, 0, 1) for sign in (1, -1)
]


@pytest.mark.parametrize("size", [-1, 0, 1, 7, 1000])
@pytest.mark.parametrize("count", [1, 7, 8, 9, 63, 64, 65, 300])
def test_every_length_of_varint_at_every_distance_from_the_end(size, count):
    rng = random.Random(count)
    for choices in (EDGES, [1, 2, 3], [5, 200], [-1], [2**56, 3]):
        numbers = [rng.choice(choices) for _ in range(count)]
        (column,) = kernel.read_columns([ints(*numbers)] * 3, [ColumnSpec("a", Kind.INT64, size)])
        assert column[0].tolist() == numbers * 3
        assert column[1].tolist() == [count] * 3


@pytest.mark.parametrize(
    "last", [b"\x00", b"\x01", b"\x02", b"\x7e", b"\x7f", b"\x80", b"\x80\x01"]
)
@pytest.mark.parametrize("before", [0, 3, 20])
@pytest.mark.parametrize("after", [0, 3, 20])
@pytest.mark.parametrize("fill", [b"\x80", b"\xff"])
def test_the_tenth_byte(last, before, after, fill):
    data = wrapped(b"\x05" * before + fill * 9 + last + b"\x05" * after)
    differential.check_records([data], A)
    differential.check_records([data], [])  # the same verdict where nobody asks for it
    differential.check_example(data)
    assert (kernel.read_columns([data], A) is None) == (last[0] >= 0x80)


@pytest.mark.parametrize("length", [2**7, 2**14, 2**21, 2**28, 2**31 - 1, 2**31, 2**32, 2**63])
def test_lengths_that_are_not_there(length):
    for tag in (b"\n", b"\x12", b"z"):
        differential.check(tag + varint(length))
        differential.check_records([wrapped(tag + varint(length))], A)


@pytest.mark.parametrize("depth", [1, 50, 90, 95, 96, 97, 98, 99, 100, 101, 10_000])
def test_nested_groups(depth):
    group = b"\x7b" * depth + b"\x7c" * depth
    for data in (group, wrapped(group), ints(1) + group, group[:-1]):
        differential.check_records([data], A)
        differential.check_example(data)


@pytest.mark.parametrize(
    "key",
    [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"ab\xe2\x82", b"eight by\xc3"]
    + ["é", "日本", "\U0010ffff", "\0", "eight bytes and é"],
)
def test_keys_are_utf8(key):
    text = key if isinstance(key, bytes) else key.encode()
    data = delimited(1, delimited(1, delimited(1, text)))
    differential.check_example(data)
    assert (kernel.read_example(data) is None) == isinstance(key, bytes)


def test_a_key_asked_for_twice():
    batch = [ints(1, 2), b"", ints(3)]
    differential.check_records(batch, A * 2)
    first, second = kernel.read_columns(batch, A * 2)
    first[0][0] = 9
    assert second[0].tolist() == [1, 2, 3]
    for kinds in ((Kind.INT64, Kind.FLOAT), (Kind.FLOAT, Kind.INT64)):
        specs = [ColumnSpec("a", kind) for kind in kinds]
        differential.check_records(batch, specs)
        differential.check_records([b""], specs)


def test_a_key_that_no_record_can_have():
    specs = [ColumnSpec("\ud800", Kind.INT64)]
    assert kernel.read_columns([ints(1)], specs) is None
    assert kernel.read_sequence_columns([b""], A, specs) is None


def test_records_that_list_their_features_in_another_order_each():
    rng = random.Random(0)
    entries = [b"\n" + varint(len(key)) + key for key in (f"key {i}".encode() for i in range(200))]
    values = [b"\x12\x05\x1a\x03\n\x01" + bytes([i % 128]) for i in range(200)]
    parts = [b"\n" + varint(len(e + v)) + e + v for e, v in zip(entries, values, strict=True)]
    batch = []
    for _ in range(5):
        rng.shuffle(parts)
        data = b"".join(parts)
        batch.append(b"\n" + varint(len(data)) + data)
    specs = tuple(ColumnSpec(f"key {i}", Kind.INT64, 1) for i in range(0, 200, 3))
    columns = kernel.read_columns(batch, specs)
    assert [column[0].tolist() for column in columns] == [[i % 128] * 5 for i in range(0, 200, 3)]


def test_results_outlive_the_records_and_may_be_changed():
    numbers = list(range(5000))
    columns = kernel.read_columns([bytes(bytearray(ints(*numbers)))], A)
    values = columns[0][0]
    del columns
    values += 1
    assert values.tolist() == list(range(1, 5001))
    assert values.flags.writeable
    assert values.flags.aligned


@pytest.mark.parametrize("record", [b"", bytearray(ints(1)), memoryview(ints(1)), "text", None, 1])
def test_records_of_other_types(record):
    for name in ("read_columns", "read_example"):
        args = ([ints(2), record], A) if name == "read_columns" else (record,)
        wanted = differential.outcome(getattr(columns_protobuf, name), *args)
        assert differential.outcome(getattr(columns_native, name), *args) == wanted


# Writing.

FEATURES = {
    **{key: np.arange(5) - 2 for key in KEYS},
    "no ints": np.array([], np.int64),
    "no floats": np.array([], np.float32),
    "no bytes": [],
    "none": None,
    "edges": np.array(EDGES),
    "nan": np.array([0x7FC00001, 0xFF800000, 0x80000000], np.uint32).view(np.float32),
    "bytes": [b"", b"x" * 200],
    "objects": np.array([[b"a", b"b"], [b"c", b"d"]], object),
    "matrix": np.arange(6).reshape(2, 3).T,
    "strided": np.arange(10, dtype=np.float32)[::3],
    "scalar": np.array(5),
    "aa": None,
    "a" * 300: None,
}


def test_writing_gives_the_same_bytes():
    written = columns_protobuf.write_example(FEATURES)
    assert columns_native.example_writer.write_example(FEATURES) == written
    for key, values in FEATURES.items():
        one = {key: values}
        assert columns_native.example_writer.write_example(one) == columns_protobuf.write_example(
            one
        )
    assert columns_native.example_writer.write_example({}) == b""


@pytest.mark.parametrize(
    "features",
    [
        {"a": np.array([1], np.int32)},
        {"a": np.array([1.0])},
        {"a": np.array([1], ">i8")},
        {"a": [1]},
        {"a": ["text"]},
        {"a": b"bytes"},
        {"a": np.array(["text"], object)},
        {"a": 1},
        {1: None},
        {1: None, "a": None},
        {"\ud800": None},
        {"a": np.ma.masked_array([1, 2], [True, False])},
    ],
    ids=repr,
)
def test_writing_refuses_the_same(features):
    assert columns_native.example_writer.write_example(features) is None
    wanted = differential.outcome(columns_protobuf.write_example, features)
    assert differential.outcome(columns_native.write_example, features) == wanted


# Checksums, and the module that chooses.


def test_checksums_do_not_depend_on_how_they_are_made():
    data = random.Random(1).randbytes(5000)
    for size in [*range(40), *range(250, 270), *range(760, 800), 1535, 1536, 1537, 5000]:
        crc = records.crc32c(data[:size])
        assert crc == records.crc32c_by_table(data[:size])
        for cut in (0, 1, size // 3, size):
            first = records.crc32c(data[: min(cut, size)])
            assert records.crc32c(data[min(cut, size) : size], first) == crc
    assert records.crc32c(memoryview(b"123456789")) == 0xE3069283


def test_scanning_needs_a_start_inside_of_the_data():
    with pytest.raises(IndexError, match="start 5 is behind the end of 4 bytes"):
        records.read_block(b"data", 5, True)
    with pytest.raises(TypeError):
        records.read_block("text", 0, True)


def test_buffers_are_not_read_outside_of_the_places_given():
    numbers = [
        np.array(value, np.int64) for value in ([0, 9], [4, -1], [2**62, 1], [-1, 1], [8, 2])
    ]
    for offsets in numbers:
        for lengths in numbers:
            assert kernel.read_columns_buffer(b"x" * 9, offsets, lengths, A) is None
    assert kernel.read_columns_buffer(b"", np.zeros(1, np.int64), np.zeros(2, np.int64), A) is None


def test_a_missing_kernel_is_said_once(caplog, monkeypatch):
    monkeypatch.delenv("FEATUREKIT_NATIVE", raising=False)
    native._load.cache_clear()
    native._say_slower.cache_clear()
    with caplog.at_level(logging.INFO, "featurekit"):
        assert native.kernel("missing") is None
        assert native.kernel("absent") is None
    assert [record.getMessage() for record in caplog.records] == [
        "running slower, without the compiled kernels: they were not built"
    ]
    native._load.cache_clear()
    native._say_slower.cache_clear()


@pytest.mark.parametrize(("value", "active"), [("0", False), ("1", True)])
def test_the_environment_switches_every_kernel(value, active, monkeypatch):
    monkeypatch.setenv("FEATUREKIT_NATIVE", value)
    code = (
        "import sys; from featurekit.io import columns, framing; columns.write_example({});"
        "framing.frame(b''); print(sorted(m for m in sys.modules if '.native' in m))"
    )
    modules = subprocess.check_output([sys.executable, "-c", code], text=True)
    kernels = ["columns", "example_writer", "records"] if active else []
    assert modules.strip() == str(
        ["featurekit.native", *(f"featurekit.native.{name}" for name in kernels)]
    )
