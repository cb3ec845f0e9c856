"""The rules of Examples and SequenceExamples: each example of the format's description."""

import pytest

from featurekit.errors import CorruptRecordError, InvalidTypeError, MissingFileError
from featurekit.io import (
    Feature,
    SequenceExample,
    TFRecordWriter,
    check_example,
    check_sequence_example,
    float_feature,
    int64_feature,
    make_example,
    make_sequence_example,
)


def sequence(**lists):
    """A SequenceExample; a list of steps each of which is a list of values or a Feature."""
    example = SequenceExample()
    for key, steps in lists.items():
        features = example.feature_lists.feature_list[key].feature
        for step in steps:
            is_float = isinstance(step, list) and any(isinstance(v, float) for v in step)
            feature = float_feature(step) if is_float else step
            features.append(int64_feature(feature) if isinstance(feature, list) else feature)
        example.feature_lists.SetInParent()
    return example


def rules(violations):
    return [violation.rule for violation in violations]


TWO = {"movie_ratings": [[4.5], [5.0]]}
PAIRS = {
    "one kind in a list": ([TWO], {}, []),
    "kinds differ in a list": ([{"movie_ratings": [[4.5], [5]]}], {}, ["step_kind"]),
    "sizes differ in a list": ([{"movie_ratings": [[4.5], [5.0, 6.0]]}], {}, []),
    "sizes differ in a list, and may not": (
        [{"movie_ratings": [[4.5], [5.0, 6.0]]}],
        {"equal_sizes": True},
        ["sizes"],
    ),
    "2 and 3 steps": ([TWO, {"movie_ratings": [[4.5], [5.0], [6.0]]}], {}, []),
    "2 and no steps": ([TWO, {"movie_ratings": []}], {}, []),
    "2 and no steps, which may not be": (
        [TWO, {"movie_ratings": []}],
        {"empty": False},
        ["empty"],
    ),
    "2 and no list": ([TWO, {}], {}, []),
    "2 and no list, which may not be": ([TWO, {}], {"absent": False}, ["absent"]),
    "no list and 2, which may not be": ([{}, TWO], {"absent": False}, ["absent"]),
    "kinds differ between examples": ([TWO, {"movie_ratings": [[4], [5]]}], {}, ["step_kind"]),
    "sizes differ between examples": ([TWO, {"movie_ratings": [[4.0], [5.0, 3.0]]}], {}, []),
    "sizes differ between examples, and may not": (
        [TWO, {"movie_ratings": [[4.0], [5.0, 3.0]]}],
        {"equal_sizes": True},
        ["sizes"],
    ),
    "sizes differ in a list that may": (
        [{"a": [[1], [1, 2]], "b": [[1], [1, 2]]}],
        {"equal_sizes": ["a"]},
        ["sizes"],
    ),
    "a step without values": ([{"movie_ratings": [[4.5], Feature(), [5.0]]}], {}, []),
    "as many frames": ([{"a": [[1], [2]], "b": [[1.0], [2.0]]}], {"equal_frames": True}, []),
    "frames differ": ([{"a": [[1], [2]], "b": [[1.0]]}], {}, []),
    "frames differ, and may not": (
        [{"a": [[1], [2]], "b": [[1.0]]}],
        {"equal_frames": True},
        ["frames"],
    ),
}


@pytest.mark.parametrize(("lists", "options", "expected"), PAIRS.values(), ids=PAIRS)
def test_sequence_examples_of_the_description(lists, options, expected, tmp_path):
    examples = [sequence(**one) for one in lists]
    assert rules(check_sequence_example(examples, **options)) == expected
    records = [example.SerializeToString() for example in examples]
    assert rules(check_sequence_example(records, **options)) == expected
    paths = [tmp_path / f"{number}.tfrecord" for number in range(len(records))]
    for path, record in zip(paths, records, strict=True):
        with TFRecordWriter(path) as writer:
            writer.write(record)
    assert rules(check_sequence_example(paths, **options)) == expected


