"""Doing the work of an iterator ahead of time, in threads."""

from __future__ import annotations

import collections
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

__all__ = ["available_threads", "map_ahead"]

_T = TypeVar("_T")
_U = TypeVar("_U")

_MOST = 8


def available_threads() -> int:
    """Number of CPUs that this process may use, 8 at most."""
    return min(len(os.sched_getaffinity(0)), _MOST)


def map_ahead(
    function: Callable[[_T], _U], items: Iterable[_T], threads: int, ahead: int
) -> Iterator[_U]:
    """Apply a function to items in threads; results come in the order of the items.

    Args:
        function: What to do with each.
        items: Taken by the thread that asks for the results, one after the other. Where
            taking one raises, that comes after the results of those before.
        threads: Number of threads; without any, an item is worked on when its result is
            asked for.
        ahead: How many items at most have been taken and not given.

    Example:
        >>> list(map_ahead(lambda x: x * x, range(5), threads=2, ahead=3))
        [0, 1, 4, 9, 16]
    """
    if threads < 1:
        yield from map(function, items)
        return
    executor = ThreadPoolExecutor(threads, thread_name_prefix="featurekit")
    waiting: collections.deque[Future[_U]] = collections.deque()
    rest = iter(items)
    failure: Exception | None = None
    try:
        while True:
            while failure is None and len(waiting) < max(ahead, 1):
                try:
                    item = next(rest)
                except StopIteration:
                    break
                except Exception as error:
                    failure = error
                    break
                waiting.append(executor.submit(function, item))
            if not waiting:
                break
            yield waiting.popleft().result()
        if failure is not None:
            raise failure
    finally:
        executor.shutdown(wait=True, cancel_futures=True)
