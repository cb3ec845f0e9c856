"""Case and Bad: one value that a connector takes, and one that it refuses."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

from featurekit.errors import InvalidArgumentError, short_repr

__all__ = ["SAME", "UNSTATED", "Bad", "Case"]

SAME: Any = type("Same", (), {"__repr__": lambda _: "SAME"})()
UNSTATED: Any = type("Unstated", (), {"__repr__": lambda _: "UNSTATED"})()


@dataclasses.dataclass(frozen=True)
class Case:
    """A value that a connector takes, with what is stored and what is read back.

    Attributes:
        value: The value, or a function that makes it: for open files and generators, which
            are used up by one encoding.
        decoded: What it reads back as, with exact types and dtypes; by default the value.
        stored: What is stored: a list of values, or a dict of them by the key below the
            feature's own (`{"shape": [2, 3], "value": [b"..."]}`). Python ints stand for an
            int64 list, floats for a float list, bytes for a bytes list, and `{}` for
            nothing. Not looked at where it is left out.
        id: Name of the case in the names of the tests.
    """

    value: Any
    decoded: Any = SAME
    stored: Any = UNSTATED
    id: str | None = None

    def make(self) -> Any:
        """The value, fit to be encoded once more."""
        return _fresh(self.value)

    @property
    def expected(self) -> Any:
        """What the value reads back as."""
        return copy.deepcopy(self.value) if self.decoded is SAME else self.decoded

    @property
    def name(self) -> str:
        """Name of the case in the names of the tests."""
        return self.id or short_repr(self.value, 40)


@dataclasses.dataclass(frozen=True)
class Bad:
    """A value that a connector refuses, with its error.

    Attributes:
        value: The value, or a function that makes it.
        error: Class of the exception.
        message: The exception's whole text, hint and place included.
        match: A regular expression that is found in the text; for texts with paths in them.
        id: Name of the case in the names of the tests.

    Raises:
        InvalidArgumentError: Neither `message` nor `match` says what is expected.
    """

    value: Any
    error: type[BaseException]
    message: str | None = None
    match: str | None = None
    id: str | None = None

    def __post_init__(self) -> None:
        if self.message is None and self.match is None:
            raise InvalidArgumentError(
                "a Bad value states the text of its error", hint="give message= or match="
            )

    def make(self) -> Any:
        """The value, fit to be encoded once more."""
        return _fresh(self.value)

    @property
    def name(self) -> str:
        """Name of the case in the names of the tests."""
        return self.id or short_repr(self.value, 40)


def _fresh(value: Any) -> Any:
    """A value that no other test has used up or written to."""
    if callable(value):
        return value()
    try:
        return copy.deepcopy(value)
    except TypeError:
        return value  # a proxy of another object
