"""Whether record files that no metadata speaks of are whole, and their records agree."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Literal, get_args

from featurekit.errors import (
    CorruptRecordError,
    FeatureKitError,
    InvalidArgumentError,
    did_you_mean,
)
from featurekit.io.compression import ByteSource, Inflater, detect
from featurekit.io.conformance import (
    ExampleRules,
    Option,
    Rules,
    SequenceExampleRules,
)
from featurekit.io.conformance import Place as RecordPlace
from featurekit.io.files import LocalFile
from featurekit.io.framing import Fault
from featurekit.io.stream import RecordStream
from featurekit.schema.findings import Finding, Place
from featurekit.schema.messages import read_message

__all__ = ["FileRules", "check_files"]

MessageName = Literal["auto", "example", "sequence_example"]

_CODES = {
    "message": "FK301",
    "kind": "FK701",
    "step_kind": "FK702",
    "absent": "FK703",
    "empty": "FK704",
    "frames": "FK705",
    "sizes": "FK706",
}


@dataclasses.dataclass(frozen=True)
class FileRules:
    """Which rules hold for record files without metadata; see `check_sequence_example`.

    Attributes:
        message: What records are: `"example"`, `"sequence_example"`, or `"auto"` for whatever
            the first record is that tells.
        absent: Whether features and feature lists may be absent, or which ones.
        empty: Whether feature lists may be present without steps, or which ones.
        equal_frames: Whether all feature lists of a record must have as many steps.
        equal_sizes: Whether all steps of a list must have as many values, or of which lists.

    Raises:
        InvalidArgumentError: There is no such message.
    """

    message: MessageName = "auto"
    absent: Option = True
    empty: Option = True
    equal_frames: bool = False
    equal_sizes: Option = False

    def __post_init__(self) -> None:
        if self.message not in (known := get_args(MessageName)):
            raise InvalidArgumentError(
                f"message={self.message!r} is not known{did_you_mean(self.message, known)}"
            )


@dataclasses.dataclass
class _Counts:
    """How much was looked at."""

    records: int = 0
    num_bytes: int = 0


def check_files(paths: Sequence[str], options: FileRules) -> tuple[list[Finding], int, int]:
    """Look at all records of some files, by the rules for Examples or SequenceExamples.

    Args:
        paths: TFRecord files, compressed or not, whose records should agree.
        options: Which rules hold.

    Returns:
        What is wrong, the number of sound records, and the bytes of the files.
    """
    counts = _Counts()
    findings: list[Finding] = []
    rules = _rules(options, paths)
    for path in paths:
        for number, record in _records(path, findings, counts):
            rules.add(record, RecordPlace(path, number))
    for broken in rules.violations():
        feature = broken.key
        if feature is not None and broken.step is not None:
            feature = f"{feature}[{broken.step}]"
        place = Place(broken.place.file, record=broken.place.record, feature=feature)
        findings.append(Finding(_CODES[broken.rule], broken.message, place, broken.count))
    return findings, counts.records, counts.num_bytes


def _rules(options: FileRules, paths: Sequence[str]) -> Rules:
    message = options.message if options.message != "auto" else _first_message(paths)
    if message == "example":
        return ExampleRules(absent=options.absent)
    return SequenceExampleRules(
        absent=options.absent,
        empty=options.empty,
        equal_frames=options.equal_frames,
        equal_sizes=options.equal_sizes,
    )


def _first_message(paths: Sequence[str]) -> MessageName:
    """What the first record is that is an Example with features, or a SequenceExample."""
    for path in paths:
        for _, record in _records(path, [], _Counts()):
            message = read_message(record)
            if message is not None and message.lists is not None:
                return "sequence_example"
            if message is not None and message.features:
                return "example"
    return "example"


def _records(path: str, findings: list[Finding], counts: _Counts) -> Iterator[tuple[int, bytes]]:
    """The sound records of a file with their numbers; what is damaged goes to `findings`."""

    def damaged(error: CorruptRecordError, fault: Fault | None) -> None:
        code = "FK203" if fault is None else "FK202"
        findings.append(Finding.of_error(code, error, Place(path)))

    try:
        file = LocalFile(path)
        counts.num_bytes += file.size
        stream = RecordStream(_source(file), "skip", check_crc=True, on_error=damaged)
        for good, record in enumerate(stream):
            counts.records += 1
            yield good + stream.lost.records, record
    except (FeatureKitError, OSError) as error:
        message = error.message if isinstance(error, FeatureKitError) else str(error)
        findings.append(Finding("FK210", message, Place(path)))


def _source(file: LocalFile) -> ByteSource:
    """A record file's bytes, unpacked where it is compressed."""
    compression = detect(file)
    return file if compression is None else Inflater(file, compression, salvage=True)