def test_the_worked_example_conforms():
    example = make_sequence_example(
        {"locale": "pt_BR", "age": 19.0, "favorites": ["Majesty Rose", "Savannah Outen"]},
        {
            "movie_ratings": [[4.5], [5.0]],
            "movie_names": [["The Shawshank Redemption"], ["Fight Club"]],
            "actors": [["Tim Robbins"], ["Brad Pitt", "Edward Norton"]],
        },
    )
    assert check_sequence_example([example], absent=False, empty=False, equal_frames=True) == []


def test_context_features_follow_the_rules_of_examples():
    first, second = (make_sequence_example({"age": age}) for age in (19.0, 19))
    (found,) = check_sequence_example([first, second])
    assert found.rule == "kind"
    assert found.message == "feature 'age': expected float_list as in record 0, got int64_list"


def test_a_feature_list_may_have_the_name_of_a_context_feature():
    assert check_sequence_example([make_sequence_example({"a": 1}, {"a": [[1.5]]})]) == []


EXAMPLES = {
    "one kind": ([{"a": 1}, {"a": [1, 2]}, {"a": 3}], {}, []),
    "no kind set": ([{"a": 1}, {"a": None}], {}, []),
    "kinds differ": ([{"a": 1}, {"a": 1.5}], {}, ["kind"]),
    "an empty list of another kind": ([{"a": 1}, {"a": float_feature([])}], {}, ["kind"]),
    "absent": ([{"a": 1, "b": 1}, {"b": 2}], {}, []),
    "absent, and may not": ([{"a": 1, "b": 1}, {"b": 2}], {"absent": False}, ["absent"]),
    "absent, and only another may": (
        [{"a": 1, "b": 1}, {}],
        {"absent": ["b"]},
        ["absent"],
    ),
}


@pytest.mark.parametrize(("features", "options", "expected"), EXAMPLES.values(), ids=EXAMPLES)
def test_examples(features, options, expected):
    assert rules(check_example(map(make_example, features), **options)) == expected


def test_violations_are_counted_and_say_where_the_first_is(tmp_path):
    path = str(tmp_path / "a.tfrecord")
    with TFRecordWriter(path) as writer:
        for age in (1, 2.5, 3.5, 4):
            writer.write(make_example({"age": age}).SerializeToString())
        writer.write(b"\xff")
    kind, message = check_example([path])
    assert (kind.key, kind.place, kind.count) == ("age", (path, 1), 2)
    assert kind.message == (
        f"feature 'age': expected int64_list as in record 0 of {path}, got float_list"
    )
    assert (message.rule, message.key, message.place) == ("message", None, (path, 4))
    assert message.message == "expected a serialized Example, got b'\\xff'"


def test_kinds_agree_across_files(tmp_path):
    for name, age in (("a", 1), ("b", 1.5)):
        with TFRecordWriter(tmp_path / name) as writer:
            writer.write(make_example({"age": age}).SerializeToString())
    assert check_example(tmp_path / "a") == check_example(tmp_path / "b") == []
    (found,) = check_example([tmp_path / "a", tmp_path / "b"])
    assert found.place == (str(tmp_path / "b"), 0)


def test_messages_of_the_options():
    first, second = sequence(a=[[1]], b=[[1], [2]]), sequence(a=[])
    found = check_sequence_example([first, second], absent=False, empty=False, equal_frames=True)
    assert [violation.message for violation in found] == [
        "the feature lists have different numbers of steps: 'a' has 1, 'b' has 2",
        "feature list 'a' has no steps",
        "feature list 'b' is absent, and 1 other record has it",
    ]


def test_damaged_and_missing_files_and_other_things(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"no records, but bytes")
    with pytest.raises(CorruptRecordError):
        check_example(path)
    with pytest.raises(MissingFileError):
        check_example([tmp_path / "b"])
    with pytest.raises(InvalidTypeError, match=r"^expected a path, or paths or records in a list"):
        check_example(b"")
    with pytest.raises(InvalidTypeError, match=r"^expected the bytes of a serialized message"):
        check_example([3])
