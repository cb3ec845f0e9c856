"""write_metadata: make a dataset of record files that something else wrote."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from featurekit.connector import FeatureConnector
from featurekit.dataset.file_template import ShardedFileTemplate, ShardFile
from featurekit.dataset.folders import INFO_FILE
from featurekit.dataset.identity import DatasetIdentity
from featurekit.dataset.info import DatasetInfo
from featurekit.dataset.info_json import write_info
from featurekit.dataset.load import DatasetReader
from featurekit.dataset.splits import SplitDict, SplitInfo
from featurekit.dataset.version import Version
from featurekit.errors import (
    BuildError,
    DatasetInfoError,
    EmptySplitError,
    FeatureKitError,
    MissingFileError,
    add_location,
)
from featurekit.io.record_files import check_file_format, open_records

__all__ = ["write_metadata"]


def write_metadata(
    data_dir: str | os.PathLike[str],
    features: FeatureConnector,
    split_infos: Iterable[SplitInfo] | None = None,
    *,
    version: str | Version | None = None,
    filename_template: str | ShardedFileTemplate | None = None,
    file_format: str = "tfrecord",
    check_data: bool = True,
    overwrite: bool = False,
    **info_fields: Any,
) -> DatasetReader:
    """Write the metadata of a dataset beside record files, and give the dataset opened.

    The files keep their place and are not changed. They hold serialized `tf.train.Example`s
    whose entries are laid out as the features say.

    Args:
        data_dir: The folder of the files.
        features: The features of an example.
        split_infos: The splits with their shard lengths; by default the files tell. Either
            way all records are counted, and their checksums checked.
        version: Version; by default the name of the folder if it is one, else 1.0.0.
        filename_template: How the files are called, such as `{SPLIT}-{SHARD_X_OF_Y}.tfrecord`;
            by default as TFDS calls them, `{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}`.
        file_format: `tfrecord`, `array_record` or `parquet`.
        check_data: Whether to decode the first example of each shard.
        overwrite: Whether to replace metadata that is there.
        **info_fields: More about the dataset, as `DatasetInfo` takes it: `description`,
            `supervised_keys`, ...

    Raises:
        MissingFileError: No file is called as the template says, or a shard is missing.
        BuildError: There is metadata already, the names do not tell one dataset, or a split
            is empty.
        DatasetInfoError: A shard has another number of records than `split_infos` says.
        CorruptRecordError: A file is damaged or compressed.
        DecodeError: An example does not have the features.
    """
    folder = os.path.abspath(os.path.expanduser(os.fspath(data_dir)))
    if os.path.exists(os.path.join(folder, INFO_FILE)) and not overwrite:
        raise BuildError(
            f"there is a {INFO_FILE} already", file=folder, hint="give overwrite=True to replace it"
        )
    file_format = check_file_format(file_format)
    template = _as_template(filename_template, file_format)
    shards = _find_shards(folder, template)
    name = _dataset_name(shards, folder)
    template = template.replace(dataset_name=name, data_dir=folder)
    if split_infos is None:
        numbers = _numbers_of_shards(shards, folder)
    else:
        split_infos = list(split_infos)
        numbers = {split.name: split.num_shards for split in split_infos}
    base = os.path.basename(folder)
    info = DatasetInfo(
        identity=DatasetIdentity(
            name=name,
            version=Version(version or (base if Version.is_valid(base) else "1.0.0")),
            data_dir=folder,
        ),
        features=features,
        splits=SplitDict(
            _read_split(template.replace(split=split), count, features if check_data else None)
            for split, count in numbers.items()
        ),
        file_format=file_format,
        **info_fields,
    )
    for split in split_infos or ():
        _compare(split, info.splits[split.name])
    write_info(info, folder)
    return DatasetReader(folder, features=features)


def _as_template(
    template: str | ShardedFileTemplate | None, file_format: str
) -> ShardedFileTemplate:
    if not isinstance(template, ShardedFileTemplate):
        template = ShardedFileTemplate(template or "")
    return template.replace(suffix=file_format)


def _find_shards(folder: str, template: ShardedFileTemplate) -> list[ShardFile]:
    depth = template.template.count("/")
    names = list(_names_at(folder, depth))
    if shards := [shard for name in names if (shard := template.parse(name)) is not None]:
        return shards
    shown = ", ".join(map(repr, names[:5])) or "none"
    raise MissingFileError(
        f"no file is called as the template {template.template!r} says; there are {shown}",
        file=folder,
        hint="give filename_template=, such as '{SPLIT}-{SHARD_X_OF_Y}.tfrecord'",
    )


def _names_at(folder: str, depth: int) -> Iterator[str]:
    """Names of the files that lie `depth` folders below a folder, relative to it, sorted."""
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        if depth and entry.is_dir():
            for name in _names_at(entry.path, depth - 1):
                yield f"{entry.name}/{name}"
        elif not depth and entry.is_file():
            yield entry.name


def _dataset_name(shards: list[ShardFile], folder: str) -> str:
    """The name of the dataset; `''` where the names of its files do not have it."""
    names = sorted({shard.dataset_name or "" for shard in shards})
    if len(names) == 1:
        return names[0]
    raise BuildError(
        f"the files belong to several datasets: {', '.join(map(repr, names))}",
        file=folder,
        hint="move each dataset to a folder of its own",
    )


def _numbers_of_shards(shards: list[ShardFile], folder: str) -> dict[str, int]:
    """How many shards each split has, as the names of the files say."""
    numbers: dict[str, int] = {}
    for shard in shards:
        if shard.split is None:
            raise BuildError(
                "the names of the files do not tell the split",
                file=folder,
                hint="give filename_template=ShardedFileTemplate('...', split='train')",
            )
        number = shard.num_shards or max(numbers.get(shard.split, 0), (shard.shard_index or 0) + 1)
        if shard.num_shards and numbers.setdefault(shard.split, number) != number:
            raise BuildError(
                f"split {shard.split!r} has shards of {numbers[shard.split]} and of {number}",
                file=folder,
                hint="remove the files that are left from another build",
            )
        numbers[shard.split] = number
    return numbers


def _read_split(
    template: ShardedFileTemplate, num_shards: int, features: FeatureConnector | None
) -> SplitInfo:
    """Count the records of a split; decode the first of each shard where features are given."""
    split = str(template.split)
    lengths, num_bytes = [], 0
    for index in range(num_shards):
        path = template.filepath(index, num_shards)
        if not os.path.isfile(path):
            raise MissingFileError(f"a shard of split {split!r} is missing", file=path)
        length = 0
        for record in open_records(path, str(template.suffix)):
            if features is not None and not length:
                _decode(features, record, path)
            length += 1
            num_bytes += len(record)
        lengths.append(length)
    if not any(lengths):
        raise EmptySplitError(f"split {split!r} has no examples", file=template.data_dir)
    return SplitInfo(split, lengths, num_bytes, template)


def _decode(features: FeatureConnector, record: bytes, path: str) -> None:
    try:
        features.deserialize_example(record)
    except FeatureKitError as error:
        error.record = None  # the position in a batch says nothing to people
        add_location(error, file=path, record=0)
        raise


def _compare(stated: SplitInfo, found: SplitInfo) -> None:
    lengths = zip(found.filepaths, stated.shard_lengths, found.shard_lengths, strict=True)
    for path, want, got in lengths:
        if want != got:
            raise DatasetInfoError(
                f"split {stated.name!r} shall have {want} examples in this shard, it has {got}",
                file=path,
                hint="correct split_infos, or leave them out to have the records counted",
            )
