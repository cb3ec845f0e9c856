"""store_as_tfds_dataset: `write_dataset` under TFDS's name and with its arguments."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from featurekit.builders.config import BuilderConfig
from featurekit.builders.write import write_dataset
from featurekit.connector import FeatureConnector
from featurekit.dataset.load import DatasetReader
from featurekit.dataset.version import Version

__all__ = ["store_as_tfds_dataset"]


def store_as_tfds_dataset(
    name: str,
    version: Version | str,
    features: FeatureConnector,
    split_datasets: Mapping[str, Iterable[Any]],
    config: str | BuilderConfig | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    description: str | None = None,
    release_notes: Mapping[str, str] | None = None,
    homepage: str | None = None,
    citation: str | None = None,
    download_config: Any = None,
    disable_shuffling: bool = False,
) -> DatasetReader:
    """Write a dataset from examples at hand, and give it opened.

    Args:
        name: Name of the dataset.
        version: Version.
        features: The features of an example.
        split_datasets: For each split its examples, or pairs `(key, example)`.
        config: Name of a config, or a `BuilderConfig`.
        data_dir: Folder of the datasets.
        description: Of the dataset.
        release_notes: What changed, by version.
        homepage: URL.
        citation: BibTeX.
        download_config: Its `num_shards` counts.
        disable_shuffling: Whether examples keep their order.

    Raises:
        BuildError: As `featurekit.write_dataset`.
        EncodeError: The same.
    """
    return write_dataset(
        name,
        split_datasets,
        features,
        data_dir,
        version=version,
        config=config,
        release_notes=release_notes,
        num_shards=getattr(download_config, "num_shards", None),
        description=description,
        homepage=homepage,
        citation=citation,
        disable_shuffling=disable_shuffling,
    )
