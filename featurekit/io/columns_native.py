"""Examples to arrays and back through the compiled kernels.

A kernel either gives what `featurekit.io.columns_protobuf` would give, or None. None
stands for everything that is rare: damaged bytes, contradictions, groups in the wire
format, unusual types. Then the same call goes to `columns_protobuf`, which says what is
wrong or, if nothing is, has the answer. So both implementations refuse the same input in
the same words, and the kernels hold no error messages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from featurekit.io import columns_protobuf
from featurekit.io.columns import Column, ColumnSpec, FeatureValues, StepColumn
from featurekit.native import columns as kernel
from featurekit.native import example_writer

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "read_columns",
    "read_columns_buffer",
    "read_example",
    "read_sequence_columns",
    "write_example",
]


def read_columns(records: Sequence[bytes], specs: Sequence[ColumnSpec]) -> list[Column]:
    """See `featurekit.io.columns.read_columns`."""
    found = kernel.read_columns(records, specs)
    if found is None:
        return columns_protobuf.read_columns(records, specs)
    return [Column(*column) for column in found]


def read_columns_buffer(
    buffer: Buffer,
    offsets: npt.NDArray[np.int64],
    lengths: npt.NDArray[np.int64],
    specs: Sequence[ColumnSpec],
) -> list[Column]:
    """See `featurekit.io.columns.read_columns_buffer`."""
    offsets = np.ascontiguousarray(offsets, np.int64)
    lengths = np.ascontiguousarray(lengths, np.int64)
    found = kernel.read_columns_buffer(buffer, offsets, lengths, specs)
    if found is None:
        return columns_protobuf.read_columns_buffer(buffer, offsets, lengths, specs)
    return [Column(*column) for column in found]


def read_sequence_columns(
    records: Sequence[bytes],
    context: Sequence[ColumnSpec],
    lists: Sequence[ColumnSpec],
) -> tuple[list[Column], list[StepColumn]]:
    """See `featurekit.io.columns.read_sequence_columns`."""
    found = kernel.read_sequence_columns(records, context, lists)
    if found is None:
        return columns_protobuf.read_sequence_columns(records, context, lists)
    columns, step_columns = found
    return [Column(*column) for column in columns], [StepColumn(*column) for column in step_columns]


def read_example(record: bytes) -> dict[str, npt.NDArray[Any] | None]:
    """See `featurekit.io.columns.read_example`."""
    found = kernel.read_example(record)
    return columns_protobuf.read_example(record) if found is None else found


def write_example(features: Mapping[str, FeatureValues]) -> bytes:
    """See `featurekit.io.columns.write_example`."""
    written = example_writer.write_example(features)
    return columns_protobuf.write_example(features) if written is None else written
