"""Features and specs inferred from records, which all of these records fit."""

import json

import golden
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import featurekit as fk
from featurekit.connector import FeatureConnector
from featurekit.errors import (
    CorruptRecordError,
    InvalidArgumentError,
    MissingFileError,
    ParseError,
    SchemaError,
    UnsupportedError,
)
from featurekit.io import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    VarLenFeature,
    parse_example,
    parse_sequence_example,
)
from featurekit.io.columns import read_example, write_example
from featurekit.schema.inference import infer


@pytest.fixture
def write(tmp_path):
    def write(*records, name="data.tfrecord", compression=None):
        path = tmp_path / name
        with fk.io.TFRecordWriter(path, compression) as writer:
            for record in records:
                writer.write(record if isinstance(record, bytes) else write_example(record))
        return path

    return write


def ints(*values):
    return np.array(values, np.int64)


def floats(*values):
    return np.array(values, np.float32)


def png(height, width, channels, dtype=np.uint8):
    feature = fk.Image(shape=(None, None, channels), dtype=dtype)
    return feature.encode_example(np.ones((height, width, channels), dtype))


def jpeg(height, width, channels):
    feature = fk.Image(shape=(None, None, channels), encoding_format="jpeg")
    return feature.encode_example(np.ones((height, width, channels), np.uint8))


def check_fits(inferred, records):
    """Every record parses with the specs, and decodes with the features, also after a reload."""
    parse_example(records, inferred.specs)
    reloaded = FeatureConnector.from_json(json.loads(inferred.to_json()))
    for features in (inferred.features, reloaded):
        for record in records:
            features.deserialize_example(record)


# Values, and what they give: a list of records with the values of one key, None without it.


CASES = [
    ([ints(1), ints(2)], fk.Tensor(shape=(), dtype=np.int64), FixedLenFeature([], np.int64)),
    ([floats(1)], fk.Tensor(shape=(), dtype=np.float32), FixedLenFeature([], np.float32)),
    ([ints(1, 2, 3)], fk.Tensor(shape=(3,), dtype=np.int64), FixedLenFeature([3], np.int64)),
    ([ints(1), ints(2, 3)], fk.Sequence(np.int64), VarLenFeature(np.int64)),
    ([ints(1), ints()], fk.Sequence(np.int64), VarLenFeature(np.int64)),
    ([ints()], fk.Sequence(np.int64), VarLenFeature(np.int64)),
    (
        [ints(1), None],
        fk.Tensor(shape=(), dtype=np.int64, optional=True),
        VarLenFeature(np.int64),
    ),
    (
        [None, floats(1, 2)],
        fk.Tensor(shape=(2,), dtype=np.float32, optional=True),
        VarLenFeature(np.float32),
    ),
    ([ints(1, 2), None, ints(3)], fk.Sequence(np.int64), VarLenFeature(np.int64)),
    (
        [
            [b"cat"],
            [
                b"",
            ],
        ],
        fk.Text(),
        FixedLenFeature([], bytes),
    ),
    ([[b"cat"], None], fk.Text(optional=True), VarLenFeature(bytes)),
    ([[b"cat"], []], fk.Sequence(fk.Text()), VarLenFeature(bytes)),
    ([[b"a", b"b"], [b"c", b"d"]], fk.Sequence(fk.Text(), length=2), FixedLenFeature([2], bytes)),
    ([[b"a", b"b"], None], fk.Sequence(fk.Text()), VarLenFeature(bytes)),
    ([[b'{"a": 1}'], [b"[]"]], fk.Text(), FixedLenFeature([], bytes)),
    ([[b"\xff\x00"], [b"cat"]], fk.Tensor(shape=(), dtype=np.object_), FixedLenFeature([], bytes)),
    ([[b""]], fk.Tensor(shape=(), dtype=np.object_), FixedLenFeature([], bytes)),
    (
        [[b"\xff", b"\xfe"], None],
        fk.Tensor(shape=(2,), dtype=np.object_, optional=True),
        VarLenFeature(bytes),
    ),
    (
        [[png(2, 3, 3)], [png(2, 4, 3)]],
        fk.Image(shape=(2, None, 3), encoding_format="png"),
        FixedLenFeature([], bytes),
    ),
    (
        [[png(2, 3, 1)], [png(2, 3, 3)]],
        fk.Image(shape=(2, 3, 3), encoding_format="png"),
        FixedLenFeature([], bytes),
    ),
    (
        [[png(2, 3, 1)], [png(2, 3, 4)]],
        fk.Image(shape=(2, 3, 4), encoding_format="png"),
        FixedLenFeature([], bytes),
    ),
    (
        [[png(2, 3, 1)], [png(2, 3, 1, np.uint16)]],
        fk.Image(shape=(2, 3, 1), dtype=np.uint16, encoding_format="png"),
        FixedLenFeature([], bytes),
    ),
    (
        [[jpeg(8, 8, 1)]],
        fk.Image(shape=(8, 8, 1), encoding_format="jpeg"),
        FixedLenFeature([], bytes),
    ),
    ([[jpeg(8, 8, 3)], [png(2, 2, 3)]], fk.Image(), FixedLenFeature([], bytes)),
    (
        [[png(2, 2, 3)], None],
        fk.Sequence(fk.Image(shape=(2, 2, 3), encoding_format="png")),
        VarLenFeature(bytes),
    ),
    (
        [[png(2, 2, 3)], [png(2, 2, 3)[:-9]]],
        fk.Tensor(shape=(), dtype=np.object_),
        FixedLenFeature([], bytes),
    ),
    ([[png(2, 2, 3)], [b"cat"]], fk.Tensor(shape=(), dtype=np.object_), FixedLenFeature([], bytes)),
]


