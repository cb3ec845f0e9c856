"""tf.data: a dataset with TFDS's element_spec, read by featurekit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from featurekit.dataset.adapters.structure import StepsOf, all_steps, has_steps, structure
from featurekit.dataset.missing import filler
from featurekit.dtypes import dtype_name, is_string
from featurekit.io.ragged import RaggedTensor
from featurekit.optional import import_optional
from featurekit.tensor_info import TensorInfo

__all__ = ["tf_dataset"]


def tf_dataset(items: Any) -> Any:
    """A `tf.data.Dataset` of the items; see `DataSource.to_tf`."""
    tf = import_optional("tensorflow", extra="tensorflow", purpose="to_tf")
    parts = structure(items)
    fill = filler(items.element_spec)

    def generate() -> Iterator[Any]:
        for item in items:
            yield _to_tf(tf, item if fill is None else fill(item), parts)

    data = tf.data.Dataset.from_generator(generate, output_signature=_listed_spec(tf, parts))
    data = data.apply(tf.data.experimental.assert_cardinality(len(items)))
    if has_steps(parts):
        data = data.map(lambda item: _slice_steps(tf, parts, item))
    return data


def _spec(tf: Any, info: TensorInfo, steps: int = 0) -> Any:
    """The spec of a value; of one for each of some steps, where there are any around it."""
    dtype = tf.string if is_string(info.dtype) else tf.as_dtype(dtype_name(info.dtype))
    shape = (*[None] * steps, *info.shape)
    ragged = info.sequence_rank - 1 if info.sequence_rank > 1 else 0
    if steps:
        # Down to the last size that may differ from step to step.
        sizes = [level for level, size in enumerate(info.shape, 1) if size is None]
        ragged = steps - 1 + max([info.sequence_rank, *sizes])
    if ragged:
        return tf.RaggedTensorSpec(shape, dtype, ragged_rank=ragged, row_splits_dtype=tf.int64)
    return tf.TensorSpec(shape, dtype)


def _listed_spec(tf: Any, parts: Any, steps: int = 0) -> Any:
    """The specs of what the generator gives: of steps, all together."""
    if isinstance(parts, StepsOf):
        return _listed_spec(tf, parts.step, steps + 1)
    if isinstance(parts, Mapping):
        return {key: _listed_spec(tf, part, steps) for key, part in parts.items()}
    return _spec(tf, parts, steps)


def _slice_steps(tf: Any, parts: Any, value: Any) -> Any:
    """Datasets in place of the lists of steps."""
    if isinstance(parts, StepsOf):
        data = tf.data.Dataset.from_tensor_slices(value)
        return data.map(lambda step: _slice_steps(tf, parts.step, step))
    if isinstance(parts, Mapping):
        return {key: _slice_steps(tf, part, value[key]) for key, part in parts.items()}
    if parts.sequence_rank > 1:
        return value
    # One step's part of a ragged tensor is an array, and knows too little of its shape.
    dense = value.to_tensor() if isinstance(value, tf.RaggedTensor) else value
    return tf.ensure_shape(dense, parts.shape)


def _to_tf(tf: Any, value: Any, parts: Any, *, is_steps: bool = False) -> Any:
    """A value as what its listed spec says."""
    if isinstance(parts, StepsOf):
        return _to_tf(tf, all_steps(value), parts.step, is_steps=True)
    if isinstance(value, Mapping):
        return {key: _to_tf(tf, item, parts[key], is_steps=is_steps) for key, item in value.items()}
    if isinstance(value, RaggedTensor):
        return tf.RaggedTensor.from_nested_row_splits(value.flat_values, value.nested_row_splits)
    if isinstance(value, list) or (is_steps and None in parts.shape):
        return _ragged(tf, list(value), parts)
    return value


def _ragged(tf: Any, arrays: Sequence[Any], info: TensorInfo) -> Any:
    """Arrays whose sizes differ as one ragged tensor."""
    depth = max(level for level, size in enumerate(info.shape, 1) if size is None)
    lengths: list[list[int]] = [[] for _ in range(depth)]
    for array in arrays:
        rows = 1
        for level in range(depth):
            lengths[level] += [array.shape[level]] * rows
            rows *= array.shape[level]
    inner = [array.shape[depth:] for array in arrays] or [info.shape[depth:]]
    flat = np.concatenate(
        [
            np.empty((0, *inner[0]), arrays[0].dtype if arrays else info.dtype),
            *(array.reshape((math.prod(array.shape[:depth]), *inner[0])) for array in arrays),
        ]
    )
    return tf.RaggedTensor.from_nested_row_lengths(
        flat, [np.array(level, np.int64) for level in lengths]
    )
