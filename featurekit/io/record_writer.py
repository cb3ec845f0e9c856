"""What the writers of indexed record files have in common."""

from __future__ import annotations

import abc
import contextlib
import errno
import os
import warnings
from types import TracebackType
from typing import NoReturn, Self

from featurekit.errors import InvalidArgumentError, InvalidTypeError, WriteError, short_repr
from featurekit.io.files import path_text

__all__ = ["RecordWriter"]


class RecordWriter(abc.ABC):
    """Writes bytes as the records of a file.

    A library does the writing, and its errors become a `WriteError`; after that the writer
    takes nothing more, and the file is incomplete.

    Args:
        path: The file; an existing one is replaced.

    Raises:
        WriteError: The file cannot be created or written whole; from `write` or `close` too.
        InvalidTypeError: A record is not bytes.
    """

    # What the library raises where it cannot write.
    _faults: tuple[type[Exception], ...] = (OSError,)

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._closed = True  # as long as there is nothing to close
        self._error: WriteError | None = None
        self._path = path_text(path)
        self._check_folder()

    def _check_folder(self) -> None:
        """Refuse a path where no file can be, in our words."""
        folder = os.path.dirname(self._path) or os.curdir
        hint = "check that its folder exists and may be written to"
        if os.path.isdir(self._path):
            code = errno.EISDIR
        elif not os.path.isdir(folder):
            code = errno.ENOENT
        elif not os.access(folder, os.W_OK):
            code = errno.EACCES
        else:
            return
        message = f"the file cannot be created: {os.strerror(code)}"
        error = WriteError(message, file=self._path, hint=hint)
        error.errno = code
        raise error

    @abc.abstractmethod
    def _append(self, record: bytes) -> None:
        """Append one record."""

    @abc.abstractmethod
    def _finish(self) -> None:
        """Complete and close the file."""

    @abc.abstractmethod
    def _abandon(self) -> None:
        """Let go of the file, whose state does not matter any more."""

    def write(self, record: bytes) -> None:
        """Append one record."""
        if not isinstance(record, bytes):
            raise InvalidTypeError(
                f"a record is bytes, not {type(record).__name__}: {short_repr(record)}",
                file=self._path,
                hint="text.encode() makes bytes of text, example.SerializeToString() of a message",
            )
        if self._error is not None:
            raise self._error
        if self._closed:
            raise InvalidArgumentError("the writer is closed", file=self._path)
        try:
            self._append(record)
        except self._faults as error:
            self._fail(error)

    def close(self) -> None:
        """Complete the file. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        if self._error is not None:
            raise self._error
        try:
            self._finish()
        except self._faults as error:
            self._fail(error)

    def _fail(self, error: Exception) -> NoReturn:
        text = getattr(error, "strerror", None) or str(error) or type(error).__name__
        self._error = WriteError(
            f"the file cannot be written: {text}",
            file=self._path,
            hint="make room and write the file again: it is incomplete",
        )
        self._error.errno = getattr(error, "errno", None)
        with contextlib.suppress(*self._faults):  # the fault is known already
            self._abandon()
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
        return f"{type(self).__name__}({self._path!r})"
