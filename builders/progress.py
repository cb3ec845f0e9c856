"""Saying how far a build is: a bar on a terminal, one line a split elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

__all__ = ["Progress"]

_T = TypeVar("_T")


class Progress:
    """Reports a build on the standard error stream.

    Args:
        name: What is built.
        quiet: Whether to say nothing.
    """

    def __init__(self, name: str, *, quiet: bool = False) -> None:
        self._name = name
        self._quiet = quiet
        self._bar = not quiet and sys.stderr.isatty()

    def count(self, examples: Iterable[_T], split: str) -> Iterator[_T]:
        """Pass examples on while a bar counts them, on a terminal."""
        if not self._bar:
            yield from examples
            return
        from tqdm import tqdm

        yield from tqdm(examples, desc=f"{self._name}, {split}", unit=" examples", leave=False)

    @contextlib.contextmanager
    def split(self, split: str) -> Iterator[list[str]]:
        """Say, once a split is done, what is put into the list and how long it took."""
        start = time.monotonic()
        parts: list[str] = []
        yield parts
        if not self._quiet:
            seconds = time.monotonic() - start
            sys.stderr.write(f"{self._name}, {split}: {', '.join(parts)} ({seconds:.1f} s)\n")
