"""How long an Example will be, known before it is serialized.

Protobuf messages end at 2**31 - 1 bytes. Beyond, some serializers fail, others write what
no parser takes. So the size is worked out from the values: first a cheap bound, which
settles all but huge examples, then the exact figure.

Source: the protobuf encoding guide (tags, varints, length-delimited fields, packing).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from featurekit.errors import EncodeError
from featurekit.io.columns import FeatureValues, Kind
from featurekit.proto.example_pb2 import Example, Feature, SequenceExample

__all__ = [
    "MAX_MESSAGE_BYTES",
    "check_example_size",
    "check_message_size",
    "example_size",
    "size_error",
]

MAX_MESSAGE_BYTES = 2**31 - 1
"""The longest serialized message that protobuf allows."""

_KINDS = {kind.dtype: kind for kind in Kind}
_MAX_VARINT = 10  # bytes of an int64 below zero
_MAX_FRAMING = 64  # tags and lengths around one feature, without its key


class _Values(NamedTuple):
    kind: Kind | None
    items: Sequence[Any]

    def bound(self) -> int:
        """The most bytes that the Feature can take, without its framing."""
        if self.kind is Kind.BYTES:
            return sum(map(len, self.items)) + 6 * len(self.items)
        return len(self.items) * (4 if self.kind is Kind.FLOAT else _MAX_VARINT)

    def size(self) -> int:
        """The length of the serialized Feature."""
        if self.kind is None:
            return 0
        if self.kind is Kind.BYTES:
            return _field(sum(_field(len(item)) for item in self.items))
        if not len(self.items):
            return _field(0)
        if self.kind is Kind.FLOAT:
            return _field(_field(4 * len(self.items)))
        return _field(_field(_varints(self.items)))


def check_example_size(features: Mapping[str, FeatureValues]) -> None:
    """Refuse features whose Example would be too long.

    Raises:
        EncodeError: It would pass `MAX_MESSAGE_BYTES`; the text names the biggest feature.
    """
    _check({key: _of_values(values) for key, values in features.items()}, {})


def check_message_size(message: Example | SequenceExample) -> None:
    """Refuse a message that would be too long to serialize.

    Raises:
        EncodeError: It would pass `MAX_MESSAGE_BYTES`; the text names the biggest feature.
    """
    if isinstance(message, Example):
        _check(_of_features(message.features.feature), {})
        return
    lists = message.feature_lists.feature_list
    _check(
        _of_features(message.context.feature),
        {key: [_of_feature(step) for step in lists[key].feature] for key in lists},
    )


def example_size(features: Mapping[str, FeatureValues]) -> int:
    """The exact length of the serialized Example, in bytes.

    >>> example_size({"age": np.array([3])})
    16
    """
    return _map_size({key: _of_values(values).size() for key, values in features.items()})


def size_error(size: int, features: Mapping[str, int]) -> EncodeError:
    """An example of `size` bytes that is too long, given the bytes of each feature."""
    key = max(features, key=lambda key: features[key])
    return EncodeError(
        f"the example would take {size} bytes, more than the {MAX_MESSAGE_BYTES} that one "
        f"message may have; its biggest feature is {key!r} with {features[key]} bytes",
        hint="store it as several examples, or encode the feature (an image or video format, "
        "fewer values)",
    )


def _check(features: Mapping[str, _Values], lists: Mapping[str, list[_Values]]) -> None:
    bound = sum(_MAX_FRAMING + 4 * len(key) for key in (*features, *lists))
    bound += sum(values.bound() for values in features.values())
    bound += sum(_MAX_FRAMING + step.bound() for steps in lists.values() for step in steps)
    if bound <= MAX_MESSAGE_BYTES:
        return
    sizes = {key: values.size() for key, values in features.items()}
    list_sizes = {key: sum(_field(step.size()) for step in lists[key]) for key in lists}
    size = _map_size(sizes) + _map_size(list_sizes)
    if size > MAX_MESSAGE_BYTES:
        raise size_error(size, sizes | list_sizes)


def _of_values(values: FeatureValues) -> _Values:
    if values is None:
        return _Values(None, ())
    if not isinstance(values, np.ndarray):
        return _Values(Kind.BYTES, values)
    return _Values(_KINDS[values.dtype], values.reshape(-1))  # type: ignore[arg-type]


def _of_features(features: Mapping[str, Feature]) -> dict[str, _Values]:
    return {key: _of_feature(features[key]) for key in features}


def _of_feature(feature: Feature) -> _Values:
    field = feature.WhichOneof("kind")
    if field is None:
        return _Values(None, ())
    kind = Kind(feature.DESCRIPTOR.fields_by_name[field].number)
    return _Values(kind, getattr(feature, field).value)


def _map_size(values: Mapping[str, int]) -> int:
    """Length of a message that is one map, from text to messages of these lengths."""
    entries = (_field(_field(len(key.encode())) + _field(size)) for key, size in values.items())
    return _field(sum(entries)) if values else 0


def _varints(items: Iterable[int]) -> int:
    """Length of ints as varints: one byte for each 7 bits, at least one."""
    bits = np.asarray(items, dtype=np.int64).view(np.uint64)
    longer = (int(np.count_nonzero(bits >> np.uint64(7 * n))) for n in range(1, _MAX_VARINT))
    return bits.size + sum(longer)


def _field(size: int) -> int:
    """Length of a length-delimited field with a one-byte tag and `size` bytes."""
    return 1 + max(1, -(-size.bit_length() // 7)) + size
