"""The parse functions: worked examples, arguments, refusals and their words."""

import doctest
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featurekit.errors import (
    DecodeError,
    FeatureKitError,
    InvalidArgumentError,
    InvalidTypeError,
    ParseError,
)
from featurekit.io import (
    Example,
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    RaggedTensor,
    SequenceExample,
    SparseFeature,
    SparseTensor,
    VarLenFeature,
    parse_example,
    parse_plan,
    parse_sequence_example,
    parse_single_example,
    parse_single_sequence_example,
)
from featurekit.io.columns import write_example

INT, FLOAT = np.int64, np.float32


def example(**features):
    return write_example({key: as_feature(values) for key, values in features.items()})


def as_feature(values):
    if values is None or (values and isinstance(values[0], bytes)):
        return values
    return np.array(values, FLOAT if values and isinstance(values[0], float) else INT)


def sequence_example(context=None, **lists):
    message = SequenceExample()
    message.context.MergeFrom(Example.FromString(example(**(context or {}))).features)
    for key, steps in lists.items():
        message.feature_lists.feature_list[key].SetInParent()
        for step in steps:
            feature = Example.FromString(example(x=step)).features.feature["x"]
            message.feature_lists.feature_list[key].feature.add().MergeFrom(feature)
    return message.SerializeToString(deterministic=True)


def parts_of(sparse):
    assert isinstance(sparse, SparseTensor)
    return sparse.indices.tolist(), sparse.values.tolist(), sparse.dense_shape.tolist()


def test_docs():
    page = Path(__file__).parents[2] / "docs" / "parsing.md"
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert tried > 20
    assert not failed


# Worked examples.


def test_var_len_of_three_types():
    serialized = [
        write_example({"kw": [b"knit", b"big"], "gps": np.array([], FLOAT)}),
        example(kw=[b"emmy"], dank=[42], gps=None),
    ]
    features = {
        "kw": VarLenFeature(np.str_),
        "dank": VarLenFeature(INT),
        "gps": VarLenFeature(FLOAT),
    }
    parsed = parse_example(serialized, features, ["input0", "input1"])
    assert list(parsed) == ["kw", "dank", "gps"]
    assert parts_of(parsed["kw"]) == ([[0, 0], [0, 1], [1, 0]], [b"knit", b"big", b"emmy"], [2, 2])
    assert parts_of(parsed["dank"]) == ([[1, 0]], [42], [2, 1])
    assert parts_of(parsed["gps"]) == ([], [], [2, 0])
    assert parsed["gps"].values.dtype == FLOAT


def test_default_is_for_an_absent_key_or_no_kind():
    records = [example(age=[0]), example(), example(age=None)]
    ages = {shape: FixedLenFeature(list(shape), INT, -1) for shape in [(), (1,)]}
    assert parse_example(records, {"age": ages[()]})["age"].tolist() == [0, -1, -1]
    assert parse_example(records, {"age": ages[(1,)]})["age"].tolist() == [[0], [-1], [-1]]


def test_default_is_not_for_an_empty_list():
    records = [example(age=[0]), example(age=[]), example()]
    with pytest.raises(ParseError, match=r"expected 1 value for shape \[\], got 0"):
        parse_example(records, {"age": FixedLenFeature([], INT, -1)})
    sparse = parse_example(records, {"age": VarLenFeature(INT)})["age"]
    assert parts_of(sparse) == ([[0, 0]], [0], [3, 1])


def test_empty_batch():
    parsed = parse_example([], {"a": FixedLenFeature([2], INT), "b": VarLenFeature(INT)})
    assert parsed["a"].shape == (0, 2)
    assert parts_of(parsed["b"]) == ([], [], [0, 0])


