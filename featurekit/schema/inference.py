"""infer: the features and feature specs that read some record files."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
from collections.abc import Iterable, Iterator, Mapping

from featurekit.connectors.features_dict import FeaturesDict
from featurekit.dataset.index_files import INDEX_SUFFIX
from featurekit.errors import (
    InvalidArgumentError,
    ParseError,
    SchemaError,
    UnsupportedError,
    add_location,
)
from featurekit.io.specs import FeatureSpec
from featurekit.io.tfrecord import TFRecordReader
from featurekit.schema.features import features_of, ragged_of
from featurekit.schema.inspection import limited
from featurekit.schema.specs import dict_source, list_specs_of, specs_of
from featurekit.schema.statistics import MAX_KEYS, KeyStatistics, Statistics
from featurekit.schema.words import contents_in_words, many, values_in_words

__all__ = ["Inferred", "infer"]

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclasses.dataclass(frozen=True)
class Inferred:
    """What reads the records of some files, all of which fit it.

    Attributes:
        paths: The files.
        statistics: What their records hold.
    """

    paths: tuple[str, ...]
    statistics: Statistics

    @property
    def is_sequence(self) -> bool:
        """Whether the records are SequenceExamples."""
        return self.statistics.sequences > 0

    @functools.cached_property
    def features(self) -> FeaturesDict:
        """The features of an Example.

        Raises:
            UnsupportedError: The records are SequenceExamples, which no features describe.
        """
        if self.is_sequence:
            raise UnsupportedError(
                "the records are SequenceExamples, which features cannot describe",
                hint="use the feature specs, with fk.io.parse_sequence_example",
            )
        return features_of(self.statistics)

    @functools.cached_property
    def specs(self) -> dict[str, FeatureSpec]:
        """The specs for `fk.io.parse_example`; for the context of SequenceExamples."""
        return specs_of(self.statistics)

    @functools.cached_property
    def list_specs(self) -> dict[str, FeatureSpec]:
        """The specs of the feature lists, for `fk.io.parse_sequence_example`."""
        return list_specs_of(self.statistics)

    def to_python(self) -> str:
        """The specs as Python code."""
        seen = self.statistics
        records, files = many(seen.records, "record"), many(len(self.paths), "file")
        head = f"# Fits all that was looked at: {records} of {files}."
        blocks = [head]
        if self.is_sequence:
            lists = _comments(seen.lists, seen)
            blocks.append(dict_source("context", self.specs, _comments(seen.context, seen)))
            blocks.append(dict_source("lists", self.list_specs, lists))
        else:
            blocks.append(dict_source("features", self.specs, _comments(seen.keys, seen)))
        untyped = [*_untyped(seen.keys), *_untyped(seen.context), *_untyped(seen.lists)]
        blocks += [f"# Left out, since no record has a kind of list there: {untyped}"] * bool(
            untyped
        )
        body = "\n\n".join(blocks)
        numpy = "import numpy as np\n\n" if "np." in body else ""
        return f"{numpy}import featurekit as fk\n\n{body}\n"

    def to_json(self) -> str:
        """The features as the text of a features.json.

        Raises:
            UnsupportedError: The records are SequenceExamples.
        """
        return json.dumps(self.features.to_feature_json(), indent=4, sort_keys=True)

    def __repr__(self) -> str:
        """How much it was inferred from."""
        return f"Inferred({self.statistics.records} records of {len(self.paths)} files)"


def infer(paths: Paths, *, records: int | None = None) -> Inferred:
    """Find features and feature specs that read all records of some files.

    What it gives is as narrow as the records allow, and every record fits it: a number of
    values is fixed only if all records have it, a feature is required only if none lacks it,
    and bytes are pictures, sounds or text only if all of them are.

    Args:
        paths: A TFRecord file of Examples or SequenceExamples, or several of one kind; index
            files among them are passed over.
        records: Look only at so many records of each file, from the first on.

    Raises:
        MissingFileError: There is no such file.
        CorruptRecordError: A file is damaged.
        ParseError: A record is neither an Example nor a SequenceExample, or both occur.
        SchemaError: A key has lists of several kinds, or there are too many keys, or none.
        InvalidArgumentError: There are no files, or `records` is less than 1.

    Example:
        >>> import tempfile
        >>> import featurekit as fk
        >>> path = os.path.join(tempfile.mkdtemp(), "small.tfrecord")
        >>> with fk.io.TFRecordWriter(path) as writer:
        ...     writer.write(fk.io.serialize(fk.io.make_example({"name": "cat", "legs": 4})))
        >>> infer(path).features
        FeaturesDict({
            'legs': int64,
            'name': Text(shape=(), dtype=string),
        })
        >>> infer(path).specs["legs"]
        FixedLenFeature(shape=(), dtype=<class 'numpy.int64'>, default_value=None)
    """
    files = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    # What matches the names of shards matches those of their index files too.
    files = [path for path in files if not os.fspath(path).endswith(INDEX_SUFFIX)]
    if not files:
        raise InvalidArgumentError("expected one file or more, got none")
    seen = Statistics()
    for path in files:
        with TFRecordReader(path) as reader:
            for number, payload in enumerate(limited(iter(reader), records)):
                seen.add(payload)
                _check_message(seen, reader.path, number)
    _check(seen)
    return Inferred(tuple(os.fspath(path) for path in files), seen)


def _check_message(seen: Statistics, path: str, number: int) -> None:
    """Raise a `ParseError` where the latest record is not of the one kind."""
    if seen.others:
        what = contents_in_words(next(iter(seen.others.values())))
        error = ParseError(
            f"expected an Example, the record is {what}",
            hint="see what is in the file with `featurekit inspect`",
        )
    elif seen.examples and seen.sequences:
        error = ParseError(
            "there are both Examples and SequenceExamples",
            hint="infer from files of one kind at a time",
        )
    else:
        return
    add_location(error, file=path, record=number)
    raise error


def _check(seen: Statistics) -> None:
    """Raise a `SchemaError` where no schema fits all that was seen."""
    if not seen.records:
        raise SchemaError("there are no records to infer features from")
    if not any(
        key.kinds for keys in (seen.keys, seen.context, seen.lists) for key in keys.values()
    ):
        raise SchemaError(f"none of {many(seen.records, 'record')} has a list of any kind")
    if seen.uncounted:
        raise SchemaError(
            f"there are more than {MAX_KEYS} different keys",
            hint="keys seem to be data; write them as values instead",
        )
    mixed = [
        (part, key)
        for part, keys in (("", seen.keys), ("context ", seen.context), ("list ", seen.lists))
        for key in keys.values()
        if len(key.kinds) > 1
    ]
    if mixed:
        part, key = mixed[0]
        kinds = " and ".join(
            f"{kind.field} (first in record {record})" for kind, record in key.first_of_kind.items()
        )
        more = f", and {many(len(mixed) - 1, 'other key')}" if len(mixed) > 1 else ""
        raise SchemaError(
            f"{part}key {key.key!r} has lists of several kinds: {kinds}{more}",
            hint="no feature reads both; write the records again with one kind",
        )


def _comments(keys: Mapping[str, KeyStatistics], seen: Statistics) -> dict[str, str]:
    """What the values of each feature are."""
    comments = {name: values_in_words(key) for name, key in keys.items()}
    for item in ragged_of(seen):
        flat = values_in_words(seen.keys[item.keys[0]])
        comments[item.name] = f"{item.levels} levels of lists: {flat}"
    return comments


def _untyped(keys: Mapping[str, KeyStatistics]) -> Iterator[str]:
    return (name for name in sorted(keys) if not keys[name].kinds)
