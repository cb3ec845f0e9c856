"""Where values lie in an Example: keys, kinds and order, and records that do not fit."""

import numpy as np
import pytest

from featurekit.errors import (
    DecodeError,
    EncodeError,
    EncodeTypeError,
    FeatureKeyError,
    ParseError,
    SchemaError,
    UnsupportedError,
)
from featurekit.io.columns import ColumnSpec, Kind, read_example, write_example
from featurekit.io.ragged import RaggedTensor
from featurekit.layout import Layout
from featurekit.tensor_info import TensorInfo
from featurekit.testing import assert_same


def info(shape, dtype, rank=0, **others):
    return TensorInfo(shape, dtype, sequence_rank=rank, **others)


@pytest.mark.parametrize(
    ("infos", "specs"),
    [
        (info((), np.int8), [("", Kind.INT64, 1)]),
        ({"a": info((), np.bool_)}, [("a", Kind.INT64, 1)]),
        ({"a": info((2, 3), np.float16)}, [("a", Kind.FLOAT, 6)]),
        ({"a": info((None, 3), np.uint64)}, [("a", Kind.INT64, -1)]),
        ({"a": {"b": info((), np.str_)}}, [("a/b", Kind.BYTES, 1)]),
        ({"a": info((0,), np.int8)}, [("a", Kind.INT64, 0)]),
        ({"a": info((None,), np.str_, rank=1)}, [("a", Kind.BYTES, -1)]),
        (
            {"a": info((None, None, 2), np.int8, rank=2)},
            [
                ("a/ragged_flat_values", Kind.INT64, -1),
                ("a/ragged_row_lengths_0", Kind.INT64, -1),
            ],
        ),
        (
            {"a": info((None, None, None), np.str_, rank=3)},
            [
                ("a/ragged_flat_values", Kind.BYTES, -1),
                ("a/ragged_row_lengths_0", Kind.INT64, -1),
                ("a/ragged_row_lengths_1", Kind.INT64, -1),
            ],
        ),
        (
            # Another writer may have made a plain list of what one unknown size tells.
            {"a": info((None, 2), np.int8, rank=2)},
            [
                ("a/ragged_flat_values", Kind.INT64, -1),
                ("a/ragged_row_lengths_0", Kind.INT64, -1),
                ("a", Kind.INT64, -1),
            ],
        ),
        ({}, []),
        ({"a": {}}, []),
    ],
)
def test_entries(infos, specs):
    layout = Layout(infos)
    assert list(layout.specs) == [ColumnSpec(*spec) for spec in specs]
    assert list(layout.keys) == [key for key, *_ in specs]


@pytest.mark.parametrize(
    ("infos", "key", "path"),
    [
        ({"a/b": info((), np.int8), "a": {"b": info((), np.int8)}}, "a/b", "a.b"),
        (
            {
                "a": info((None, None), np.int8, rank=2),
                "a/ragged_flat_values": info((), np.int8),
            },
            "a/ragged_flat_values",
            "a/ragged_flat_values",
        ),
    ],
)
def test_two_values_cannot_have_one_key(infos, key, path):
    with pytest.raises(SchemaError) as caught:
        Layout(infos)
    assert str(caught.value) == (
        f"two features are stored under the key {key!r}\n"
        f"  at: {path}\n"
        "  hint: rename one of them; a '/' in a name counts as nesting"
    )


@pytest.mark.parametrize(
    "item",
    [
        info((None, None), np.int8),
        info((None, None), np.int8, rank=1),
        info((None, None, None), np.int8, rank=2),
        info((), np.complex64),
        info((), "bfloat16"),
    ],
)
def test_what_no_list_can_tell_is_refused(item):
    with pytest.raises(UnsupportedError) as caught:
        Layout({"a": {"b": item}})
    assert "at: a.b" in str(caught.value)
    assert "encoding='bytes'" in str(caught.value)


# Values to entries.


@pytest.mark.parametrize(
    ("item", "value", "entries"),
    [
        (info((), np.uint8), 255, {"x": [255]}),
        (info((), np.uint64), np.uint64(2**64 - 2), {"x": [-2]}),
        (info((2,), np.bool_), [True, False], {"x": [1, 0]}),
        (info((2, 2), np.float16), np.eye(2, dtype=np.float16), {"x": [1.0, 0.0, 0.0, 1.0]}),
        (info((), np.float64), 0.5, {"x": [0.5]}),
        (info((), np.str_), "é", {"x": ["é".encode()]}),
        (info((None,), np.str_, rank=1), [], {"x": []}),
        (info((None, 2), np.int8, rank=1), [], {"x": []}),
        (info((None, 2), np.int8, rank=1), [[1, 2]], {"x": [1, 2]}),
        (
            info((None, None, 2), np.int8, rank=2),
            [[], [[1, 2], [3, 4]]],
            {"x/ragged_flat_values": [1, 2, 3, 4], "x/ragged_row_lengths_0": [0, 2]},
        ),
        (info((), np.int8, optional=True), None, {}),
    ],
)
def test_what_is_written(item, value, entries):
    record = Layout({"x": item}).serialize({"x": value})
    assert {key: values.tolist() for key, values in read_example(record).items()} == entries


