"""convert_dataset: the same records in files of another format."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import uuid
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from featurekit.builders import progress
from featurekit.builders.atomic import atomic_directory
from featurekit.builders.disk import fsync_path, writing
from featurekit.dataset.folders import INFO_FILE
from featurekit.dataset.formats import split_in_format
from featurekit.dataset.index_files import INDEX_SUFFIX
from featurekit.dataset.info import DatasetInfo
from featurekit.dataset.info_json import read_info_file
from featurekit.dataset.load import DatasetReader
from featurekit.dataset.shards import check_count
from featurekit.dataset.storage import read_text, write_text
from featurekit.errors import BuildError, MissingFileError
from featurekit.io.record_files import (
    check_file_format,
    check_installed,
    open_records,
    open_writer,
)

__all__ = ["convert_dataset"]


def convert_dataset(
    folder: str | os.PathLike[str],
    file_format: str,
    out: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
    quiet: bool = False,
) -> DatasetReader:
    """Write a dataset's shards in another format, one for one, and give the dataset opened.

    The records stay as they are, to the last byte, and so does their order.

    Args:
        folder: The folder of the dataset's version.
        file_format: `tfrecord`, `array_record` or `parquet`.
        out: Folder to make, with everything else that lies in `folder` too; by default the new
            shards join the old ones, and the metadata name the format as an alternative one.
        overwrite: Whether to replace what is at `out`.
        quiet: Whether to show no progress.

    Raises:
        BuildError: The dataset has that format already, or there is something at `out`.
        DatasetInfoError: A shard has another number of records than the metadata say.
        CorruptRecordError: A shard is damaged.
        UnsupportedError: The names of the shards do not have their format in them.
        MissingDependencyError: The package that writes the format is not installed.
        WriteError: The disk is full.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> import featurekit as fk
        >>> folder = tempfile.mkdtemp()
        >>> features = fk.FeaturesDict({"x": np.int64})
        >>> squares = [{"x": i * i} for i in range(4)]
        >>> made = fk.write_dataset("squares", {"train": squares}, features, folder)
        >>> convert_dataset(made.data_dir, "parquet").info.file_format  # doctest: +SKIP
        'parquet'
    """
    source = Path(folder).expanduser().absolute()
    chosen = check_file_format(file_format)
    check_installed(chosen)
    info = read_info_file(str(source))
    formats = [info.file_format, *info.alternative_file_formats]
    if chosen in formats:
        raise BuildError(
            f"{info.full_name} is stored as {chosen} already",
            file=source,
            hint=f"read it with builder_from_directory(folder, file_format={chosen!r})",
        )
    check_file_format(info.file_format)
    job = _Conversion(info, chosen, source, quiet=quiet)
    if out is None:
        job.write_beside()
        _change_info(source, source, {"alternativeFileFormats": [*formats[1:], chosen]})
        return DatasetReader(source, file_format=chosen)
    target = Path(out).expanduser().absolute()
    with atomic_directory(target, overwrite=overwrite) as unfinished:
        _copy(source, unfinished, job.files_to_leave(formats))
        job.write(unfinished)
        _change_info(source, unfinished, {"fileFormat": chosen, "alternativeFileFormats": None})
    return DatasetReader(target)


class _Conversion:
    """The shards of one dataset, and what they become.

    Args:
        info: The dataset as it is stored.
        file_format: The format to write.
        source: Its folder.
        quiet: Whether to show no progress.
    """

    def __init__(self, info: DatasetInfo, file_format: str, source: Path, *, quiet: bool) -> None:
        self._info = info
        self._format = file_format
        self._source = source
        self._quiet = quiet
        names = zip(self._names(info.file_format), self._names(file_format), strict=True)
        lengths = (length for split in info.splits.values() for length in split.shard_lengths)
        self._shards = [(*pair, length) for pair, length in zip(names, lengths, strict=True)]

    def _names(self, file_format: str) -> Iterator[str]:
        """The names of the shards in a format, below the folder."""
        for split in self._info.splits.values():
            template = split_in_format(split, file_format).filename_template
            if template is not None:
                yield from template.filenames(split.num_shards)

    def files_to_leave(self, formats: Iterable[str]) -> set[str]:
        """Names of all shards, and of the file that is written anew."""
        return {INFO_FILE, *itertools.chain.from_iterable(map(self._names, formats))}

    def write_beside(self) -> None:
        """Write the shards to the folder of the dataset; if that fails, leave none."""
        try:
            self.write(self._source)
        except BaseException:
            for _, name, _ in self._shards:
                (self._source / name).unlink(missing_ok=True)
            raise

    def write(self, folder: Path) -> None:
        """Write the shards to a folder."""
        title = f"converting {self._info.full_name}"
        for name, new_name, length in progress.count(
            self._shards, title, quiet=self._quiet, unit="shards"
        ):
            self._write_shard(self._source / name, folder / new_name, length)

    def _write_shard(self, source: Path, target: Path, length: int) -> None:
        if not source.is_file():
            raise MissingFileError("a shard of the dataset does not exist", file=source)
        unfinished = target.with_name(f"incomplete.{uuid.uuid4().hex}.{target.name}")
        try:
            with writing(target):
                target.parent.mkdir(parents=True, exist_ok=True)
            count = 0
            with (
                closing(open_records(source, self._info.file_format)) as records,
                closing(open_writer(unfinished, self._format)) as writer,
            ):
                for record in records:
                    writer.write(record)
                    count += 1
            check_count(str(source), length, count)
            fsync_path(unfinished)
            with writing(target):
                os.replace(unfinished, target)
        finally:
            unfinished.unlink(missing_ok=True)


def _copy(source: Path, target: Path, left_out: Container[str]) -> None:
    """Copy the files of a folder but some, and those that nobody needs."""
    with writing(target):
        for path in sorted(source.rglob("*")):
            name = path.relative_to(source)
            dull = path.name.startswith("incomplete.") or path.suffix == INDEX_SUFFIX
            if path.is_file() and not dull and name.as_posix() not in left_out:
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target / name)


def _change_info(source: Path, target: Path, changes: Mapping[str, Any]) -> None:
    """Write dataset_info.json with other values of some fields, and all others as they are."""
    value = json.loads(read_text(str(source / INFO_FILE)))
    for name, change in changes.items():
        value.pop(re.sub("[A-Z]", lambda match: f"_{match[0].lower()}", name), None)  # either works
        value[name] = change
    value = {name: item for name, item in value.items() if item is not None}
    with writing(target):
        write_text(str(target / INFO_FILE), json.dumps(value, indent=2, sort_keys=True))
