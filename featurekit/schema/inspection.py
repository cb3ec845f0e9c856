"""inspect: what is in a record file that nobody documented."""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from featurekit.dataset.info import format_size
from featurekit.errors import InvalidArgumentError
from featurekit.io.compression import Compression
from featurekit.io.stream import Loss
from featurekit.io.tfrecord import TFRecordReader
from featurekit.schema.statistics import MAX_KEYS, KeyStatistics, ListStatistics, Statistics
from featurekit.schema.summary import summary
from featurekit.schema.words import contents_in_words, many, range_in_words, values_in_words

__all__ = ["Inspection", "inspect", "limited"]


@dataclasses.dataclass(frozen=True)
class Inspection:
    """What is in a record file. Printed, it is a report of some lines.

    Attributes:
        path: The file.
        file_bytes: Its size.
        compression: Of the file.
        statistics: What its records hold.
        lost: What was passed over, where the file is damaged.
        is_complete: Whether all records were looked at.
    """

    path: str
    file_bytes: int
    compression: Compression | None
    statistics: Statistics
    lost: Loss
    is_complete: bool

    def to_json(self) -> dict[str, Any]:
        """The same as JSON values."""
        damage = None
        if self.lost:
            damage = {
                "places": self.lost.errors,
                "records_lost": self.lost.records,
                "bytes_passed_over": self.lost.bytes,
                "first": _first_damage(self.lost),
            }
        return {
            "path": self.path,
            "bytes": self.file_bytes,
            "compression": self.compression,
            "is_complete": self.is_complete,
            "damage": damage,
            **summary(self.statistics),
        }

    def __str__(self) -> str:
        """The report."""
        seen = self.statistics
        blocks = ["\n".join(self._head())]
        if seen.keys:
            blocks.append(_key_table(seen.keys, seen.examples))
        if ragged := list(_ragged(seen)):
            blocks.append("\n".join(ragged))
        if seen.context:
            blocks.append(f"context\n{_key_table(seen.context, seen.sequences)}")
        if seen.lists:
            blocks.append(f"feature lists\n{_list_table(seen.lists, seen.sequences)}")
        if seen.uncounted:
            blocks.append(f"Keys beyond the first {MAX_KEYS} were met {seen.uncounted} times.")
        return "\n\n".join(blocks)

    def _head(self) -> Iterator[str]:
        seen = self.statistics
        packing = f"compressed with {self.compression}" if self.compression else "not compressed"
        size = format_size(self.file_bytes) if self.file_bytes else "0 bytes"
        yield self.path
        yield f"  file      {size}, {packing}"
        more = "" if self.is_complete else " looked at, and there are more"
        yield f"  records   {seen.records:,}{more}"
        if seen.records:
            yield f"  payloads  {range_in_words(seen.sizes)} bytes, {seen.total_bytes:,} in all"
        for what in _payloads(seen):
            yield f"  holds     {what}"
        if self.lost:
            yield (
                f"  damage    {many(self.lost.errors, 'place')}, at least "
                f"{many(self.lost.records, 'record')} lost, {self.lost.bytes} bytes passed over"
            )
            yield f"            first at {_first_damage(self.lost)}"


def inspect(path: str | os.PathLike[str], *, records: int | None = None) -> Inspection:
    """Look at the records of a file: Examples, SequenceExamples, or whatever they are.

    The file is read once, from front to back. Damaged places are passed over and reported.

    Args:
        path: A TFRecord file, compressed or not.
        records: Look only at so many records, from the first on.

    Raises:
        MissingFileError: There is no such file.
        CorruptRecordError: It has no sound record: it is no TFRecord file.
        InvalidArgumentError: `records` is less than 1.

    Example:
        >>> import tempfile
        >>> from featurekit.io.tfrecord import TFRecordWriter
        >>> path = os.path.join(tempfile.mkdtemp(), "small.tfrecord")
        >>> with TFRecordWriter(path) as writer:
        ...     writer.write(b"just a line of text")
        >>> inspect(path).statistics.others["text", ""].count
        1
    """
    statistics = Statistics()
    with TFRecordReader(path, on_corrupt="skip") as reader:
        stream = iter(reader)
        for record in limited(stream, records):
            statistics.add(record)
        is_complete = records is None or next(stream, None) is None
        lost = reader.lost
        if not statistics.records and lost.first_error is not None:
            raise lost.first_error
        return Inspection(
            reader.path, os.path.getsize(path), reader.compression, statistics, lost, is_complete
        )


def limited(records: Iterator[bytes], count: int | None) -> Iterator[bytes]:
    """The first `count` of some records, or all.

    Raises:
        InvalidArgumentError: The count is less than 1.
    """
    if count is not None and count < 1:
        raise InvalidArgumentError(f"records must be 1 or more, got {count}")
    return itertools.islice(records, count)


def _first_damage(lost: Loss) -> str:
    error = lost.first_error
    if error is None:
        return ""
    return f"record {error.record}, byte {error.byte}: {error.message}"


def _payloads(seen: Statistics) -> Iterator[str]:
    """What the payloads are, each with how many of them."""
    counted = [(seen.examples, "tf.train.Example"), (seen.sequences, "tf.train.SequenceExample")]
    counted += [(other.count, contents_in_words(other)) for other in seen.others.values()]
    for count, what in counted:
        if count:
            yield what if count == seen.records else f"{what}: {many(count, 'record')}"


def _ragged(seen: Statistics) -> Iterator[str]:
    """A line on each feature of lists of lists."""
    for name, ragged in sorted(seen.ragged.items()):
        if ragged.fits:
            yield _printable(f"{name}/...: {ragged.levels} levels of lists, as TFDS stores them")


def _key_table(keys: Mapping[str, KeyStatistics], records: int) -> str:
    rows = [("key", "kind", "records", "values", "what")]
    for name in sorted(keys):
        key = keys[name]
        count = "all" if key.records == records else f"{key.records:,}"
        lengths = range_in_words(key.lengths)
        rows.append((name, _kinds(key), count, lengths, values_in_words(key)))
    return _table(rows)


def _list_table(lists: Mapping[str, ListStatistics], records: int) -> str:
    rows = [("key", "kind", "records", "steps", "values", "what")]
    for name in sorted(lists):
        key = lists[name]
        count = "all" if key.lists == records else f"{key.lists:,}"
        steps, lengths = range_in_words(key.steps), range_in_words(key.lengths)
        rows.append((name, _kinds(key), count, steps, lengths, values_in_words(key)))
    return _table(rows)


def _kinds(key: KeyStatistics) -> str:
    return " or ".join(kind.field for kind in sorted(key.kinds)) or "none"


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    """Aligned columns. What keys hold stays on its line."""
    shown = [tuple(map(_printable, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in shown
    )


def _printable(text: str) -> str:
    return text if text.isprintable() else repr(text)
