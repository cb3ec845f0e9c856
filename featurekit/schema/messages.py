"""Which message a string of bytes is.

Most bytes parse as almost any message, as fields that it does not know. So a message counts
as an Example only if it has an Example's fields and no others: field 1, the features. A
SequenceExample has feature lists besides, in field 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy.typing as npt

from featurekit.errors import ParseError
from featurekit.io.columns import read_example
from featurekit.io.example import sequence_example_to_dict

__all__ = ["Message", "read_message"]

Values = npt.NDArray[Any] | None

_FEATURES, _FEATURE_LISTS = 0x0A, 0x12  # the tags of the two fields
_MAX_EMPTY = 4  # bytes of a message whose fields are there and empty


class Message(NamedTuple):
    """An Example or a SequenceExample.

    Attributes:
        features: By key, of the Example or of the context; None for no kind of list.
        lists: By key, the steps of each feature list; None for an Example.
    """

    features: Mapping[str, Values]
    lists: Mapping[str, list[Values]] | None = None

    @property
    def kind(self) -> str:
        """`"Example"` or `"SequenceExample"`."""
        return "Example" if self.lists is None else "SequenceExample"


def read_message(data: bytes) -> Message | None:
    r"""The Example or SequenceExample in a string of bytes; None where it is neither.

    A SequenceExample without feature lists is an Example, byte for byte. No bytes are an
    Example without features.

    >>> read_message(b"\n\x05\n\x03\n\x01a")
    Message(features={'a': None}, lists=None)
    >>> read_message(b"hello")
    """
    tags = set(_tags(data))
    if None in tags:
        return None
    try:
        if _FEATURE_LISTS in tags:
            parts = sequence_example_to_dict(data)
            message = Message(parts["context"], parts["feature_lists"])
        else:
            message = Message(read_example(data))
    except ParseError:
        return None
    return message if message.features or message.lists or len(data) <= _MAX_EMPTY else None


def _tags(data: bytes) -> Iterator[int | None]:
    """The tags of a message's fields; None where it has other fields, or none that are whole."""
    position = 0
    while position < len(data):
        tag = data[position]
        length, position = _varint(data, position + 1)
        if tag not in (_FEATURES, _FEATURE_LISTS) or length < 0:
            yield None
            return
        yield tag
        position += length
    if position > len(data):
        yield None


def _varint(data: bytes, start: int) -> tuple[int, int]:
    """A length and where it ends; -1 where there is none of at most 5 bytes."""
    value = 0
    for place, byte in enumerate(data[start : start + 5]):
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return value, start + place + 1
    return -1, len(data)