@pytest.mark.parametrize(("values", "feature", "spec"), CASES)
def test_what_is_inferred(write, values, feature, spec):
    records = [{"id": ints(1)} | ({} if value is None else {"x/y": value}) for value in values]
    serialized = [write_example(record) for record in records]
    inferred = infer(write(*serialized))
    assert inferred.features == fk.FeaturesDict({"id": np.int64, "x/y": feature})
    assert inferred.specs == {"id": FixedLenFeature([], np.int64), "x/y": spec}
    check_fits(inferred, serialized)


RAGGED = [
    ({"flat": ints(1, 2, 3), "rows": [ints(2, 0, 1)]}, 2, 1),
    ({"flat": ints(1, 2, 3, 4), "rows": [ints(1, 1)]}, 2, 2),
    ({"flat": ints(1, 2, 3, 4), "rows": [ints(2, 0, 2), ints(2, 1, 0, 1)]}, 3, 1),
    ({"flat": ints(), "rows": [ints(0, 0)]}, 2, 1),
]


def ragged_record(flat, rows):
    lengths = {f"x/ragged_row_lengths_{level}": row for level, row in enumerate(rows)}
    return write_example({"x/ragged_flat_values": flat} | lengths)


@pytest.mark.parametrize(("parts", "levels", "inner"), RAGGED)
def test_lists_of_lists_of_tfds(write, parts, levels, inner):
    record = ragged_record(**parts)
    inferred = infer(write(record, b""))
    feature = fk.Tensor(shape=() if inner == 1 else (inner,), dtype=np.int64)
    for _ in range(levels):
        feature = fk.Sequence(feature)
    assert inferred.features == fk.FeaturesDict({"x": feature})
    assert isinstance(inferred.specs["x"], RaggedFeature)
    check_fits(inferred, [record, b""])
    decoded = inferred.features.deserialize_example(record)["x"]
    parsed = parse_example([record], inferred.specs)["x"]
    assert parsed[0].to_list() == decoded.to_list()


@pytest.mark.parametrize(
    "records",
    [
        [{"flat": ints(1, 2), "rows": [ints(1)]}, {"flat": ints(1), "rows": [ints(1)]}],
        [{"flat": ints(1, 2, 3), "rows": [ints(2)]}],
        [{"flat": ints(1), "rows": [ints(-1, 2)]}],
        [{"flat": ints(1), "rows": [floats(1)]}],
        [{"flat": ints(1), "rows": []}],
        [{"flat": ints(1), "rows": [ints(1)]}, {"flat": ints(1), "rows": [ints(1), ints(1)]}],
        [{"flat": ints(), "rows": [ints(2**62, 2**62, 2**62, 2**62)]}],
    ],
)
def test_lists_of_lists_that_do_not_fit_stay_apart(write, records):
    serialized = [ragged_record(**parts) for parts in records]
    inferred = infer(write(*serialized))
    assert "x/ragged_flat_values" in inferred.features
    check_fits(inferred, serialized)


