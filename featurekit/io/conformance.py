"""Whether Examples and SequenceExamples keep the rules that let a program read all of them.

Nothing on disk says what a key holds, so the rules are about agreement:

    =============  ==========================================================================
    rule           what it says
    =============  ==========================================================================
    `message`      every record is an Example (or a SequenceExample)
    `kind`         a feature, where it has values, is of one kind in all examples
    `step_kind`    so are all steps of a feature list, within and across examples
    `absent`       a feature or feature list is there in every example (option)
    `empty`        a feature list has steps (option)
    `frames`       all feature lists of one example have the same number of steps (option)
    `sizes`        all steps of a feature list, in all examples, have as many values (option)
    =============  ==========================================================================

A feature that is present with no kind set counts as an empty one.

Source: the comments of TensorFlow's example.proto.
"""

from __future__ import annotations

import abc
import dataclasses
import os
from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

from featurekit.errors import InvalidTypeError, ParseError, short_repr
from featurekit.io.columns import Kind
from featurekit.io.columns_protobuf import feature_kind, parse_message
from featurekit.io.tfrecord import TFRecordReader
from featurekit.proto.example_pb2 import Example, Feature, SequenceExample

__all__ = [
    "ExampleRules",
    "Place",
    "Rules",
    "SequenceExampleRules",
    "Violation",
    "check_example",
    "check_sequence_example",
]

Option = bool | Collection[str]
"""Whether a rule holds for all keys (True), for none (False), or for some."""


class Place(NamedTuple):
    """One record: the file it is in, None where it came from memory, and its index there."""

    file: str | None
    record: int

    def __str__(self) -> str:
        return f"record {self.record}" + (f" of {self.file}" if self.file else "")


@dataclasses.dataclass(frozen=True)
class Violation:
    """One rule that is broken for one key.

    Attributes:
        rule: `message`, `kind`, `step_kind`, `absent`, `empty`, `frames` or `sizes`.
        key: The feature or feature list; None for a rule about whole records.
        message: What was expected and what was found, at the first place.
        place: The first record that breaks it.
        step: The step of the feature list, where it is about one.
        count: Number of places that break it.
    """

    rule: str
    key: str | None
    message: str
    place: Place
    step: int | None = None
    count: int = 1


def check_example(sources: Any, *, absent: Option = True) -> list[Violation]:
    """Find out which rules serialized Examples break.

    Args:
        sources: The path of a TFRecord file, or an iterable of paths, of serialized
            Examples and of `Example` messages, in any mixture.
        absent: Whether features may be absent, or which ones.

    Returns:
        A `Violation` for each rule and key, the first ones first; none for good data.

    Raises:
        CorruptRecordError: A file is damaged.
        MissingFileError: There is no such file.
        InvalidTypeError: A source is none of these.

    Example:
        >>> from featurekit.io.example import make_example
        >>> found = check_example([make_example({"age": 3}), make_example({"age": 3.5})])
        >>> found[0].message
        "feature 'age': expected int64_list as in record 0, got float_list"
    """
    return _check(ExampleRules(absent=absent), sources)


def check_sequence_example(
    sources: Any,
    *,
    absent: Option = True,
    empty: Option = True,
    equal_frames: bool = False,
    equal_sizes: Option = False,
) -> list[Violation]:
    """Find out which rules serialized SequenceExamples break.

    Args:
        sources: As of `check_example`, of SequenceExamples.
        absent: Whether feature lists may be absent, or which ones.
        empty: Whether they may be present without steps, or which ones.
        equal_frames: Whether all feature lists that an example has must have as many steps,
            as for sequence modelling, where step i of each belongs to frame i.
        equal_sizes: Whether all steps of a list must have as many values, within and
            across examples; or for which lists.

    Returns:
        A `Violation` for each rule and key, the first ones first; none for good data.

    Raises:
        CorruptRecordError: A file is damaged.
        MissingFileError: There is no such file.
        InvalidTypeError: A source is none of these.

    Example:
        >>> from featurekit.io.example import make_sequence_example
        >>> ratings = make_sequence_example({}, {"ratings": [[4.5], [5.0, 6.0]]})
        >>> check_sequence_example([ratings])
        []
        >>> check_sequence_example([ratings], equal_sizes=True)[0].message
        "feature list 'ratings': expected 1 value as in step 0 of record 0, got 2"
    """
    rules = SequenceExampleRules(
        absent=absent, empty=empty, equal_frames=equal_frames, equal_sizes=equal_sizes
    )
    return _check(rules, sources)


def _check(rules: Rules, sources: Any) -> list[Violation]:
    for place, record in _records(sources):
        rules.add(record, place)
    return rules.violations()


def _records(sources: Any) -> Iterator[tuple[Place, Any]]:
    if isinstance(sources, (str, os.PathLike)):
        sources = [sources]
    if isinstance(sources, (bytes, Example, SequenceExample)) or not isinstance(sources, Iterable):
        raise InvalidTypeError(
            f"expected a path, or paths or records in a list, got {short_repr(sources)}",
            hint="put a single record into a list",
        )
    loose = 0
    for source in sources:
        if isinstance(source, (str, os.PathLike)):
            for number, record in enumerate(TFRecordReader(source)):
                yield Place(os.fspath(source), number), record
        else:
            yield Place(None, loose), source
            loose += 1


