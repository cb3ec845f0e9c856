"""How far a build is: a bar on a terminal, and log records of level INFO."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

from featurekit.dataset.info import format_size
from featurekit.dataset.splits import SplitInfo

__all__ = ["count", "log_split"]

_T = TypeVar("_T")
_logger = logging.getLogger("featurekit")


def count(examples: Iterable[_T], building: str, *, quiet: bool) -> Iterator[_T]:
    """Pass examples on, counted by a bar where the standard error stream is a terminal.

    Args:
        examples: What to pass on.
        building: What is being built.
        quiet: Whether to show no bar.
    """
    if quiet or not sys.stderr.isatty():
        yield from examples
        return
    from tqdm import tqdm

    yield from tqdm(examples, desc=building, unit=" examples", leave=False)


def log_split(split: SplitInfo, building: str) -> None:
    """Log that a split is done."""
    _logger.info(
        "built %s: %d examples, %d shards, %s",
        building,
        split.num_examples,
        split.num_shards,
        format_size(split.num_bytes),
    )
