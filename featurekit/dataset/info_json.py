"""dataset_info.json and the files beside it, written and read.

The JSON is that of TFDS's `DatasetInfo` protocol buffer: camelCase names, 64-bit integers
as text, defaults left out. Older files have fewer fields; newer ones may have more, which
are ignored and logged once.

Source: TFDS's dataset_info.proto, and files that TFDS 4.0 to 4.9 wrote.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from featurekit.connector import FEATURES_FILE, FeatureConnector
from featurekit.dataset import supervised
from featurekit.dataset.file_template import DEFAULT_TEMPLATE, ShardedFileTemplate
from featurekit.dataset.folders import INFO_FILE
from featurekit.dataset.identity import DatasetIdentity
from featurekit.dataset.info import DatasetInfo, MetadataDict
from featurekit.dataset.naming import check_inside
from featurekit.dataset.splits import SplitDict, SplitInfo
from featurekit.dataset.storage import is_file, local_copies, read_text, write_text
from featurekit.dataset.version import Version
from featurekit.errors import (
    DatasetInfoError,
    DatasetNotFoundError,
    FeatureKitError,
    MissingFileError,
    add_location,
    did_you_mean,
    short_repr,
)
from featurekit.io.record_files import FILE_FORMATS
from featurekit.registry import loading, note_unknown

__all__ = [
    "read_custom_metadata",
    "read_info",
    "read_info_file",
    "to_json",
    "write_info",
]

METADATA_FILE = "metadata.json"
LICENSE_FILE = "LICENSE"
_MAX_COUNT = 2**53  # of examples and of bytes: sums stay far below 2**63


# Writing.


def to_json(info: DatasetInfo) -> dict[str, Any]:
    """The JSON of dataset_info.json; empty fields are left out."""
    fields = {
        "name": info.name,
        "version": str(info.version),
        "description": info.description,
        "citation": info.citation,
        "location": {"urls": [info.stated_homepage]} if info.stated_homepage else None,
        "redistributionInfo": {"license": info.license} if info.license else None,
        "configName": info.config_name,
        "configDescription": info.config_description,
        "configTags": info.config_tags,
        "releaseNotes": info.release_notes,
        "moduleName": info.module_name,
        "fileFormat": info.file_format,
        "alternativeFileFormats": info.alternative_file_formats,
        "supervisedKeys": info.supervised_keys and supervised.to_json(info.supervised_keys),
        "disableShuffling": info.disable_shuffling,
        "nondeterministicOrder": info.nondeterministic_order,
        "downloadSize": str(info.download_size) if info.download_size else None,
        "splits": [_split_to_json(split) for split in info.splits.values()],
    }
    return {name: value for name, value in fields.items() if value}


def _split_to_json(split: SplitInfo) -> dict[str, Any]:
    template = split.filename_template
    fields = {
        "name": split.name,
        "numBytes": str(split.num_bytes) if split.num_bytes else None,
        "shardLengths": [str(length) for length in split.shard_lengths],
        "filepathTemplate": template.template if template else DEFAULT_TEMPLATE,
    }
    return {name: value for name, value in fields.items() if value}


def write_info(info: DatasetInfo, folder: str) -> None:
    """Write all metadata of a dataset to its folder; dataset_info.json comes last.

    Raises:
        SchemaError: The features cannot be written as JSON.
    """
    if info.features is not None:
        info.features.save_config(folder)
    if isinstance(info.metadata, MetadataDict) or info.metadata:
        write_text(os.path.join(folder, METADATA_FILE), json.dumps(info.metadata))
    if info.license:
        write_text(os.path.join(folder, LICENSE_FILE), info.license)
    text = json.dumps(to_json(info), indent=2, sort_keys=True)
    write_text(os.path.join(folder, INFO_FILE), text)


# Reading.


def read_info(
    folder: str, *, features: FeatureConnector | None = None, trust: Iterable[str] = ()
) -> DatasetInfo:
    """Read all metadata of a dataset from its folder.

    Args:
        folder: The folder of the version.
        features: The features, for a dataset too old to have a features.json.
        trust: Packages that connector classes named there may be imported from.

    Raises:
        DatasetNotFoundError: There is no dataset_info.json.
        DatasetInfoError: It is damaged.
        MissingFileError: There is no features.json, and no `features` were given.
        SchemaError: features.json is damaged.
    """
    with loading((), os.path.join(folder, INFO_FILE)):
        info = read_info_file(folder)
    with local_copies(folder, _describes_features) as local:
        if features is not None:
            features.load_metadata(local, None)
            info.features = features
        elif is_file(os.path.join(local, FEATURES_FILE)) or info.splits.total_num_examples:
            info.features = FeatureConnector.from_config(local, trust=trust)
    info.metadata = read_custom_metadata(folder)
    return info


def _describes_features(name: str) -> bool:
    """Whether a file is features.json, or one that the features keep beside it."""
    return name == FEATURES_FILE or name.endswith(".txt")


def read_info_file(folder: str) -> DatasetInfo:
    """Read what dataset_info.json alone says; fields that nobody knows go to `note_unknown`.

    Raises:
        DatasetNotFoundError: There is no dataset_info.json.
        DatasetInfoError: It is damaged.
    """
    path = os.path.join(folder, INFO_FILE)
    value = _read_json(path, folder)
    try:
        return _from_json(_Fields(value, "dataset_info.json"), folder)
    except FeatureKitError as error:
        add_location(error, file=path)
        raise


def _read_json(path: str, folder: str) -> Mapping[str, Any]:
    try:
        value = json.loads(read_text(path))
    except MissingFileError:
        raise DatasetNotFoundError(
            f"there is no {INFO_FILE}, so this is not the folder of a dataset's version",
            file=folder,
            hint="give the folder of one version, such as .../mnist/3.0.1, or build it again",
        ) from None
    except (ValueError, RecursionError) as error:
        raise DatasetInfoError(
            f"{INFO_FILE} is not JSON: {error}", file=path, hint="copy the file again"
        ) from error
    if not isinstance(value, Mapping):
        raise DatasetInfoError(f"{INFO_FILE} holds no object", file=path)
    return value


class _Fields:
    """Typed access to one JSON object; remembers which fields nobody asked for."""

    def __init__(self, value: Any, what: str) -> None:
        if not isinstance(value, Mapping):
            raise DatasetInfoError(f"expected an object for {what}, got {short_repr(value)}")
        self._value = {_camel(key): item for key, item in value.items()}
        self._what = what
        self._asked: set[str] = set()

    def get(self, name: str, read: Callable[[Any], Any], default: Any) -> Any:
        """One field, or the default where it is absent."""
        self._asked.add(name)
        value = self._value.get(name)
        if value is None:
            return default
        try:
            return read(value)
        except (TypeError, ValueError, AttributeError) as error:
            if isinstance(error, FeatureKitError):
                raise
            raise DatasetInfoError(
                f"field {name!r} of {self._what} has the value {short_repr(value)}: {error}",
                hint="the file is damaged; copy it again",
            ) from error

    def ignore(self, *names: str) -> None:
        """Name fields that are known, and not used."""
        self._asked.update(names)

    def unknown(self) -> list[str]:
        """Fields that this version does not know."""
        return sorted(self._value.keys() - self._asked)


def _from_json(fields: _Fields, folder: str) -> DatasetInfo:
    fields.ignore("schema", "downloadChecksums", "dataSourceAccesses", "features", "isBlocked")
    name = fields.get("name", _text, "")
    file_format = fields.get("fileFormat", _text, "") or "tfrecord"
    if file_format not in FILE_FORMATS:
        raise DatasetInfoError(
            f"there is no file format {file_format!r}{did_you_mean(file_format, FILE_FORMATS)}"
        )
    identity = DatasetIdentity(
        name=name,
        version=fields.get("version", Version, Version("0.0.0")),
        config_name=fields.get("configName", _text, "") or None,
        config_description=fields.get("configDescription", _text, "") or None,
        config_tags=tuple(fields.get("configTags", _texts, ())),
        release_notes=fields.get("releaseNotes", dict, {}),
        module_name=fields.get("moduleName", _text, ""),
        data_dir=folder,
    )
    template = ShardedFileTemplate(dataset_name=name, suffix=file_format, data_dir=folder)
    unknown: list[str] = []
    splits = [
        _split_from_json(_Fields(item, "a split"), template, unknown)
        for item in fields.get("splits", list, [])
    ]
    size = fields.get("sizeInBytes", _integer, 0)
    info = DatasetInfo(
        identity=identity,
        description=fields.get("description", _text, ""),
        citation=fields.get("citation", _text, ""),
        homepage=next(iter(fields.get("location", _urls, [])), ""),
        license=fields.get("redistributionInfo", _license, None),
        supervised_keys=fields.get("supervisedKeys", supervised.from_json, None),
        disable_shuffling=fields.get("disableShuffling", bool, False),
        nondeterministic_order=fields.get("nondeterministicOrder", bool, False),
        splits=SplitDict(splits),
        download_size=fields.get("downloadSize", _integer, 0) or size,
        file_format=file_format,
        alternative_file_formats=fields.get("alternativeFileFormats", _texts, []),
    )
    note_unknown([*fields.unknown(), *unknown])
    return info


def _split_from_json(
    fields: _Fields, template: ShardedFileTemplate, unknown: list[str]
) -> SplitInfo:
    fields.ignore("statistics", "numShards")
    own = fields.get("filepathTemplate", _text, "")
    name = check_inside(fields.get("name", _text, ""), "a split name")
    split = SplitInfo(
        name,
        fields.get("shardLengths", lambda items: [_integer(item) for item in items], []),
        fields.get("numBytes", _integer, 0),
        template.replace(template=own) if own else template,
    )
    unknown.extend(f"splits.{field}" for field in fields.unknown())
    return split


def read_custom_metadata(folder: str) -> Mapping[str, Any]:
    """Read metadata.json; empty where there is none.

    Raises:
        DatasetInfoError: It holds no JSON object.
    """
    path = os.path.join(folder, METADATA_FILE)
    if not is_file(path):
        return {}
    try:
        value = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise DatasetInfoError(f"{METADATA_FILE} is not JSON: {error}", file=path) from error
    if not isinstance(value, Mapping):
        raise DatasetInfoError(f"{METADATA_FILE} holds no object", file=path)
    return MetadataDict(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("expected text")
    return value


def _texts(value: Any) -> list[str]:
    return [_text(item) for item in value]


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise TypeError("expected an integer")
    number = int(value)
    if abs(number) > _MAX_COUNT:
        raise ValueError("no dataset is as large")
    return number


def _urls(value: Any) -> list[str]:
    return _texts(value.get("urls", []))


def _license(value: Any) -> str | None:
    return _text(value.get("license", "")) or None


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(part.capitalize() for part in others)
