"""What the readers of indexed record files have in common."""

from __future__ import annotations

import abc
import operator
import os
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self, SupportsIndex, overload

from featurekit.errors import InvalidTypeError, RecordIndexError
from featurekit.io.files import path_text

__all__ = ["RecordReader"]


class RecordReader(abc.ABC):
    """The records of a file that says where they are: a sequence of bytes, read on demand.

    The file is opened when it is first needed. Readers can be pickled, and are closed then.

    Args:
        path: The file, or its URL.

    Raises:
        MissingFileError: There is no such file; raised when it is first needed.
        CorruptRecordError: The file is damaged.
        RecordIndexError: There is no record with that index.
        MissingDependencyError: The package that reads the format is not installed.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path_text(path)
        self._file: Any = None

    @abc.abstractmethod
    def _open_file(self) -> Any:
        """Open the file, if it is a regular one: libraries wait for the writer of a pipe."""

    @abc.abstractmethod
    def _close_file(self, file: Any) -> None:
        """Close what `_open_file` gave."""

    @abc.abstractmethod
    def _count(self, file: Any) -> int:
        """Number of records."""

    @abc.abstractmethod
    def _read(self, file: Any, index: int) -> bytes:
        """The record with that index, which exists."""

    @abc.abstractmethod
    def __iter__(self) -> Iterator[bytes]:
        """All records, from front to back."""

    @property
    def path(self) -> str:
        """The file's path."""
        return self._path

    def __len__(self) -> int:
        return self._count(self._opened())

    @overload
    def __getitem__(self, i: SupportsIndex) -> bytes: ...
    @overload
    def __getitem__(self, i: slice) -> list[bytes]: ...
    def __getitem__(self, i: SupportsIndex | slice) -> bytes | list[bytes]:
        file = self._opened()
        count = self._count(file)
        if isinstance(i, slice):
            return [self._read(file, index) for index in range(count)[i]]
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
        return self._read(file, wanted % count)

    def _opened(self) -> Any:
        if self._file is None:
            self._file = self._open_file()
        return self._file

    def close(self) -> None:
        """Let go of the open file; reading again opens it again."""
        file, self._file = self._file, None
        if file is not None:
            self._close_file(file)

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
        return f"{type(self).__name__}({self._path!r})"
