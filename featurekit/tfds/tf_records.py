"""`tf.data.TFRecordDataset` and `tf.io.TFRecordWriter`, for scripts that read raw TFRecords."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from featurekit.io.tfrecord import TFRecordReader
from featurekit.io.tfrecord import TFRecordWriter as Writer

__all__ = ["Record", "TFRecordDataset", "TFRecordWriter"]

_Compression = Literal["GZIP", "ZLIB", ""]


class Record(bytes):
    """The bytes of a record; `numpy` gives them, as of a tensor of TensorFlow."""

    def numpy(self) -> bytes:
        """The bytes."""
        return bytes(self)


class TFRecordDataset:
    """The records of TFRecord files, one file after the other, as often as they are asked for.

    Args:
        filenames: A path, or several.
        compression_type: `"GZIP"`, `"ZLIB"`, or none.
        **options: Of TensorFlow's reading; they change no record.
    """

    def __init__(
        self,
        filenames: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        compression_type: _Compression | None = None,
        **options: Any,
    ) -> None:
        one = isinstance(filenames, (str, os.PathLike))
        self._files: list[Any] = [filenames] if one else list(filenames)  # type: ignore[arg-type]
        self._compression: Literal["GZIP", "ZLIB"] | None = compression_type or None
        self._count: int | None = None

    def take(self, count: int) -> TFRecordDataset:
        """The first `count` records; all of them for -1."""
        other = TFRecordDataset(self._files, self._compression)
        other._count = None if count < 0 else count
        return other

    def __iter__(self) -> Iterator[Record]:
        records = (
            Record(record)
            for file in self._files
            for record in TFRecordReader(file, compression=self._compression)
        )
        return itertools.islice(records, self._count)

    def as_numpy_iterator(self) -> Iterator[bytes]:
        """The records as `bytes`."""
        return map(bytes, self)


class TFRecordWriter(Writer):
    """Writes a TFRecord file; takes what TensorFlow's takes.

    Args:
        path: The file.
        options: `"GZIP"`, `"ZLIB"`, or none.
    """

    def __init__(self, path: str | os.PathLike[str], options: _Compression | None = None) -> None:
        super().__init__(path, compression=options or None)
