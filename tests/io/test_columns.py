"""Columns of Examples: round trips, and protobuf's rules on bytes made by hand."""

import importlib
import os
import struct
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featurekit.errors import (
    EncodeError,
    EncodeTypeError,
    FeatureKitError,
    InvalidTypeError,
    ParseError,
)
from featurekit.io import columns, message_size
from featurekit.io.columns import ColumnSpec, Kind
from featurekit.io.message_size import example_size

MODULES = ["featurekit.io.columns_protobuf", "featurekit.io.columns_native"]


@pytest.fixture(params=MODULES, ids=["protobuf", "native"], scope="module")
def impl(request):
    return pytest.importorskip(request.param, exc_type=ImportError)


# Wire format by hand.


def varint(number):
    number &= 2**64 - 1
    digits = []
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes([*digits, number])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def ints(*values):
    return field(3, field(1, b"".join(map(varint, values))))


def floats(*values):
    return field(2, field(1, struct.pack(f"<{len(values)}f", *values)))


def texts(*values):
    return field(1, b"".join(field(1, value) for value in values))


def entry(key, *values):
    return field(1, field(1, key.encode()) + b"".join(field(2, value) for value in values))


def example(*entries):
    return field(1, b"".join(entries))


def sequence_example(context=(), lists=()):
    return field(1, b"".join(context)) + field(2, b"".join(lists))


def steps(key, *features):
    return entry(key, b"".join(field(1, feature) for feature in features))


def group(number, data):
    return varint(number << 3 | 3) + data + varint(number << 3 | 4)


UNKNOWN = {
    "varint": b"\x78\x96\x01",
    "fixed64": b"\x79" + bytes(8),
    "length": field(15, b"\xff\xff"),
    "group": group(15, b"\x08\x01" + group(2, field(3, b"abc"))),
    "fixed32": b"\x7d" + bytes(4),
    "large number": varint((2**29 - 1) << 3) + b"\x01",
}


def assert_same(got, wanted):
    assert list(got) == list(wanted)
    for key, values in wanted.items():
        if values is None:
            assert got[key] is None
        else:
            assert got[key].dtype == values.dtype
            assert got[key].ndim == 1
            assert got[key].tobytes() == values.tobytes() if values.dtype != object else True
            assert got[key].tolist() == values.tolist() or values.dtype == np.float32


def i64(*values):
    return np.array(values, np.int64)


def f32(*values):
    return np.array(values, np.float32)


def obj(*values):
    array = np.empty(len(values), object)
    array[:] = values
    return array


# Reading and writing.

FEATURES = {
    "": i64(1),
    "bytes": obj(b"", b"\x00\xff", b"goat"),
    "empty_bytes": obj(),
    "empty_float": f32(),
    "empty_int": i64(),
    "float": f32(0.5, -0.0, np.inf),
    "int": i64(0, -1, 2**63 - 1, -(2**63), 127, 128),
    "none": None,
    "é": i64(2),
    "日本": i64(3),
    "\U0001f40d": i64(4),
}


def test_everything_comes_back_in_the_order_of_the_keys(impl):
    shuffled = dict(reversed(FEATURES.items()))
    data = impl.write_example(shuffled)
    assert_same(impl.read_example(data), FEATURES)
    assert data == impl.write_example(FEATURES)


def test_written_bytes_are_packed_and_sorted(impl):
    data = impl.write_example({"b": i64(1, -1), "a": f32(1), "c": [b"x"], "d": None, "B": i64()})
    entries = [
        entry("B", field(3, b"")),
        entry("a", floats(1)),
        entry("b", ints(1, -1)),
        entry("c", texts(b"x")),
        entry("d", b""),
    ]
    assert data == example(*entries)


@pytest.mark.parametrize("features", [{}, {"a": None}])
def test_examples_without_values(impl, features):
    data = impl.write_example(features)
    assert data == (example(entry("a", b"")) if features else b"")
    assert_same(impl.read_example(data), features)


