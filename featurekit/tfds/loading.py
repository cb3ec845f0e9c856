"""`tfds.load` and its kin: datasets by name, built where they are not on disk yet."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from featurekit.builders import registry
from featurekit.builders.base import DatasetBuilder
from featurekit.dataset.folders import INFO_FILE, default_data_dir, find_dataset
from featurekit.dataset.load import DatasetReader
from featurekit.dataset.naming import DatasetReference
from featurekit.dataset.read_config import ReadConfig
from featurekit.errors import DatasetNotFoundError, InvalidArgumentError, did_you_mean

__all__ = ["builder", "builder_cls", "data_source", "list_builders", "load"]


def builder_cls(name: str) -> type[DatasetBuilder]:
    """The builder class of a name.

    Raises:
        UnknownNameError: There is none; the closest names are listed.
    """
    return registry.builder_class(DatasetReference.parse(name).name)


def list_builders(**options: Any) -> list[str]:
    """Names of the datasets whose builders were imported, or ship with featurekit.

    Args:
        **options: TFDS's, about community datasets, of which there are none here.
    """
    return registry.names()


def builder(
    name: str,
    *,
    data_dir: str | os.PathLike[str] | None = None,
    try_gcs: bool = False,
    file_format: str | None = None,
    **builder_kwargs: Any,
) -> DatasetBuilder | DatasetReader:
    """The builder of a dataset, or the dataset opened where only its files are there.

    Args:
        name: `name[/config][:version]`, or the folder of a version.
        data_dir: Folder of the datasets; see `featurekit.builder`.
        try_gcs: Must be False: nothing is downloaded from TFDS's bucket.
        file_format: `tfrecord`, `array_record` or `parquet`; by default what the dataset has.
        **builder_kwargs: `config`, `version` and what else the builder's class takes.

    Raises:
        DatasetNotFoundError: There is no builder of that name, and no such dataset on disk.
        InvalidArgumentError: `try_gcs` is True.
    """
    if try_gcs:
        raise InvalidArgumentError(
            "try_gcs=True is not offered: datasets are read from data_dir",
            hint="copy the dataset's folder from gs://tfds-data/datasets to data_dir",
        )
    if os.path.isfile(os.path.join(os.path.expanduser(name), INFO_FILE)):
        return DatasetReader(name, file_format=file_format)
    reference = DatasetReference.parse(name)
    config = builder_kwargs.pop("config", None) or reference.config
    version = builder_kwargs.pop("version", None) or reference.version
    if registry.is_known(reference.name) and (not version or _builds(reference, config, version)):
        kwargs = {**reference.arguments, **builder_kwargs}
        cls = registry.builder_class(reference.name)
        if file_format is not None:  # a class of TFDS may take its own arguments only
            kwargs["file_format"] = file_format
        return cls(data_dir=data_dir, config=config, version=version, **kwargs)
    wanted = "".join(
        (reference.name, f"/{config}" if config else "", f":{version}" if version else "")
    )
    try:
        folder = find_dataset(wanted, default_data_dir(data_dir))
        return DatasetReader(folder, file_format=file_format)
    except DatasetNotFoundError as error:
        error.message += f", and no builder of that name{did_you_mean(name, registry.names())}"
        raise


def _builds(reference: DatasetReference, config: Any, version: Any) -> bool:
    """Whether the code knows a version; a dataset on disk may have others."""
    try:
        registry.builder_class(reference.name)(config=config, version=version)
    except KeyError:
        return False
    return True


def load(
    name: str,
    *,
    split: Any = None,
    data_dir: str | os.PathLike[str] | None = None,
    batch_size: int | None = None,
    shuffle_files: bool = False,
    download: bool = True,
    as_supervised: bool = False,
    decoders: Any = None,
    read_config: ReadConfig | None = None,
    with_info: bool = False,
    builder_kwargs: Mapping[str, Any] | None = None,
    download_and_prepare_kwargs: Mapping[str, Any] | None = None,
    as_dataset_kwargs: Mapping[str, Any] | None = None,
    try_gcs: bool = False,
    file_format: str | None = None,
) -> Any:
    """The examples of a dataset in TFDS's order, built first where it is not on disk.

    Args:
        name: `name[/config][:version]`, or the folder of a version.
        split: A split, a slice, a list or dict of them; None gives a dict of all splits.
        data_dir: Folder of the datasets; see `featurekit.builder`.
        batch_size: Number of examples to join, padded where shapes differ; -1 for all.
        shuffle_files: Whether to read the files in a random order.
        download: Whether to build the dataset where it is not on disk.
        as_supervised: Whether to give `(input, target)` in place of dicts.
        decoders: Decoders in place of the features' own.
        read_config: The order in which files are read.
        with_info: Whether to give `(examples, info)`.
        builder_kwargs: For the builder.
        download_and_prepare_kwargs: For `download_and_prepare`.
        as_dataset_kwargs: For `as_dataset`.
        try_gcs: Must be False.
        file_format: As for `builder`.

    Returns:
        `Examples` of NumPy values; see `featurekit.builder` and its `as_dataset`.

    Raises:
        DatasetNotFoundError: There is no builder of that name, and no such dataset on disk.
        SplitError: There is no such split.
    """
    found = builder(
        name,
        data_dir=data_dir,
        try_gcs=try_gcs,
        file_format=file_format,
        **(builder_kwargs or {}),
    )
    if download:
        found.download_and_prepare(**(download_and_prepare_kwargs or {}))
    options = {
        "split": split,
        "batch_size": batch_size,
        "shuffle_files": shuffle_files,
        "decoders": decoders,
        "read_config": read_config,
        "as_supervised": as_supervised,
        **(as_dataset_kwargs or {}),
    }
    examples = found.as_dataset(**options)
    return (examples, found.info) if with_info else examples


def data_source(
    name: str,
    *,
    split: Any = None,
    data_dir: str | os.PathLike[str] | None = None,
    download: bool = True,
    decoders: Any = None,
    builder_kwargs: Mapping[str, Any] | None = None,
    download_and_prepare_kwargs: Mapping[str, Any] | None = None,
    try_gcs: bool = False,
) -> Any:
    """The examples of a dataset in the order of its files, by position.

    Args:
        name: `name[/config][:version]`, or the folder of a version.
        split: A split, a slice, a list or dict of them; None gives a dict of all splits.
        data_dir: Folder of the datasets; see `featurekit.builder`.
        download: Whether to build the dataset where it is not on disk.
        decoders: Decoders in place of the features' own.
        builder_kwargs: For the builder.
        download_and_prepare_kwargs: For `download_and_prepare`.
        try_gcs: Must be False.

    Returns:
        A `DataSource`, in the form of `split`.

    Raises:
        DatasetNotFoundError: There is no builder of that name, and no such dataset on disk.
        SplitError: There is no such split.
    """
    found = builder(name, data_dir=data_dir, try_gcs=try_gcs, **(builder_kwargs or {}))
    if download:
        found.download_and_prepare(**(download_and_prepare_kwargs or {}))
    return _source(found, split, decoders)


def _source(found: DatasetBuilder | DatasetReader, split: Any, decoders: Any) -> Any:
    if isinstance(split, Mapping):
        return {key: _source(found, item, decoders) for key, item in split.items()}
    if isinstance(split, (list, tuple)):
        return type(split)(_source(found, item, decoders) for item in split)
    return found.as_data_source(split, decoders=decoders)
