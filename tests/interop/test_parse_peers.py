"""The parse functions against TensorFlow's, on random specs and data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featurekit.errors import FeatureKitError
from featurekit.io import parse, specs
from featurekit.io.columns import write_example
from featurekit.io.ragged import RaggedTensor
from featurekit.io.sparse import SparseTensor
from featurekit.proto.example_pb2 import Example, SequenceExample

tf = pytest.importorskip("tensorflow", reason="compares with TensorFlow")

KINDS = {"i": "int64", "f": "float32", "s": "string"}
DEFAULTS = {"int64": 7, "float32": -0.5, "string": b"d"}
VALUES = {
    "i": st.integers(-(2**63), 2**63 - 1),
    "f": st.floats(width=32),
    "s": st.binary(max_size=5),
}
KEYS = [kind + digit for kind in KINDS for digit in "01"]
LISTS = {kind: st.lists(values, max_size=4) for kind, values in VALUES.items()}


def feature(key):
    kind = key[0]
    usual = LISTS[kind].map(lambda items: as_feature(kind, items))
    return st.one_of(usual, usual, st.none(), st.just(as_feature("i", [1])))


def as_feature(kind, items):
    return items if kind == "s" else np.array(items, np.dtype(KINDS[kind]))


features = st.dictionaries(st.sampled_from(KEYS), st.none(), max_size=6).flatmap(
    lambda keys: st.fixed_dictionaries({key: feature(key) for key in keys})
)
batches = st.lists(features.map(write_example), max_size=4)


@st.composite
def fixed_len(draw, dtype):
    shape = draw(st.sampled_from([[], [1], [2], [1, 2], [0]]))
    default = draw(st.sampled_from([None, np.full(shape, DEFAULTS[dtype]).tolist()]))
    return "FixedLenFeature", {"shape": shape, "dtype": dtype, "default_value": default}


@st.composite
def fixed_len_sequence(draw, dtype):
    shape = draw(st.sampled_from([[], [1], [2], [1, 2]]))
    default = draw(st.sampled_from([None, DEFAULTS[dtype]]))
    return "FixedLenSequenceFeature", {
        "shape": shape,
        "dtype": dtype,
        "allow_missing": True,
        "default_value": default,
    }


@st.composite
def ragged(draw, dtype):
    lengths = draw(st.lists(st.sampled_from([1, 2]), max_size=2))
    return "RaggedFeature", {
        "dtype": dtype,
        "partitions": [("UniformRowLength", length) for length in lengths],
        "row_splits_dtype": draw(st.sampled_from(["int32", "int64"])),
    }


def spec(key, *, sequence=False):
    dtype = KINDS[key[0]]
    var_len = st.just(("VarLenFeature", {"dtype": dtype}))
    if sequence:
        steps = st.sampled_from([[], [1], [2]]).flatmap(
            lambda shape: st.booleans().map(
                lambda missing: (
                    "FixedLenSequenceFeature",
                    {"shape": shape, "dtype": dtype, "allow_missing": missing},
                )
            )
        )
        return st.one_of(steps, var_len, ragged(dtype))
    return st.one_of(fixed_len(dtype), fixed_len_sequence(dtype), var_len, ragged(dtype))


def context_spec(key):
    # In a context TensorFlow takes an absent feature of shape [0], which is required, too.
    return spec(key).filter(
        lambda made: made[0] != "FixedLenSequenceFeature" and made[1].get("shape") != [0]
    )


def some_specs(make, min_size=1):
    keys = st.lists(st.sampled_from(KEYS), min_size=min_size, max_size=4, unique=True)
    return keys.flatmap(lambda keys: st.fixed_dictionaries({key: make(key) for key in keys}))


def ours_of(described):
    return {key: build(specs, *what) for key, what in described.items()}


def theirs_of(described):
    return {key: build(tf.io, *what) for key, what in described.items()}


def build(module, name, arguments):
    arguments = dict(arguments)
    if module is tf.io:
        for field in ("dtype", "row_splits_dtype"):
            if field in arguments:
                arguments[field] = tf.dtypes.as_dtype(arguments[field])
    if "partitions" in arguments:
        arguments["partitions"] = [
            getattr(module.RaggedFeature, kind)(value) for kind, value in arguments["partitions"]
        ]
    return getattr(module, name)(**arguments)


def compare(name, serialized, *described):
    """Call both functions; they must agree, in results or in refusing."""
    try:
        theirs = getattr(tf.io, name)(
            tf.constant(serialized, tf.string), *map(theirs_of, described)
        )
    except (tf.errors.InvalidArgumentError, ValueError, TypeError):
        with pytest.raises(FeatureKitError) as caught:
            getattr(parse, name)(serialized, *map(ours_of, described))
        assert isinstance(caught.value, ValueError | TypeError)
        return
    ours = getattr(parse, name)(serialized, *map(ours_of, described))
    assert_same(ours, theirs)


def assert_same(ours, theirs):
    if isinstance(theirs, tuple):
        assert len(ours) == len(theirs)
        for part, other in zip(ours, theirs, strict=True):
            assert_same(part, other)
    elif isinstance(theirs, dict):
        assert set(ours) == set(theirs)
        for key in theirs:
            assert_same(ours[key], theirs[key])
    elif isinstance(theirs, tf.SparseTensor):
        assert isinstance(ours, SparseTensor)
        for field in ("indices", "values", "dense_shape"):
            assert_same_array(getattr(ours, field), getattr(theirs, field).numpy())
    elif isinstance(theirs, tf.RaggedTensor):
        assert isinstance(ours, RaggedTensor)
        assert_same_array(ours.row_splits, theirs.row_splits.numpy())
        length = theirs.uniform_row_length
        assert ours.uniform_row_length == (None if length is None else int(length))
        assert_same(ours.values, theirs.values)
    else:
        assert_same_array(ours, theirs.numpy())


def assert_same_array(ours, theirs):
    ours, theirs = (
        value if isinstance(value, np.ndarray | np.generic) else np.array(value, object)
        for value in (ours, theirs)
    )
    assert ours.dtype == theirs.dtype
    assert ours.shape == theirs.shape
    if ours.dtype == object:
        assert ours.tolist() == theirs.tolist()
    else:
        assert ours.tobytes() == theirs.tobytes()  # signs of zeros and NaNs too


@settings(max_examples=300, deadline=None)
@given(batch=batches, described=some_specs(spec))
def test_examples(batch, described):
    compare("parse_example", batch, described)
    for serialized in batch:
        compare("parse_single_example", serialized, described)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_sparse_features(data):
    rank, count = data.draw(st.integers(1, 2)), data.draw(st.integers(0, 3))
    places = st.lists(st.integers(0, 4), max_size=4)
    batch = []
    for _ in range(count):
        first = data.draw(places)
        record = {"s0": [b"%d" % i for i in range(len(first))], "i0": np.array(first, np.int64)}
        if rank == 2:
            second = st.lists(st.integers(0, 4), min_size=len(first), max_size=len(first))
            record["i1"] = np.array(data.draw(second), np.int64)
        batch.append(write_example(record))
    arguments = {
        "index_key": ["i0", "i1"][:rank],
        "value_key": "s0",
        "dtype": "string",
        "size": [5, 6][:rank],
        "already_sorted": data.draw(st.booleans()),
    }
    described = {"sparse": ("SparseFeature", arguments)}
    compare("parse_example", batch, described)
    for serialized in batch:
        compare("parse_single_example", serialized, described)


nested = st.lists(st.lists(st.lists(VALUES["i"], max_size=3), max_size=3), max_size=3)


def partition_values(kind, lengths):
    ends = np.cumsum([0, *lengths])
    return {
        "RowSplits": ends,
        "RowLengths": np.array(lengths, np.int64),
        "RowStarts": ends[:-1],
        "RowLimits": ends[1:],
        "ValueRowIds": np.repeat(np.arange(len(lengths)), lengths),
    }[kind].astype(np.int64)


@settings(max_examples=200, deadline=None)
@given(
    rows=st.lists(nested, max_size=3),
    kinds=st.tuples(*[st.sampled_from(["RowSplits", "RowLengths", "RowStarts", "RowLimits"])] * 2),
    ids=st.booleans(),
    validate=st.booleans(),
)
def test_nested_rows(rows, kinds, ids, validate):
    outer, inner = kinds
    inner = "ValueRowIds" if ids else inner
    batch = []
    for row in rows:
        if ids:  # which lose empty rows at the end
            flat = [part for group in row for part in group]
            row = [[part or [0] for part in group] for group in row] if flat else row
        groups = [part for group in row for part in group]
        record = {
            "v": np.array([value for part in groups for value in part], np.int64),
            "outer": partition_values(outer, [len(group) for group in row]),
            "inner": partition_values(inner, [len(part) for part in groups]),
        }
        batch.append(write_example(record))
    arguments = {
        "dtype": "int64",
        "value_key": "v",
        "partitions": [(outer, "outer"), (inner, "inner")],
        "validate": validate,
    }
    described = {"rows": ("RaggedFeature", arguments)}
    compare("parse_example", batch, described)
    for serialized in batch:
        compare("parse_single_example", serialized, described)


def sequence_example(context, lists):
    message = SequenceExample()
    message.context.CopyFrom(Example.FromString(write_example(context)).features)
    for key, steps in lists.items():
        target = message.feature_lists.feature_list[key]
        for step in steps:
            made = Example.FromString(write_example({"": step})).features.feature[""]
            target.feature.add().CopyFrom(made)
    return message.SerializeToString(deterministic=True)


feature_lists = st.dictionaries(st.sampled_from(KEYS), st.none(), max_size=4).flatmap(
    lambda keys: st.fixed_dictionaries({key: st.lists(feature(key), max_size=3) for key in keys})
)
sequences = st.lists(st.builds(sequence_example, features, feature_lists), max_size=3)


@settings(max_examples=300, deadline=None)
@given(
    batch=sequences,
    context=some_specs(context_spec, min_size=0),
    lists=some_specs(lambda key: spec(key, sequence=True), min_size=0),
)
def test_sequence_examples(batch, context, lists):
    compare("parse_sequence_example", batch, context, lists)
    for serialized in batch:
        compare("parse_single_sequence_example", serialized, context, lists)
