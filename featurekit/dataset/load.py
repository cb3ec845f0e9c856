"""Opening a dataset: by name or by folder."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from featurekit.connector import FeatureConnector
from featurekit.dataset.folders import INFO_FILE, default_data_dir, find_dataset, list_versions
from featurekit.dataset.formats import choose_format
from featurekit.dataset.info import DatasetInfo
from featurekit.dataset.info_json import read_info
from featurekit.dataset.reading import ReadsExamples
from featurekit.dataset.split_expressions import SplitLike
from featurekit.dataset.storage import absolute, is_file
from featurekit.dataset.text import TextMode
from featurekit.dataset.version import Version
from featurekit.errors import (
    DatasetNotFoundError,
    InvalidNameError,
    InvalidTypeError,
    short_repr,
)
from featurekit.registry import check_trust

__all__ = ["DatasetReader", "builder", "builder_from_directory", "load"]


class DatasetReader(ReadsExamples):
    """A dataset on disk, opened from its folder alone.

    Has what a builder has once its dataset is built.

    Args:
        folder: The folder of the version, or its URL, such as `gs://bucket/mnist/3.0.1`.
        features: The features, for a dataset too old to have a features.json.
        trust: Packages that connector classes named there may be imported from.
        file_format: Which files to read, where the folder has them in alternative formats.

    Raises:
        DatasetNotFoundError: There is no dataset in that folder.
        DatasetInfoError: Its metadata is damaged, or the dataset is not there in that format.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        features: FeatureConnector | None = None,
        trust: Iterable[str] = (),
        file_format: str | None = None,
    ) -> None:
        self._folder = absolute(folder)
        self._info = read_info(self._folder, features=features, trust=check_trust(trust))
        choose_format(self._info, file_format)

    @property
    def info(self) -> DatasetInfo:
        """What the dataset is."""
        return self._info

    @property
    def name(self) -> str:
        """Name of the dataset."""
        return self._info.name

    @property
    def version(self) -> Version:
        """Version of the dataset."""
        return self._info.version

    @property
    def data_dir(self) -> str:
        """The folder of the version."""
        return self._folder

    def is_prepared(self) -> bool:
        """True: what was opened is there."""
        return True

    def download_and_prepare(self, **kwargs: Any) -> None:
        """Do nothing: the dataset is there."""

    def __repr__(self) -> str:
        """Name and folder."""
        return f"DatasetReader({self._info.full_name}, {self._folder!r})"


def builder_from_directory(
    folder: str | os.PathLike[str],
    *,
    features: FeatureConnector | None = None,
    trust: Iterable[str] = (),
    file_format: str | None = None,
) -> DatasetReader:
    """Open a dataset from the folder of its version; written by featurekit or by TFDS.

    Args:
        folder: Such as `.../mnist/3.0.1`.
        features: The features, for a dataset too old to have a features.json.
        trust: Packages that connector classes named there may be imported from.
        file_format: Which files to read, where the folder has them in alternative formats.

    Raises:
        DatasetNotFoundError: There is no dataset_info.json.
        DatasetInfoError: It is damaged, or the dataset is not there in that format.
        SchemaError: features.json is damaged.
    """
    return DatasetReader(folder, features=features, trust=trust, file_format=file_format)


def builder(
    name: str,
    *,
    data_dir: str | os.PathLike[str] | None = None,
    features: FeatureConnector | None = None,
    trust: Iterable[str] = (),
    file_format: str | None = None,
) -> DatasetReader:
    """Open a dataset by its name, `name[/config][:version]`, or by its folder.

    Args:
        name: Without a version the newest one on disk counts.
        data_dir: Folder of the datasets; by default `$FEATUREKIT_DATA_DIR`,
            `$TFDS_DATA_DIR` or `~/tensorflow_datasets`.
        features: The features, for a dataset too old to have a features.json.
        trust: Packages that connector classes named there may be imported from.
        file_format: Which files to read, where the folder has them in alternative formats.

    Raises:
        DatasetNotFoundError: There is none; says what there is.
        DatasetInfoError: Its metadata is damaged, or the dataset is not there in that format.
    """
    folder = _find(name, data_dir)
    return DatasetReader(folder, features=features, trust=trust, file_format=file_format)


def _find(name: str | os.PathLike[str], data_dir: str | os.PathLike[str] | None) -> str:
    """The folder that `name` is, or that it stands for."""
    if not isinstance(name, (str, os.PathLike)):
        raise InvalidTypeError(
            f"expected the name or the folder of a dataset, got {short_repr(name)}",
            hint="write for example 'mnist:3.0.1' or 'data/mnist/3.0.1'",
        )
    folder = os.path.expanduser(os.fspath(name))
    if "://" in folder or is_file(os.path.join(folder, INFO_FILE)):
        return folder
    try:
        return find_dataset(os.fspath(name), default_data_dir(data_dir))
    except (DatasetNotFoundError, InvalidNameError) as error:
        if (as_path := _no_dataset_in(folder, error)) is not None:
            raise as_path from None
        raise


def _no_dataset_in(folder: str, error: Exception) -> DatasetNotFoundError | None:
    """What is wrong with a path; None where it was hardly meant as one."""
    if os.path.isfile(folder):
        return DatasetNotFoundError(
            "this is a file, not the folder of a dataset's version",
            file=folder,
            hint="give the folder that holds it, if it is a file of a dataset",
        )
    if versions := list_versions(folder):
        return DatasetNotFoundError(
            f"this folder has versions of a dataset, but is not one: it has no {INFO_FILE}",
            file=folder,
            hint=f"give the folder of one version: {os.path.join(folder, str(versions[-1]))!r}",
        )
    if os.sep not in folder or not isinstance(error, InvalidNameError):
        return None
    missing = not os.path.isdir(folder)
    return DatasetNotFoundError(
        "there is no such folder" if missing else f"the folder has no {INFO_FILE}",
        file=folder,
        hint="give the folder of a dataset's version, or its name: name[/config][:version]",
    )


def load(
    name: str,
    split: SplitLike | None = None,
    *,
    data_dir: str | os.PathLike[str] | None = None,
    decoders: Any = None,
    columns: Any = None,
    text: TextMode = "bytes",
    trust: Iterable[str] = (),
    file_format: str | None = None,
    with_info: bool = False,
) -> Any:
    """Open the examples of a dataset that is on disk.

    Args:
        name: `name[/config][:version]`, or the folder of a version.
        split: Name of a split, a slice such as `"train[:10%]"`, or a split expression; None
            gives a dict of all splits.
        data_dir: Folder of the datasets; see `builder`.
        decoders: Decoders in place of the features' own, nested like the features, or a
            `PartialDecoding`; see `featurekit.decode`.
        columns: The features to read, such as `["image", "objects/label"]`; all by default.
        text: `"bytes"` gives text as it is stored, `"str"` decodes it as UTF-8.
        trust: Packages that connector classes named in its files may be imported from.
        file_format: Which files to read, where the folder has them in alternative formats.
        with_info: Whether to give `(examples, info)`.

    Returns:
        A `DataSource`, or a dict of them.

    Raises:
        DatasetNotFoundError: There is no such dataset.
        SplitError: It has no such split.
        UnknownNameError: It has no such feature.
    """
    reader = builder(name, data_dir=data_dir, trust=trust, file_format=file_format)
    examples = reader.as_data_source(split, decoders=decoders, columns=columns, text=text)
    return (examples, reader.info) if with_info else examples
