"""How far a build is: a bar on a terminal, and log records of level INFO."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from featurekit.dataset.info import format_size
from featurekit.dataset.splits import SplitInfo

__all__ = ["count", "log_split", "transfer"]

_T = TypeVar("_T")
_logger = logging.getLogger("featurekit")


def count(
    items: Iterable[_T], building: str, *, quiet: bool, unit: str = "examples"
) -> Iterator[_T]:
    """Pass items on, counted by a bar where the standard error stream is a terminal.

    Args:
        items: What to pass on.
        building: What is being built.
        quiet: Whether to show no bar.
        unit: What the items are.
    """
    if quiet or not sys.stderr.isatty():
        yield from items
        return
    from tqdm import tqdm

    yield from tqdm(items, desc=building, unit=f" {unit}", leave=False)


@contextlib.contextmanager
def transfer(title: str, size: int | None, *, quiet: bool) -> Iterator[Callable[[int], Any]]:
    """Give a function that counts bytes, by a bar where standard error is a terminal.

    Args:
        title: What is transferred.
        size: How many bytes there will be, if that is known.
        quiet: Whether to show no bar.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda num_bytes: None
        return
    from tqdm import tqdm

    with tqdm(
        desc=title, total=size, unit="B", unit_scale=True, unit_divisor=1024, leave=False
    ) as bar:
        yield bar.update


def log_split(split: SplitInfo, building: str) -> None:
    """Log that a split is done."""
    _logger.info(
        "built %s: %d examples, %d shards, %s",
        building,
        split.num_examples,
        split.num_shards,
        format_size(split.num_bytes),
    )
