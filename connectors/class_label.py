"""ClassLabel: an integer that stands for a class, with the classes' names."""

from __future__ import annotations

import html
import logging
import operator
import os
import pathlib
from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from featurekit.connector import Documentation
from featurekit.connectors.tensor import Tensor
from featurekit.direct import DirectSpec
from featurekit.errors import (
    EncodeError,
    EncodeTypeError,
    InvalidArgumentError,
    InvalidTypeError,
    MissingFileError,
    SchemaError,
    UnknownNameError,
    add_location,
    did_you_mean,
    short_repr,
)
from featurekit.feature_json import ProtoContent

__all__ = ["ClassLabel", "read_names", "write_names"]


class ClassLabel(Tensor):
    """An integer class, from 0; -1 means "no label".

    Takes the integer, or the class's name as `str` or `bytes`. A bool or a fraction is no
    label. The names are kept beside features.json, one a line of `<feature>.labels.txt`, which
    loses white space at their ends.

    Args:
        num_classes: Number of classes, where they have no names.
        names: The classes' names, in order.
        names_file: Path of a text file of them, one a line.
        doc: What the feature means.

    Raises:
        InvalidArgumentError: More than one of the three is given, a name is there twice, or a
            name is empty or has a line break.
        InvalidTypeError: A name is no text.
        MissingFileError: There is no `names_file`.

    Example:
        >>> label = ClassLabel(names=["no", "yes"])
        >>> label.str2int("yes"), label.int2str(0), label.num_classes
        (1, 'no', 2)
    """

    tfds_name = "tensorflow_datasets.core.features.class_label_feature.ClassLabel"

    def __init__(
        self,
        *,
        num_classes: int | None = None,
        names: Iterable[str | bytes] | None = None,
        names_file: str | os.PathLike[str] | None = None,
        doc: Documentation | str | None = None,
    ) -> None:
        super().__init__(shape=(), dtype=np.int64, doc=doc)
        if sum(argument is not None for argument in (num_classes, names, names_file)) > 1:
            raise InvalidArgumentError(
                "a ClassLabel takes one of num_classes=, names= and names_file=",
                hint="names= alone also says how many classes there are",
            )
        self._num_classes = None if num_classes is None else _check_count(num_classes)
        self._names: list[str] | None = None
        if names is not None:
            self.names = names
        if names_file is not None:
            self._set_names_of_file(pathlib.Path(names_file))

    @property
    def num_classes(self) -> int | None:
        """Number of classes, or None where nothing was declared."""
        return self._num_classes

    @property
    def names(self) -> list[str]:
        """The classes' names, in order; their numbers as text where they have none.

        Raises:
            InvalidArgumentError: No classes were declared.
        """
        if self._names is not None:
            return list(self._names)
        return [str(i) for i in range(self._count())]

    @names.setter
    def names(self, names: Iterable[str | bytes]) -> None:
        given = _check_names(names)
        if self._names is not None and self._names != given:
            raise InvalidArgumentError(
                f"the classes are already named {short_repr(self._names)}, "
                f"and cannot become {short_repr(given)}",
                hint="make a new ClassLabel",
            )
        if self._num_classes not in (None, 0, len(given)):
            raise InvalidArgumentError(
                f"there are {self._num_classes} classes, got {len(given)} names",
                hint="give a name for every class",
            )
        self._names = given
        self._num_classes = len(given)
        self._numbers = {name: number for number, name in enumerate(given)}

    def _set_names_of_file(self, path: pathlib.Path) -> None:
        try:
            self.names = read_names(path)
        except InvalidArgumentError as error:
            add_location(error, file=path)
            raise

    def _count(self) -> int:
        if self._num_classes is None:
            raise InvalidArgumentError(
                "this ClassLabel has no classes yet",
                hint="declare it with num_classes=, names= or names_file=",
            )
        return self._num_classes

    def str2int(self, str_value: str | bytes) -> int:
        """The number of a class, by its name.

        Raises:
            UnknownNameError: There is no class of that name; the closest one is named.
        """
        name = str_value.decode("utf-8", "replace") if isinstance(str_value, bytes) else str_value
        if self._names is not None:
            number = self._numbers.get(name)
        else:
            number = _decimal(name)
            if number is not None and not 0 <= number < self._count():
                number = None
        if number is None:
            raise UnknownNameError(self._unknown(name), hint="fix the name, or add it to names=")
        return number

    def int2str(self, int_value: int) -> str:
        """The name of a class, by its number.

        Raises:
            InvalidArgumentError: There is no class of that number.
        """
        number = operator.index(int_value)
        if not 0 <= number < self._count():
            raise InvalidArgumentError(
                f"{number} is not the number of one of the {self._count()} classes",
                hint="-1 means that an example has no label" if number == -1 else None,
            )
        return self._names[number] if self._names is not None else str(number)

    def _unknown(self, name: str) -> str:
        known = self.names
        shown = ", ".join(map(repr, known[:10])) + (", ..." if len(known) > 10 else "")
        close = did_you_mean(name, known)
        return f"{name!r} is not one of the {len(known)} classes ({shown})" + (
            close if close.startswith("; did") else ""
        )

    def encode_example(self, value: Any) -> Any:
        """The number of the class.

        Raises:
            EncodeError: It is no class: an unknown name, a number out of range.
            EncodeTypeError: It is neither a name nor an integer.
        """
        if self._num_classes is None:
            raise EncodeError(
                "this ClassLabel has no classes",
                hint="declare it with num_classes=, names= or names_file=",
            )
        if isinstance(value, (str, bytes)):
            return np.int64(self._from_name(value))
        number = _as_label(value)
        if not -1 <= number < self._num_classes:
            raise EncodeError(
                f"{number} is not a class: there are {self._num_classes}, from 0",
                hint="use -1 for an example without a label",
            )
        return np.int64(number)

    def direct_spec(self) -> DirectSpec | None:
        """The numbers of the classes and -1, unless an author's subclass has other rules."""
        if type(self) is not ClassLabel or self._num_classes is None:
            return None
        return DirectSpec(self._dtype, (), limits=(-1, self._num_classes - 1))

    def _from_name(self, name: str | bytes) -> int:
        try:
            return self.str2int(name)
        except UnknownNameError as error:
            raise EncodeError(
                error.message, hint="fix the value, or add the class to names="
            ) from None

    def save_metadata(self, data_dir: str | os.PathLike[str], feature_name: str | None) -> None:
        """Write the names to `<feature>.labels.txt`, where there are any."""
        if self._names is not None:
            write_names(_names_path(data_dir, feature_name), self._names)

    def load_metadata(self, data_dir: str | os.PathLike[str], feature_name: str | None) -> None:
        """Read the names from `<feature>.labels.txt`, where it exists.

        Raises:
            SchemaError: The file disagrees with the number or names of the classes.
        """
        path = _names_path(data_dir, feature_name)
        if not path.exists() or self._has_names_of_file(path):
            return
        try:
            self._set_names_of_file(path)
        except InvalidArgumentError as error:
            raise SchemaError(
                f"the classes are not those of features.json: {error.message}",
                file=path,
                hint="restore the file from where the dataset was built",
            ) from None

    def _has_names_of_file(self, path: pathlib.Path) -> bool:
        """Whether the names are those of the file, which keeps no white space around them."""
        if self._names is None:
            return False
        return [name.strip() for name in self._names] == read_names(path)

    def to_json_content(self) -> Any:
        """The number of classes; names lie in a file of their own."""
        return ProtoContent("classLabel", num_classes=self._num_classes or 0)

    @classmethod
    def from_json_content(cls, value: Any) -> Self:
        """Make a `ClassLabel` from what TFDS wrote.

        Raises:
            SchemaError: It names a file of names: metadata never chooses what to open.
        """
        if "names_file" in value:
            raise SchemaError(
                "the metadata of a ClassLabel names a file",
                hint="keep the names in <feature>.labels.txt beside features.json",
            )
        return cls(**value)

    def _identity(self) -> Any:
        return (super()._identity(), self._names)

    def _repr_extras(self) -> list[str]:
        return [f"num_classes={self._num_classes}"]

    def repr_html(self, value: Any) -> str:
        """The number, and the name in brackets; `-` for no label."""
        number = int(value)
        if number == -1:
            return "-"
        return html.escape(f"{number} ({self.int2str(number)})" if self._names else str(number))


