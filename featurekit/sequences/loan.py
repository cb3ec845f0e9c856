"""Segments that were taken, until the states that they lead to are saved."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Set
from typing import Any, NamedTuple

from featurekit.sequences.example import Example

__all__ = ["Loan", "Loans", "Row"]


class Row(NamedTuple):
    """One segment of an example."""

    example: Example
    segment: int

    @property
    def is_last(self) -> bool:
        """Whether no other segment of its example follows."""
        return self.segment + 1 == self.example.count


class Loan:
    """The rows of a batch, and which states are still to be saved for their successors.

    Args:
        rows: The segments.
        states: Names of all states.
        thread: The thread that takes the batch.

    Attributes:
        rows: The segments.
        saved: The states that were saved: name to arrays for the whole batch.
        missing: Names of the states that were not.
        dropped: Whether the batch is gone, so that nobody can save them.
        thread: That thread.
        batch: The batch itself, once there is one.
        open: Whether any row has a successor.
    """

    def __init__(self, rows: list[Row], states: Iterable[str], thread: threading.Thread) -> None:
        self.rows = rows
        self.saved: dict[str, Any] = {}
        self.missing = list(states)
        self.dropped = False
        self.thread = thread
        self.batch: weakref.ref[object] | None = None
        self.open = any(not row.is_last for row in rows)

    @property
    def examples(self) -> list[Example]:
        """The examples that go on once the states are saved."""
        return [row.example for row in self.rows if not row.is_last]


class Loans:
    """The loans that examples wait for."""

    def __init__(self) -> None:
        self._loans: list[Loan] = []

    def __len__(self) -> int:
        """Number of examples that wait."""
        return sum(len(loan.examples) for loan in self._loans)

    def add(self, loan: Loan) -> None:
        """Add a loan, if any example goes on after it."""
        if loan.open:
            self._loans.append(loan)

    def discard(self, loan: Loan) -> None:
        """Remove a loan, if it is there."""
        if loan in self._loans:
            self._loans.remove(loan)

    def clear(self) -> None:
        """Remove all."""
        self._loans.clear()

    def are_lost(self, waiting: Set[threading.Thread]) -> bool:
        """Whether there are loans, and nobody is going to save the states of any.

        A thread that waits for a batch does not save the states of those that it took
        before, and nobody saves those of a batch that is gone.

        Args:
            waiting: The threads that wait for a batch.
        """
        return bool(self._loans) and all(
            loan.dropped or loan.thread in waiting for loan in self._loans
        )

    def unsaved(self) -> str:
        """Says which states of which examples were not saved; nothing if there are none."""
        keys = [example.shown for loan in self._loans for example in loan.examples]
        if not keys:
            return ""
        names = [repr(name) for name in sorted({n for loan in self._loans for n in loan.missing})]
        states = f"state {names[0]}" if len(names) == 1 else f"states {', '.join(names)}"
        more = f" and {len(keys) - 5} more" if len(keys) > 5 else ""
        verb = "was" if len(names) == 1 else "were"
        return f"; {states} of {', '.join(keys[:5])}{more} {verb} not saved"
