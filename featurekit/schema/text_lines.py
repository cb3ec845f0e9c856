"""The line of a text file that a message is about."""

from __future__ import annotations

import re

__all__ = ["line_of_error", "line_of_words"]

_QUOTED = re.compile(r"'([^']+)'")


def line_of_error(error: BaseException) -> int | None:
    """The line at which JSON ended to be JSON, where that is what `error` comes from."""
    cause: BaseException | None = error
    while cause is not None:
        line = getattr(cause, "lineno", None)  # of json.JSONDecodeError
        if isinstance(line, int):
            return line
        cause = cause.__cause__
    return None


def line_of_words(text: str, message: str) -> int | None:
    r"""The first line, from 1, that holds the first thing which `message` quotes and `text` has.

    In JSON a name counts before a value, as in `"name": ...`.

    >>> line_of_words('{\n"a": "b",\n"b": 2\n}', "field 'b' of dataset_info.json has the value 2")
    3
    """
    for word in _QUOTED.findall(message):
        literal = re.escape(word)
        for pattern in (rf'"{literal}"\s*:', literal):
            if match := re.search(pattern, text):
                return text.count("\n", 0, match.start()) + 1
    return None
