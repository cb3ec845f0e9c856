"""Reading and writing ArrayRecord files, whose records can be had in any order.

An ArrayRecord file is a Riegeli file of compressed chunks with an index at its end:
https://github.com/google/array_record. The package array-record reads and writes it (extra
`array-record`). As TFDS, we put each record into a chunk of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NoReturn

from featurekit.errors import CorruptRecordError
from featurekit.io.local_copy import local_file
from featurekit.io.record_reader import RecordReader
from featurekit.io.record_writer import RecordWriter
from featurekit.optional import import_optional

__all__ = ["ArrayRecordReader", "ArrayRecordWriter", "import_library"]

_WRITER_OPTIONS = "group_size:1"
# No threads, which a forked process would wait for, and small reads: by default each record
# asked for costs a read of 1 MiB.
_READER_OPTIONS = "readahead_buffer_size:0,max_parallelism:0"
_BUFFER_BYTES = 1 << 16


class ArrayRecordReader(RecordReader):
    """The records of an ArrayRecord file, as bytes: a sequence that reads on demand.

    Of a file behind a URL the library reads a local copy, see `featurekit.io.local_copy`.

    Args:
        path: The file, or its URL.

    Raises:
        MissingFileError: There is no such file; raised when it is first needed.
        CorruptRecordError: The file is damaged or cut. When the whole file is read, the
            records before the damage come first.
        RecordIndexError: There is no record with that index.
        MissingDependencyError: The package array-record is not installed.

    Example:
        >>> reader = ArrayRecordReader("train.array_record-00000-of-00001")  # doctest: +SKIP
        >>> len(reader), reader[-1], list(reader)  # doctest: +SKIP
        (2, b'two', [b'one', b'two'])
    """

    def _open_file(self) -> Any:
        local = local_file(self._path)
        file = import_library().ArrayRecordReader(
            local.path, _READER_OPTIONS, file_reader_buffer_size=_BUFFER_BYTES
        )
        if not file.ok():
            raise CorruptRecordError(
                f"this is no whole ArrayRecord file: {_reason(file)}",
                file=self._path,
                hint="copy the file again",
            )
        return file

    def _close_file(self, file: Any) -> None:
        _reason(file)  # a fault was raised when it was met

    def _count(self, file: Any) -> int:
        return int(file.num_records())

    def _read(self, file: Any, index: int) -> bytes:
        try:
            record: bytes = file.read(index, index + 1)[0]  # far faster than file.read([index])
        except (RuntimeError, IndexError) as error:
            self._fail(error, index)
        return record

    def __iter__(self) -> Iterator[bytes]:
        file = self._open_file()  # a file of its own: it has a position
        for index in range(self._count(file)):
            try:
                record: bytes = file.read()
            except (RuntimeError, IndexError) as error:
                self._fail(error, index)
            yield record

    def _fail(self, error: Exception, index: int) -> NoReturn:
        self.close()  # after a fault it gives nothing more, not even what is whole
        raise CorruptRecordError(
            f"the record cannot be read: {error}",
            file=self._path,
            record=index,
            hint="copy the file again",
        ) from error


class ArrayRecordWriter(RecordWriter):
    """Writes bytes as the records of an ArrayRecord file.

    The same records always give the same file.

    Args:
        path: The file; an existing one is replaced.

    Raises:
        WriteError: The file cannot be created or written whole; from `write` or `close` too.
        InvalidTypeError: A record is not bytes.
        MissingDependencyError: The package array-record is not installed.
    """

    _faults = (RuntimeError, OSError)

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(path)
        self._file = import_library().ArrayRecordWriter(self._path, _WRITER_OPTIONS)
        self._num_records = 0
        self._closed = False

    def _append(self, record: bytes) -> None:
        self._file.write(record)
        self._num_records += 1

    def _finish(self) -> None:
        self._file.close()
        # Not only to be sure: where a process has written files and opened none, those that it
        # forks crash when they read one (seen in array-record 0.8.6).
        with ArrayRecordReader(self._path) as written:
            if len(written) != self._num_records:
                raise OSError(f"{len(written)} of {self._num_records} records were written")

    def _abandon(self) -> None:
        if self._file.is_open():
            self._file.close()


def import_library() -> ModuleType:
    """The module of array-record that reads and writes files."""
    return import_optional(
        "array_record.python.array_record_module",
        extra="array-record",
        purpose="the file format 'array_record'",
    )


def _reason(file: Any) -> str:
    """Why a file cannot be read; the library tells when it is closed, and may have no words."""
    try:
        file.close()
    except RuntimeError as error:
        return str(error) or "it is cut"
    return "it is cut"
