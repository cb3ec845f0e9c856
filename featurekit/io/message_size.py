"""How long an Example will be, known before it is serialized.

Protobuf messages end at 2**31 - 1 bytes; beyond, serializers have failed in ways that
lose data or the process. So the size is worked out from the values: first a cheap
bound, which settles all but huge examples, then the exact figure.

Source: the protobuf encoding guide (tags, varints, length-delimited fields, packing).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from featurekit.errors import EncodeError
from featurekit.io.columns import FeatureValues

__all__ = ["MAX_MESSAGE_BYTES", "check_example_size", "example_size", "size_error"]

MAX_MESSAGE_BYTES = 2**31 - 1
"""The longest serialized message that protobuf allows."""

_MAX_VARINT = 10  # bytes of an int64 below zero
_MAX_FRAMING = 64  # tags and lengths around one feature, without its key


def check_example_size(features: Mapping[str, FeatureValues]) -> None:
    """Refuse features whose Example would be too long.

    Raises:
        EncodeError: It would pass `MAX_MESSAGE_BYTES`; the text names the biggest feature.
    """
    bound = sum(_bound(values) + 4 * len(key) + _MAX_FRAMING for key, values in features.items())
    if bound <= MAX_MESSAGE_BYTES:
        return
    if (size := example_size(features)) > MAX_MESSAGE_BYTES:
        raise size_error(size, {key: _feature_size(values) for key, values in features.items()})


def size_error(size: int, features: Mapping[str, int]) -> EncodeError:
    """An example of `size` bytes that is too long, given the bytes of each feature."""
    key = max(features, key=lambda key: features[key])
    return EncodeError(
        f"the example would take {size} bytes, more than the {MAX_MESSAGE_BYTES} that one "
        f"message may have; its biggest feature is {key!r} with {features[key]} bytes",
        hint="store it as several examples, or encode the feature (an image or video format, "
        "fewer values)",
    )


def example_size(features: Mapping[str, FeatureValues]) -> int:
    """The exact length of the serialized Example, in bytes.

    >>> example_size({"age": np.array([3])})
    16
    """
    entries = (
        _field(_field(len(key.encode())) + _field(_feature_size(values)))
        for key, values in features.items()
    )
    return _field(sum(entries)) if features else 0


def _bound(values: FeatureValues) -> int:
    if values is None:
        return 0
    if isinstance(values, np.ndarray) and values.dtype != object:
        return values.size * (_MAX_VARINT if values.dtype == np.int64 else values.itemsize)
    return sum(map(len, values)) + 6 * len(values)


def _feature_size(values: FeatureValues) -> int:
    """Length of one serialized Feature."""
    if values is None:
        return 0
    if not isinstance(values, np.ndarray) or values.dtype == object:
        return _field(sum(_field(len(value)) for value in _flat(values)))
    if values.size == 0:
        return _field(0)
    return _field(_field(_varints(values) if values.dtype == np.int64 else values.nbytes))


def _flat(values: npt.NDArray[Any] | Sequence[bytes]) -> Sequence[bytes]:
    return values.reshape(-1).tolist() if isinstance(values, np.ndarray) else values


def _varints(values: npt.NDArray[np.int64]) -> int:
    """Length of the values as varints: one byte for each 7 bits, at least one."""
    bits = values.reshape(-1).view(np.uint64)
    longer = (int(np.count_nonzero(bits >> np.uint64(7 * n))) for n in range(1, _MAX_VARINT))
    return values.size + sum(longer)


def _field(size: int) -> int:
    """Length of a length-delimited field with a one-byte tag and `size` bytes."""
    return 1 + max(1, -(-size.bit_length() // 7)) + size
