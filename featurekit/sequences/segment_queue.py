"""Which segments can be taken, in what order, and which examples there is room for."""

from __future__ import annotations

import dataclasses
import heapq
from collections import deque
from collections.abc import Sequence

from featurekit.errors import InvalidArgumentError
from featurekit.sequences.example import Example
from featurekit.sequences.loan import Row
from featurekit.sequences.progress import Progress
from featurekit.sequences.states import StateRow

__all__ = ["Contents", "SegmentQueue"]


@dataclasses.dataclass
class Contents:
    """What a queue holds: copies of its examples by rank, the next rank, what was read."""

    examples: list[Example]
    next_rank: int
    progress: Progress


class SegmentQueue:
    """Examples in the order of arrival, and those of their segments that are ready.

    Of each example one segment at most is ready. Not for several threads at a time.

    Args:
        capacity: How many examples may be active, that is let in and not at their last
            segment; or None.

    Attributes:
        arrivals: Examples for which there is no room yet.
        active: Number of active examples.
        incomplete: Number of segments that are neither ready nor taken.
        progress: Which examples of the input were let in.
    """

    def __init__(self, capacity: int | None) -> None:
        self._capacity = capacity
        self._examples: dict[bytes, Example] = {}  # active ones and arrivals
        self._ready: list[tuple[int, Example]] = []  # a heap, by rank
        self._next_rank = 0
        self.arrivals: deque[Example] = deque()
        self.active = 0
        self.incomplete = 0
        self.progress = Progress()

    @property
    def ready(self) -> int:
        """Number of segments that can be taken."""
        return len(self._ready)

    def add(self, example: Example) -> None:
        """Give an example its rank, and let it wait for room.

        Raises:
            InvalidArgumentError: An example of that key is not at its end.
        """
        if (other := self._examples.get(example.key)) is not None:
            raise InvalidArgumentError(
                f"Key {other.full_key(other.segment).decode(errors='replace')} already has a "
                f"value for component {next(iter(example.sequences))!r}: the example "
                f"{other.shown} is still active",
                hint="give each example a key of its own; one may come again after its last "
                "segment was taken",
            )
        example.rank = self._next_rank
        self._next_rank += 1
        self._examples[example.key] = example
        self.incomplete += example.count
        self.arrivals.append(example)

    def withdraw(self, example: Example) -> None:
        """Forget an example that waits for room."""
        self.arrivals.remove(example)
        del self._examples[example.key]
        self.incomplete -= example.count
        if example.rank == self._next_rank - 1:
            self._next_rank -= 1

    def admit(self) -> bool:
        """Let in examples for which there is room; whether there were any."""
        before = len(self.arrivals)
        while self.arrivals and (self._capacity is None or self.active < self._capacity):
            example = self.arrivals.popleft()
            example.admitted = True
            if example.source_index is not None:
                self.progress.add(example.source_index)
            self.active += 1
            self._make_ready(example)
        return len(self.arrivals) < before

    def take(self, size: int) -> list[Row]:
        """Remove the ready segments of lowest rank."""
        rows = []
        for _ in range(size):
            _, example = heapq.heappop(self._ready)
            rows.append(row := Row(example, example.segment))
            if row.is_last:
                del self._examples[example.key]
                self.active -= 1
        return rows

    def give_back(self, rows: Sequence[Row]) -> None:
        """Undo `take`."""
        for row in rows:
            heapq.heappush(self._ready, (row.example.rank, row.example))
            if row.is_last:
                self._examples[row.example.key] = row.example
                self.active += 1

    def go_on(self, example: Example, states: StateRow) -> None:
        """Make the next segment of an example ready, to start from these states."""
        example.segment += 1
        example.states = states
        self._make_ready(example)

    def drop_incomplete(self) -> None:
        """Forget all segments that are not ready; examples do not come to their ends."""
        for example in self.arrivals:
            del self._examples[example.key]
        self.arrivals.clear()
        self.incomplete = 0

    def contents(self) -> Contents:
        """What it holds, arrivals apart: they come again."""
        examples = [dataclasses.replace(e) for e in self._examples.values() if e.admitted]
        return Contents(
            sorted(examples, key=lambda example: example.rank),
            min((example.rank for example in self.arrivals), default=self._next_rank),
            Progress(self.progress.position, self.progress.ahead),
        )

    def restore(self, contents: Contents) -> None:
        """Take up what another one held.

        Raises:
            InvalidArgumentError: It has had examples of its own.
        """
        if self._next_rank:
            raise InvalidArgumentError(
                "the saver has examples already",
                hint="restore a new saver, before feed() and enqueue()",
            )
        for example in contents.examples:
            self._examples[example.key] = example
            self.active += 1
            self.incomplete += example.count - example.segment
            self._make_ready(example)
        self._next_rank = contents.next_rank
        self.progress = contents.progress

    def _make_ready(self, example: Example) -> None:
        self.incomplete -= 1
        heapq.heappush(self._ready, (example.rank, example))
