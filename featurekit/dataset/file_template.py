"""Names of shard files: the templates that dataset_info.json stores for each split.

A template is text with placeholders, such as `{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}`.
Grammar and number widths are those of TFDS 4.9.
"""

from __future__ import annotations

import dataclasses
import glob
import os
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from featurekit.dataset.naming import check_inside
from featurekit.errors import InvalidArgumentError, InvalidNameError, did_you_mean, short_repr

__all__ = ["DEFAULT_TEMPLATE", "ShardFile", "ShardedFileTemplate"]

DEFAULT_TEMPLATE = "{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}"

_MIN_DIGITS = 5
_PATTERNS = {  # what a placeholder may stand for in a file name that is read back
    "DATASET": r"[A-Za-z]\w*",
    "SPLIT": r"[\w-]+",
    "FILEFORMAT": r"\w+",
    "SHARD_INDEX": r"[0-9]{5,18}",
    "NUM_SHARDS": r"[0-9]{5,18}",
}
_SHARD_NUMBER = re.compile(r"-?\{SHARD_INDEX\}(?:-of-\{NUM_SHARDS\})?")


class ShardFile(NamedTuple):
    """What the name of a shard file says; None where it says nothing."""

    dataset_name: str | None
    split: str | None
    suffix: str | None
    shard_index: int | None
    num_shards: int | None


@dataclasses.dataclass(frozen=True)
class ShardedFileTemplate:
    """The names of the shard files of a split.

    Args:
        template: Text with the placeholders `{DATASET}`, `{SPLIT}`, `{FILEFORMAT}`,
            `{SHARD_INDEX}`, `{NUM_SHARDS}` and `{SHARD_X_OF_Y}` (the two numbers joined by
            `-of-`), relative to `data_dir`, folders allowed; the empty text means
            `DEFAULT_TEMPLATE`.
        dataset_name: Stands for `{DATASET}`.
        split: Stands for `{SPLIT}`.
        suffix: Stands for `{FILEFORMAT}`: `tfrecord`, `array_record`, ...
        data_dir: The folder of the files, that of the version, or None.

    Raises:
        InvalidNameError: A placeholder is unknown or a brace is unpaired.

    Example:
        >>> template = ShardedFileTemplate(dataset_name="mnist", split="train", suffix="tfrecord")
        >>> template.filename(3, 12)
        'mnist-train.tfrecord-00003-of-00012'
    """

    template: str = DEFAULT_TEMPLATE
    dataset_name: str | None = None
    split: str | None = None
    suffix: str | None = None
    data_dir: str | None = None

    def __post_init__(self) -> None:
        if not self.template:
            object.__setattr__(self, "template", DEFAULT_TEMPLATE)
        _check_template(self.template)

    def replace(self, **changes: str | None) -> ShardedFileTemplate:
        """A copy with other fields, such as `replace(suffix="parquet")`."""
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]

    def filename(self, shard_index: int, num_shards: int | None = None) -> str:
        """The name of one shard file, relative to the folder of the version.

        Numbers have five digits, or as many as `num_shards` needs.

        Args:
            shard_index: From 0.
            num_shards: Number of files of the split, or None while it is unknown.

        Raises:
            InvalidNameError: The template has a placeholder without a value, or gives
                several shards one name, or the name leaves the folder.
            InvalidArgumentError: There is no such shard.
        """
        if shard_index < 0 or (num_shards is not None and shard_index >= num_shards):
            count = "" if num_shards is None else f" of {num_shards}"
            raise InvalidArgumentError(f"there is no shard {shard_index}{count}")
        if (num_shards or 1) > 1 and "{SHARD_INDEX}" not in self._expanded:
            raise InvalidNameError(
                f"the template {short_repr(self.template)} gives {num_shards} shards one name",
                hint="put {SHARD_X_OF_Y} or {SHARD_INDEX} into it",
            )
        values = self._names() | _numbers(shard_index, num_shards)
        return check_inside(_fill(self._expanded, values), "a shard file name")

    def filenames(self, num_shards: int) -> list[str]:
        """The names of all shard files in order, relative to the folder of the version.

        >>> ShardedFileTemplate("{SPLIT}/{SHARD_INDEX}", split="test").filenames(2)
        ['test/00000', 'test/00001']
        """
        return [self.filename(index, num_shards) for index in range(num_shards)]

    def filepath(self, shard_index: int, num_shards: int | None = None) -> str:
        """The path of one shard file, below `data_dir` if that is known."""
        return os.path.join(self.data_dir or "", self.filename(shard_index, num_shards))

    def parse(self, filename: str) -> ShardFile | None:
        """Read a file name back; None if it is not one of this template.

        Where the template knows dataset, split or suffix, the name must have them. Folders
        before the template's own are ignored. What follows a last `%` in the template
        tells how the file is encoded, and is no part of its name.

        >>> ShardedFileTemplate().parse("/data/my_ds-train.tfrecord-00000-of-00003")[1:]
        ('train', 'tfrecord', 0, 3)
        """
        template = self._expanded.rpartition("%")[0] or self._expanded
        name = "/".join(filename.split("/")[-1 - template.count("/") :])
        match = re.fullmatch(_fill(template, _Groups(), re.escape), name)
        if match is None:
            return None
        found = self._names() | match.groupdict()
        if not self._names().items() <= found.items():
            return None
        index, count = (found.get(key) for key in ("SHARD_INDEX", "NUM_SHARDS"))
        return ShardFile(
            dataset_name=found.get("DATASET"),
            split=found.get("SPLIT"),
            suffix=found.get("FILEFORMAT"),
            shard_index=None if index is None else int(index),
            num_shards=None if count is None else int(count),
        )

    def glob(self, num_shards: int | None = None) -> str:
        """A glob pattern of the shard files, relative to the folder of the version.

        Args:
            num_shards: Their number, or None for any number of five digits.

        Example:
            >>> ShardedFileTemplate("{SPLIT}-{SHARD_X_OF_Y}", split="train").glob(12)
            'train-*-of-00012'
        """
        if num_shards is None:
            numbers = dict.fromkeys(("SHARD_INDEX", "NUM_SHARDS"), "[0-9]" * _MIN_DIGITS)
        else:
            numbers = _numbers(0, num_shards) | {"SHARD_INDEX": "*"}
        names = {key: glob.escape(value) for key, value in self._names().items()}
        return _fill(self._expanded, names | numbers, glob.escape)

    def at_notation(self, num_shards: int) -> str:
        """All shards under one name, `name@12`, as other tools write it.

        Raises:
            InvalidNameError: The template does not number its shards once.

        Example:
            >>> ShardedFileTemplate("{SPLIT}-{SHARD_X_OF_Y}.gz", split="train").at_notation(12)
            'train@12.gz'
        """
        template, count = _SHARD_NUMBER.subn("@{NUM_SHARDS}", self._expanded)
        if count != 1 or template.count("{NUM_SHARDS}") != 1:
            raise InvalidNameError(
                f"the template {short_repr(self.template)} has no '@' notation",
                hint="put {SHARD_X_OF_Y} or {SHARD_INDEX} into it, once",
            )
        return _fill(template, self._names() | {"NUM_SHARDS": str(num_shards)})

    @property
    def _expanded(self) -> str:
        return self.template.replace("{SHARD_X_OF_Y}", "{SHARD_INDEX}-of-{NUM_SHARDS}")

    def _names(self) -> dict[str, str]:
        names = {"DATASET": self.dataset_name, "SPLIT": self.split, "FILEFORMAT": self.suffix}
        return {key: value for key, value in names.items() if value}


