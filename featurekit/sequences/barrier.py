"""The meeting point of threads that bring examples and threads that take batches."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Iterable
from typing import Any

from featurekit.errors import (
    CancelledError,
    InvalidArgumentError,
    OutOfRangeError,
    UnsavedStateError,
    WaitTimeoutError,
)
from featurekit.sequences.example import Example
from featurekit.sequences.loan import Loan, Loans
from featurekit.sequences.progress import Progress
from featurekit.sequences.segment_queue import Contents, SegmentQueue
from featurekit.sequences.states import StateRow

__all__ = ["Barrier"]

_SAVE = (
    "call save_state of a batch for every state before the next batch is taken; where another "
    "thread does that, say how long to wait with timeout="
)


class _Take:
    """A thread that waits for a batch."""

    def __init__(self, size: int, *, closed: bool, patient: bool) -> None:
        self.size = size
        self.after_close = closed
        self.patient = patient  # it has a time limit of its own
        self.thread = threading.current_thread()
        self.loan: Loan | None = None
        self.error: Exception | None = None


class Barrier:
    """Segments of examples: those that are ready, and those that wait for their states.

    Threads sleep until something happens that concerns them: an insert until there is room, a
    take until there is a batch. A segment that was taken is on loan until the states that its
    successor starts from are saved. One lock guards everything.

    Args:
        capacity: How many examples may be active, or None.
        allow_small_batch: Whether takes get fewer rows than they want at the end.
        states: Names of all states.
    """

    def __init__(
        self, capacity: int | None, allow_small_batch: bool, states: Iterable[str]
    ) -> None:
        lock = threading.RLock()  # of the reentrant kind: see attach
        self._inserts = threading.Condition(lock)
        self._takers = threading.Condition(lock)
        self._allow_small_batch = allow_small_batch
        self._states = tuple(states)
        self._queue = SegmentQueue(capacity)
        self._takes: deque[_Take] = deque()
        self._loans = Loans()
        self._feeders = 0
        self._closing = False
        self._cancelled = False
        self._failure: BaseException | None = None

    # Sizes.

    def ready_size(self) -> int:
        """Number of segments that can be taken."""
        with self._takers:
            return self._queue.ready

    def incomplete_size(self) -> int:
        """Number of segments that wait for their states, or whose examples wait for room."""
        with self._takers:
            return self._queue.incomplete

    def active_size(self) -> int:
        """Number of examples that count towards the capacity."""
        with self._takers:
            return self._queue.active

    @property
    def progress(self) -> Progress:
        """What feeders have read."""
        return self._queue.progress

    @property
    def closing(self) -> bool:
        """Whether no new example is accepted."""
        return self._closing

    @property
    def failed(self) -> bool:
        """Whether a feeder ended with an error."""
        return self._failure is not None

    def _is_closed(self) -> bool:
        return self._closing and not self._queue.arrivals

    # Inserting.

    def insert(self, example: Example, timeout: float | None = None) -> None:
        """Put an example in; waits for room.

        Raises:
            CancelledError: The barrier is closed.
            InvalidArgumentError: An active example has that key.
            WaitTimeoutError: There was no room for so long; the example is not in.
        """
        with self._inserts:
            if self._closing:
                raise CancelledError("the saver is closed: no example can be put in any more")
            self._queue.add(example)
            self._advance()
            if not example.admitted:
                self._wait_for_room(example, timeout)

    def _wait_for_room(self, example: Example, timeout: float | None) -> None:
        self._takers.notify_all()  # they may be waiting for this very thread
        try:
            self._inserts.wait_for(lambda: example.admitted or self._cancelled, timeout)
        finally:
            if not example.admitted and not self._cancelled:
                self._queue.withdraw(example)
                self._advance()
                self._inserts.notify_all()
        if self._cancelled and not example.admitted:
            raise CancelledError(f"inserting {example.shown} was cancelled")
        if not example.admitted:
            raise WaitTimeoutError(
                f"there was no room for the example {example.shown} for {timeout} s: "
                f"{self._queue.active} are active"
            )

    def _advance(self) -> None:
        """Let examples in for which there is room, and hand out the batches that are full."""
        admitted = self._queue.admit()
        while self._takes and (size := self._size_for(self._takes[0])):
            take = self._takes.popleft()
            take.loan = self._lend(size, take.thread)
            self._takers.notify_all()
            admitted |= self._queue.admit()
        if admitted:
            self._inserts.notify_all()
        if self._is_closed():
            self._takers.notify_all()  # there may be nothing to wait for any more

    # Taking.

    def take(self, size: int, timeout: float | None = None) -> Loan:
        """The ready segments of lowest rank; waits for them.

        Raises:
            OutOfRangeError: The barrier is closed, and there are not enough.
            UnsavedStateError: It would wait for ever, for states that were not saved.
            WaitTimeoutError: There were not enough for so long.
        """
        if size == 0:
            return Loan([], self._states, threading.current_thread())
        with self._takers:
            take = _Take(size, closed=self._is_closed(), patient=timeout is not None)
            self._takes.append(take)
            self._advance()
            try:
                self._takers.wait_for(lambda: self._is_settled(take), timeout)
            except BaseException:
                if take.loan is not None:  # interrupted just then
                    self._loans.discard(take.loan)
                    self._queue.give_back(take.loan.rows)
                raise
            finally:
                if take.loan is None:
                    self._takes.remove(take)
                self._advance()
            if take.loan is None:
                raise WaitTimeoutError(f"there was no batch for {timeout} s: {self._need(take)}")
            return take.loan

    def _size_for(self, take: _Take) -> int:
        """How many segments a take can have now; 0 if it must wait."""
        if self._queue.ready >= take.size:
            return take.size
        return self._queue.ready if self._allow_small_batch and self._is_closed() else 0

    def _lend(self, size: int, thread: threading.Thread) -> Loan:
        loan = Loan(self._queue.take(size), self._states, thread)
        if not self._cancelled:
            self._loans.add(loan)
        return loan

    def _is_settled(self, take: _Take) -> bool:
        if take.loan is not None:
            return True
        if self._is_closed() and self._has_ended(take):
            raise OutOfRangeError(f"the saver is closed and has {self._need(take)}")
        if self._failure is not None:
            raise self._failure
        if take.error is None and not take.patient and self.has_lost_states():
            error = UnsavedStateError(
                f"the next batch would never come: {self._need(take)}", hint=_SAVE
            )
            for other in self._takes:
                if not other.patient:
                    other.error = error
            self._takers.notify_all()
        if take.error is not None:
            raise take.error
        return False

    def _has_ended(self, take: _Take) -> bool:
        if self._allow_small_batch:
            return not self._queue.ready and (take.after_close or not self._loans)
        # One segment of an example at a time: more rows than examples can never be.
        return self._queue.ready + len(self._loans) < take.size

    def has_lost_states(self) -> bool:
        """Whether what comes next waits for states that nobody is going to save."""
        blocked = sum(example.source_index is not None for example in self._queue.arrivals)
        if self._feeders > blocked:
            return False  # they may bring what fills a batch
        waiting = {take.thread for take in self._takes if not take.patient}
        return self._loans.are_lost(waiting | {threading.current_thread()})

    def unsaved(self) -> str:
        """Says which states of which examples are to be saved; nothing if there are none."""
        return self._loans.unsaved()

    def _need(self, take: _Take) -> str:
        need = f"insufficient elements (requested {take.size}, ready {self._queue.ready})"
        return f"{need}{self._loans.unsaved()}"

    # Saving.

    def save(self, loan: Loan, name: str, value: Any) -> None:
        """Save a state of a batch; with the last one the next segments are ready.

        Raises:
            CancelledError: The barrier was closed with cancelling.
            InvalidArgumentError: That state was saved already.
        """
        with self._takers:
            self.check_saving()
            if name not in loan.missing:
                raise InvalidArgumentError(
                    f"state {name!r} of this batch was saved already",
                    hint="save each state of a batch once",
                )
            loan.missing.remove(name)
            loan.saved[name] = value
            if loan.missing or not loan.open:
                return
            for number, row in enumerate(loan.rows):
                if not row.is_last:
                    self._queue.go_on(row.example, StateRow(loan.saved, number))
            self._loans.discard(loan)
            self._advance()
            self._takers.notify_all()  # those who wait for states have fewer to wait for

    def check_saving(self) -> None:
        """Raise CancelledError if states can no longer be saved."""
        if self._cancelled:
            raise CancelledError("the saver was closed with cancelling: no state can be saved")

    def attach(self, loan: Loan, batch: object) -> None:
        """Watch a batch, to know when nobody can save its states any more."""
        barrier = weakref.ref(self)

        def gone(_: object) -> None:
            # Runs wherever the last reference goes, even inside of a method of this class;
            # so it only wakes those who look.
            loan.dropped = True
            if loan.missing and (alive := barrier()) is not None:
                alive._wake_takers()

        if loan.open:
            loan.batch = weakref.ref(batch, gone)

    def _wake_takers(self) -> None:
        with self._takers:
            self._takers.notify_all()

    # Closing.

    def close(self, cancel: bool = False) -> None:
        """Accept no new examples; waits for those of other threads that wait for room.

        Args:
            cancel: Drop all segments that are not ready, and examples that wait for room.
        """
        with self._inserts:
            self._closing = True
            if cancel:
                self._cancelled = True
                self._queue.drop_incomplete()
                self._loans.clear()
            self._advance()
            self._takers.notify_all()
            self._inserts.notify_all()
            # Not for those of feeders: this may be the thread that takes.
            self._inserts.wait_for(
                lambda: all(e.source_index is not None for e in self._queue.arrivals)
            )
            self._takers.notify_all()

    # Feeders.

    def add_feeders(self, count: int) -> None:
        """Say that as many threads are about to insert examples."""
        with self._takers:
            self._feeders += count

    def feeder_ended(self) -> None:
        """Say that one of them has come to its end; the last one closes the barrier."""
        with self._takers:
            self._feeders -= 1
            if self._feeders == 0 and self._failure is None:
                self.close()
            self._takers.notify_all()

    def fail(self, error: BaseException) -> None:
        """Say why no more examples come; takes that cannot be filled raise it."""
        with self._takers:
            self._failure = self._failure or error
            self._takers.notify_all()

    # Checkpoints.

    def contents(self) -> Contents:
        """What it holds; see `SegmentQueue.contents`.

        Raises:
            UnsavedStateError: States of a batch are not saved.
            CancelledError: The barrier was closed with cancelling.
        """
        with self._takers:
            if self._cancelled:
                raise CancelledError("the saver was closed with cancelling: examples are lost")
            if self._loans:
                raise UnsavedStateError(
                    f"a checkpoint needs all states of the batches taken{self.unsaved()}",
                    hint="take the checkpoint after save_state and before the next batch",
                )
            return self._queue.contents()

    def restore(self, contents: Contents) -> None:
        """Take up what another barrier held.

        Raises:
            InvalidArgumentError: It has had examples of its own.
        """
        with self._takers:
            self._queue.restore(contents)
            self._advance()