def test_arrays_of_any_layout_are_flattened(impl):
    grid = np.arange(6, dtype=np.int64).reshape(2, 3).T
    words = np.array([[b"a", b"b"]], dtype=object)
    data = impl.write_example(
        {"f": grid.astype(np.float32), "i": grid, "w": words, "z": i64(1)[0:1]}
    )
    got = impl.read_example(data)
    assert got["i"].tolist() == got["f"].tolist() == [0, 3, 1, 4, 2, 5]
    assert got["w"].tolist() == [b"a", b"b"]


def test_arrays_can_be_written_to(impl):
    for values in impl.read_example(impl.write_example(FEATURES)).values():
        assert values is None or values.flags.writeable


keys = st.text(max_size=5).filter(lambda text: not any("\ud800" <= c <= "\udfff" for c in text))
values = st.one_of(
    st.none(),
    st.lists(st.integers(-(2**63), 2**63 - 1)).map(lambda items: i64(*items)),
    st.lists(st.integers(0, 2**32 - 1)).map(lambda bits: np.array(bits, np.uint32).view("f4")),
    st.lists(st.binary(max_size=200), max_size=5).map(lambda items: obj(*items)),
)


@pytest.mark.parametrize("module", MODULES)
@given(features=st.dictionaries(keys, values, max_size=5))
def test_round_trip_keeps_every_bit(module, features):
    impl = pytest.importorskip(module, exc_type=ImportError)
    data = impl.write_example(features)
    assert len(data) == example_size(features)
    assert_same(impl.read_example(data), dict(sorted(features.items())))
    for key, wanted in features.items():
        kind = Kind.INT64 if wanted is None else next(k for k in Kind if k.dtype == wanted.dtype)
        (column,) = impl.read_columns([data], [ColumnSpec(key, kind)])
        assert column.counts.tolist() == [-1 if wanted is None else len(wanted)]
        assert_same({key: column.values}, {key: kind_empty(kind) if wanted is None else wanted})


def kind_empty(kind):
    return np.empty(0, kind.dtype)


@pytest.mark.parametrize("bits", [0x7F800001, 0x7FC12345, 0xFFBFFFFF, 0x80000000, 1])
def test_float_bits_are_kept(impl, bits):
    value = np.array([bits], np.uint32).view(np.float32)
    got = impl.read_example(impl.write_example({"x": value}))["x"]
    assert got.view(np.uint32).tolist() == [bits]


def test_hash_seed_does_not_matter():
    code = (
        "from featurekit.io.columns import write_example; import numpy as np;"
        "print(write_example({str(i) * 3: np.array([i]) for i in range(50)}).hex())"
    )
    outputs = set()
    for seed in "012":
        for native in "01":
            environ = os.environ | {"PYTHONHASHSEED": seed, "FEATUREKIT_NATIVE": native}
            outputs.add(subprocess.check_output([sys.executable, "-c", code], env=environ))
    assert len(outputs) == 1


def test_columns_of_a_batch(impl):
    records = [
        impl.write_example({"a": i64(1, 2), "b": [b"x"], "c": f32(0.5)}),
        impl.write_example({"b": [], "c": None, "other": i64(9)}),
        impl.write_example({"a": i64(3), "b": [b"y", b"z"], "c": f32(1, 2)}),
    ]
    specs = [
        ColumnSpec("c", Kind.FLOAT),
        ColumnSpec("a", Kind.INT64, 1),
        ColumnSpec("b", Kind.BYTES),
        ColumnSpec("nowhere", Kind.BYTES),
        ColumnSpec("a", Kind.INT64),
    ]
    c, a, b, nowhere, again = impl.read_columns(records, specs)
    assert c.values.tolist() == [0.5, 1, 2]
    assert c.counts.tolist() == [1, -1, 2]
    assert a.values.tolist() == again.values.tolist() == [1, 2, 3]
    assert a.counts.tolist() == again.counts.tolist() == [2, -1, 1]
    assert b.values.tolist() == [b"x", b"y", b"z"]
    assert b.counts.tolist() == [1, 0, 2]
    assert nowhere.values.shape == (0,)
    assert nowhere.counts.tolist() == [-1, -1, -1]
    for column, kind in zip([c, a, b, nowhere], [2, 3, 1, 1], strict=True):
        assert column.values.dtype == Kind(kind).dtype
        assert column.counts.dtype == np.int64


