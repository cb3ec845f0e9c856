"""Reading and writing TFRecord files."""

from __future__ import annotations

import contextlib
import itertools
import operator
import os
import warnings
import zlib
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Literal, NoReturn, Self, SupportsIndex, get_args, overload

from featurekit.errors import (
    InvalidArgumentError,
    InvalidTypeError,
    RecordIndexError,
    WriteError,
    did_you_mean,
    short_repr,
)
from featurekit.io.compression import (
    ByteSource,
    Compression,
    Inflater,
    compression_named,
    compressor,
    detect,
)
from featurekit.io.files import ByteFile, open_file, path_text
from featurekit.io.framing import frame
from featurekit.io.index import RecordIndex, indexed, read_indexed, scan
from featurekit.io.stream import Loss, OnCorrupt, RecordStream

__all__ = ["TFRecordReader", "TFRecordWriter"]

_WRITE_BYTES = 1 << 20


class TFRecordReader:
    """The records of a TFRecord file, as bytes: a sequence that reads on demand.

    Iterating reads the file from front to back, as often as wanted. `len` and `reader[i]`
    need to know where the records are: the first use scans the lengths of all records
    (or takes `index`), after that a record costs one read. A compressed file has no such
    places: there the first use unpacks all of it, and each `reader[i]` everything up to
    record i. (`list(reader)` asks for the length too, a `for` loop does not.)

    Readers can be pickled, shared by threads, and used before and after a fork. The file is
    opened when it is first needed, and seen as it was then.

    Args:
        path: The file, or its URL.
        compression: "GZIP", "ZLIB", None (or "NONE") for none, or "auto" to tell from the
            first bytes of the file.
        on_corrupt: What to do at a damaged place. "raise" raises, after all records before
            it (of a damaged compressed stream, after those of the 64 KiB before). "skip" goes
            on at the next record whose two checksums hold, "stop" ends as if the file ended
            there; what was left out is counted in `lost`.
        check_crc: Whether to check both checksums of each record whenever it is read.
            Without, damaged bytes are returned as they are.
        index: Where the records are, where that is known: from `featurekit.io.index.scan`.

    Raises:
        MissingFileError: There is no such file; raised when it is first needed.
        CorruptRecordError: A record or the compression around it is damaged or cut. Files
            cut inside a header or behind the last record's data are so too, where
            TensorFlow ends without an error.
        RecordIndexError: There is no record with that index.
        InvalidArgumentError: An argument has a value that makes no sense.

    The format: https://www.tensorflow.org/tutorials/load_data/tfrecord

    >>> import tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "small.tfrecord")
    >>> with TFRecordWriter(path) as writer:
    ...     for record in (b"one", b"two", b"three"):
    ...         writer.write(record)
    >>> reader = TFRecordReader(path)
    >>> len(reader), reader[-1], reader[:2]
    (3, b'three', [b'one', b'two'])
    >>> list(reader)
    [b'one', b'two', b'three']
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        compression: Compression | Literal["auto", "NONE"] | None = "auto",
        on_corrupt: OnCorrupt = "raise",
        *,
        check_crc: bool = True,
        index: RecordIndex | None = None,
    ) -> None:
        if on_corrupt not in get_args(OnCorrupt):
            raise InvalidArgumentError(
                f"on_corrupt={on_corrupt!r} is not known"
                f"{did_you_mean(on_corrupt, get_args(OnCorrupt))}"
            )
        if on_corrupt == "skip" and not check_crc:
            raise InvalidArgumentError(
                'on_corrupt="skip" finds records by their checksums; check_crc=False ignores them',
                hint="leave out one of the two",
            )
        self._path = path_text(path)
        self._detect = compression == "auto"
        self._compression = None if compression == "auto" else compression_named(compression)
        self._on_corrupt = on_corrupt
        self._check_crc = check_crc
        self._index = index
        self._packed_length: int | None = None  # number of records of a compressed file
        self._lost = Loss()
        self._file: ByteFile | None = None

    @property
    def path(self) -> str:
        """The file's path."""
        return self._path

    @property
    def compression(self) -> Compression | None:
        """The compression, as given or as detected."""
        self._open()
        return self._compression

    @property
    def lost(self) -> Loss:
        """What the latest pass over the file left out: an iteration, or the scan for `len`."""
        return self._lost

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._whole_pass())

    def __len__(self) -> int:
        if self.compression is None:
            return len(self._indexed())
        if self._packed_length is None:
            self._packed_length = sum(1 for _ in self)
        return self._packed_length

    @overload
    def __getitem__(self, i: SupportsIndex) -> bytes: ...
    @overload
    def __getitem__(self, i: slice) -> list[bytes]: ...
    def __getitem__(self, i: SupportsIndex | slice) -> bytes | list[bytes]:
        count = len(self)
        if isinstance(i, slice):
            return self._read(range(count)[i])
        try:
            wanted = operator.index(i)
        except TypeError:
            raise InvalidTypeError(
                f"a record's index is an int or a slice, not {type(i).__name__}", file=self._path
            ) from None
        if not -count <= wanted < count:
            raise RecordIndexError(
                f"there is no record {wanted}: the file has {count} records", file=self._path
            )
        return self._read([wanted % count])[0]

    def _read(self, wanted: Sequence[int]) -> list[bytes]:
        """The records with these indices, which exist."""
        file = self._open()
        if self._compression is None:
            index, check = self._indexed(), self._check_crc
            return [read_indexed(file, index, i, check_crc=check) for i in wanted]
        first = itertools.islice(self._stream(), max(wanted, default=-1) + 1)
        found = {i: record for i, record in enumerate(first) if i in wanted}
        return [found[i] for i in wanted]

    def _indexed(self) -> RecordIndex:
        """The index of the uncompressed file, made when first asked for."""
        if self._index is None:
            if self._on_corrupt == "raise":
                self._index = scan(self._open(), check_crc=self._check_crc)
            else:  # which records count depends on the payloads too
                self._index = indexed(self._whole_pass())
        return self._index

    def _whole_pass(self) -> RecordStream:
        stream = self._stream()
        self._lost = stream.lost
        return stream

    def _stream(self) -> RecordStream:
        file = self._open()
        source: ByteSource = file
        if self._compression is not None:
            source = Inflater(file, self._compression, salvage=self._on_corrupt != "raise")
        return RecordStream(source, self._on_corrupt, self._check_crc)

    def _open(self) -> ByteFile:
        file = self._file
        if file is None:
            file = open_file(self._path)
            if self._detect:
                self._compression = detect(file)
            if self._compression is not None and self._index is not None:
                raise InvalidArgumentError(
                    "index= is for uncompressed files", file=self._path, hint="leave it out"
                )
            self._file = file
        return file

    def close(self) -> None:
        """Let go of the open file; reading again opens it again."""
        self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_file": None}

    def __repr__(self) -> str:
        return f"TFRecordReader({self._path!r})"


