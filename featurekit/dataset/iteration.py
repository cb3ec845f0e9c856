"""Iterators over examples that can be stopped, saved and resumed at any place."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

from featurekit.errors import InvalidArgumentError, short_repr

__all__ = ["ResumableIterator"]

# Streams of the process that this one was forked from. Their threads are not here, so they must
# not even be closed.
_foreign: list[Any] = []


class ResumableIterator(Iterator[Any]):
    """Goes through examples or batches, and knows where it is.

    It can be pickled, and used in a process that was forked: it goes on from where it was.

    Args:
        stream: Gives what comes from a position on, in an epoch: each item, and the position
            behind it.
        order: What is iterated over, in words: a state of another order is refused.
        epoch: The epoch to read.

    Example:
        >>> examples = iter(fk.load("digits", split="train").shuffle(0))  # doctest: +SKIP
        >>> first = next(examples)  # doctest: +SKIP
        >>> state = examples.state_dict()  # doctest: +SKIP
        >>> again = iter(fk.load("digits", split="train").shuffle(0))  # doctest: +SKIP
        >>> again.load_state_dict(state)  # goes on with the second example  # doctest: +SKIP
    """

    def __init__(
        self, stream: Callable[[int, int], Iterator[tuple[Any, int]]], order: str, epoch: int
    ) -> None:
        self._make = stream
        self._order = order
        self._epoch = epoch
        self._position = 0
        self._stream: Iterator[tuple[Any, int]] | None = None
        self._process = os.getpid()
        self._convert: Callable[[Any], Any] | None = None

    def mapped(self, function: Callable[[Any], Any]) -> Self:
        """The same iterator, which applies a function to each item that it gives."""
        self._convert = function
        return self

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        if self._process != os.getpid():
            _foreign.append(self._stream)
            self._stream, self._process = None, os.getpid()
        if self._stream is None:
            self._stream = self._make(self._epoch, self._position)
        try:
            item, position = next(self._stream)
            item = item if self._convert is None else self._convert(item)
        except BaseException:
            self._stream = None  # it has ended; asked again, the same comes again
            raise
        self._position = position
        return item

    @property
    def epoch(self) -> int:
        """The epoch that is read."""
        return self._epoch

    @property
    def position(self) -> int:
        """How many examples have been given, of this epoch."""
        return self._position

    def state_dict(self) -> dict[str, Any]:
        """Where it is: plain values, to be saved with a checkpoint."""
        return {"order": self._order, "epoch": self._epoch, "position": self._position}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from where another iterator was.

        Args:
            state: What its `state_dict` gave.

        Raises:
            InvalidArgumentError: It iterated over other examples, or in another order.
        """
        try:
            order, epoch, position = state["order"], int(state["epoch"]), int(state["position"])
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidArgumentError(
                f"expected what state_dict gave, got {short_repr(state)}"
            ) from error
        if order != self._order:
            raise InvalidArgumentError(
                f"the state belongs to the order {order}, this is {self._order}",
                hint="load it where the same split is sliced, shuffled and sharded the same way",
            )
        self.close()
        self._epoch, self._position = epoch, position

    def close(self) -> None:
        """Stop its threads; asked again, it goes on."""
        stream, self._stream = self._stream, None
        if self._process != os.getpid():
            _foreign.append(stream)
        elif stream is not None:
            stream.close()  # type: ignore[attr-defined]

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_stream": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _process=os.getpid())
