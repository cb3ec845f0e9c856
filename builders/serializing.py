"""Encoding the examples that a generator yields, so that errors say which one it was."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import Any

from featurekit.builders.keys import Key
from featurekit.connector import FeatureConnector
from featurekit.errors import InvalidTypeError, add_context, short_repr

__all__ = ["ExampleSerializer", "SerializedExamples"]

_NO_KEY = object()


class ExampleSerializer:
    """Turns the `(key, example)` pairs of one split into `(key, bytes)`.

    Args:
        features: The features of an example.
        building: What is being built, for errors: `pets:1.0.0, split train`.
    """

    def __init__(self, features: FeatureConnector, building: str) -> None:
        self.features = features
        self.building = building

    def pairs(self, items: Iterable[Any]) -> Iterator[tuple[Key, Any]]:
        """What a generator yields, as pairs.

        Raises:
            InvalidTypeError: An item is no `(key, example)`.
        """
        key: Any = _NO_KEY
        try:
            for item in items:
                key, example = _as_pair(item)
                yield key, example
        except Exception as error:
            place = "before the first key" if key is _NO_KEY else f"after key {short_repr(key)}"
            add_context(error, f"while building {self.building}, {place}")
            raise

    def serialize(self, key: Key, example: Any) -> bytes:
        """The bytes of one example.

        Raises:
            EncodeError: It does not fit the features.
        """
        try:
            return self.features.serialize_example(example)
        except Exception as error:
            add_context(error, f"while building {self.building}, key {short_repr(key)}")
            raise

    def records(self, items: Iterable[Any]) -> Generator[tuple[Key, bytes], None, None]:
        """Keys and bytes of what a generator yields, in its order."""
        for key, example in self.pairs(items):
            yield key, self.serialize(key, example)


class SerializedExamples:
    """Examples that were encoded already.

    Args:
        records: Keys and bytes.
    """

    def __init__(self, records: Generator[tuple[Key, bytes], None, None]) -> None:
        self.records = records

    def __iter__(self) -> Iterator[tuple[Key, bytes]]:
        return iter(self.records)


def _as_pair(item: Any) -> tuple[Key, Any]:
    if isinstance(item, tuple) and len(item) == 2:
        return item
    raise InvalidTypeError(
        f"expected (key, example), got {type(item).__name__} {short_repr(item)}",
        hint="_generate_examples must yield a unique key and a dict of values",
    )