def test_bytes_do_not_depend_on_the_order_of_features():
    one, two = {"a": info((), np.int8)}, {"b": info((), np.str_)}
    value = {"b": b"x", "a": 1}
    assert Layout(one | two).serialize(value) == Layout(two | one).serialize(value)


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        ({}, FeatureKeyError, "the encoded example has no 'a'"),
        ({"a": {}}, FeatureKeyError, "the encoded example has no 'a.b'"),
        ({"a": 1}, EncodeTypeError, "expected a dict, got int 1"),
        ({"a": {"b": None}}, EncodeTypeError, "expected int8, got None"),
        ({"a": {"b": 300}}, EncodeError, "300 does not fit int8"),
        ({"a": {"b": [1]}}, EncodeError, "expected shape (), got (1,)"),
    ],
)
def test_encoded_values_that_do_not_fit(value, error, text):
    with pytest.raises(error) as caught:
        Layout({"a": {"b": info((), np.int8)}}).serialize(value)
    assert str(caught.value).startswith(text)


def test_a_list_of_no_values_that_would_lose_its_length_is_refused():
    layout = Layout({"a": info((None, 0), np.int8, rank=1)})
    assert_same(layout.deserialize(layout.serialize({"a": []})), {"a": np.zeros((0, 0), np.int8)})
    with pytest.raises(EncodeError) as caught:
        layout.serialize({"a": np.zeros((3, 0), np.int8)})
    assert str(caught.value) == (
        "shape (3, 0) has no values, so nothing stored tells the unknown size of (None, 0)\n"
        "  at: a\n"
        "  hint: use encoding='bytes', or give the sequence a fixed length"
    )


# Entries to values.


@pytest.mark.parametrize(
    ("item", "entries", "value"),
    [
        (info((), np.uint64), {"x": [-1]}, np.uint64(2**64 - 1)),
        (info((), np.float64), {"x": np.array([0.1], np.float32)}, np.float64(np.float32(0.1))),
        (info((2, 1), np.int8), {"x": [1, 2]}, np.array([[1], [2]], np.int8)),
        (info((None, 2), np.int8), {"x": [1, 2, 3, 4]}, np.array([[1, 2], [3, 4]], np.int8)),
        (info((None, 2), np.int8), {"x": []}, np.zeros((0, 2), np.int8)),
        (info((None, 2), np.int8), {}, np.zeros((0, 2), np.int8)),
        (info((None, 2), np.int8), {"x": None}, np.zeros((0, 2), np.int8)),
        (info((), np.int8, optional=True), {}, None),
        (info((), np.int8, optional=True), {"x": None}, None),
        (info((None,), np.int8, optional=True), {}, None),
        (info((), np.str_, may_be_absent=True), {}, None),
        (info((), np.int8, default_value=7), {}, np.int8(7)),
        (info((2,), np.str_, default_value=["a", "b"]), {}, np.array([b"a", b"b"], object)),
        (
            info((None, 2), np.int8, rank=2),
            {"x": [1, 2, 3, 4]},
            np.array([[1, 2], [3, 4]], np.int8),
        ),
        (
            info((None, None), np.int8, rank=2),
            {"x/ragged_flat_values": [1, 2], "x/ragged_row_lengths_0": [0, 2]},
            RaggedTensor.from_row_lengths(np.array([1, 2], np.int8), [0, 2]),
        ),
        (
            info((2, None), np.int8, rank=2),
            {"x/ragged_flat_values": [1, 2], "x/ragged_row_lengths_0": [0, 2]},
            RaggedTensor.from_row_lengths(np.array([1, 2], np.int8), [0, 2]),
        ),
    ],
)
def test_what_is_read(item, entries, value):
    record = write_example(
        {k: np.array(v, np.int64) if isinstance(v, list) else v for k, v in entries.items()}
    )
    assert_same(Layout({"x": item}).deserialize(record), {"x": value})