def test_an_empty_batch(impl):
    (column,) = impl.read_columns([], [ColumnSpec("a", Kind.FLOAT, 3)])
    assert column.values.dtype == np.float32
    assert column.values.shape == column.counts.shape == (0,)
    assert impl.read_columns([], []) == impl.read_columns([b""], []) == []


def test_sequence_columns(impl):
    records = [
        sequence_example([entry("id", ints(7))], [steps("x", floats(1, 2), floats(3))]),
        sequence_example([], [steps("x")]),
        b"",
        sequence_example([entry("id", ints(8, 9))], [steps("x", b"", floats(), floats(4))]),
    ]
    context, lists = impl.read_sequence_columns(
        records, [ColumnSpec("id", Kind.INT64)], [ColumnSpec("x", Kind.FLOAT)]
    )
    assert context[0].values.tolist() == [7, 8, 9]
    assert context[0].counts.tolist() == [1, -1, -1, 2]
    assert lists[0].values.tolist() == [1, 2, 3, 4]
    assert lists[0].counts.tolist() == [2, 1, -1, 0, 1]
    assert lists[0].steps.tolist() == [2, 0, -1, 3]
    assert lists[0].values.dtype == np.float32
    assert lists[0].counts.dtype == lists[0].steps.dtype == np.int64


# protobuf's rules.

MERGED = {
    "last entry of a key wins": (
        example(entry("a", ints(1)), entry("b", ints(5)), entry("a", ints(2))),
        {"a": i64(2), "b": i64(5)},
    ),
    "last entry wins with another kind": (
        example(entry("a", ints(1)), entry("a", texts(b"x"))),
        {"a": obj(b"x")},
    ),
    "last entry wins with no kind": (example(entry("a", ints(1)), entry("a", b"")), {"a": None}),
    "last entry wins without a value": (example(entry("a", ints(1)), entry("a")), {"a": None}),
    "joined examples": (
        example(entry("a", ints(1)), entry("b", ints(2))) + example(entry("a", ints(3))),
        {"a": i64(3), "b": i64(2)},
    ),
    "a value given twice is merged": (example(entry("a", ints(1), ints(2))), {"a": i64(1, 2)}),
    "a value given twice, kinds differ": (
        example(entry("a", ints(1), floats(2))),
        {"a": f32(2)},
    ),
    "a list given twice is merged": (example(entry("a", ints(1) + ints(2))), {"a": i64(1, 2)}),
    "the last kind wins": (example(entry("a", ints(1) + floats(2))), {"a": f32(2)}),
    "a kind that returns begins anew": (
        example(entry("a", ints(1) + floats(2) + ints(3))),
        {"a": i64(3)},
    ),
    "a kind that returns empty": (
        example(entry("a", ints(1) + texts(b"x") + field(3, b""))),
        {"a": i64()},
    ),
    "value before key": (
        example(field(1, field(2, ints(1)) + field(1, b"a"))),
        {"a": i64(1)},
    ),
    "key given twice": (
        example(field(1, field(1, b"a") + field(2, ints(1)) + field(1, b"b"))),
        {"b": i64(1)},
    ),
    "no key": (example(field(1, field(2, ints(1)))), {"": i64(1)}),
    "empty entry": (example(field(1, b"")), {"": None}),
    "unpacked ints": (
        example(entry("a", field(3, b"\x08\x01\x08" + varint(-1)))),
        {"a": i64(1, -1)},
    ),
    "packed and unpacked ints": (
        example(entry("a", field(3, b"\x08\x01" + field(1, b"\x02\x03") + b"\x08\x04"))),
        {"a": i64(1, 2, 3, 4)},
    ),
    "unpacked floats": (
        example(entry("a", field(2, b"\x0d\x00\x00\x80\x3f\x0d\x00\x00\x00\x40"))),
        {"a": f32(1, 2)},
    ),
    "packed chunks": (
        example(entry("a", field(2, field(1, bytes(4)) + field(1, b"") + field(1, bytes(8))))),
        {"a": f32(0, 0, 0)},
    ),
    "longer varints than needed": (
        example(entry("a", field(3, field(1, b"\x81\x80\x80\x00\x05")))),
        {"a": i64(1, 5)},
    ),
    "a varint beyond 64 bits is cut": (
        example(entry("a", field(3, field(1, b"\xff" * 9 + b"\x7f")))),
        {"a": i64(-1)},
    ),
    "known number, other wire type": (
        example(entry("a", field(3, b"\x0d\x01\x02\x03\x04" + b"\x08\x07"))) + b"\x08\x01",
        {"a": i64(7)},
    ),
    "only joined empties": (example() + example() + b"", {}),
}
MERGED |= {
    f"unknown {name} in {place}": (data, {"a": i64(1, 2)})
    for name, unknown in UNKNOWN.items()
    for place, data in {
        "Example": unknown + example(entry("a", ints(1, 2))) + unknown,
        "Features": example(unknown, entry("a", ints(1, 2)), unknown),
        "Feature": example(entry("a", unknown + ints(1, 2) + unknown)),
        "list": example(entry("a", field(3, unknown + field(1, b"\x01\x02") + unknown))),
    }.items()
}


