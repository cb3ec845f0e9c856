"""Examples in the JSON form of protobuf, to their bytes and back."""

from __future__ import annotations

import base64
import contextlib
import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from google.protobuf import json_format

from featurekit.errors import (
    FeatureKitError,
    InvalidTypeError,
    ParseError,
    did_you_mean,
    short_repr,
)
from featurekit.io.columns import FeatureValues, Kind, write_example
from featurekit.io.columns_protobuf import parse_message
from featurekit.proto.example_pb2 import Example

__all__ = ["decode_json_example", "encode_json_example"]


def decode_json_example(json_examples: Any, name: str | None = None) -> Any:
    r"""Serialized Examples from their JSON form.

    Args:
        json_examples: JSON text as str or bytes, or an array or nested lists of such.
        name: Taken for TensorFlow's sake; has no effect.

    Returns:
        bytes for one text, else an object array of bytes of the same shape. Keys are
        sorted and numbers packed, so equal Examples give equal bytes.

    Raises:
        ParseError: A text is not JSON, or not that of an Example.
        InvalidTypeError: There is something that is no text.

    >>> text = '{"features": {"feature": {"a": {"int64List": {"value": ["1", 3]}}}}}'
    >>> decode_json_example(text)
    b'\n\r\n\x0b\n\x01a\x12\x06\x1a\x04\n\x02\x01\x03'

    Source: the documentation of tf.io.decode_json_example and protobuf's JSON mapping.
    """
    if isinstance(json_examples, (str, bytes)):
        return _decode(json_examples, None)
    try:
        texts = np.asarray(json_examples, dtype=object)
    except ValueError as error:
        raise InvalidTypeError(
            f"expected JSON text or an array of it, got {short_repr(json_examples)}"
        ) from error
    if not texts.ndim:
        return _decode(texts[()], None)
    decoded = np.empty(texts.shape, object)
    decoded.reshape(-1)[:] = [_decode(text, index) for index, text in enumerate(texts.flat)]
    return decoded


def encode_json_example(serialized: bytes, *, indent: int | None = None) -> str:
    r"""The JSON form of a serialized Example.

    Args:
        serialized: One Example.
        indent: Spaces for each level; None for one line.

    Returns:
        JSON text with sorted keys; int64 values are strings and bytes are base64, as
        protobuf's JSON mapping has it.

    Raises:
        ParseError: The bytes are not an Example.
        InvalidTypeError: They are not bytes.

    >>> encode_json_example(b"\n\r\n\x0b\n\x01a\x12\x06\x1a\x04\n\x02\x01\x03")
    '{"features": {"feature": {"a": {"int64List": {"value": ["1", "3"]}}}}}'
    """
    example = parse_message(Example, serialized)
    return json_format.MessageToJson(example, indent=indent, sort_keys=True, ensure_ascii=False)


def _decode(text: Any, record: int | None) -> bytes:
    if not isinstance(text, (str, bytes)):
        raise InvalidTypeError(f"expected JSON text, got {short_repr(text)}", record=record)
    try:
        return write_example(_features(_document(text)))
    except FeatureKitError as error:
        error.record = record
        raise


def _document(text: str | bytes) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_without_duplicates)
    except (ValueError, RecursionError) as error:
        raise ParseError(
            f"expected JSON, got {short_repr(text)}: {error}",
            hint='an Example is {"features": {"feature": {KEY: {"int64List": {"value": [1]}}}}}',
        ) from error


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the member {twice!r} occurs twice in an object")
    return members


def _features(document: Any) -> dict[str, FeatureValues]:
    features = _member(_object(document, "the Example", ("features",)), "features")
    by_key = _member(_object(features, "features", ("feature",)), "feature")
    return {key: _values(key, value) for key, value in _object(by_key, "feature").items()}


def _values(key: str, feature: Any) -> FeatureValues:
    """What one feature holds; None where no kind is set."""
    what = f"feature {key!r}"
    given = [
        (kind, value)
        for kind, value in _object(feature, what, tuple(_KINDS)).items()
        if value is not None  # null is an absent member
    ]
    if len(given) > 1:
        raise ParseError(f"{what}: expected one kind, got {given[0][0]} and {given[1][0]}")
    if not given:
        return None
    name, value = given[0]
    items = _object(value, f"{what}: {name}", ("value",)).get("value")
    items = [] if items is None else items
    if not isinstance(items, list):
        raise ParseError(f"{what}: expected a list of values, got {short_repr(items)}")
    kind, convert = _KINDS[name]
    converted = [convert(what, item) for item in items]
    return converted if kind is Kind.BYTES else np.array(converted, kind.dtype)


def _object(value: Any, what: str, members: tuple[str, ...] | None = None) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ParseError(f"{what}: expected a JSON object, got {short_repr(value)}")
    for name in value:
        if members is not None and name not in members:
            raise ParseError(f"{what}: there is no member {name!r}{did_you_mean(name, members)}")
    return value


def _member(members: dict[str, Any], name: str) -> Any:
    value = members.get(name)
    return {} if value is None else value


def _integer(what: str, item: Any) -> int:
    number = _number(item) if isinstance(item, str) else item
    if isinstance(number, float) and number.is_integer() and abs(number) <= 2**53:
        number = int(number)  # beyond, a float may have been rounded already
    if not isinstance(number, int) or isinstance(number, bool):
        raise ParseError(f"{what}: expected an integer, got {short_repr(item)}")
    if not -(2**63) <= number < 2**63:
        raise ParseError(f"{what}: {short_repr(item)} is out of range for int64")
    return number


def _float(what: str, item: Any) -> np.float32:
    number = _number(item) if isinstance(item, str) else item
    if not isinstance(number, (int, float)) or isinstance(number, bool):
        raise ParseError(f"{what}: expected a number, got {short_repr(item)}")
    try:
        with np.errstate(over="ignore"):
            rounded = np.float32(number)
    except OverflowError:  # an int beyond float64
        rounded = np.float32(np.inf)
    if np.isinf(rounded) and number not in (np.inf, -np.inf):
        raise ParseError(f"{what}: {short_repr(item)} is out of range for float32")
    return rounded


def _number(text: str) -> float | int | None:
    if text in ("NaN", "Infinity", "-Infinity"):
        return float(text)
    return json.loads(text) if _NUMBER.fullmatch(text) else None


def _bytes(what: str, item: Any) -> bytes:
    """Base64 of the usual or the URL alphabet, padded or not."""
    if isinstance(item, str):
        text = item.translate(_URL_ALPHABET).rstrip("=")
        with contextlib.suppress(ValueError):
            return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    raise ParseError(f"{what}: expected bytes in base64, got {short_repr(item)}")


_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)
_URL_ALPHABET = str.maketrans("-_", "+/")
_KINDS: dict[str, tuple[Kind, Callable[[str, Any], Any]]] = {
    "bytesList": (Kind.BYTES, _bytes),
    "bytes_list": (Kind.BYTES, _bytes),
    "floatList": (Kind.FLOAT, _float),
    "float_list": (Kind.FLOAT, _float),
    "int64List": (Kind.INT64, _integer),
    "int64_list": (Kind.INT64, _integer),
}
