"""Examples that two splits of a dataset share."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from featurekit.schema.findings import Finding, Place
from featurekit.schema.validate_shards import DIGEST_BYTES, ShardReport

__all__ = ["find_leakage"]

_DIGEST = np.dtype([("high", "<u8"), ("low", "<u8")])


def find_leakage(reports: Sequence[ShardReport], names: Sequence[str]) -> Iterator[Finding]:
    """The pairs of splits that have content in common.

    Args:
        reports: Of all shards, with digests.
        names: The splits, in order.
    """
    digests = {name: _digests(reports, name) for name in names}
    for first, second in itertools.combinations(names, 2):
        shared = _shared(digests[second], digests[first])
        if not (count := int(np.count_nonzero(shared))):
            continue
        number = int(np.flatnonzero(shared)[0])
        twin = int(np.flatnonzero(digests[first] == digests[second][number])[0])
        place = _place(reports, second, number)
        other = _place(reports, first, twin)
        text = (
            f"{count} of the {len(shared)} examples of split '{second}' "
            f"({count / len(shared):.2%}) are in '{first}' too; the first one is "
            f"record {other.record} of {other.file}"
        )
        yield Finding("FK501", text, place, count=count)


def _digests(reports: Sequence[ShardReport], split: str) -> npt.NDArray[np.void]:
    data = b"".join(report.digests for report in reports if report.task.split == split)
    return np.frombuffer(data, _DIGEST)


def _shared(digests: npt.NDArray[np.void], others: npt.NDArray[np.void]) -> npt.NDArray[np.bool_]:
    """Which digests are among the others: by their first halves, which sort faster, then whole."""
    shared = np.isin(digests["high"], others["high"])
    others = others[np.isin(others["high"], digests["high"][shared])]
    shared[shared] = np.isin(digests[shared], others)
    return shared


def _place(reports: Sequence[ShardReport], split: str, number: int) -> Place:
    """Where the example number `number` of a split is, among its sound records."""
    for report in reports:
        if report.task.split != split:
            continue
        count = len(report.digests) // DIGEST_BYTES
        if number < count:
            return Place(report.task.path, record=number, split=split)
        number -= count
    return Place(split=split)
