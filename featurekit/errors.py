"""The exceptions of featurekit: what was wrong, where, and what to do.

Every exception is a `FeatureKitError` and also the built-in type a caller would
expect (`ValueError`, `KeyError`, `FileNotFoundError`, ...). Its text is built once,
where the fault is::

    EncodeError: 'caat' is not one of the 3 classes ('bird', 'cat', 'dog'); did you mean 'cat'?
      at: objects[2].label (ClassLabel)
      hint: fix the value, or add the class to names=
      while building pets:1.0.0, split train, key 'img_0042'

Outer levels only add the place: a feature path (`add_path`), a file and record
(`add_location`), or what was going on (`add_context`). They never rewrite the text.
The three helpers also take exceptions that are not ours, such as those raised by an
author's own connector: these keep their type and text, and get the place as a note.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable
from typing import Any

__all__ = [
    "ArchiveError",
    "BuildError",
    "CancelledError",
    "ChecksumError",
    "CorruptRecordError",
    "DatasetInfoError",
    "DatasetNotFoundError",
    "DecodeError",
    "DownloadError",
    "DuplicateKeyError",
    "EmptySplitError",
    "EncodeError",
    "EncodeTypeError",
    "FeatureKeyError",
    "FeatureKitError",
    "FeatureKitWarning",
    "InvalidArgumentError",
    "InvalidNameError",
    "InvalidTypeError",
    "MissingDependencyError",
    "MissingFileError",
    "NotOfferedError",
    "OutOfRangeError",
    "ParseError",
    "RecordIndexError",
    "SchemaError",
    "SplitError",
    "UnknownNameError",
    "UnsavedStateError",
    "UnsupportedError",
    "WaitTimeoutError",
    "WriteError",
    "add_context",
    "add_location",
    "add_path",
    "did_you_mean",
    "format_path",
    "short_repr",
]

PathPart = str | int


class FeatureKitWarning(UserWarning):
    """A thing worth knowing that is not an error, said once."""


class FeatureKitError(Exception):
    """Base of every exception that featurekit raises on purpose.

    Args:
        message: What was wrong: what was expected and what was got.
        hint: What to do about it.
        path: Feature path, outermost part first; a string is a key, an int an index.
        connector: Class name of the connector at that path.
        file: File the fault is in.
        record: Index of the record in the file, from 0.
        byte: Offset in the (uncompressed) file, in bytes.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        path: Iterable[PathPart] = (),
        connector: str | None = None,
        file: str | os.PathLike[str] | None = None,
        record: int | None = None,
        byte: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.path: tuple[PathPart, ...] = tuple(path)
        self.connector = connector
        self.file = None if file is None else os.fspath(file)
        self.record = record
        self.byte = byte
        self.context: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The message, then one line each for place, hint and context."""
        lines = [self.message]
        if place := self.place:
            lines.append(f"  at: {place}")
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        lines.extend(f"  {line}" for line in self.context)
        return "\n".join(lines)

    @property
    def place(self) -> str:
        """Where it is, for people: feature path, then file, record and byte."""
        parts = []
        if self.path:
            name = format_path(self.path)
            parts.append(f"{name} ({self.connector})" if self.connector else name)
        elif self.connector:
            parts.append(self.connector)
        if self.file is not None:
            parts.append(self.file)
        if self.record is not None:
            parts.append(f"record {self.record}")
        if self.byte is not None:
            parts.append(f"byte {self.byte}")
        return ", ".join(parts)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with all attributes, so that a worker's error arrives whole."""
        # By name, since ImportError keeps `path` outside of __dict__.
        state = {name: getattr(self, name) for name in _FIELDS} | self.__dict__
        return (_rebuild, (type(self), state))


_FIELDS = ("message", "hint", "path", "connector", "file", "record", "byte", "context")


def _rebuild(cls: type[FeatureKitError], state: dict[str, Any]) -> FeatureKitError:
    error = cls.__new__(cls, state["message"])
    FeatureKitError.__init__(error, state["message"])
    for name, value in state.items():
        setattr(error, name, value)
    return error


# Values on their way to disk and back.


class EncodeError(FeatureKitError, ValueError):
    """A value does not fit its feature."""


class EncodeTypeError(EncodeError, TypeError):
    """A value has a type that its feature does not take."""


class FeatureKeyError(EncodeError, KeyError):
    """An example lacks a key that the features declare, or has one they do not."""


class DecodeError(FeatureKitError, ValueError):
    """Stored bytes do not hold what the feature says they hold."""


class ParseError(FeatureKitError, ValueError):
    """Bytes are not the message they should be, or contradict the feature specs."""


# Files.


class CorruptRecordError(FeatureKitError, ValueError):
    """A record file is cut short or damaged."""


class MissingFileError(FeatureKitError, FileNotFoundError):
    """A file that is needed does not exist."""


class WriteError(FeatureKitError, OSError):
    """A file could not be written whole: a full disk, a size limit, an I/O error."""


class DownloadError(FeatureKitError, OSError):
    """A file could not be downloaded whole."""


class ChecksumError(DownloadError, ValueError):
    """A downloaded file is not the one whose checksum is recorded."""


class ArchiveError(FeatureKitError, ValueError):
    """An archive is damaged, or would do harm where it is extracted."""


class RecordIndexError(FeatureKitError, IndexError):
    """There is no record with that index."""


# Metadata and names.


class SchemaError(FeatureKitError, ValueError):
    """`features.json`, or the arguments of a connector, make no sense."""


class DatasetInfoError(FeatureKitError, ValueError):
    """`dataset_info.json` is missing, damaged or contradicts the files beside it."""


