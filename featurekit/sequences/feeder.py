"""Threads that read an input and put its examples into a saver."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from featurekit.errors import CancelledError, InvalidTypeError, add_context, short_repr
from featurekit.sequences.barrier import Barrier

__all__ = ["Feeder"]


class Feeder:
    """One or several threads that feed a saver, and close it when the input has ended.

    They end when the saver is closed. An error of the input or of an example ends them too,
    and is raised by `next_batch` once no full batch is left.

    The threads know the barrier, not the saver: one that is forgotten can go, and ends them.

    Args:
        source: The input. What the barrier has had of it already is skipped.
        insert: Puts in an item of the input, given its index.
        barrier: Where it puts it.
        num_threads: Number of threads; with more than one, the order of the input is not
            kept exactly. The input itself is read by one thread at a time.
        name: What the threads are called.
    """

    def __init__(
        self,
        source: Iterable[Any],
        insert: Callable[[int, Any], None],
        barrier: Barrier,
        *,
        num_threads: int,
        name: str,
    ) -> None:
        self._insert = insert
        self._barrier = barrier
        self._items = _remaining(source, barrier)
        self._reading = threading.Lock()
        # As daemons they do not keep a program from ending.
        self._threads = [
            threading.Thread(target=self._run, name=f"{name}-feeder-{number}", daemon=True)
            for number in range(num_threads)
        ]

    def start(self) -> None:
        """Start the threads."""
        self._barrier.add_feeders(len(self._threads))
        for thread in self._threads:
            thread.start()

    @property
    def is_running(self) -> bool:
        """Whether any of the threads has not ended."""
        return any(thread.is_alive() for thread in self._threads)

    def join(self, timeout: float | None = None) -> None:
        """Wait until all threads have ended, or `timeout` seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(None if end is None else max(0, end - time.monotonic()))

    def _run(self) -> None:
        try:
            while not self._barrier.closing and not self._barrier.failed:
                with self._reading:
                    index, item = next(self._items, _END)
                if index < 0:
                    break
                self._insert_item(index, item)
        except BaseException as error:
            # Even SystemExit: what ends the thread must be said where batches are taken.
            if not (isinstance(error, CancelledError) and self._barrier.closing):
                self._barrier.fail(error)
        finally:
            self._barrier.feeder_ended()

    def _insert_item(self, index: int, item: Any) -> None:
        try:
            self._insert(index, item)
        except Exception as error:
            add_context(error, f"while feeding example {index} of the input")
            raise


_END = (-1, None)


def _remaining(source: Iterable[Any], barrier: Barrier) -> Iterator[tuple[int, Any]]:
    """What was not read before, with its index."""
    position = barrier.progress.position
    try:
        # A sequence can skip without reading; a DataSource then need not decode.
        rest = source[position:] if isinstance(source, Sequence) else source
        items = iter(rest)
    except TypeError:
        raise InvalidTypeError(
            f"expected an iterable of examples, got {short_repr(source)}"
        ) from None
    if not isinstance(source, Sequence):
        items = itertools.islice(items, position, None)
    done = frozenset(barrier.progress.ahead)
    return (pair for pair in enumerate(items, position) if pair[0] not in done)