def test_missing_feature_list():
    missing, three, one = (
        sequence_example(),
        sequence_example(f1=[[1], [2], [3]]),
        sequence_example(f1=[[4]]),
    )

    def parse(serialized, spec):
        return parse_single_sequence_example(serialized, None, {"f1": spec})[1]["f1"]

    with pytest.raises(ParseError) as caught:
        parse(missing, FixedLenSequenceFeature([], INT))
    assert str(caught.value) == (
        "feature list 'f1' (int64) is required but could not be found\n"
        "  hint: give it allow_missing=True"
    )
    allowed = FixedLenSequenceFeature([], INT, allow_missing=True)
    assert parse(missing, allowed).shape == (0,)
    assert parse(missing, FixedLenSequenceFeature([3], INT, allow_missing=True)).shape == (0, 3)
    assert parse(missing, VarLenFeature(INT)).dense_shape.tolist() == [0, 0]

    _, lists, lengths = parse_sequence_example([three, one], None, {"f1": allowed})
    assert lists["f1"].tolist() == [[1, 2, 3], [4, 0, 0]]
    assert lengths["f1"].tolist() == [3, 1]
    _, lists, lengths = parse_sequence_example([three, missing], None, {"f1": allowed})
    assert lists["f1"].tolist() == [[1, 2, 3], [0, 0, 0]]
    assert lengths["f1"].tolist() == [3, 0]
    with pytest.raises(ValueError, match="expected one of FixedLenFeature, VarLenFeature"):
        parse_sequence_example([three], {"f1": allowed})


def test_films():
    serialized = sequence_example(
        {"locale": [b"pt_BR"], "age": [19.0], "favorites": [b"Majesty Rose", b"Savannah Outen"]},
        ratings=[[4.5], [5.0]],
        actors=[[b"Tim Robbins", b"Morgan Freeman"], [b"Brad Pitt"]],
    )
    context, lists = parse_single_sequence_example(
        serialized,
        {"locale": FixedLenFeature([], "string"), "favorites": VarLenFeature("string")},
        {"ratings": FixedLenSequenceFeature([], FLOAT), "actors": RaggedFeature("string")},
    )
    assert context["locale"] == b"pt_BR"
    assert parts_of(context["favorites"])[1] == [b"Majesty Rose", b"Savannah Outen"]
    np.testing.assert_array_equal(lists["ratings"], np.array([4.5, 5.0], FLOAT))
    assert lists["actors"].to_list() == [[b"Tim Robbins", b"Morgan Freeman"], [b"Brad Pitt"]]


# Dtypes and results.


class TensorFlowDType:
    """What is asked of a dtype of TensorFlow."""

    def __init__(self, name, as_numpy_dtype):
        self.name, self.as_numpy_dtype = name, as_numpy_dtype


@pytest.mark.parametrize(
    ("dtype", "values"),
    [(dtype, [3]) for dtype in [np.int64, "int64", int, np.dtype("<i8"), "<i8"]]
    + [(dtype, [0.5]) for dtype in [np.float32, "float32", np.dtype(np.float32)]]
    + [(dtype, [b"x"]) for dtype in [np.str_, np.bytes_, "string", bytes, str, object, "U", "S"]]
    + [(TensorFlowDType("int64", np.int64), [3]), (TensorFlowDType("string", object), [b"x"])],
)
def test_names_of_dtypes(dtype, values):
    parsed = parse_example([example(x=values)], {"x": FixedLenFeature([1], dtype)})["x"]
    assert parsed.dtype == {3: INT, 0.5: FLOAT, b"x": object}[values[0]]
    assert parsed.tolist() == [values]


@pytest.mark.parametrize("dtype", [np.int32, float, "double", bool, ml_dtypes.bfloat16, "nonsense"])
def test_other_dtypes_are_refused(dtype):
    with pytest.raises(InvalidArgumentError, match="expected int64, float32 or string, got"):
        parse_example([example()], {"x": VarLenFeature(dtype)})


def test_scalars_of_one_example():
    features = {
        key: FixedLenFeature([], dtype)
        for key, dtype in zip("ifs", [INT, FLOAT, bytes], strict=True)
    }
    parsed = parse_single_example(example(i=[1], f=[0.5], s=[b"a"]), features)
    assert [type(value) for value in parsed.values()] == [np.int64, np.float32, bytes]


