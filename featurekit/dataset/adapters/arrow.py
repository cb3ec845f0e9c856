"""Arrow: examples as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from featurekit.dataset.adapters.structure import StepsOf, all_steps, structure
from featurekit.dtypes import dtype_name, is_string
from featurekit.errors import UnsupportedError, add_path
from featurekit.io.ragged import RaggedTensor
from featurekit.optional import import_optional
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
    pa, left = _arrow(), len(items)
    for batch in items.batches(_BATCH):
        count = min(left, _BATCH)
        left -= count
        whole = _array(batch, parts, pa.struct(list(schema)), count)
        columns = [whole.field(name) for name in schema.names]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def arrow_schema(parts: Mapping[str, Any], text: str = "bytes") -> Any:
    """The schema of items: dicts are structs, dimensions lists, of one size where it is known.

    Args:
        parts: What `structure` gives.
        text: `"bytes"` for binary, `"str"` for strings.
    """
    return _arrow().schema(_fields(parts, text))


def _fields(parts: Mapping[str, Any], text: str) -> list[tuple[str, Any]]:
    fields = []
    for key, part in parts.items():
        try:
            fields.append((key, _type(part, text)))
        except UnsupportedError as error:
            add_path(error, key)
            raise
    return fields


def _arrow() -> Any:
    return import_optional("pyarrow", extra="parquet", purpose="to_arrow")


def _type(parts: Any, text: str) -> Any:
    pa = _arrow()
    if isinstance(parts, StepsOf):
        return pa.list_(_type(parts.step, text))
    if isinstance(parts, Mapping):
        return pa.struct(_fields(parts, text))
    kind = _scalar_type(parts, text)
    for size in reversed(parts.shape):
        # Arrow divides by the size of a list, and ends the process where that is 0.
        kind = pa.list_(kind, size) if size else pa.list_(kind)
    return kind


def _scalar_type(info: TensorInfo, text: str) -> Any:
    pa = _arrow()
    if is_string(info.dtype):
        return pa.string() if text == "str" else pa.binary()
    name = dtype_name(info.dtype)
    if info.dtype.kind == "c":
        raise UnsupportedError(
            f"Arrow has no type for {name}", hint="leave the feature out: columns="
        )
    return pa.float32() if name == "bfloat16" else pa.from_numpy_dtype(info.dtype)


# Values of a batch to an array of a type.


def _array(value: Any, parts: Any, kind: Any, count: int) -> Any:
    """The values of `count` examples."""
    pa = _arrow()
    if isinstance(parts, StepsOf):
        return _from_steps(list(value), parts, kind)
    if isinstance(parts, Mapping):
        if not parts:
            return pa.array([{}] * count, kind)
        arrays = [_array(value[f.name], parts[f.name], f.type, count) for f in kind]
        return pa.StructArray.from_arrays(arrays, fields=list(kind))
    if isinstance(value, RaggedTensor):
        inner = _array(value.values, parts, kind.value_type, len(value.values))
        return _lists(inner, value.row_splits, kind)
    if isinstance(value, np.ma.MaskedArray):
        return _from_masked(value, kind)
    if isinstance(value, np.ndarray):
        return _from_array(value, kind)
    return pa.array([_plain(item) for item in value], kind)


def _from_array(array: np.ndarray[Any, Any], kind: Any) -> Any:
    if array.ndim == 1:
        flat = array.astype(np.float32) if array.dtype.name == "bfloat16" else array
        return _arrow().array(flat.tolist() if flat.dtype.kind == "O" else flat, kind)
    rows, size = array.shape[:2]
    inner = _from_array(array.reshape((rows * size, *array.shape[2:])), kind.value_type)
    return _lists(inner, np.arange(rows + 1) * size, kind)


def _lists(inner: Any, splits: np.ndarray[Any, Any], kind: Any) -> Any:
    """Lists of the elements of `inner`, which end at the splits."""
    pa = _arrow()
    if pa.types.is_fixed_size_list(kind):
        return pa.FixedSizeListArray.from_arrays(inner, type=kind)
    return pa.ListArray.from_arrays(pa.array(splits, pa.int32()), inner, type=kind)


def _from_masked(array: np.ma.MaskedArray[Any, Any], kind: Any) -> Any:
    gone = np.ma.getmaskarray(array).reshape(len(array), -1)[:, :1].ravel().tolist()
    rows = [None if g else _plain(row) for g, row in zip(gone, array.data, strict=True)]
    return _arrow().array(rows, kind)


def _from_steps(episodes: Sequence[Any], parts: StepsOf, kind: Any) -> Any:
    arrays = [_arrow().array([], kind.value_type)]
    for steps in episodes:
        arrays.append(_array(all_steps(steps), parts.step, kind.value_type, len(steps)))
    return _lists(_arrow().concat_arrays(arrays), np.cumsum(list(map(len, arrays))), kind)


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
