import json
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from featurekit.dataset.version import Version, check_version_pattern
from featurekit.errors import InvalidNameError, InvalidTypeError

ROWS = json.loads(Path(__file__).parents[1].joinpath("data/tfds/tables/naming.json").read_text())[
    "versions"
]
NUMBERS = st.tuples(*[st.integers(0, 10**18 - 1)] * 3)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["version"])
def test_versions_are_read_and_matched_as_in_tfds(row):
    assert Version.is_valid(row["version"]) is row["valid"]
    if not row["valid"]:
        with pytest.raises(InvalidNameError):
            Version(row["version"])
        return
    version = Version(row["version"])
    assert list(version.tuple) == row["tuple"]
    for pattern, matches in row["matches"].items():
        if isinstance(matches, bool):
            assert version.match(pattern) is matches
        else:
            with pytest.raises(InvalidNameError):
                version.match(pattern)


@given(NUMBERS, NUMBERS)
def test_order_is_that_of_the_numbers(left, right):
    first, second = (Version(".".join(map(str, numbers))) for numbers in (left, right))
    assert (first.major, first.minor, first.patch) == left
    assert (first < second) is (left < right)
    assert (first <= second) is (left <= right)
    assert (first == second) is (left == right)
    assert (first > str(second)) is (left > right)
    assert (first >= str(second)) is (left >= right)


@given(NUMBERS)
def test_a_version_stands_for_its_text(numbers):
    text = ".".join(map(str, numbers))
    version = Version(text)
    assert str(version) == text == version
    assert {text: 1}[version] == 1
    assert Version(version) == version == pickle.loads(pickle.dumps(version))
    assert version.match(version)
    assert repr(version) == f"Version('{text}')"


def test_a_version_equals_nothing_else():
    assert Version("1.0.0") != "1.0"
    assert Version("1.0.0") not in (None, (1, 0, 0), 1.0)
    with pytest.raises(TypeError):
        _ = Version("1.0.0") < (1, 0, 0)


@pytest.mark.parametrize(
    "text",
    ["", "1.0.0\n", " 1.0.0", "1.0.0 ", "1..0", "+1.0.0", "1.0.0.", "\u0661.0.0", "1,0,0"]
    + ["1.0." + "9" * 5000, "1.0.x", "..", "1.0.0\0"],
)
def test_text_that_is_no_version_is_refused(text):
    assert not Version.is_valid(text)
    with pytest.raises(InvalidNameError):
        Version(text)


def test_messages():
    with pytest.raises(InvalidNameError) as error:
        Version("v1.0")
    assert str(error.value) == (
        "'v1.0' is no version\n"
        "  hint: write x.y.z, three whole numbers without leading zeros, such as '1.0.0'"
    )
    with pytest.raises(InvalidNameError) as error:
        check_version_pattern("1.*")
    assert str(error.value) == (
        "'1.*' is no version pattern\n"
        "  hint: write x.y.z, each a whole number or '*', such as '1.*.*'"
    )
    with pytest.raises(InvalidTypeError) as type_error:
        Version(1.0)
    assert str(type_error.value) == "a version must be text such as '1.0.0', got 1.0"