# Files of names.


def read_names(path: str | os.PathLike[str]) -> list[str]:
    """Read class names, one a line.

    White space around names, empty lines and a byte order mark do not count, as in TFDS
    (which keeps the mark). An empty line between names is logged, since it may stand for a
    class without a name.

    Raises:
        MissingFileError: There is no such file.
        InvalidArgumentError: It is not UTF-8.
    """
    path = pathlib.Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise MissingFileError("the file of class names does not exist", file=path) from None
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(
            f"the file of class names is not UTF-8: {error.reason} at byte {error.start}",
            file=path,
            hint="save the file as UTF-8",
        ) from None
    lines = [line.strip() for line in text.split("\n")]
    names = [line for line in lines if line]
    if "" in lines[: _last(lines)]:
        number = lines.index("") + 1
        logging.getLogger("featurekit").warning(
            "%s: line %d is empty and not counted as a class", path, number
        )
    return names


def _last(lines: list[str]) -> int:
    """Index of the last line with text."""
    return max((index for index, line in enumerate(lines) if line), default=0)


def write_names(path: pathlib.Path, names: Iterable[str]) -> None:
    """Write class names, one a line."""
    path.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")


def _names_path(data_dir: str | os.PathLike[str], feature_name: str | None) -> pathlib.Path:
    return pathlib.Path(data_dir) / f"{feature_name or ''}.labels.txt"


