"""Examples to arrays and back through protobuf: the specification of `columns`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
from google.protobuf.message import DecodeError as ProtobufDecodeError
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from featurekit.io.canonical import canonical_bytes, field_bytes
from featurekit.io.column_errors import (
    key_error,
    kind_error,
    record_type_error,
    values_error,
    wire_error,
)
from featurekit.io.columns import Column, ColumnSpec, FeatureValues, Kind, StepColumn
from featurekit.io.message_size import check_example_size
from featurekit.proto.example_pb2 import (
    Example,
    Feature,
    FeatureList,
    FloatList,
    SequenceExample,
)

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "feature_kind",
    "feature_values",
    "parse_message",
    "read_columns",
    "read_columns_buffer",
    "read_example",
    "read_sequence_columns",
    "set_feature",
    "write_example",
]

_NUMBERS = (np.int64, np.float32)
_LENGTH = 2  # the wire type of messages and bytes

M = TypeVar("M", bound=Message)

_KINDS = {kind.field: kind for kind in Kind}


def read_columns(records: Sequence[bytes], specs: Sequence[ColumnSpec]) -> list[Column]:
    """See `featurekit.io.columns.read_columns`."""
    examples = [parse_message(Example, record, index) for index, record in enumerate(records)]
    maps = [example.features.feature for example in examples]
    return [_column(spec, maps) for spec in specs]


def read_columns_buffer(
    buffer: Buffer,
    offsets: npt.NDArray[np.int64],
    lengths: npt.NDArray[np.int64],
    specs: Sequence[ColumnSpec],
) -> list[Column]:
    """See `featurekit.io.columns.read_columns_buffer`."""
    view = memoryview(buffer).cast("B")
    ends = (offsets + lengths).tolist()
    records = [bytes(view[start:end]) for start, end in zip(offsets.tolist(), ends, strict=True)]
    return read_columns(records, specs)


def read_sequence_columns(
    records: Sequence[bytes],
    context: Sequence[ColumnSpec],
    lists: Sequence[ColumnSpec],
) -> tuple[list[Column], list[StepColumn]]:
    """See `featurekit.io.columns.read_sequence_columns`."""
    examples = [
        parse_message(SequenceExample, record, index) for index, record in enumerate(records)
    ]
    contexts = [example.context.feature for example in examples]
    feature_lists = [example.feature_lists.feature_list for example in examples]
    return (
        [_column(spec, contexts) for spec in context],
        [_step_column(spec, feature_lists) for spec in lists],
    )


def read_example(record: bytes) -> dict[str, npt.NDArray[Any] | None]:
    """See `featurekit.io.columns.read_example`."""
    features = parse_message(Example, record).features.feature
    # Protobuf gives map entries in an arbitrary order.
    return {key: feature_values(features[key]) for key in sorted(features)}


def write_example(features: Mapping[str, FeatureValues]) -> bytes:
    """See `featurekit.io.columns.write_example`."""
    for key, values in features.items():
        _check_feature(key, values)
    check_example_size(features)
    example = Example()
    for key, values in features.items():
        set_feature(example.features.feature[key], values)
    return canonical_bytes(example)


def parse_message(message: type[M], data: bytes, record: int | None = None) -> M:
    """The Example or SequenceExample in `data`; protobuf's own errors become ours."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise record_type_error(data, record=record)
    name = message.DESCRIPTOR.name
    try:
        parsed = message.FromString(bytes(data))
    except (ProtobufDecodeError, UnicodeDecodeError) as error:
        raise wire_error(name, data, record=record) from error
    if any(_has_lost_entry(getattr(parsed, field.name)) for field in message.DESCRIPTOR.fields):
        raise wire_error(name, data, record=record)
    return parsed


def _has_lost_entry(features: Message) -> bool:
    # Protobuf sets a map entry aside whole where it finds an unknown field in it: its
    # feature would be absent, quietly.
    unknown = UnknownFieldSet(features)
    fields = (unknown[index] for index in range(len(unknown)))
    return any(field.field_number == 1 and field.wire_type == _LENGTH for field in fields)


def feature_kind(feature: Feature) -> Kind | None:
    """The kind of list that is set."""
    field = feature.WhichOneof("kind")
    return None if field is None else _KINDS[field]


