"""Whether the shard files of a dataset are there, whole, and what its metadata says."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from featurekit.dataset.info import DatasetInfo
from featurekit.dataset.splits import SplitInfo
from featurekit.errors import CorruptRecordError, FeatureKitError, MissingFileError
from featurekit.io.columns import read_example
from featurekit.io.compression import ByteSource, Inflater, detect
from featurekit.io.files import LocalFile
from featurekit.io.framing import Fault, scan_records
from featurekit.io.record_files import open_records
from featurekit.io.stream import RecordStream
from featurekit.io.window import Window
from featurekit.schema.findings import Finding, Findings, Place
from featurekit.schema.validate_records import RecordChecker

__all__ = ["DIGEST_BYTES", "ShardReport", "ShardTask", "check_names", "check_shard", "check_sums"]

DIGEST_BYTES = 16
"""Bytes that stand for the content of an example."""

_UNFINISHED = "incomplete."
_MAX_RECORDS = 128  # looked at together, as a reader decodes them
_MAX_BYTES = 1 << 18
_BLOCK_BYTES = 1 << 16  # larger ones are mapped anew each time, which costs more than reading


@dataclasses.dataclass(frozen=True)
class ShardTask:
    """What to look at in one shard.

    Attributes:
        path: The file.
        split: The split it is of; None for a file without metadata.
        examples: Number of records it should have; None where nobody says.
        sample: Indices of the records to decode; None for all.
        file_format: How the file is stored.
        content: Whether to give a digest of each record's content.
        content_of: The keys which that is of; none for all.
    """

    path: str
    split: str | None = None
    examples: int | None = None
    sample: npt.NDArray[np.int64] | None = None
    file_format: str = "tfrecord"
    content: bool = False
    content_of: tuple[str, ...] = ()


@dataclasses.dataclass
class ShardReport:
    """What was found in one shard.

    Attributes:
        task: What was asked.
        records: Number of sound records.
        decoded: Number of records that were decoded.
        payload_bytes: Bytes of these records.
        file_bytes: Bytes of the file.
        whole: Whether the file is there, and each byte of it belongs to a sound record.
        findings: What is wrong.
        digests: `DIGEST_BYTES` bytes for each sound record, where they were asked for.
    """

    task: ShardTask
    records: int = 0
    decoded: int = 0
    payload_bytes: int = 0
    file_bytes: int = 0
    whole: bool = True
    findings: list[Finding] = dataclasses.field(default_factory=list)
    digests: bytes = b""


def check_shard(task: ShardTask, checker: RecordChecker | None) -> ShardReport:
    """Read one shard from front to back, and see whether it is sound.

    Args:
        task: The file and what to look at.
        checker: Decodes records; None where only the file is looked at.
    """
    report = ShardReport(task)
    found = Findings()
    try:
        file = LocalFile(task.path)
        report.file_bytes = file.size
        if task.file_format != "tfrecord":
            _Pass(report, checker, found).run_indexed()
            return _finish(report, found)
        compression = detect(file)
        if compression is not None and task.split is not None:
            text = f"the shard is compressed with {compression}"
            found.add(Finding("FK208", text, Place(task.path)))
            report.whole = False
        elif compression is not None:
            _Pass(report, checker, found).run(Inflater(file, compression, salvage=True))
        elif not _only_measure(task, checker) or not _measure(file, report):
            _Pass(report, checker, found).run(file)
    except (FeatureKitError, OSError) as error:
        code = "FK201" if isinstance(error, MissingFileError) else "FK210"
        message = error.message if isinstance(error, FeatureKitError) else error.strerror
        found.add(Finding(code, message or str(error), Place(task.path)))
        report.whole = False
    return _finish(report, found)


def _finish(report: ShardReport, found: Findings) -> ShardReport:
    task = report.task
    if report.whole and task.examples not in (None, report.records):
        text = f"expected {task.examples} records, got {report.records}"
        found.add(Finding("FK205", text, Place(task.path)))
    report.findings = list(found)
    return report


def _only_measure(task: ShardTask, checker: RecordChecker | None) -> bool:
    nothing_chosen = task.sample is not None and not len(task.sample)
    return (checker is None or nothing_chosen) and not task.content


def _measure(file: LocalFile, report: ShardReport) -> bool:
    """Count the records and check all checksums; False where something is wrong."""
    window = Window(file, _BLOCK_BYTES)
    needed = 1
    while window.load(needed):
        found = scan_records(window.data, window.position, window.held, check_crc=True)
        report.records += len(found.lengths)
        report.payload_bytes += int(found.lengths.sum())
        window.move(found.size)
        if found.fault is not None:
            break
        needed = found.needed if window.held else 1
    if window.left:
        report.records = report.payload_bytes = 0
        return False
    return True


class _Pass:
    """One pass over a shard's records, damaged ones included."""

    def __init__(self, report: ShardReport, checker: RecordChecker | None, found: Findings) -> None:
        self._report = report
        self._task = report.task
        self._checker = checker
        self._found = found
        self._digests: list[bytes] = []

    def run(self, source: ByteSource) -> None:
        """Read a TFRecord file, damaged places included."""
        stream = RecordStream(source, "skip", check_crc=True, on_error=self._damaged)
        for _, payloads in stream.blocks():
            for chunk in _chunks(payloads):
                self._take(chunk, stream.lost.records)
        self._report.digests = b"".join(self._digests)

    def run_indexed(self) -> None:
        """Read a file of another format, up to the first damaged place."""
        records = open_records(self._task.path, self._task.file_format)
        try:
            for chunk in _chunks(records):
                self._take(chunk, 0)
        except CorruptRecordError as error:
            self._report.whole = False
            self._found.add(Finding.of_error("FK202", error, Place(self._task.path)))
        finally:
            records.close()
        self._report.digests = b"".join(self._digests)

    def _take(self, payloads: list[bytes], lost: int) -> None:
        """Look at some records, before which so many were lost."""
        first = self._report.records + lost
        self._report.records += len(payloads)
        self._report.payload_bytes += sum(map(len, payloads))
        if self._task.content:
            self._digests += [digest(record, self._task.content_of) for record in payloads]
        if self._checker is not None:
            self._decode(self._checker, payloads, first)

    def _damaged(self, error: CorruptRecordError, fault: Fault | None) -> None:
        self._report.whole = False
        expected = self._task.examples
        if expected is not None and error.record is not None and error.record >= expected:
            code = "FK204"
        else:
            code = "FK203" if fault is None else "FK202"
        self._found.add(Finding.of_error(code, error, Place(self._task.path)))

    def _decode(self, checker: RecordChecker, payloads: list[bytes], first: int) -> None:
        numbers = range(first, first + len(payloads))
        sample = self._task.sample
        if sample is not None:
            start, stop = np.searchsorted(sample, (first, first + len(payloads)))
            numbers = sample[start:stop].tolist()
            payloads = [payloads[number - first] for number in numbers]
        self._report.decoded += len(payloads)
        for index, problem in checker.problems(payloads):
            place = Place(
                self._task.path,
                record=numbers[index],
                feature=problem.feature,
                split=self._task.split,
            )
            self._found.add(Finding(problem.code, problem.message, place))


