"""Reading and writing Parquet files whose one column has serialized examples.

As TFDS, we keep each record in a row of the column `data`, in row groups of at most 100 rows.
The package pyarrow reads and writes the files (extra `parquet`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from featurekit.errors import CorruptRecordError, FeatureKitError, short_repr
from featurekit.io.files import LocalFile, SeekableFile, open_file
from featurekit.io.record_reader import RecordReader
from featurekit.io.record_writer import RecordWriter
from featurekit.optional import import_optional

__all__ = ["ParquetReader", "ParquetWriter", "import_library"]

_COLUMN = "data"
_GROUP_ROWS = 100
_GROUP_BYTES = 1 << 26  # fewer rows a group where they are large: memory holds one group


class ParquetReader(RecordReader):
    """The records of a Parquet file, as bytes: a sequence that reads on demand.

    Asking for a record reads its row group, of which the latest one is kept.

    Args:
        path: The file, or its URL; of one behind a URL the footer and row groups are fetched.

    Raises:
        MissingFileError: There is no such file; raised when it is first needed.
        CorruptRecordError: The file is damaged or cut, or is no file of records.
        RecordIndexError: There is no record with that index.
        MissingDependencyError: The package pyarrow is not installed.

    Example:
        >>> reader = ParquetReader("pets-train.parquet-00000-of-00001")  # doctest: +SKIP
        >>> len(reader), reader[-1], list(reader)  # doctest: +SKIP
        (2, b'two', [b'one', b'two'])
    """

    def _open_file(self) -> Any:
        try:
            return _OpenFile(self._path)
        except FeatureKitError:
            raise
        except _faults() as error:
            raise CorruptRecordError(
                f"this is no whole Parquet file: {error}",
                file=self._path,
                hint="copy the file again",
            ) from error

    def _close_file(self, file: Any) -> None:
        file.close()

    def _count(self, file: Any) -> int:
        return int(file.starts[-1])

    def _read(self, file: Any, index: int) -> bytes:
        try:
            record = file.record(index)
        except FeatureKitError:
            raise
        except _faults() as error:
            self._fail(f"the record cannot be read: {error}", index, error)
        return self._checked(record, index)

    def __iter__(self) -> Iterator[bytes]:
        file = self._open_file()  # so that records asked for meanwhile do not change its group
        try:
            for index in range(self._count(file)):
                yield self._read(file, index)
        finally:
            file.close()

    def _checked(self, record: Any, index: int) -> bytes:
        if not isinstance(record, bytes):
            self._fail(f"a record must be bytes, got {short_repr(record)}", index)
        return record

    def _fail(self, message: str, index: int, cause: Exception | None = None) -> NoReturn:
        raise CorruptRecordError(
            message, file=self._path, record=index, hint="copy the file again"
        ) from cause


class _OpenFile:
    """A Parquet file that is open, and the row group read last."""

    def __init__(self, path: str) -> None:
        file = open_file(path)
        source = path if isinstance(file, LocalFile) else SeekableFile(file)
        # No threads, which a forked process would wait for.
        self._file = import_library().ParquetFile(
            source, pre_buffer=False, page_checksum_verification=True
        )
        self._column = self._find_column(path)
        groups = self._file.metadata
        rows = [groups.row_group(index).num_rows for index in range(groups.num_row_groups)]
        if min(rows, default=0) < 0 or sum(rows) != groups.num_rows:
            raise CorruptRecordError(
                f"the file says it has {groups.num_rows} rows, its row groups have {sum(rows)}",
                file=path,
                hint="copy the file again",
            )
        self.starts = np.concatenate([[0], np.cumsum(rows, dtype=np.int64)])
        self._latest: tuple[int, Any] = (-1, None)

    def _find_column(self, path: str) -> str:
        """The column of the records."""
        schema = self._file.schema_arrow
        types = _arrow().types
        if _COLUMN in schema.names:
            kind = schema.field(_COLUMN).type
            if types.is_binary(kind) or types.is_large_binary(kind):
                return _COLUMN
        shown = ", ".join(f"{field.name} ({field.type})" for field in schema) or "none"
        raise CorruptRecordError(
            f"expected a column {_COLUMN!r} of serialized examples, got the columns {shown}",
            file=path,
            hint="read other Parquet files with pyarrow, and write them with write_dataset",
        )

    def record(self, index: int) -> Any:
        """One record."""
        group = int(np.searchsorted(self.starts, index, side="right")) - 1
        known, values = self._latest
        if group != known:
            values = self._read_group(group)
            self._latest = group, values  # at once: other threads may read too
        return values[index - int(self.starts[group])].as_py()

    def _read_group(self, group: int) -> Any:
        table = self._file.read_row_group(group, columns=[self._column], use_threads=False)
        column = table.column(0)
        rows = int(self.starts[group + 1] - self.starts[group])
        if len(column) != rows:
            raise ValueError(f"row group {group} has {len(column)} rows in place of {rows}")
        return column

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class ParquetWriter(RecordWriter):
    """Writes bytes as the records of a Parquet file: rows of the column `data`.

    The same records give the same file, as long as pyarrow does.

    Args:
        path: The file; an existing one is replaced.

    Raises:
        WriteError: The file cannot be created or written whole; from `write` or `close` too.
        InvalidTypeError: A record is not bytes.
        MissingDependencyError: The package pyarrow is not installed.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(path)
        arrow = _arrow()
        self._faults = _faults()
        self._pending: list[bytes] = []
        self._pending_bytes = 0
        self._schema = arrow.schema([arrow.field(_COLUMN, arrow.binary())])
        try:
            # Blobs have nothing to gain from a dictionary, and their statistics are blobs too.
            self._file = import_library().ParquetWriter(
                self._path,
                self._schema,
                compression="snappy",
                use_dictionary=False,
                write_statistics=False,
                write_page_checksum=True,
            )
        except self._faults as error:
            self._file = None
            self._fail(error)
        self._closed = False

    def _append(self, record: bytes) -> None:
        if self._pending_bytes + len(record) > _GROUP_BYTES or len(self._pending) == _GROUP_ROWS:
            self._write_group()
        self._pending.append(record)
        self._pending_bytes += len(record)

    def _write_group(self) -> None:
        if not self._pending:
            return
        arrow = _arrow()
        column = arrow.array(self._pending, arrow.binary())
        self._file.write_table(arrow.table([column], schema=self._schema))
        self._pending, self._pending_bytes = [], 0

    def _finish(self) -> None:
        self._write_group()
        self._file.close()

    def _abandon(self) -> None:
        if self._file is not None:
            self._file.close()


def _arrow() -> ModuleType:
    return import_optional("pyarrow", extra="parquet", purpose="the file format 'parquet'")


def import_library() -> ModuleType:
    """The module of pyarrow that reads and writes files."""
    return import_optional("pyarrow.parquet", extra="parquet", purpose="the file format 'parquet'")


def _faults() -> tuple[type[Exception], ...]:
    """What pyarrow raises where a file is damaged or cannot be written."""
    return (_arrow().ArrowException, OSError, ValueError)