def feature_values(feature: Feature) -> npt.NDArray[Any] | None:
    """The values as a 1-D int64, float32 or object (of bytes) array; None for no kind."""
    kind = feature_kind(feature)
    return None if kind is None else _values(feature, kind)


def set_feature(feature: Feature, values: FeatureValues) -> None:
    """Set the kind that belongs to `values`, and the values themselves."""
    if values is None:
        return
    if not isinstance(values, np.ndarray):
        feature.bytes_list.value.extend(values)
        feature.bytes_list.SetInParent()
    elif values.dtype == object:
        feature.bytes_list.value.extend(values.reshape(-1).tolist())
        feature.bytes_list.SetInParent()
    elif values.dtype == np.int64:
        feature.int64_list.value.extend(values.reshape(-1).tolist())
        feature.int64_list.SetInParent()
    else:
        _set_floats(feature.float_list, values)
        feature.float_list.SetInParent()


def _column(spec: ColumnSpec, maps: Iterable[Mapping[str, Feature]]) -> Column:
    parts, counts = [], []
    for record, features in enumerate(maps):
        values = _checked_values(features.get(spec.key), spec, record)
        counts.append(-1 if values is None else len(values))
        if values is not None:
            parts.append(values)
    return Column(_join(parts, spec.kind), np.array(counts, np.int64))


def _step_column(spec: ColumnSpec, maps: Iterable[Mapping[str, FeatureList]]) -> StepColumn:
    parts, counts, steps = [], [], []
    for record, lists in enumerate(maps):
        feature_list = lists.get(spec.key)
        steps.append(-1 if feature_list is None else len(feature_list.feature))
        for step, feature in enumerate(() if feature_list is None else feature_list.feature):
            values = _checked_values(feature, spec, record, step)
            counts.append(-1 if values is None else len(values))
            if values is not None:
                parts.append(values)
    values = _join(parts, spec.kind)
    return StepColumn(values, np.array(counts, np.int64), np.array(steps, np.int64))


def _join(parts: list[npt.NDArray[Any]], kind: Kind) -> npt.NDArray[Any]:
    return np.concatenate([np.empty(0, kind.dtype), *parts])


def _checked_values(
    feature: Feature | None, spec: ColumnSpec, record: int, step: int | None = None
) -> npt.NDArray[Any] | None:
    kind = None if feature is None else feature_kind(feature)
    if feature is None or kind is None:
        return None
    if kind != spec.kind:
        raise kind_error(spec.key, spec.kind, kind, record=record, step=step)
    return _values(feature, kind)


def _values(feature: Feature, kind: Kind) -> npt.NDArray[Any]:
    if kind is Kind.FLOAT:
        return _floats(feature.float_list)
    if kind is Kind.INT64:
        return np.array(feature.int64_list.value, dtype=np.int64)
    values = np.empty(len(feature.bytes_list.value), dtype=object)
    values[:] = feature.bytes_list.value
    return values


def _floats(floats: FloatList) -> npt.NDArray[np.float32]:
    # The packed wire form is the array: this keeps every bit of a NaN, which Python
    # floats do not, and takes a fiftieth of the time. Unknown fields would follow it.
    count = len(floats.value)
    if not count:
        return np.empty(0, np.float32)
    floats.DiscardUnknownFields()
    return np.frombuffer(floats.SerializeToString()[-4 * count :], "<f4").astype(np.float32)


def _set_floats(floats: FloatList, values: npt.NDArray[Any]) -> None:
    data = values.astype("<f4").tobytes()
    if data:
        floats.MergeFromString(field_bytes(1, data))


def _check_feature(key: str, values: FeatureValues) -> None:
    try:
        key.encode()
    except (AttributeError, UnicodeEncodeError) as error:
        raise key_error(key) from error
    if isinstance(values, np.ma.MaskedArray):  # what is masked must not be written
        raise values_error(key, values)
    if isinstance(values, np.ndarray) and values.dtype in _NUMBERS:
        return
    if values is None:
        return
    if isinstance(values, np.ndarray) and values.dtype != object:
        raise values_error(key, values)
    if isinstance(values, (str, bytes, bytearray, memoryview)):
        raise values_error(key, values)
    items = values.reshape(-1).tolist() if isinstance(values, np.ndarray) else values
    if not isinstance(items, Sequence) or not all(isinstance(item, bytes) for item in items):
        raise values_error(key, values)
