"""One example on its way through a saver."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from featurekit.sequences.states import StateRow

__all__ = ["Example"]


@dataclasses.dataclass(slots=True, eq=False)
class Example:
    """One example: its data, and how far it has come.

    Args:
        key: Its key, as UTF-8.
        count: Number of its segments.
        total_length: Number of its steps that are data, the rest is padding.
        sequences: `(count * num_unroll, ...)` arrays or `SparseTensor`s, by name.
        context: Values that are the same for all segments, by name.
        states: What the next segment starts from.
        segment: Number of the segment that is ready, or that waits for its states.
        rank: Place in the order of arrival, from 0.
        source_index: Place in the input of the feeder that read it, if one did.
        admitted: Whether there was room for it.
    """

    key: bytes
    count: int
    total_length: int
    sequences: Mapping[str, Any]
    context: Mapping[str, Any]
    states: StateRow
    segment: int = 0
    rank: int = -1
    source_index: int | None = None
    admitted: bool = False

    def full_key(self, segment: int) -> bytes:
        """The key of a segment; that after the last one says that the example stops.

        >>> Example(b"a", 2, 3, {}, {}, StateRow({}, 0)).full_key(1)
        b'00001_of_00002:a'
        """
        if segment == self.count:
            return b"STOP:" + self.key
        return b"%05d_of_%05d:%b" % (segment, self.count, self.key)

    @property
    def shown(self) -> str:
        """The key for messages."""
        return repr(self.key.decode(errors="replace"))
