"""Arrow: examples as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from featurekit.dataset.adapters.structure import StepsOf, structure
from featurekit.dtypes import dtype_name, is_string
from featurekit.io.ragged import RaggedTensor
from featurekit.optional import import_optional
from featurekit.steps import Steps
from featurekit.tensor_info import TensorInfo

__all__ = ["arrow_batches", "arrow_schema", "arrow_table"]

_BATCH = 256


def arrow_table(items: Any, *, text: str = "bytes") -> Any:
    """All items as a `pyarrow.Table`; see `DataSource.to_arrow`."""
    parts = structure(items)
    schema = arrow_schema(parts, text)
    return _arrow().Table.from_batches(arrow_batches(items, parts, schema), schema)


def arrow_batches(items: Any, parts: Any, schema: Any) -> Iterator[Any]:
    """The items as `pyarrow.RecordBatch`es of a schema."""
    pa = _arrow()
    for batch in items.batches(_BATCH):
        columns = [_array(batch[field.name], parts[field.name], field.type) for field in schema]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def arrow_schema(parts: Mapping[str, Any], text: str = "bytes") -> Any:
    """The schema of items: dicts are structs, dimensions lists, of one size where it is known.

    Args:
        parts: What `structure` gives.
        text: `"bytes"` for binary, `"str"` for strings.
    """
    return _arrow().schema([(key, _type(part, text)) for key, part in parts.items()])


def _arrow() -> Any:
    return import_optional("pyarrow", extra="parquet", purpose="to_arrow")


def _type(parts: Any, text: str) -> Any:
    pa = _arrow()
    if isinstance(parts, StepsOf):
        return pa.list_(_type(parts.step, text))
    if isinstance(parts, Mapping):
        return pa.struct([(key, _type(part, text)) for key, part in parts.items()])
    kind = _scalar_type(parts, text)
    for size in reversed(parts.shape):
        kind = pa.list_(kind) if size is None else pa.list_(kind, size)
    return kind


def _scalar_type(info: TensorInfo, text: str) -> Any:
    pa = _arrow()
    if is_string(info.dtype):
        return pa.string() if text == "str" else pa.binary()
    name = dtype_name(info.dtype)
    return pa.float32() if name == "bfloat16" else pa.from_numpy_dtype(info.dtype)


# Values of a batch to an array of a type.


def _array(value: Any, parts: Any, kind: Any) -> Any:
    pa = _arrow()
    if isinstance(parts, StepsOf):
        return _from_steps(list(value), parts, kind)
    if isinstance(value, Mapping):
        arrays = [_array(value[field.name], parts[field.name], field.type) for field in kind]
        return pa.StructArray.from_arrays(arrays, fields=list(kind))
    if isinstance(value, RaggedTensor):
        splits = pa.array(value.row_splits, pa.int32())
        return pa.ListArray.from_arrays(
            splits, _array(value.values, parts, kind.value_type), type=kind
        )
    if isinstance(value, np.ma.MaskedArray):
        return _from_masked(value, kind)
    if isinstance(value, np.ndarray):
        return _from_array(value, kind)
    return pa.array([_plain(item) for item in value], kind)


def _from_array(array: np.ndarray[Any, Any], kind: Any) -> Any:
    pa = _arrow()
    if array.ndim == 1:
        flat = array.astype(np.float32) if array.dtype.name == "bfloat16" else array
        return pa.array(flat.tolist() if flat.dtype.kind == "O" else flat, kind)
    inner = _from_array(array.reshape((-1, *array.shape[2:])), kind.value_type)
    if pa.types.is_fixed_size_list(kind):
        return pa.FixedSizeListArray.from_arrays(inner, type=kind)
    splits = np.arange(len(array) + 1, dtype=np.int32) * array.shape[1]
    return pa.ListArray.from_arrays(pa.array(splits), inner, type=kind)


def _from_masked(array: np.ma.MaskedArray[Any, Any], kind: Any) -> Any:
    gone = np.ma.getmaskarray(array).reshape(len(array), -1)[:, :1].ravel().tolist()
    rows = [None if g else _plain(row) for g, row in zip(gone, array.data, strict=True)]
    return _arrow().array(rows, kind)


def _from_steps(episodes: Sequence[Any], parts: StepsOf, kind: Any) -> Any:
    pa = _arrow()
    arrays = [pa.array([], kind.value_type)]
    for steps in episodes:
        together = steps.together(range(len(steps))) if isinstance(steps, Steps) else steps
        arrays.append(_array(together, parts.step, kind.value_type))
    splits = np.cumsum(list(map(len, arrays)))
    return pa.ListArray.from_arrays(
        pa.array(splits, pa.int32()), pa.concat_arrays(arrays), type=kind
    )


def _plain(value: Any) -> Any:
    """A value as Python's lists, numbers and bytes."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, RaggedTensor):
        return value.to_list()
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