class Rules(abc.ABC):
    """The rules and what was seen so far; `add` all records, then ask for `violations`."""

    message: type[Example] | type[SequenceExample]
    noun: str  # what a key is, for messages

    def __init__(self, absent: Option) -> None:
        self._absent = absent
        self._found: dict[tuple[str, str | None], Violation] = {}
        self._kinds: dict[tuple[str, str], tuple[Kind, str]] = {}
        self._first: Place | None = None
        self._records = 0
        self._present: dict[str, int] = {}  # number of records that have a key
        self._lacking: dict[str, Place] = {}  # first record that lacks it

    def add(self, record: Any, place: Place) -> None:
        """Look at one record: its bytes, or the message."""
        try:
            message = record if isinstance(record, self.message) else self._parse(record)
        except ParseError as error:
            self._break("message", None, error.message, place)
            return
        self._first = self._first or place
        self._records += 1
        self._look(message, place)

    def violations(self) -> list[Violation]:
        """What is broken, the first places first."""
        for key, count in self._present.items():
            missing = self._records - count
            if missing and not _applies(self._absent, key):
                others = "1 other record has" if count == 1 else f"{count} other records have"
                text = f"{self.noun} {key!r} is absent, and {others} it"
                place = self._lacking[key]
                self._found["absent", key] = Violation("absent", key, text, place, count=missing)
        return list(self._found.values())

    def _parse(self, record: Any) -> Any:
        return parse_message(self.message, record)

    @abc.abstractmethod
    def _look(self, message: Any, place: Place) -> None:
        """Look at one message."""

    def _note_keys(self, keys: Collection[str], place: Place) -> None:
        """Remember which keys are there; one that comes up late was absent from the first."""
        for key in keys:
            if key not in self._present:
                self._present[key] = 0
                if self._records > 1 and self._first is not None:
                    self._lacking[key] = self._first
            self._present[key] += 1
        for key in self._present.keys() - keys:
            self._lacking.setdefault(key, place)

    def _check_kind(
        self, rule: str, key: str, feature: Feature, place: Place, step: int | None = None
    ) -> None:
        kind = feature_kind(feature)
        if kind is None:
            return
        seen = str(place) if step is None else f"step {step} of {place}"
        # A context feature and a feature list may share a key.
        expected, first = self._kinds.setdefault((rule, key), (kind, seen))
        if kind is not expected:
            noun = "feature" if step is None else "feature list"
            text = f"{noun} {key!r}: expected {expected.field} as in {first}, got {kind.field}"
            self._break(rule, key, text, place, step)

    def _break(
        self, rule: str, key: str | None, text: str, place: Place, step: int | None = None
    ) -> None:
        known = self._found.get((rule, key))
        if known is None:
            self._found[rule, key] = Violation(rule, key, text, place, step)
        else:
            self._found[rule, key] = dataclasses.replace(known, count=known.count + 1)


class ExampleRules(Rules):
    """The rules for Examples."""

    message = Example
    noun = "feature"

    def __init__(self, *, absent: Option = True) -> None:
        super().__init__(absent)

    def _look(self, message: Any, place: Place) -> None:
        features = message.features.feature
        self._note_keys(set(features), place)
        for key in sorted(features):
            self._check_kind("kind", key, features[key], place)


class SequenceExampleRules(Rules):
    """The rules for SequenceExamples; see `check_sequence_example` for the options."""

    message = SequenceExample
    noun = "feature list"

    def __init__(
        self,
        *,
        absent: Option = True,
        empty: Option = True,
        equal_frames: bool = False,
        equal_sizes: Option = False,
    ) -> None:
        super().__init__(absent)
        self._empty = empty
        self._equal_frames = equal_frames
        self._equal_sizes = equal_sizes
        self._sizes: dict[str, tuple[int, str]] = {}

    def _look(self, message: Any, place: Place) -> None:
        context, lists = message.context.feature, message.feature_lists.feature_list
        for key in sorted(context):
            self._check_kind("kind", key, context[key], place)
        self._note_keys(set(lists), place)
        for key in sorted(lists):
            steps = lists[key].feature
            if not len(steps) and not _applies(self._empty, key):
                self._break("empty", key, f"feature list {key!r} has no steps", place)
            for number, feature in enumerate(steps):
                self._check_kind("step_kind", key, feature, place, number)
                if _applies(self._equal_sizes, key):
                    self._check_size(key, feature, place, number)
        if self._equal_frames:
            self._check_frames({key: len(lists[key].feature) for key in sorted(lists)}, place)

    def _check_size(self, key: str, feature: Feature, place: Place, step: int) -> None:
        size = _size(feature)
        expected, first = self._sizes.setdefault(key, (size, f"step {step} of {place}"))
        if size != expected:
            values = f"{expected} value{'s' if expected != 1 else ''}"
            text = f"feature list {key!r}: expected {values} as in {first}, got {size}"
            self._break("sizes", key, text, place, step)

    def _check_frames(self, frames: dict[str, int], place: Place) -> None:
        if len(set(frames.values())) > 1:
            shown = ", ".join(f"{key!r} has {count}" for key, count in frames.items())
            text = f"the feature lists have different numbers of steps: {shown}"
            self._break("frames", None, text, place)


def _applies(option: Option, key: str) -> bool:
    return option if isinstance(option, bool) else key in option


def _size(feature: Feature) -> int:
    kind = feature_kind(feature)
    return 0 if kind is None else len(getattr(feature, kind.field).value)