def _check_names(names: Iterable[str | bytes]) -> list[str]:
    """The names as text, which a file of one name a line gives back with the same numbers."""
    if isinstance(names, (str, bytes)):
        raise InvalidTypeError(
            f"names must be a list of names, got {type(names).__name__} {names!r}",
            hint=f"write names=[{names!r}]",
        )
    given = [_as_name(name) for name in names]
    seen: set[str] = set()
    for name in given:
        if name.strip() in seen:
            raise InvalidArgumentError(
                f"class name {name.strip()!r} is there twice", hint="every class needs its own name"
            )
        seen.add(name.strip())
    if given and given[0].startswith("\ufeff"):
        raise InvalidArgumentError(
            f"class name {given[0]!r} begins with a byte order mark, which its file loses",
            hint="read the names with encoding='utf-8-sig'",
        )
    if padded := [name for name in given if name != name.strip()]:
        logging.getLogger("featurekit").warning(
            "class name %r has white space at an end, which the dataset's file of names loses",
            padded[0],
        )
    return given


def _as_name(name: Any) -> str:
    if not isinstance(name, (str, bytes)):
        raise InvalidTypeError(
            f"a class name must be str, got {type(name).__name__} {short_repr(name)}",
            hint="use num_classes= for classes without names",
        )
    try:
        text = name.decode() if isinstance(name, bytes) else str(name)
        text.encode()
    except UnicodeError:
        raise InvalidArgumentError(
            f"class name {name!r} is not UTF-8", hint="decode it with its own encoding first"
        ) from None
    if not text.strip() or "\n" in text or "\r" in text:
        raise InvalidArgumentError(
            f"class name {text!r} cannot be a line of a file",
            hint="datasets keep class names one a line: a name needs a character and no line break",
        )
    return text


def _check_count(num_classes: int) -> int:
    try:
        count = operator.index(num_classes)
    except TypeError:
        count = -1
    if count < 0 or isinstance(num_classes, bool):
        raise InvalidArgumentError(f"num_classes must be an integer >= 0, got {num_classes!r}")
    return count


def _decimal(name: str) -> int | None:
    return int(name) if name.isascii() and name.isdecimal() else None


def _as_label(value: Any) -> int:
    if isinstance(value, (bool, np.bool_)) or (isinstance(value, np.ndarray) and value.ndim):
        raise _no_label(value)
    try:
        return operator.index(value)
    except TypeError:
        raise _no_label(value) from None


def _no_label(value: Any) -> EncodeTypeError:
    return EncodeTypeError(
        f"expected the number or name of a class, got {type(value).__name__} {short_repr(value)}",
        hint="give an int, or a name as str",
    )
