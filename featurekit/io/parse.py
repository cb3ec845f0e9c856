"""Serialized Examples and SequenceExamples to NumPy, the way TensorFlow parses them.

Names, order of arguments and results are those of `tf.io.parse_example` and its kin, with
NumPy arrays, `SparseTensor` and `RaggedTensor` for TensorFlow's. Bytes are read by
protobuf's rules, where TensorFlow's own scanner has other ones. Stricter than TensorFlow:
a SparseFeature's indices must lie in its size, and each example must have as many of them
as values; steps of ragged feature lists must match those of their partitions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from featurekit.errors import InvalidArgumentError, ParseError
from featurekit.io.columns import Column, StepColumn, read_columns, read_sequence_columns
from featurekit.io.columns_protobuf import parse_message
from featurekit.io.parse_dense import DenseReader
from featurekit.io.parse_inputs import Batch, as_batch, require_single
from featurekit.io.parse_plan import Plan, context_plan, example_plan, lists_plan
from featurekit.io.parse_steps import DenseStepsReader
from featurekit.io.parse_strings import Strings, check_strings, convert_strings
from featurekit.io.specs import FeatureSpec
from featurekit.proto.example_pb2 import SequenceExample

__all__ = [
    "parse_example",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
]

Features = Mapping[str, FeatureSpec]


def parse_example(
    serialized: Any,
    features: Features,
    example_names: Any = None,
    name: str | None = None,
    *,
    strings: Strings = "object",
) -> dict[str, Any]:
    r"""A batch of Examples as arrays, by feature.

    Args:
        serialized: Serialized Examples, `(batch,)`: a list, tuple or array of bytes. A
            bytes object on its own is parsed as by `parse_single_example`.
        features: What to read: a spec for each key.
        example_names: Names of the examples for error texts, `(batch,)`.
        name: Taken for TensorFlow's sake; has no effect.
        strings: How strings come: `"object"` for arrays of bytes, `"StringDType"` for
            NumPy's arrays of text (NumPy 2.0 or later).

    Returns:
        A result for each spec:

        - FixedLenFeature: `(batch, *shape)` array;
        - FixedLenSequenceFeature: `(batch, most blocks of an example, *shape)` array;
        - VarLenFeature: SparseTensor of shape `[batch, most values of an example]`;
        - SparseFeature: SparseTensor of shape `[batch, *size]`;
        - RaggedFeature: RaggedTensor, `(batch, ...)`.

        Arrays are int64, float32 or object (of bytes).

    Raises:
        ParseError: Bytes are not an Example, or do not hold what the specs say.
        InvalidArgumentError: A spec or another argument makes no sense.
        InvalidTypeError: It has a type that makes no sense.

    >>> from featurekit.io.specs import FixedLenFeature
    >>> serialized = [b"\n\x0d\n\x0b\n\x01x\x12\x06\x1a\x04\n\x02\x03\x04"]
    >>> parse_example(serialized, {"x": FixedLenFeature([2], np.int64)})
    {'x': array([[3, 4]])}

    Source: the documentation of tf.io.parse_example.
    """
    return _parse_examples(as_batch(serialized, example_names), features, strings)


def parse_single_example(
    serialized: Any,
    features: Features,
    example_names: Any = None,
    name: str | None = None,
    *,
    strings: Strings = "object",
) -> dict[str, Any]:
    r"""One Example as arrays, by feature.

    As `parse_example`, without the batch dimension: an array of shape `[]` is a NumPy
    scalar, or bytes; a RaggedFeature without partitions is an array of rank 1.

    Args:
        serialized: The bytes of one Example.
        features: What to read: a spec for each key.
        example_names: The example's name for error texts.
        name: Taken for TensorFlow's sake; has no effect.
        strings: How strings come, see `parse_example`; a scalar is bytes or str.

    Raises:
        ParseError: The bytes are not an Example, or do not hold what the specs say.
        InvalidArgumentError: A spec or another argument makes no sense.
        InvalidTypeError: It has a type that makes no sense.

    >>> from featurekit.io.specs import FixedLenFeature
    >>> serialized = b"\n\x0d\n\x0b\n\x01x\x12\x06\x1a\x04\n\x02\x03\x04"
    >>> parse_single_example(serialized, {"x": FixedLenFeature([2], np.int64)})
    {'x': array([3, 4])}

    Source: the documentation of tf.io.parse_single_example.
    """
    batch = as_batch(serialized, example_names)
    require_single(batch)
    return _parse_examples(batch, features, strings)


def parse_sequence_example(
    serialized: Any,
    context_features: Features | None = None,
    sequence_features: Features | None = None,
    example_names: Any = None,
    name: str | None = None,
    *,
    strings: Strings = "object",
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """A batch of SequenceExamples as arrays, by feature.

    Args:
        serialized: Serialized SequenceExamples, `(batch,)`: a list, tuple or array of
            bytes, or bytes on their own for results without the batch dimension.
        context_features: What to read of the context: FixedLenFeature, VarLenFeature or
            RaggedFeature.
        sequence_features: What to read of the feature lists: FixedLenSequenceFeature,
            VarLenFeature or RaggedFeature.
        example_names: Names of the examples for error texts, `(batch,)`.
        name: Taken for TensorFlow's sake; has no effect.
        strings: How strings come, see `parse_example`.

    Returns:
        The results of the context, those of the feature lists, and the number of steps of
        each FixedLenSequenceFeature, `(batch,)` int64. Of the feature lists:

        - FixedLenSequenceFeature: `(batch, most steps of an example, *shape)` array,
          padded with 0 or `b""`;
        - VarLenFeature: SparseTensor with indices `[example, step, index]`;
        - RaggedFeature: RaggedTensor, `(batch, steps, ...)`.

    Raises:
        ParseError: Bytes are not a SequenceExample, or do not hold what the specs say.
        InvalidArgumentError: A spec or another argument makes no sense.
        InvalidTypeError: It has a type that makes no sense.

    Source: the documentation of tf.io.parse_sequence_example.
    """
    batch = as_batch(serialized, example_names)
    return _parse_sequences(batch, context_features, sequence_features, strings)


def parse_single_sequence_example(
    serialized: Any,
    context_features: Features | None = None,
    sequence_features: Features | None = None,
    example_name: Any = None,
    name: str | None = None,
    *,
    strings: Strings = "object",
) -> tuple[dict[str, Any], dict[str, Any]]:
    """One SequenceExample as arrays, by feature.

    Args:
        serialized: The bytes of one SequenceExample.
        context_features: What to read of the context, see `parse_sequence_example`.
        sequence_features: What to read of the feature lists.
        example_name: The example's name for error texts.
        name: Taken for TensorFlow's sake; has no effect.
        strings: How strings come, see `parse_example`.

    Returns:
        The results of the context, and those of the feature lists: `(steps, *shape)`
        arrays, SparseTensors with indices `[step, index]`, RaggedTensors `(steps, ...)`.

    Raises:
        ParseError: The bytes are not a SequenceExample, or do not hold what the specs say.
        InvalidArgumentError: A spec or another argument makes no sense.
        InvalidTypeError: It has a type that makes no sense.

    Source: the documentation of tf.io.parse_single_sequence_example.
    """
    batch = as_batch(serialized, example_name)
    require_single(batch)
    return _parse_sequences(batch, context_features, sequence_features, strings)[:2]


def _parse_examples(batch: Batch, features: Features, strings: Strings) -> dict[str, Any]:
    check_strings(strings)
    if not features:
        raise InvalidArgumentError(f"features: expected one or more, got {features!r}")
    plan = example_plan(features)

    def parse(records: Sequence[bytes]) -> dict[str, Any]:
        return plan.results(read_columns(records, plan.columns), single=batch.single)

    return convert_strings(batch.run(parse), strings)


def _parse_sequences(
    batch: Batch,
    context_features: Features | None,
    sequence_features: Features | None,
    strings: Strings,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    check_strings(strings)
    if not context_features and not sequence_features:
        raise InvalidArgumentError(
            "context_features and sequence_features: expected one or more features, got none"
        )
    context_part = context_plan(context_features or {})
    lists_part = lists_plan(sequence_features or {})

    def parse(
        records: Sequence[bytes],
    ) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        context, lists = read_sequence_columns(records, context_part.columns, lists_part.columns)
        _check_context(context_part, context, records)
        return (
            context_part.results(context, single=batch.single),
            lists_part.results(lists, single=batch.single),
            _lengths(lists_part, lists, single=batch.single),
        )

    context, lists, lengths = batch.run(parse)
    return convert_strings(context, strings), convert_strings(lists, strings), lengths


def _lengths(plan: Plan[StepColumn], columns: list[StepColumn], *, single: bool) -> dict[str, Any]:
    """The number of steps of each dense feature list."""
    lengths = {}
    for key, reader, places in plan.steps:
        if isinstance(reader, DenseStepsReader):
            steps = reader.lengths([columns[place] for place in places])
            lengths[key] = steps[0] if single else steps
    return lengths


def _check_context(plan: Plan[Column], columns: list[Column], records: Sequence[bytes]) -> None:
    """Refuse what TensorFlow refuses in a context alone.

    There a default is not for a feature that is present with no kind set, and an empty
    batch needs one. Columns do not tell "no kind" from "absent", so such records are
    looked at again; few will have any.
    """
    for _, reader, places in plan.steps:
        if not isinstance(reader, DenseReader):
            continue
        key = reader.columns[0].key
        if reader.default is None:
            if not records:
                raise InvalidArgumentError(
                    f"feature {key!r}: expected one example or more, got an empty batch",
                    hint="give it a default_value",
                )
            continue
        for record in np.flatnonzero(columns[places[0]].counts < 0).tolist():
            message = parse_message(SequenceExample, records[record], record)
            if key in message.context.feature:
                raise ParseError(
                    f"feature {key!r}: expected values, got a Feature with no kind set",
                    hint="in a context the default is for an absent key only; leave it out",
                    record=record,
                )