def _chunks(records: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Records in pieces of few records and few bytes; what was read before a fault comes first."""
    chunk: list[bytes] = []
    size = 0
    try:
        for record in records:
            chunk.append(record)
            size += len(record)
            if len(chunk) >= _MAX_RECORDS or size >= _MAX_BYTES:
                yield chunk
                chunk, size = [], 0
    except CorruptRecordError:
        yield chunk
        raise
    if chunk:
        yield chunk


def digest(record: bytes, keys: Collection[str] = ()) -> bytes:
    """What stands for the content of an example, in whatever order its entries are stored.

    Args:
        record: A serialized Example; other bytes stand for themselves.
        keys: The entries that count, with those below them; none for all.
    """
    try:
        entries = read_example(record)
    except FeatureKitError:
        return hashlib.blake2b(record, digest_size=DIGEST_BYTES).digest()
    if keys:
        starts = tuple(f"{key}/" for key in keys)
        entries = {k: v for k, v in entries.items() if k in keys or k.startswith(starts)}
    total = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for key in sorted(entries):
        values = entries[key]
        if values is None:
            continue
        # Lengths go in too, so that no content can be cut up in two ways.
        total.update(f"{len(key)} {key} {values.dtype.char} {len(values)} ".encode())
        if values.dtype.kind != "O":
            total.update(values.data)
            continue
        for item in values.tolist():
            total.update(b"%d " % len(item))
            total.update(item)
    return total.digest()


# All files of a dataset.


def check_names(info: DatasetInfo, folder: str) -> Iterator[Finding]:
    """Files that are called like shards and are none, and what a killed build has left."""
    expected: set[str] = set()
    templates = []
    for split in info.splits.values():
        if split.filename_template is None:
            continue
        for suffix in (info.file_format, *info.alternative_file_formats):
            template = split.filename_template.replace(suffix=suffix)
            templates.append(template.replace(split=None))
            expected.update(template.filenames(split.num_shards))
    depths = {template.template.count("/") for template in templates}
    for name in _files(folder, max(depths, default=0)):
        if any(part.startswith(_UNFINISHED) for part in name.split("/")):
            text = "the file is left from a build that did not finish"
            yield Finding("FK209", text, Place(os.path.join(folder, name)))
        elif name not in expected and any(template.parse(name) for template in templates):
            text = "the file is named like a shard, and the metadata counts no such shard"
            yield Finding("FK207", text, Place(os.path.join(folder, name)))


def _files(folder: str, depth: int, start: str = "") -> Iterator[str]:
    """The files of a folder and of those below it, relative to it, sorted."""
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        if entry.is_dir():
            if depth:
                yield from _files(entry.path, depth - 1, f"{start}{entry.name}/")
        else:
            yield f"{start}{entry.name}"


def check_sums(
    splits: Sequence[SplitInfo], reports: Sequence[ShardReport]
) -> Iterator[tuple[SplitInfo, str]]:
    """The splits whose records have another size than the metadata says, and a text about it.

    Most writers sum up payloads, some the files; both are right. Splits with a fault in
    their files, of which the sum is a consequence, are left out.
    """
    for split in splits:
        of_split = [report for report in reports if report.task.split == split.name]
        sound = all(r.whole and r.records == r.task.examples for r in of_split)
        if not sound or not split.num_bytes:
            continue
        payloads = sum(report.payload_bytes for report in of_split)
        files = sum(report.file_bytes for report in of_split)
        if split.num_bytes not in (payloads, files):
            text = (
                f"expected {split.num_bytes} bytes in the records of split '{split.name}', "
                f"got {payloads}"
            )
            yield split, text