@pytest.mark.parametrize(("data", "wanted"), MERGED.values(), ids=MERGED)
def test_bytes_mean_what_they_mean_to_protobuf(impl, data, wanted):
    assert_same(impl.read_example(data), wanted)
    for key, values in wanted.items():
        kind = Kind.INT64 if values is None else next(k for k in Kind if k.dtype == values.dtype)
        (column,) = impl.read_columns([data], [ColumnSpec(key, kind)])
        assert column.counts.tolist() == [-1 if values is None else len(values)]
        assert_same({key: column.values}, {key: kind_empty(kind) if values is None else values})


@pytest.mark.parametrize("kind", ["list", "bytes"])
def test_unknown_fields_beside_floats_and_bytes(impl, kind):
    unknown = b"".join(UNKNOWN.values())
    if kind == "list":
        data = example(entry("a", field(2, unknown + field(1, bytes(8)) + unknown)))
        assert_same(impl.read_example(data), {"a": f32(0, 0)})
    else:
        data = example(entry("a", field(1, unknown + field(1, b"x") + unknown)))
        assert_same(impl.read_example(data), {"a": obj(b"x")})


def test_feature_lists_follow_the_same_rules(impl):
    data = sequence_example(
        [entry("id", ints(1)), entry("id", ints(2))],
        [
            steps("x", ints(1), ints(2)),
            entry("y", field(1, ints(1)) + UNKNOWN["group"], field(1, ints(2))),
            steps("x", ints(5), b"", ints(3) + ints(4)),
        ],
    )
    context, (x, y) = impl.read_sequence_columns(
        [data + UNKNOWN["length"]],
        [ColumnSpec("id", Kind.INT64)],
        [ColumnSpec("x", Kind.INT64), ColumnSpec("y", Kind.INT64)],
    )
    assert context[0].values.tolist() == [2]
    assert (x.values.tolist(), x.counts.tolist(), x.steps.tolist()) == ([5, 3, 4], [1, -1, 2], [3])
    assert (y.values.tolist(), y.counts.tolist(), y.steps.tolist()) == ([1, 2], [1, 1], [2])