class _Groups(dict[str, str]):
    """Regular expressions of the placeholders; a second occurrence must equal the first."""

    def __missing__(self, name: str) -> str:
        self[name] = f"(?P={name})"
        return f"(?P<{name}>{_PATTERNS[name]})"


def _check_template(template: str) -> None:
    parts = re.split(r"\{(\w+)\}", template)
    if any("{" in text or "}" in text for text in parts[::2]):
        raise InvalidNameError(f"a brace is unpaired in the template {short_repr(template)}")
    known = (*_PATTERNS, "SHARD_X_OF_Y")
    for name in parts[1::2]:
        if name not in known:
            raise InvalidNameError(
                f"unknown placeholder {name!r} in the template {short_repr(template)}"
                + did_you_mean(name, known)
            )


def _fill(template: str, values: Mapping[str, str], literal: Callable[[str], str] = str) -> str:
    parts = re.split(r"\{(\w+)\}", template)
    try:
        return "".join(values[part] if i % 2 else literal(part) for i, part in enumerate(parts))
    except KeyError as error:
        known = ", ".join(f"{{{name}}}" for name in values)
        raise InvalidNameError(
            f"the template {short_repr(template)} needs a value for {{{error.args[0]}}}",
            hint=f"known are {known or 'none'}",
        ) from None


def _numbers(shard_index: int, num_shards: int | None) -> dict[str, str]:
    width = max(_MIN_DIGITS, len(str(num_shards or 0)))
    numbers = {"SHARD_INDEX": f"{shard_index:0{width}d}"}
    if num_shards is not None:
        numbers["NUM_SHARDS"] = f"{num_shards:0{width}d}"
    return numbers
