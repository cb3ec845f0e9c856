"""Examples and SequenceExamples: the messages, and dicts of values to them and back.

The classes are protobuf messages: `Example.FromString`, `SerializeToString`,
`WhichOneof`, printing, comparing and pickling are protobuf's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from google.protobuf.message import Message

from featurekit.errors import (
    EncodeTypeError,
    FeatureKitError,
    InvalidTypeError,
    add_path,
    short_repr,
)
from featurekit.io.canonical import canonical_bytes
from featurekit.io.column_errors import key_error
from featurekit.io.columns import FeatureValues, Kind, read_example
from featurekit.io.columns_protobuf import (
    feature_kind,
    feature_values,
    parse_message,
    set_feature,
)
from featurekit.io.feature_values import (
    as_bytes_values,
    as_float_values,
    as_int64_values,
    as_values_of_any_kind,
    untyped_error,
)
from featurekit.io.message_size import check_message_size
from featurekit.proto.example_pb2 import (
    BytesList,
    Example,
    Feature,
    FeatureList,
    FeatureLists,
    Features,
    FloatList,
    Int64List,
    SequenceExample,
)

__all__ = [
    "BytesList",
    "Example",
    "Feature",
    "FeatureList",
    "FeatureLists",
    "Features",
    "FloatList",
    "Int64List",
    "SequenceExample",
    "bytes_feature",
    "example_to_dict",
    "float_feature",
    "int64_feature",
    "make_example",
    "make_sequence_example",
    "sequence_example_to_dict",
    "serialize",
]

_EMPTY: dict[Kind, FeatureValues] = {kind: np.empty(0, kind.dtype) for kind in Kind}


def bytes_feature(value: Any) -> Feature:
    """A Feature that holds text (as UTF-8) or bytes.

    Args:
        value: One str or bytes, or a flat list or array of them.

    Raises:
        EncodeTypeError: It is something else.

    >>> bytes_feature("goat").bytes_list.value[:]
    [b'goat']
    """
    return _feature(as_bytes_values(value))


def float_feature(value: Any) -> Feature:
    """A Feature that holds numbers as float32, rounded to the nearest.

    Args:
        value: One float or int, or a flat list or array of them.

    Raises:
        EncodeTypeError: It is no number.
        EncodeError: A finite number is beyond float32.

    >>> float_feature(0.5).float_list.value[:]
    [0.5]
    """
    return _feature(as_float_values(value))


def int64_feature(value: Any) -> Feature:
    """A Feature that holds bools (as 0 and 1), ints or enums as int64.

    Args:
        value: One bool, int or `IntEnum`, or a flat list or array of them.

    Raises:
        EncodeTypeError: It is something else; a float is never taken, not even 1.0.
        EncodeError: An int is beyond int64.

    >>> int64_feature([True, 4]).int64_list.value[:]
    [1, 4]
    """
    return _feature(as_int64_values(value))


def make_example(features: Mapping[str, Any]) -> Example:
    """An Example with these features.

    Args:
        features: For each key a value, a flat list or a 1-D array of bools, ints, floats,
            str or bytes; or a `Feature`; or None, for a Feature with no kind set. An empty
            list has no kind: give an empty array with a dtype, or a `Feature`.

    Raises:
        EncodeTypeError: A value fits no kind, or several; the path is its key.
        EncodeError: A number is out of range.

    >>> example = make_example({"name": "goat", "legs": 4})
    >>> example_to_dict(example)
    {'legs': array([4]), 'name': array([b'goat'], dtype=object)}
    """
    example = Example()
    _fill(example.features, features)
    return example


def make_sequence_example(
    context: Mapping[str, Any] | None = None,
    feature_lists: Mapping[str, Iterable[Any]] | None = None,
) -> SequenceExample:
    """A SequenceExample with these context features and feature lists.

    Args:
        context: Features of the whole example, as for `make_example`.
        feature_lists: For each key the steps, each as a feature of `make_example`. The
            steps of a list are of one kind; an empty list as a step takes it from the
            others.

    Raises:
        EncodeTypeError: A value fits no kind, or the steps of a list have several.
        EncodeError: A number is out of range.

    >>> example = make_sequence_example({"locale": "pt_BR"}, {"ratings": [[4.5], [5.0]]})
    >>> sequence_example_to_dict(example)["feature_lists"]["ratings"][0]
    array([4.5], dtype=float32)
    """
    example = SequenceExample()
    if context is not None:
        example.context.SetInParent()
        _fill(example.context, context)
    for key, steps in (feature_lists or {}).items():
        try:
            features = _step_features(steps)
            example.feature_lists.feature_list[_checked_key(key)].feature.extend(features)
        except FeatureKitError as error:
            add_path(error, str(key))
            raise
    return example


def example_to_dict(example: Example | bytes) -> dict[str, npt.NDArray[Any] | None]:
    """Everything in an Example, in the order of the keys.

    Returns:
        1-D int64, float32 or object (of bytes) arrays; None for a Feature with no kind set.

    Raises:
        ParseError: The bytes are not an Example.
    """
    if isinstance(example, Message):
        return _features_dict(example.features.feature)
    return read_example(example)


def sequence_example_to_dict(example: SequenceExample | bytes) -> dict[str, dict[str, Any]]:
    """Everything in a SequenceExample, in the order of the keys.

    Returns:
        `context`, as from `example_to_dict`, and `feature_lists`: for each key a list with
        one array (or None) a step. They are the arguments of `make_sequence_example`.

    Raises:
        ParseError: The bytes are not a SequenceExample.
    """
    if not isinstance(example, Message):
        example = parse_message(SequenceExample, example)
    lists = example.feature_lists.feature_list
    return {
        "context": _features_dict(example.context.feature),
        "feature_lists": {
            key: [feature_values(feature) for feature in lists[key].feature]
            for key in sorted(lists)
        },
    }


def serialize(message: Message) -> bytes:
    r"""The bytes of a message, the same every time: map keys are sorted.

    Raises:
        EncodeError: An Example or SequenceExample would pass 2**31 - 1 bytes.
        InvalidTypeError: It is no message.

    >>> serialize(float_feature(2.718281828459045))
    b'\x12\x06\n\x04T\xf8-@'
    """
    if not isinstance(message, Message):
        raise InvalidTypeError(f"expected a protobuf message, got {short_repr(message)}")
    if isinstance(message, (Example, SequenceExample)):
        check_message_size(message)
    return canonical_bytes(message)


def _feature(values: FeatureValues) -> Feature:
    feature = Feature()
    set_feature(feature, values)
    return feature


def _fill(features: Features, values: Mapping[str, Any]) -> None:
    for key, value in values.items():
        try:
            features.feature[_checked_key(key)].CopyFrom(_any_feature(value))
        except FeatureKitError as error:
            add_path(error, str(key))
            raise


def _checked_key(key: Any) -> str:
    try:
        key.encode()
    except (AttributeError, UnicodeEncodeError) as error:
        raise key_error(key) from error
    text: str = key
    return text


def _any_feature(value: Any) -> Feature:
    if isinstance(value, Feature):
        return value
    return Feature() if value is None else _feature(as_values_of_any_kind(value))


def _step_features(steps: Iterable[Any]) -> list[Feature]:
    if isinstance(steps, (str, bytes, Mapping)) or not isinstance(steps, Iterable):
        raise EncodeTypeError(f"expected a list of steps, got {short_repr(steps)}")
    features = [_step_feature(step, index) for index, step in enumerate(steps)]
    kinds = [None if feature is None else feature_kind(feature) for feature in features]
    kind = next((kind for kind in kinds if kind is not None), None)
    if kind is None:
        if None in features:
            raise untyped_error()
        return [feature for feature in features if feature is not None]
    for index, other in enumerate(kinds):
        if other not in (None, kind):
            raise EncodeTypeError(
                f"expected the kind of the other steps, {kind.field}, got {other.field}",
                hint="the steps of a feature list are of one kind; make them all floats or ints",
                path=[index],
            )
    return [_feature(_EMPTY[kind]) if feature is None else feature for feature in features]


def _step_feature(step: Any, index: int) -> Feature | None:
    """The step's Feature; None for an empty list, which takes its kind from the others."""
    if isinstance(step, (list, tuple)) and not step:
        return None
    try:
        return _any_feature(step)
    except FeatureKitError as error:
        add_path(error, index)
        raise


def _features_dict(features: Mapping[str, Feature]) -> dict[str, npt.NDArray[Any] | None]:
    # Protobuf gives map entries in an arbitrary order.
    return {key: feature_values(features[key]) for key in sorted(features)}
