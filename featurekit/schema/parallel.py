"""The same work on many files, in several processes."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from featurekit.errors import BuildError, InvalidArgumentError

__all__ = ["map_files"]

_T = TypeVar("_T")
_R = TypeVar("_R")

# Below, starting processes costs more than they save.
_MIN_BYTES = 1 << 24

_work: Callable[[Any], Any] | None = None  # of a worker process


def map_files(
    function: Callable[[_T], _R],
    tasks: Sequence[_T],
    *,
    num_bytes: int,
    num_processes: int | None = None,
    title: str = "",
    quiet: bool = True,
) -> Iterator[_R]:
    """Apply a function to tasks, and give the results in their order.

    Args:
        function: Runs in forked processes, so that it need not be picklable; its results must.
        tasks: What it takes.
        num_bytes: Bytes that all tasks together will read.
        num_processes: Number of processes; by default one a processor, where that pays.
        title: What is being done, for the progress bar.
        quiet: Whether to show no bar. None is shown either where the standard error stream
            is no terminal.

    Raises:
        InvalidArgumentError: The number of processes is below 1.
        BuildError: A process was killed.
    """
    if num_processes is not None and num_processes < 1:
        raise InvalidArgumentError(f"num_processes must be 1 or more, got {num_processes}")
    if num_processes is None:
        num_processes = (os.cpu_count() or 1) if num_bytes >= _MIN_BYTES else 1
    count = min(num_processes, len(tasks))
    if count <= 1 or not hasattr(os, "fork"):
        yield from _counted(map(function, tasks), len(tasks), title, quiet)
        return
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(count, context, initializer=_begin, initargs=(function,)) as pool:
        futures = [pool.submit(_call, task) for task in tasks]
        try:
            yield from _counted(_results(futures), len(tasks), title, quiet)
        except BrokenProcessPool:
            raise BuildError(
                "a worker process was killed",
                hint="the system may be short of memory, or a codec crashed: use one process",
            ) from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _begin(function: Callable[[Any], Any]) -> None:
    global _work
    _work = function


def _call(task: Any) -> Any:
    assert _work is not None  # `_begin` ran in this process
    return _work(task)


def _results(futures: Iterable[Future[_R]]) -> Iterator[_R]:
    for future in futures:
        yield future.result()


def _counted(results: Iterator[_R], total: int, title: str, quiet: bool) -> Iterator[_R]:
    """Pass results on, counted by a bar on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield from results
        return
    from tqdm import tqdm

    yield from tqdm(results, desc=title, total=total, unit=" files", leave=False)