@pytest.mark.parametrize("form", [list, tuple, lambda records: np.array(records, object)])
def test_forms_of_a_batch(form):
    records = form([example(x=[1]), example(x=[2])])
    assert parse_example(records, {"x": FixedLenFeature([], INT)})["x"].tolist() == [1, 2]


@pytest.mark.parametrize(
    "form", [bytes, bytearray, memoryview, lambda data: np.array(data, object)]
)
def test_forms_of_one_message(form):
    parsed = parse_single_example(form(example(x=[1])), {"x": FixedLenFeature([], INT)})
    assert parsed == {"x": 1}


def test_results_can_be_written_to():
    parsed = parse_example([example(x=[1])], {"x": FixedLenFeature([], INT)})["x"]
    parsed[0] = 5
    assert parsed.tolist() == [5]


def test_a_changed_default_counts():
    default = np.array([1, 2])
    features = {"x": FixedLenFeature([2], INT, default)}
    assert parse_single_example(example(), features)["x"].tolist() == [1, 2]
    default[0] = 9
    assert parse_single_example(example(), features)["x"].tolist() == [9, 2]


def test_defaults_that_compare_equal():
    zeros = [
        parse_single_example(example(), {"x": FixedLenFeature([], FLOAT, zero)})["x"]
        for zero in (0.0, -0.0)
    ]
    assert np.signbit(zeros).tolist() == [False, True]


def test_plans_are_kept_but_not_for_ever():
    features = {"x": FixedLenFeature([], INT)}
    assert parse_plan.example_plan(features) is parse_plan.example_plan(dict(features))
    for _ in range(1000):
        parse_plan.example_plan({"x": FixedLenFeature([], INT)})
    assert len(parse_plan._PLANS) < 1000


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="NumPy 2.0 has StringDType")
def test_text():
    serialized = example(a=["é".encode()], b=[b"x", b"y"])
    features = {
        "a": FixedLenFeature([], bytes),
        "b": FixedLenFeature([2], bytes),
        "sparse": SparseFeature("i", "v", bytes, 3),
        "ragged": RaggedFeature(bytes, "r"),
        "n": FixedLenFeature([], INT, 1),
    }
    parsed = parse_single_example(serialized, features, strings="StringDType")
    assert parsed["a"] == "é"
    assert parsed["n"] == 1
    text = np.dtypes.StringDType()
    assert parsed["b"].dtype == text
    assert parsed["sparse"].values.dtype == text
    assert parsed["ragged"].dtype == text
    batch = parse_example([serialized], features, strings="StringDType")
    assert batch["b"].tolist() == [["x", "y"]]
    assert isinstance(batch["ragged"], RaggedTensor)
    assert batch["ragged"].flat_values.dtype == text
    with pytest.raises(DecodeError) as caught:
        parse_single_example(example(a=[b"\xff"]), {"a": features["a"]}, strings="StringDType")
    assert str(caught.value) == (
        "expected text in UTF-8, got b'\\xff'\n"
        "  at: a\n"
        "  hint: keep the bytes with strings='object'"
    )


# Batches and single examples.


values = st.one_of(
    st.none(),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4),
)
records = st.lists(
    st.fixed_dictionaries({}, optional={"a": values, "b": values, "c": st.just([1, 1])}), max_size=5
)
specs = st.fixed_dictionaries(
    {},
    optional={
        "a": st.sampled_from(
            [FixedLenFeature([2], INT), FixedLenFeature([2], INT, [7, 8]), VarLenFeature(INT)]
        ),
        "b": st.sampled_from(
            [FixedLenSequenceFeature([], INT, True), RaggedFeature(INT), RaggedFeature(INT, "e")]
        ),
        "rows": st.just(
            RaggedFeature(INT, "d", [RaggedFeature.RowLengths("c")], np.int64, validate=True)
        ),
    },
).filter(bool)


