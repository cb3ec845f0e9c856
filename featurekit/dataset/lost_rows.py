"""Parquet shards that lack rows, as TFDS writes them.

TFDS's Parquet writer takes its batches of 100 examples from an iterator that goes on meanwhile:
of a shard with more than 100 examples it keeps the rows 0 to 99, 200 to 299, 500 to 599, ...,
while the metadata counts all of them (seen in TFDS 4.9.10). Such a shard reads as what it has.
"""

from __future__ import annotations

import logging

from featurekit.dataset.splits import FileInstruction

__all__ = ["clip", "rows_kept"]

_logger = logging.getLogger("featurekit")

_BATCH = 100


def rows_kept(num_examples: int) -> int:
    """Number of rows that TFDS writes of a shard with that many examples.

    >>> rows_kept(100), rows_kept(150), rows_kept(250)
    (100, 100, 150)
    """
    start = batch = rows = 0
    while start < num_examples:
        rows += min(_BATCH, num_examples - start)
        batch += 1
        start = 50 * batch * (batch + 3)
    return rows


def clip(piece: FileInstruction, num_rows: int) -> FileInstruction:
    """What to read of a shard, within the rows that it has, where TFDS lost the others.

    Args:
        piece: What to read, as the metadata says.
        num_rows: Number of rows of the file.
    """
    stated = piece.examples_in_shard
    if num_rows == stated or num_rows != rows_kept(stated):
        return piece
    _logger.warning(
        "%s has %d of %d examples: TFDS lost the others when it wrote the file. "
        "Build the dataset again to have them",
        piece.filename,
        num_rows,
        stated,
    )
    take = max(0, min(piece.take, num_rows - piece.skip))
    return piece._replace(take=take, examples_in_shard=num_rows)
