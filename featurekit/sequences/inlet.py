"""The way in: from the values of an example to its segments in the barrier."""

from __future__ import annotations

import random
import threading
from collections.abc import Mapping
from typing import Any

from featurekit.errors import add_context
from featurekit.sequences.barrier import Barrier
from featurekit.sequences.items import ItemReader
from featurekit.sequences.splitting import Splitter

__all__ = ["Inlet", "UniqueKeys"]


class UniqueKeys:
    """Appends random numbers below 100,000,000 to keys.

    Args:
        seed: Makes the numbers repeatable.
    """

    def __init__(self, seed: int | None) -> None:
        self._random = random.Random(seed)
        self._drawing = threading.Lock()

    def __call__(self, key: bytes) -> bytes:
        """The key with a number after it."""
        with self._drawing:
            return b"%b%d" % (key, self._random.randrange(100_000_000))

    def get_state(self) -> Any:
        """Where the sequence of numbers is."""
        return self._random.getstate()

    def set_state(self, state: Any) -> None:
        """Go on from there."""
        self._random.setstate(state)


class Inlet:
    """Puts examples into a barrier.

    Args:
        splitter: Checks and cuts them.
        barrier: Takes them.
        unique_keys: Makes their keys unique, if they are to be.
    """

    def __init__(
        self, splitter: Splitter, barrier: Barrier, unique_keys: UniqueKeys | None
    ) -> None:
        self.splitter = splitter
        self.barrier = barrier
        self.unique_keys = unique_keys

    def insert(
        self,
        key: Any,
        length: Any,
        sequences: Mapping[str, Any],
        context: Mapping[str, Any] | None = None,
        initial_states: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        source_index: int | None = None,
    ) -> None:
        """Put in one example; see `SequenceQueueingStateSaver.enqueue`."""
        try:
            example = self.splitter.split(key, length, sequences, context, initial_states)
        except Exception as error:
            add_context(error, f"in the example {key!r}")
            raise
        if self.unique_keys is not None:
            example.key = self.unique_keys(example.key)
        example.source_index = source_index
        self.barrier.insert(example, timeout)

    def insert_item(self, reader: ItemReader, index: int, item: Any) -> None:
        """Put in what an input gives; see `SequenceQueueingStateSaver.feed`."""
        arguments = reader.read(index, item)
        arguments.setdefault("length", None)
        self.insert(**arguments, source_index=index)
