"""Which examples of an input were read: nearly always the first so many."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Progress"]


class Progress:
    """The indices that were added; several threads may add them out of order.

    Args:
        position: All below were added.
        ahead: Further ones.

    Example:
        >>> progress = Progress()
        >>> for index in (0, 2, 1, 4):
        ...     progress.add(index)
        >>> progress.position, progress.ahead, 4 in progress, 3 in progress
        (3, [4], True, False)
    """

    def __init__(self, position: int = 0, ahead: Iterable[int] = ()) -> None:
        self.position = position
        self._ahead = set(ahead)

    @property
    def ahead(self) -> list[int]:
        """Indices that were added though one below was not."""
        return sorted(self._ahead)

    def add(self, index: int) -> None:
        """Add an index."""
        self._ahead.add(index)
        while self.position in self._ahead:
            self._ahead.remove(self.position)
            self.position += 1

    def __contains__(self, index: int) -> bool:
        return index < self.position or index in self._ahead