@given(records, specs)
def test_a_batch_is_its_examples(batch, features):
    serialized = [example(**record, d=[5, 6], e=[5]) for record in batch]
    try:
        parsed = parse_example(serialized, features)
    except FeatureKitError as error:
        first, text = error.record, error.message
        for record in serialized[:first]:
            parse_single_example(record, features)
        with pytest.raises(type(error)) as caught:
            parse_single_example(serialized[first], features)
        assert caught.value.message == text
        return
    for index, record in enumerate(serialized):
        for key, one in parse_single_example(record, features).items():
            assert_is_row(parsed[key], index, one)


def assert_is_row(batch, index, one):
    if isinstance(one, SparseTensor):
        rows = batch.indices[:, 0] == index
        np.testing.assert_array_equal(batch.indices[rows, 1:], one.indices)
        np.testing.assert_array_equal(batch.values[rows], one.values)
    elif isinstance(one, RaggedTensor):
        assert batch[index].to_list() == one.to_list()
    else:
        row = batch[index]
        np.testing.assert_array_equal(row[: len(one)], one)
        assert not row[len(one) :].any()


# Refusals.


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (
            FixedLenFeature([], INT),
            "feature 'x' (int64) is required but could not be found\n"
            "  at: record 1\n"
            "  hint: give it a default_value\n"
            "  while parsing example 'second'",
        ),
        (
            FixedLenFeature([2, 2], INT, [0] * 4),
            "feature 'x': expected 4 values for shape [2, 2], got 3\n"
            "  at: record 0\n"
            "  hint: read it with VarLenFeature, or with FixedLenSequenceFeature\n"
            "  while parsing example 'first'",
        ),
        (
            FixedLenSequenceFeature([2], INT, True),
            "feature 'x': expected a multiple of 2 values for blocks of shape [2], got 3\n"
            "  at: record 0\n"
            "  while parsing example 'first'",
        ),
        (
            VarLenFeature(FLOAT),
            "feature 'x': expected float_list, got int64_list\n"
            "  at: record 0\n"
            "  hint: read it with the dtype it was written with\n"
            "  while parsing example 'first'",
        ),
        (
            SparseFeature("x", "v", bytes, 9),
            "feature 'x': expected as many indices as 'v' has values, 0, got 3\n"
            "  at: record 0\n"
            "  while parsing example 'first'",
        ),
        (
            SparseFeature("x", "y", INT, 5),
            "feature 'x': expected indices of 'y' from 0 to 4, got 9\n"
            "  at: record 0\n"
            "  hint: fix the data, or give the SparseFeature a larger size\n"
            "  while parsing example 'first'",
        ),
        (
            RaggedFeature(INT, "x", [RaggedFeature.RowLengths("y")], validate=True),
            "feature 'x': expected RowLengths that hold the example's 3 values or rows, all of "
            "them and no others\n"
            "  at: record 0\n"
            "  while parsing example 'first'",
        ),
        (
            RaggedFeature(INT, "x", [RaggedFeature.UniformRowLength(2)]),
            "feature 'x': expected a multiple of 2 values for rows of 2, got 3\n"
            "  at: record 0\n"
            "  while parsing example 'first'",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_data_errors_say(spec, text):
    records = [example(x=[1, 2, 9], y=[1, 1, 2]), example()]
    if "could not be found" in text:
        records[0] = example(x=[1])
    with pytest.raises(ParseError) as caught:
        parse_example(
            records, {"x" if "Len" in type(spec).__name__ else "out": spec}, ["first", b"second"]
        )
    assert str(caught.value) == text


def test_a_single_example_has_no_record_number():
    with pytest.raises(ParseError) as caught:
        parse_single_example(example(), {"x": FixedLenFeature([], INT)}, "only")
    assert str(caught.value) == (
        "feature 'x' (int64) is required but could not be found\n"
        "  hint: give it a default_value\n"
        "  while parsing example 'only'"
    )


def test_the_first_bad_example_is_named():
    records = [example(x=[1], y=[1]), example(x=[1]), example(y=[1]), example(x=[b"text"])]
    features = {"x": FixedLenFeature([], INT), "y": FixedLenFeature([], INT)}
    with pytest.raises(ParseError) as caught:
        parse_example(records, features)
    assert caught.value.record == 1
    assert caught.value.message == "feature 'y' (int64) is required but could not be found"


def test_step_of_a_list():
    records = [sequence_example(x=[[1, 2]]), sequence_example(x=[[1, 2], [3]])]
    with pytest.raises(ParseError) as caught:
        parse_sequence_example(records, None, {"x": FixedLenSequenceFeature([2], INT)}, ["a", "b"])
    assert str(caught.value) == (
        "step 1 of feature list 'x': expected 2 values for shape [2], got 1\n"
        "  at: record 1\n"
        "  hint: read it with VarLenFeature or RaggedFeature\n"
        "  while parsing example 'b'"
    )


def test_partition_error_in_a_step_names_the_record():
    records = [sequence_example(x=[[1]], n=[[1]]), sequence_example(x=[[1], [2]], n=[[1], [2]])]
    spec = RaggedFeature(INT, "x", [RaggedFeature.RowLengths("n")], validate=True)
    with pytest.raises(ParseError, match="expected RowLengths that hold") as caught:
        parse_sequence_example(records, None, {"rows": spec})
    assert caught.value.record == 1
    records[1] = sequence_example(x=[[1], [2]], n=[[1]])
    with pytest.raises(ParseError) as caught:
        parse_sequence_example(records, None, {"rows": spec})
    assert caught.value.message == (
        "feature list 'x': expected its partition 'n' to have as many steps, 2, got 1"
    )


def test_unset_kind_in_a_context_takes_no_default():
    records = [sequence_example(), sequence_example({"x": None})]
    with pytest.raises(ParseError) as caught:
        parse_sequence_example(records, {"x": FixedLenFeature([], INT, 3)})
    assert str(caught.value) == (
        "feature 'x': expected values, got a Feature with no kind set\n"
        "  at: record 1\n"
        "  hint: in a context the default is for an absent key only; leave it out"
    )


@pytest.mark.parametrize(
    ("features", "error", "text"),
    [
        ({}, InvalidArgumentError, "features: expected one or more, got {}"),
        (None, InvalidArgumentError, "features: expected one or more, got None"),
        ([("x", 1)], InvalidTypeError, "expected features as a mapping"),
        ({1: VarLenFeature(INT)}, InvalidTypeError, "expected feature keys as str, got 1"),
        ({"x": np.int64}, InvalidArgumentError, "expected one of FixedLenFeature"),
        ({"x": FixedLenFeature("ab", INT)}, InvalidTypeError, "shape: expected a list of ints"),
        ({"x": FixedLenFeature([1.5], INT)}, InvalidTypeError, "shape: expected ints, got 1.5"),
        (
            {"x": FixedLenFeature([], INT, True)},
            InvalidTypeError,
            "expected int64 values, got True",
        ),
        (
            {"x": FixedLenFeature([], INT, 2**64 - 1)},
            InvalidArgumentError,
            "out of range for int64",
        ),
        (
            {"x": FixedLenFeature([], FLOAT, 1e300)},
            InvalidArgumentError,
            "out of range for float32",
        ),
        ({"x": FixedLenFeature([2], INT, [[1], [2, 3]])}, InvalidArgumentError, "equal lengths"),
        (
            {"x": FixedLenSequenceFeature([2, 0], INT, True)},
            InvalidArgumentError,
            "shape: expected sizes above 0, got [2, 0]\n  at: x\n"
            "  hint: blocks of no values cannot be counted",
        ),
        (
            {"x": VarLenFeature(INT), "y": RaggedFeature(INT, "x")},
            InvalidArgumentError,
            "key 'x' is read both as sparse and as ragged\n  at: y",
        ),
        (
            {"x": VarLenFeature(FLOAT), "y": SparseFeature("x", "z", bytes, 3)},
            InvalidArgumentError,
            "key 'x' is read both as float32 and as int64\n  at: y",
        ),
    ],
    ids=str,
)
def test_features_that_make_no_sense(features, error, text):
    with pytest.raises(error) as caught:
        parse_example([example()], features)
    assert text in str(caught.value)


@pytest.mark.parametrize("serialized", ["text", 5, None, iter([b""]), np.zeros(2)], ids=repr)
def test_what_is_no_batch(serialized):
    with pytest.raises(InvalidTypeError):
        parse_example(serialized, {"x": VarLenFeature(INT)})


def test_a_record_that_is_not_bytes():
    with pytest.raises(InvalidTypeError) as caught:
        parse_example([b"", "text"], {"x": VarLenFeature(INT)}, ["a", "b"])
    assert str(caught.value) == (
        "expected the bytes of a serialized message, got str: 'text'\n"
        "  at: record 1\n"
        "  while parsing example 'b'"
    )


@pytest.mark.parametrize("names", [["a"], "a", ["a", "b", "c"], np.array(["a"])], ids=repr)
def test_names_of_another_shape(names):
    with pytest.raises(
        InvalidArgumentError, match="expected example_names like serialized, a list of 2"
    ):
        parse_example([b"", b""], {"x": VarLenFeature(INT)}, names)


@pytest.mark.parametrize("names", [5, [1, 2], iter("ab")], ids=repr)
def test_names_of_another_type(names):
    with pytest.raises(InvalidTypeError, match="expected example_names as strings"):
        parse_example([b"", b""], {"x": VarLenFeature(INT)}, names)


def test_strings_option():
    with pytest.raises(InvalidArgumentError, match="strings: expected 'object' or 'StringDType'"):
        parse_example([b""], {"x": VarLenFeature(INT)}, strings="str")


# Hostile partitions.


@pytest.mark.parametrize(
    ("kind", "cuts", "text"),
    [
        ("ValueRowIds", [0, 2**62], "expected row ids from 0 to"),
        ("ValueRowIds", [0, -1], "expected row ids from 0 to"),
        ("RowSplits", [0, 2**40], "row splits pass the range of int32"),
        ("RowLengths", [2**31, 1], "row splits pass the range of int32"),
        ("RowLimits", [-(2**40)], "row splits pass the range of int32"),
    ],
)
@pytest.mark.parametrize("single", [True, False])
def test_partitions_that_would_overflow(kind, cuts, text, single):
    record = example(v=[1, 2], cuts=cuts)
    features = {"x": RaggedFeature(INT, "v", [getattr(RaggedFeature, kind)("cuts")])}
    with pytest.raises(ValueError, match=text):
        parse_single_example(record, features) if single else parse_example([record], features)


@pytest.mark.parametrize(
    ("kind", "cuts", "text"),
    [
        ("RowSplits", [1, 2], "expected row splits that begin with 0"),
        ("RowSplits", [0, 2, 1, 2], "expected RowSplits that never fall back"),
        ("RowSplits", [], "expected RowSplits that hold the example's 2 values"),
        ("RowLengths", [3, -1], "expected RowLengths that never fall back"),
        ("RowStarts", [1], "expected RowStarts that hold"),
        ("RowLimits", [1], "expected RowLimits that hold"),
        ("ValueRowIds", [0], "expected 2 row ids, one for each value, got 1"),
        ("ValueRowIds", [1, 0], "expected row ids that never fall"),
    ],
)
def test_validated_partitions(kind, cuts, text):
    records = [
        example(v=[1], cuts=[0, 1] if kind == "RowSplits" else [1]),
        example(v=[1, 2], cuts=cuts),
    ]
    if kind in ("RowStarts", "ValueRowIds"):
        records[0] = example(v=[1], cuts=[0])
    partition = getattr(RaggedFeature, kind)("cuts")
    features = {"x": RaggedFeature(INT, "v", [partition], validate=True)}
    with pytest.raises(ParseError, match=text) as caught:
        parse_example(records, features)
    assert caught.value.record == 1


def test_partition_of_another_example_is_refused_when_validated():
    records = [example(v=[1], n=[2]), example(v=[1, 2, 3], n=[2])]
    spec = RaggedFeature(INT, "v", [RaggedFeature.RowLengths("n")], validate=True)
    with pytest.raises(ParseError, match="1 values or rows, all of them and no others") as caught:
        parse_example(records, {"x": spec})
    assert caught.value.record == 0