class DatasetNotFoundError(FeatureKitError, FileNotFoundError, ValueError):
    """There is no dataset of that name or in that folder."""


class InvalidNameError(FeatureKitError, ValueError):
    """A dataset, config, split, version or file name breaks the naming rules."""


class UnknownNameError(FeatureKitError, KeyError, ValueError):
    """A name is not one of those that exist; the closest ones are listed."""


class SplitError(FeatureKitError, ValueError):
    """A split or slice does not exist or cannot be."""


class InvalidArgumentError(FeatureKitError, ValueError):
    """An argument has a value that makes no sense."""


class InvalidTypeError(FeatureKitError, TypeError):
    """An argument has a type that makes no sense."""


class UnsupportedError(FeatureKitError, NotImplementedError):
    """The format allows it, featurekit does not offer it."""


class NotOfferedError(FeatureKitError, AttributeError):
    """A name of TFDS or TensorFlow that featurekit does not offer; says what to use."""


# Builds.


class BuildError(FeatureKitError, RuntimeError):
    """A dataset could not be built."""


class DuplicateKeyError(BuildError, ValueError):
    """Two examples of one split have the same key.

    Attributes:
        keys: The two keys as they were given.
        positions: Indices of the two examples in the order of generation, from 0.
        payloads: The two examples, serialized.
    """

    keys: tuple[bytes | str | int, ...] = ()
    positions: tuple[int, ...] = ()
    payloads: tuple[bytes, ...] = ()


class EmptySplitError(BuildError, ValueError):
    """A split has no examples."""


# Dependencies and queues.


class MissingDependencyError(FeatureKitError, ImportError):  # type: ignore[misc]  # its path is ours
    """An optional package is needed; the text names the extra to install."""


class OutOfRangeError(FeatureKitError, EOFError):
    """The input has ended."""


class CancelledError(FeatureKitError, RuntimeError):
    """The operation was cancelled."""


class UnsavedStateError(FeatureKitError, RuntimeError):
    """A batch waits for states of earlier batches that nobody is going to save."""


class WaitTimeoutError(FeatureKitError, TimeoutError):
    """The time to wait is over."""


# Adding the place to an exception that is on its way out.


def add_path(error: BaseException, part: PathPart, connector: str | None = None) -> None:
    """Put one more, outer, part in front of the feature path of `error`.

    Args:
        error: The exception on its way out.
        part: A key, or the index of an element.
        connector: Class name of the connector there; the innermost one is kept.
    """
    if isinstance(error, FeatureKitError):
        error.connector = error.connector or connector
        error.path = (part, *error.path)
        return
    inner = getattr(error, "_featurekit_place", None) or FeatureKitError("", connector=connector)
    inner.path = (part, *inner.path)
    error._featurekit_place = inner  # type: ignore[attr-defined]
    _replace_note(error, "  at: ", f"  at: {inner.place}")


def add_location(
    error: BaseException,
    *,
    file: str | os.PathLike[str] | None = None,
    record: int | None = None,
    byte: int | None = None,
) -> None:
    """Say in which file, record and byte `error` happened, where it does not know yet."""
    if isinstance(error, FeatureKitError):
        error.file = error.file if error.file is not None or file is None else os.fspath(file)
        error.record = error.record if error.record is not None else record
        error.byte = error.byte if error.byte is not None else byte
        return
    where = FeatureKitError("", file=file, record=record, byte=byte).place
    error.add_note(f"  in: {where}")


def add_context(error: BaseException, text: str) -> None:
    """Add a line that says what was going on, such as the example being built."""
    if isinstance(error, FeatureKitError):
        error.context = (*error.context, text)
    else:
        error.add_note(f"  {text}")


def _replace_note(error: BaseException, start: str, text: str) -> None:
    notes = [note for note in getattr(error, "__notes__", []) if not note.startswith(start)]
    error.__notes__ = [*notes, text]


# Pieces of messages.


def format_path(path: Iterable[PathPart]) -> str:
    """Write a feature path as people do: `objects[2].label`.

    >>> format_path(["objects", 2, "label"])
    'objects[2].label'
    """
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text


def did_you_mean(name: object, choices: Iterable[str], *, limit: int = 10) -> str:
    """Say what the right names are, the closest one first; `''` if there are none.

    >>> did_you_mean("caat", ["bird", "cat", "dog"])
    "; did you mean 'cat'?"
    >>> did_you_mean("fish", ["bird", "cat"])
    "; there are 'bird', 'cat'"
    """
    known = sorted(map(str, choices))
    if close := difflib.get_close_matches(str(name), known, n=1):
        return f"; did you mean {close[0]!r}?"
    if not known:
        return ""
    shown = ", ".join(map(repr, known[:limit]))
    more = f" and {len(known) - limit} more" if len(known) > limit else ""
    return f"; there are {shown}{more}"


def short_repr(value: object, limit: int = 80) -> str:
    """A repr for messages: arrays as shape and dtype, long text cut."""
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if isinstance(value, type):
        shape = None  # np.int64.shape is a descriptor
    if shape is not None and dtype is not None and getattr(value, "size", 2) > 8:
        return f"array of shape {tuple(shape)} and dtype {dtype}"
    if isinstance(value, (bytes, bytearray)) and len(value) > limit // 2:
        return f"{len(value)} bytes beginning {bytes(value[:16])!r}"
    if isinstance(value, str) and len(value) > limit:
        return f"{value[: limit // 2]!r}... ({len(value)} characters)"
    try:
        text = re.sub(r"\n\s*", " ", repr(value))  # of an array: a message is one line
    except Exception:
        return f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= limit else f"{text[: limit - 3]}..."