@pytest.mark.parametrize(
    ("item", "entries", "error", "text"),
    [
        (
            info((), np.int8),
            {},
            DecodeError,
            "the record has no entry 'a/x'\n"
            "  at: a.x\n"
            "  hint: the record was written with other features; check features.json",
        ),
        (
            info((2,), np.int8),
            {"a/x": np.arange(3)},
            DecodeError,
            "entry 'a/x' has 3 values, which do not fill shape (2,)\n"
            "  at: a.x\n"
            "  hint: the record is damaged, or was written with other features",
        ),
        (info((None, 2), np.int8), {"a/x": np.arange(3)}, DecodeError, "entry 'a/x' has 3 values"),
        (info((), np.int8), {"a/x": np.arange(0)}, DecodeError, "entry 'a/x' has 0 values"),
        (info((None, 0), np.int8), {"a/x": np.arange(1)}, DecodeError, "entry 'a/x' has 1 values"),
        (
            info((), np.int8),
            {"a/x": np.array([-129])},
            DecodeError,
            "stored value -129 does not fit int8\n"
            "  at: a.x\n"
            "  hint: the record was written with another dtype; check features.json",
        ),
        (info((2,), np.uint8), {"a/x": np.array([0, -1])}, DecodeError, "stored value -1 does not"),
        (info((), np.int8), {"a/x": [b"x"]}, ParseError, "feature 'a/x'"),
        (
            info((None, None), np.int8, rank=2),
            {"a/x/ragged_flat_values": np.arange(3), "a/x/ragged_row_lengths_0": np.array([1, 1])},
            DecodeError,
            "entry 'a/x/ragged_row_lengths_0' adds up to 2, and there are 3 elements",
        ),
        (
            info((None, None), np.int8, rank=2),
            {"a/x/ragged_flat_values": np.arange(1), "a/x/ragged_row_lengths_0": np.array([2, -1])},
            DecodeError,
            "entry 'a/x/ragged_row_lengths_0' adds up to 1, and there are 1 elements",
        ),
        (
            info((None, None), np.int8, rank=2),
            {
                "a/x/ragged_flat_values": np.arange(1),
                "a/x/ragged_row_lengths_0": np.array([2**62, 2**62, 2**62, 2**62, 1]),
            },
            DecodeError,
            "entry 'a/x/ragged_row_lengths_0'",
        ),
        (
            info((2, None), np.int8, rank=2),
            {"a/x/ragged_flat_values": np.arange(1), "a/x/ragged_row_lengths_0": np.array([1])},
            DecodeError,
            "a list has 1 elements, and the declared length is 2",
        ),
        (
            info((None, 2), np.int8, rank=2),
            {"a/x/ragged_flat_values": np.arange(1), "a/x/ragged_row_lengths_0": np.array([1])},
            DecodeError,
            "a list has 1 elements, and the declared length is 2",
        ),
    ],
)
def test_records_that_do_not_fit(item, entries, error, text):
    layout = Layout({"a": {"x": item}})
    with pytest.raises(error) as caught:
        layout.deserialize(write_example(entries))
    assert str(caught.value).startswith(text)
    assert "a.x" in str(caught.value) or error is ParseError
    for read in (layout.deserialize_each, layout.deserialize_batch):
        good = Layout({"a": {"x": item}})
        with pytest.raises(error):
            read([write_example(entries)])
        assert good.keys == layout.keys


@pytest.mark.parametrize("record", [b"\xff", b"\x0a\x05", b"\x0a\x80", b"\x0b"])
def test_bytes_that_are_no_example(record):
    with pytest.raises(ParseError):
        Layout({"a": info((), np.int8)}).deserialize(record)


def test_empty_dicts_are_there():
    layout = Layout({"a": {}, "b": {"c": {}}})
    assert layout.deserialize(layout.serialize({"a": {}, "b": {"c": {}}})) == {
        "a": {},
        "b": {"c": {}},
    }


# Many records at once.


def test_a_wrong_record_of_many_is_named():
    layout = Layout({"a": info((), np.int8)})
    good = layout.serialize({"a": 1})
    for read in (layout.deserialize_each, layout.deserialize_batch):
        with pytest.raises(DecodeError) as caught:
            read([good, good, write_example({})])
        assert caught.value.record == 2


def test_lists_of_two_records_that_only_add_up_together_are_refused():
    layout = Layout({"a": info((None, None), np.int64, rank=2)})
    records = [
        write_example({"a/ragged_flat_values": np.arange(n), "a/ragged_row_lengths_0": lengths})
        for n, lengths in ((3, np.array([2])), (1, np.array([2])))
    ]
    with pytest.raises(DecodeError, match="adds up to 2, and there are 3 elements") as caught:
        layout.deserialize_batch(records)
    assert caught.value.record == 0


def test_batches_are_arrays_ragged_or_masked():
    layout = Layout(
        {
            "fixed": info((2,), np.int8),
            "varying": info((None,), np.int8),
            "missing": info((), np.float32, optional=True),
            "text": info((), np.str_),
            "lists": info((None, None), np.int64, rank=2),
        }
    )
    values = [
        {"fixed": [1, 2], "varying": [1], "missing": None, "text": "a", "lists": [[1], []]},
        {"fixed": [3, 4], "varying": [], "missing": 0.5, "text": "b", "lists": []},
    ]
    batch = layout.deserialize_batch([layout.serialize(value) for value in values])
    assert_same(batch["fixed"], np.array([[1, 2], [3, 4]], np.int8))
    assert_same(batch["varying"], RaggedTensor.from_row_lengths(np.array([1], np.int8), [1, 0]))
    assert batch["missing"].mask.tolist() == [True, False]
    assert batch["missing"].dtype == np.float32
    assert_same(batch["text"], np.array([b"a", b"b"], object))
    assert batch["lists"].to_list() == [[[1], []], []]


def test_a_batch_of_no_records():
    layout = Layout({"a": info((2,), np.int8), "b": {"c": info((), np.str_)}})
    assert layout.deserialize_each([]) == []
    assert_same(
        layout.deserialize_batch([]),
        {"a": np.zeros((0, 2), np.int8), "b": {"c": np.array([], object)}},
    )
