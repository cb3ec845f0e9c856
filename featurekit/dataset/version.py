"""Version numbers of datasets: MAJOR.MINOR.PATCH."""

from __future__ import annotations

import functools
import re

from featurekit.errors import InvalidNameError, InvalidTypeError, short_repr

__all__ = ["Version", "check_version_pattern"]

_NUMBER = r"0|[1-9][0-9]{0,17}"  # no longer than an int64, so that int() is always quick
_VERSION = re.compile(rf"({_NUMBER})\.({_NUMBER})\.({_NUMBER})")
_PATTERN = re.compile(rf"({_NUMBER}|\*)\.({_NUMBER}|\*)\.({_NUMBER}|\*)")


@functools.total_ordering
class Version:
    """A version `x.y.z`, ordered number by number, equal to its own text.

    What the three numbers promise is TFDS's rule: PATCH, readers get the same values;
    MINOR, the same and more; MAJOR, values or slices differ.

    Args:
        version: Text `x.y.z` of whole numbers without leading zeros, or another version.
        tfds_version_to_prepare: Kept for builder scripts that pass it, and not used.

    Raises:
        InvalidNameError: The text is not of that form.
        InvalidTypeError: It is neither text nor a version.

    Example:
        >>> Version("1.10.0") > "1.9.3", Version("1.2.3").match("1.*.*")
        (True, True)
    """

    def __init__(self, version: str | Version, tfds_version_to_prepare: str | None = None) -> None:
        self._parts = _parts(version)
        self.tfds_version_to_prepare = tfds_version_to_prepare

    @property
    def major(self) -> int:
        """The first number: it changes when what readers get changes."""
        return self._parts[0]

    @property
    def minor(self) -> int:
        """The second number: it changes when there is more than before."""
        return self._parts[1]

    @property
    def patch(self) -> int:
        """The third number: it changes when only the bytes on disk do."""
        return self._parts[2]

    @property
    def tuple(self) -> tuple[int, int, int]:
        """The three numbers.

        >>> Version("1.2.3").tuple
        (1, 2, 3)
        """
        return self._parts

    def match(self, pattern: str | Version) -> bool:
        """Whether `pattern` covers this version; `*` stands for any number.

        Args:
            pattern: `x.y.z`, each a number or `*`.

        Raises:
            InvalidNameError: The pattern is not of that form.

        Example:
            >>> Version("2.0.1").match("2.*.*"), Version("2.0.1").match("*.1.*")
            (True, False)
        """
        wanted = check_version_pattern(str(pattern)).split(".")
        pairs = zip(wanted, self._parts, strict=True)
        return all(part in ("*", str(number)) for part, number in pairs)

    @classmethod
    def is_valid(cls, version: object) -> bool:
        """Whether `version` is a version, or text that can be one.

        >>> Version.is_valid("1.0.0"), Version.is_valid("1.0"), Version.is_valid(None)
        (True, False, False)
        """
        if isinstance(version, str):
            return _VERSION.fullmatch(version) is not None
        return isinstance(version, Version)

    def __str__(self) -> str:
        return ".".join(map(str, self._parts))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (str, Version)):
            return str(self) == str(other)  # a text has one spelling, so no need to parse it
        return NotImplemented

    def __lt__(self, other: str | Version) -> bool:
        if isinstance(other, (str, Version)):
            return self._parts < _parts(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))  # equal to its text, so found under it in a dict


def check_version_pattern(pattern: str) -> str:
    """Return `pattern` if it is `x.y.z`, each a number or `*`.

    Raises:
        InvalidNameError: It is not of that form.

    Example:
        >>> check_version_pattern("1.*.*")
        '1.*.*'
    """
    if _PATTERN.fullmatch(pattern):
        return pattern
    raise InvalidNameError(
        f"{short_repr(pattern)} is no version pattern",
        hint="write x.y.z, each a whole number or '*', such as '1.*.*'",
    )


def _parts(version: str | Version) -> tuple[int, int, int]:
    if isinstance(version, Version):
        return version.tuple
    if not isinstance(version, str):
        raise InvalidTypeError(
            f"a version must be text such as '1.0.0', got {short_repr(version)}",
        )
    match = _VERSION.fullmatch(version)
    if match is None:
        raise InvalidNameError(
            f"{short_repr(version)} is no version",
            hint="write x.y.z, three whole numbers without leading zeros, such as '1.0.0'",
        )
    major, minor, patch = map(int, match.groups())
    return major, minor, patch
