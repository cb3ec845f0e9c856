"""tf.data: a dataset with TFDS's element_spec, read by featurekit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

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
        ragged = steps - 1 + max(info.sequence_rank, int(None in info.shape))
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
    # A row of a ragged tensor is a tensor, and knows too little of its shape.
    return value if isinstance(value, tf.RaggedTensor) else tf.ensure_shape(value, parts.shape)


def _to_tf(tf: Any, value: Any, parts: Any) -> Any:
    if isinstance(parts, StepsOf):
        return _to_tf(tf, all_steps(value), parts.step)
    if isinstance(value, Mapping):
        return {key: _to_tf(tf, item, parts[key]) for key, item in value.items()}
    if isinstance(value, RaggedTensor):
        return tf.RaggedTensor.from_nested_row_splits(value.flat_values, value.nested_row_splits)
    return value