def test_row_lengths_without_values_stay_apart(write):
    serialized = [ragged_record(ints(1), [ints(1)]),
                  write_example({"x/ragged_row_lengths_0": ints(0)})]  # fmt: skip
    inferred = infer(write(*serialized))
    assert set(inferred.features) == {"x/ragged_flat_values", "x/ragged_row_lengths_0"}
    check_fits(inferred, serialized)


def test_data_fits_its_own_schema(write):
    """With empty lists, and keys that some records lack."""
    records = [
        write_example({"country": [b"FR"], "n": ints(1)}),
        write_example({"country": [], "n": ints(2)}),
        write_example({"n": ints(3)}),
    ]
    inferred = infer(write(*records))
    check_fits(inferred, records)
    assert inferred.features == fk.FeaturesDict({"country": fk.Sequence(fk.Text()), "n": np.int64})


def test_keys_without_a_kind(write):
    records = [{"a": None, "b": ints(1)}, {"a": None, "b": None}]
    inferred = infer(write(*records))
    assert inferred.features == fk.FeaturesDict(
        {"b": fk.Tensor(shape=(), dtype=np.int64, optional=True)}
    )
    assert inferred.specs == {"b": VarLenFeature(np.int64)}
    assert inferred.to_python().endswith(
        "\n# Left out, since no record has a kind of list there: ['a']\n"
    )
    check_fits(inferred, [write_example(record) for record in records])


VALUES = st.one_of(
    st.none(),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3).map(lambda v: ints(*v)),
    st.lists(st.floats(width=32), max_size=3).map(lambda v: floats(*v)),
    st.lists(st.sampled_from([b"", b"cat", b"\xff", b"{}", png(1, 2, 3)]), max_size=3),
)
KEYS = st.sampled_from(
    ["a", "b", "a/b", "a/ragged_flat_values", "a/ragged_row_lengths_0", "a/shape", ""]
)


@settings(max_examples=300, deadline=None)
@given(records=st.lists(st.dictionaries(KEYS, VALUES, max_size=4), min_size=1, max_size=4))
def test_any_records_fit_what_is_inferred_from_them(tmp_path_factory, records):
    path = tmp_path_factory.mktemp("any") / "any.tfrecord"
    serialized = [write_example(record) for record in records]
    with fk.io.TFRecordWriter(path) as writer:
        for record in serialized:
            writer.write(record)
    kinds = {}
    for record in map(read_example, serialized):
        for key, values in record.items():
            if values is not None:
                kinds.setdefault(key, set()).add(values.dtype)
    if not kinds or any(len(dtypes) > 1 for dtypes in kinds.values()):
        with pytest.raises(SchemaError, match=r"of (any|several) kind"):
            infer(path)
    else:
        check_fits(infer(path), serialized)


SHARDS = sorted(golden.ROOT.glob("*/*/**/*.tfrecord-*"))


@pytest.mark.parametrize("path", SHARDS, ids=lambda path: path.name)
def test_shards_of_tfds_fit_what_is_inferred_from_them(path):
    records = list(fk.io.TFRecordReader(path))
    if not records:
        pytest.skip("no records")
    inferred = infer(path)
    check_fits(inferred, records)


# SequenceExamples.


def sequence(context, lists):
    return fk.io.serialize(fk.io.make_sequence_example(context, lists))


def test_sequence_examples(write):
    records = [
        sequence(
            {"id": 1, "tag": ["a"]},
            {"x": [[1.0], [2.0]], "y": [[1, 2]], "z": [["a"], ["b", "c"]], "u": [[1], None]},
        ),
        sequence({"id": 2}, {"x": [], "y": [[3, 4], [5, 6]], "z": []}),
        sequence({"id": 2}, {"x": [[3.0]], "z": []}),
    ]
    inferred = infer(write(*records))
    assert inferred.is_sequence
    assert inferred.specs == {"id": FixedLenFeature([], np.int64), "tag": VarLenFeature(bytes)}
    assert inferred.list_specs == {
        "u": VarLenFeature(np.int64),
        "x": FixedLenSequenceFeature([], np.float32),
        "y": FixedLenSequenceFeature([2], np.int64, allow_missing=True),
        "z": VarLenFeature(bytes),
    }
    parse_sequence_example(records, inferred.specs, inferred.list_specs)
    with pytest.raises(UnsupportedError) as caught:
        _ = inferred.features
    assert str(caught.value) == (
        "the records are SequenceExamples, which features cannot describe\n"
        "  hint: use the feature specs, with fk.io.parse_sequence_example"
    )
    names = {}
    exec(inferred.to_python(), names)
    assert (names["context"], names["lists"]) == (inferred.specs, inferred.list_specs)


