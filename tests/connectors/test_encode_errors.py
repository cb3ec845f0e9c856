"""What TFDS refuses we refuse; what it lets through is decided, input by input."""

import pathlib
import types

import golden
import numpy as np
import pytest
import schemas

import featurekit as fk
from featurekit.errors import FeatureKitError

ROWS = {row["id"]: row for row in golden.table("encode_errors")["rows"]}
PAGE = pathlib.Path(__file__).parents[2] / "docs" / "stricter-than-tfds.md"

# Inputs whose Python type the table does not tell.
INPUTS = {
    12: np.array([1, 2], ">i4"),
    34: np.int64(1),
    48: np.array([b"a", b"b"]),
    171: np.array("x"),
}

# Refused by decision, with the text of the docs' table that says so.
STRICTER = {
    27: "`[None, 1.0]`",
    28: '`["1.5", "2"]`',
    30: '`["nan", "inf"]`',
    33: "`Scalar` of bools | `None`",
    58: "`[1.9, -1.9]`",
    61: "`1.7`",
    76: '`"5"`',
    79: "`1000000.0`",
    81: "`Scalar` of floats | `None`",
    82: '`"1e5"`',
    93: "`ClassLabel` | `0.5`",
    97: "`ClassLabel` | `True`",
    105: "`1.5`",
    162: "`[1, 2.5]`",
}
# Taken by decision, although TFDS fails; and what the docs say.
MORE_LENIENT = {163: '`Audio(encoding="zlib")`'}
# Taken by both, and read as something else.
READ_OTHERWISE = {85: "a missing optional value"}


def value_of(row):
    if row["id"] in INPUTS:
        return INPUTS[row["id"]]
    value = golden.value(row["input"])
    if isinstance(value, dict) and value.get("t") == "special":
        return eval(value["v"], {"types": types})  # an expression of our own table
    return value


def round_trip(row):
    features = fk.FeaturesDict({"x": schemas.feature(row["schema"])})
    return features.deserialize_example(features.serialize_example({"x": value_of(row)}))["x"]


def rows(outcome):
    chosen = [row for row in ROWS.values() if row["outcome"] == outcome]
    return pytest.mark.parametrize(
        "row", chosen, ids=lambda row: f"{row['id']}-{row['schema']['kind']}"
    )


@rows("error")
def test_refused_by_tfds(row):
    if row["id"] in MORE_LENIENT:
        assert golden.difference(value_of(row), round_trip(row)) is None
        return
    with pytest.raises(FeatureKitError) as caught:
        round_trip(row)
    assert isinstance(caught.value, (ValueError, TypeError, FileNotFoundError, NotImplementedError))
    if row["stage"] != "construct":
        assert "at: x" in str(caught.value)


@rows("ok")
def test_taken_by_tfds(row):
    if row["id"] in STRICTER:
        with pytest.raises(FeatureKitError) as caught:
            round_trip(row)
        assert isinstance(caught.value, ValueError)
        assert "at: x" in str(caught.value)
        assert "hint: " in str(caught.value)
    elif row["id"] in READ_OTHERWISE:
        assert round_trip(row) is None
    else:
        assert golden.difference(golden.value(row["decoded"]), round_trip(row)) is None


def test_every_decision_is_about_an_input_of_the_table():
    assert {ROWS[number]["outcome"] for number in STRICTER | READ_OTHERWISE} == {"ok"}
    assert {ROWS[number]["outcome"] for number in MORE_LENIENT} == {"error"}


@pytest.mark.parametrize("text", {**STRICTER, **MORE_LENIENT, **READ_OTHERWISE}.values())
def test_the_docs_list_every_difference(text):
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith("|") and text in line]