MALFORMED = {
    "text": b"not an example at all",
    "field number 0": b"\x02\x01a",
    "wire type 6": b"\x0e\x01",
    "wire type 7": b"\x0f\x01",
    "end of no group": b"\x0c",
    "group without end": b"\x7b\x08\x01",
    "group with another end": b"\x7b\x84\x01",
    "tag cut": b"\x80",
    "tag beyond 32 bits": b"\x8a\x80\x80\x80\x80\x01\x00",
    "length beyond the data": b"\x0a\x05abc",
    "length of 2**63": b"\x0a" + varint(2**63),
    "length of 2**31": b"\x0a" + varint(2**31) + b"\x00",
    "length beyond its message": b"\x0a\x04\x0a\x05\x0a\x00\x12\x00\x00",
    "endless varint": example(entry("a", field(3, b"\x08" + b"\xff" * 10 + b"\x01"))),
    "varint cut in packed": example(entry("a", field(3, field(1, b"\x01\x80")))),
    "packed floats of 5 bytes": example(entry("a", field(2, field(1, bytes(5))))),
    "float cut": example(entry("a", field(2, b"\x0d\x00\x00"))),
    "key is not UTF-8": example(field(1, field(1, b"\xff") + field(2, ints(1)))),
    "key has a surrogate": example(field(1, field(1, b"\xed\xa0\x80") + field(2, ints(1)))),
    "key is longer than needed in UTF-8": example(field(1, field(1, b"\xc0\x80"))),
    "entry with an unknown field": example(entry("a", ints(1)) + b"", field(1, b"\x78\x01")),
    "deep groups": b"\x7b" * 5000 + b"\x7c" * 5000,
}


@pytest.mark.parametrize("data", MALFORMED.values(), ids=MALFORMED)
def test_malformed_bytes_are_refused(impl, data):
    whole = impl.write_example({"a": i64(1)})
    with pytest.raises(ParseError, match=r"^expected a serialized Example, got ") as info:
        impl.read_columns([whole, data], [ColumnSpec("other", Kind.INT64)])
    assert info.value.record == 1
    with pytest.raises(ParseError, match=r"^expected a serialized Example, got "):
        impl.read_example(data)
    with pytest.raises(ParseError, match=r"^expected a serialized SequenceExample, got ") as info:
        impl.read_sequence_columns([b"", data], [], [])
    assert info.value.record == 1


def test_cuts_of_an_example_are_refused_or_are_examples(impl):
    reference = importlib.import_module(MODULES[0])
    whole = impl.write_example({"a": i64(1, 300), "b": f32(1, 2), "c": [b"xy", b"z"]})
    for data in (whole, example(entry("a", ints(1))) + example(entry("b", ints(2)))):
        for end in range(len(data)):
            try:
                wanted = reference.read_example(data[:end])
            except ParseError:
                with pytest.raises(ParseError):
                    impl.read_example(data[:end])
            else:
                assert_same(impl.read_example(data[:end]), wanted)


@pytest.mark.parametrize("module", MODULES)
@given(data=st.binary(max_size=60))
def test_random_bytes_never_raise_anything_else(module, data):
    impl = pytest.importorskip(module, exc_type=ImportError)
    for mutate in (data, example(data), example(entry("a", data)), example(field(1, data))):
        try:
            impl.read_example(mutate)
            impl.read_columns([mutate], [ColumnSpec("a", Kind.INT64)])
            impl.read_sequence_columns([mutate], [], [ColumnSpec("a", Kind.INT64)])
        except ParseError:
            pass


def test_another_kind_than_asked(impl):
    records = [example(entry("age", ints(1))), example(entry("age", field(2, b"")))]
    with pytest.raises(ParseError) as info:
        impl.read_columns(records, [ColumnSpec("age", Kind.INT64)])
    assert str(info.value) == (
        "feature 'age': expected int64_list, got float_list\n"
        "  at: record 1\n"
        "  hint: read it with the dtype it was written with"
    )


def test_another_kind_than_asked_in_a_step(impl):
    record = sequence_example([], [steps("x", floats(4.5), b"", ints(5))])
    with pytest.raises(ParseError) as info:
        impl.read_sequence_columns([b"", record], [], [ColumnSpec("x", Kind.FLOAT)])
    assert info.value.message == "step 2 of feature list 'x': expected float_list, got int64_list"
    assert info.value.record == 1


