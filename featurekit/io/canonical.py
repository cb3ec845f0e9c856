"""Bytes of Examples that depend on the values alone: map entries in the order of their keys.

What protobuf itself calls deterministic differs between its versions, some of which put a key
behind the longer ones that begin with it.
"""

from __future__ import annotations

from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from featurekit.proto.example_pb2 import Example, FeatureLists, Features, SequenceExample

__all__ = ["canonical_bytes", "field_bytes", "varint"]


def canonical_bytes(message: Message) -> bytes:
    """Serialize a message of `example.proto`, map entries sorted by key."""
    if len(UnknownFieldSet(message)):
        return message.SerializeToString(deterministic=True)
    if isinstance(message, Features):
        return _map_bytes(message, message.feature)
    if isinstance(message, FeatureLists):
        return _map_bytes(message, message.feature_list)
    if isinstance(message, (Example, SequenceExample)):
        return b"".join(
            field_bytes(field.number, canonical_bytes(value))
            for field, value in message.ListFields()
        )
    return message.SerializeToString(deterministic=True)


def _map_bytes(message: Message, entries: object) -> bytes:
    """A message that is but a map: its entries one by one, each a message of its own."""
    field = message.DESCRIPTOR.fields[0].name
    parts = []
    for key in sorted(entries):  # type: ignore[call-overload]  # protobuf's maps have no stub
        one = type(message)()
        getattr(one, field)[key].CopyFrom(entries[key])  # type: ignore[index]
        parts.append(one.SerializeToString())
    return b"".join(parts)


def field_bytes(number: int, data: bytes) -> bytes:
    """A length-delimited field."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(number: int) -> bytes:
    """An unsigned integer as protobuf writes it: seven bits a byte, the lowest first."""
    digits = []
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*digits, number])