# Python code.


def test_python_code_gives_the_specs(write):
    keys = ["plain", 'quo"te', "new\nline", "back\\slash", "caf\xe9", "\u202e", "\U0001f600", ""]
    records = [write_example({key: [b"line\nbreak \xe2\x80\xae"] for key in keys}),
               ragged_record(ints(1, 2), [ints(1)])]  # fmt: skip
    inferred = infer(write(*records))
    code = inferred.to_python()
    names = {}
    exec(code, names)
    assert names["features"] == inferred.specs
    assert code.isascii() or "\u202e" not in code
    parse_example(records, names["features"])


# Several files, part of a file.


def test_several_files(write):
    paths = [
        write({"a": ints(1), "b": ints(1)}, name="one"),
        write({"a": ints(2, 3)}, name="two", compression="GZIP"),
    ]
    inferred = infer(paths)
    assert inferred.features == fk.FeaturesDict(
        {"a": fk.Sequence(np.int64), "b": fk.Tensor(shape=(), dtype=np.int64, optional=True)}
    )
    assert repr(inferred) == "Inferred(2 records of 2 files)"
    assert inferred.paths == tuple(map(str, paths))


def test_the_first_records_only(write):
    path = write({"a": ints(1)}, {"a": ints(2)}, {"a": floats(3)})
    inferred = infer(path, records=2)
    assert inferred.specs == {"a": FixedLenFeature([], np.int64)}
    assert inferred.statistics.records == 2


# What is refused.


def test_lists_of_several_kinds(write):
    path = write({"a": ints(1), "b": ints()}, {"a": floats(1)}, {"b": floats(1)}, {"a": [b""]})
    with pytest.raises(SchemaError) as caught:
        infer(path)
    assert str(caught.value) == (
        "key 'a' has lists of several kinds: int64_list (first in record 0) and float_list "
        "(first in record 1) and bytes_list (first in record 3), and 1 other key\n"
        "  hint: no feature reads both; write the records again with one kind"
    )


def test_records_that_are_no_examples(write):
    path = write({"a": ints(1)}, b"just a line")
    with pytest.raises(ParseError) as caught:
        infer(path)
    assert str(caught.value) == (
        "expected an Example, the record is text (11 bytes)\n"
        f"  at: {path}, record 1\n"
        "  hint: see what is in the file with `featurekit inspect`"
    )


def test_both_kinds_of_messages(write):
    path = write({"a": ints(1)}, sequence({}, {"b": [[1]]}))
    with pytest.raises(ParseError) as caught:
        infer(path)
    assert str(caught.value) == (
        "there are both Examples and SequenceExamples\n"
        f"  at: {path}, record 1\n"
        "  hint: infer from files of one kind at a time"
    )


def test_too_many_keys(write, monkeypatch):
    monkeypatch.setattr("featurekit.schema.statistics.MAX_KEYS", 3)
    monkeypatch.setattr("featurekit.schema.inference.MAX_KEYS", 3)
    with pytest.raises(SchemaError) as caught:
        infer(write({str(key): ints(1) for key in range(4)}))
    assert str(caught.value) == (
        "there are more than 3 different keys\n"
        "  hint: keys seem to be data; write them as values instead"
    )


def test_no_records_no_files_no_such_file(write, tmp_path):
    with pytest.raises(SchemaError, match="there are no records to infer features from"):
        infer(write())
    with pytest.raises(SchemaError, match="none of 2 records has a list of any kind"):
        infer(write(b"", {"a": None}))
    with pytest.raises(InvalidArgumentError, match="expected one file or more, got none"):
        infer([])
    with pytest.raises(InvalidArgumentError, match="records must be 1 or more, got 0"):
        infer(write({"a": ints(1)}), records=0)
    with pytest.raises(MissingFileError):
        infer(tmp_path / "missing")


def test_damaged_files(write):
    path = write({"a": ints(1)}, {"a": ints(2)})
    data = bytearray(path.read_bytes())
    data[-6] ^= 1
    path.write_bytes(data)
    with pytest.raises(CorruptRecordError, match="payload checksum"):
        infer(path)
    assert infer(path, records=1).statistics.records == 1
