"""One dataset whose examples lie in several folders, each a dataset of its own."""

from __future__ import annotations

import os
from collections.abc import Iterable

from featurekit.connector import FeatureConnector
from featurekit.dataset.load import DatasetReader
from featurekit.dataset.splits import SplitDict, SplitInfo, SubSplitInfo
from featurekit.errors import DatasetInfoError, InvalidArgumentError

__all__ = ["builder_from_directories"]


def builder_from_directories(
    folders: Iterable[str | os.PathLike[str]],
    *,
    features: FeatureConnector | None = None,
    trust: Iterable[str] = (),
) -> DatasetReader:
    """Open the datasets of several folders as one.

    Splits of one name are read one after the other, in the order of the folders. Metadata
    are those of the first folder.

    Args:
        folders: Folders of versions, such as `.../mnist/3.0.1`.
        features: The features, for datasets too old to have a features.json.
        trust: Packages that connector classes named there may be imported from.

    Raises:
        DatasetNotFoundError: There is no dataset in a folder.
        DatasetInfoError: Two have different features, or are stored in different formats.
        InvalidArgumentError: No folder is given.
    """
    trust = tuple(trust)
    readers = [DatasetReader(folder, features=features, trust=trust) for folder in folders]
    if not readers:
        raise InvalidArgumentError("no folder is given", hint="give one or more")
    first = readers[0]
    parts: dict[str, list[SplitInfo]] = {}
    for reader in readers:
        _check_same(first, reader)
        for name, split in reader.info.splits.items():
            parts.setdefault(name, []).append(split)
    first.info.splits = SplitDict(
        found[0] if len(found) == 1 else SubSplitInfo.concatenate(name, found)
        for name, found in parts.items()
    )
    return first


def _check_same(first: DatasetReader, other: DatasetReader) -> None:
    for what in ("features", "file_format"):
        mine, theirs = getattr(first.info, what), getattr(other.info, what)
        if mine != theirs:
            raise DatasetInfoError(
                f"the {what} of {first.data_dir} are not those of the dataset beside it: "
                f"expected {mine}, got {theirs}",
                file=other.data_dir,
                hint="open them one by one",
            )