class TFRecordWriter:
    """Writes bytes as the records of a TFRecord file.

    The same records always give the same file: a GZIP header gets no time and no name.

    Args:
        path: The file; an existing one is replaced.
        compression: "GZIP", "ZLIB", or None (or "NONE") for none.

    Raises:
        WriteError: The file cannot be created or written whole; from `write`, `flush` or
            `close`. After that the writer takes nothing more, and the file is incomplete.
        InvalidTypeError: A record is not bytes.
        InvalidArgumentError: There is no such compression.

    >>> import tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "small.tfrecord")
    >>> with TFRecordWriter(path) as writer:
    ...     writer.write(b"first")
    >>> os.path.getsize(path)
    21
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        compression: Compression | Literal["NONE"] | None = None,
    ) -> None:
        self._closed = True  # as long as there is nothing to close
        self._path = path_text(path)
        named = compression_named(compression)
        self._compressor = None if named is None else compressor(named)
        self._pending = bytearray()
        self._error: WriteError | None = None
        try:
            self._file = open(self._path, "wb", buffering=0)  # noqa: SIM115
        except OSError as error:
            hint = "check that its folder exists and may be written to"
            raise _write_error("created", self._path, error, hint) from error
        self._closed = False

    def write(self, record: bytes) -> None:
        """Append one record."""
        if not isinstance(record, bytes):
            raise InvalidTypeError(
                f"a record is bytes, not {type(record).__name__}: {short_repr(record)}",
                file=self._path,
                hint="text.encode() makes bytes of text, example.SerializeToString() of a message",
            )
        self._check_usable()
        framed = frame(record)
        self._pending += framed if self._compressor is None else self._compressor.compress(framed)
        if len(self._pending) >= _WRITE_BYTES:
            self._drain()

    def flush(self) -> None:
        """Hand all records so far to the operating system."""
        self._check_usable()
        if self._compressor is not None:
            self._pending += self._compressor.flush(zlib.Z_SYNC_FLUSH)
        self._drain()

    def close(self) -> None:
        """Complete the file. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        try:
            if self._error is not None:
                raise self._error
            if self._compressor is not None:
                self._pending += self._compressor.flush()
            self._drain()
        finally:
            self._close_file()

    def _check_usable(self) -> None:
        if self._error is not None:
            raise self._error
        if self._closed:
            raise InvalidArgumentError("the writer is closed", file=self._path)

    def _drain(self) -> None:
        """Write what is pending."""
        done = 0
        try:
            with memoryview(self._pending) as pending:
                while done < len(pending):
                    done += self._file.write(pending[done:])
        except OSError as error:
            self._fail(error)
        finally:
            del self._pending[:done]

    def _close_file(self) -> None:
        try:
            self._file.close()
        except OSError as error:  # network file systems report a full disk here
            self._fail(error)

    def _fail(self, error: OSError) -> NoReturn:
        hint = "make room and write the file again: it is incomplete"
        self._error = _write_error("written", self._path, error, hint)
        with contextlib.suppress(OSError):
            self._file.close()
        raise self._error from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if not self._closed and self._error is None:
            warnings.warn(f"{self!r} was not closed", ResourceWarning, source=self, stacklevel=2)
            self.close()

    def __repr__(self) -> str:
        return f"TFRecordWriter({self._path!r})"


def _write_error(verb: str, path: str, error: OSError, hint: str) -> WriteError:
    failed = WriteError(f"the file cannot be {verb}: {error.strerror}", file=path, hint=hint)
    failed.errno = error.errno
    return failed