@pytest.mark.parametrize("record", ["text", None, 5, ["x"]])
def test_records_must_be_bytes(impl, record):
    with pytest.raises(
        InvalidTypeError, match=r"^expected the bytes of a serialized message, got "
    ):
        impl.read_example(record)
    with pytest.raises(InvalidTypeError) as info:
        impl.read_columns([b"", record], [])
    assert info.value.record == 1


# What cannot be written.

NO_VALUES = {
    "int32": np.array([1], np.int32),
    "float64": np.array([1.0]),
    "big endian": np.array([1], ">i8"),
    "bool": np.array([True]),
    "fixed bytes": np.array([b"a"]),
    "ints": [1, 2],
    "bytes": b"abc",
    "text": "abc",
    "texts": ["abc"],
    "bytes and None": [b"abc", None],
    "objects": np.array([1, b"a"], dtype=object),
    "number": 3,
}


@pytest.mark.parametrize("values", NO_VALUES.values(), ids=NO_VALUES)
def test_values_of_no_kind_are_refused(impl, values):
    with pytest.raises(EncodeTypeError, match=r"^feature 'key': expected an int64 array, "):
        impl.write_example({"a": i64(1), "key": values})


@pytest.mark.parametrize("key", ["\ud800", b"key", 1, None])
def test_keys_that_are_no_text_are_refused(impl, key):
    with pytest.raises(EncodeError, match="key"):
        impl.write_example({key: i64(1)})


HUGE = {
    "bytes": ([bytes(2**20)] * 2048, 2**31 + 4 * 2048),
    "floats": (np.broadcast_to(np.float32(0), 2**29), 2**31),
}


@pytest.mark.parametrize(("values", "least"), HUGE.values(), ids=HUGE)
def test_examples_of_2_gib_are_refused_before_they_are_made(impl, values, least):
    with pytest.raises(EncodeError, match="its biggest feature is 'video'") as info:
        impl.write_example({"small": i64(1), "video": values})
    size = int(info.value.message.split()[4])
    assert least < size < least + 100


def test_the_size_limit_is_exact(monkeypatch):
    impl = importlib.import_module(MODULES[0])
    features = {"small": i64(1, -1, 2**40), "big": [b"x" * 200, b""], "f": f32(1)}
    size = len(impl.write_example(features))
    monkeypatch.setattr(message_size, "MAX_MESSAGE_BYTES", size)
    assert len(impl.write_example(features)) == size
    monkeypatch.setattr(message_size, "MAX_MESSAGE_BYTES", size - 1)
    with pytest.raises(EncodeError) as info:
        impl.write_example(features)
    assert str(info.value) == (
        f"the example would take {size} bytes, more than the {size - 1} that one message may "
        "have; its biggest feature is 'big' with 208 bytes\n"
        "  hint: store it as several examples, or encode the feature (an image or video format, "
        "fewer values)"
    )


# The door.


@pytest.mark.parametrize("value", ["0", None])
def test_the_environment_chooses_the_implementation(monkeypatch, value):
    if value is None:
        monkeypatch.delenv("FEATUREKIT_NATIVE", raising=False)
    else:
        monkeypatch.setenv("FEATUREKIT_NATIVE", value)
    columns._loaded.cache_clear()
    try:
        built = importlib.util.find_spec("featurekit.native.columns") is not None
        assert columns.native_active() == (built and value is None)
        data = columns.write_example({"a": i64(1)})
        assert columns.read_example(data)["a"].tolist() == [1]
        assert columns.read_columns([data], [ColumnSpec("a", Kind.INT64)])[0].counts.tolist() == [1]
        assert columns.read_sequence_columns([b""], [], []) == ([], [])
    finally:
        columns._loaded.cache_clear()


def test_errors_are_of_featurekit():
    assert issubclass(ParseError, FeatureKitError)
