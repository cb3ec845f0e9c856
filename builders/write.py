"""write_dataset: a dataset from examples at hand, without a builder class."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from featurekit.builders.atomic import atomic_directory
from featurekit.builders.config import BuilderConfig, config_fields
from featurekit.builders.generation import check_split, write_splits
from featurekit.builders.options import BuildOptions
from featurekit.builders.sharding import ShardPolicy
from featurekit.connector import FeatureConnector
from featurekit.dataset.folders import dataset_dir, default_data_dir
from featurekit.dataset.identity import DatasetIdentity
from featurekit.dataset.info import DatasetInfo
from featurekit.dataset.info_json import write_info
from featurekit.dataset.load import DatasetReader
from featurekit.dataset.version import Version
from featurekit.errors import InvalidTypeError, short_repr

__all__ = ["write_dataset"]


def write_dataset(
    name: str,
    splits: Mapping[str, Iterable[Any]],
    features: FeatureConnector,
    data_dir: str | os.PathLike[str] | None = None,
    *,
    version: str | Version = "1.0.0",
    config: str | BuilderConfig | None = None,
    release_notes: Mapping[str, str] | None = None,
    num_shards: int | None = None,
    num_hosts: int = 1,
    num_processes: int = 1,
    overwrite: bool = False,
    quiet: bool = False,
    **info_fields: Any,
) -> DatasetReader:
    """Write a dataset, and give it opened.

    Args:
        name: Name of the dataset: a letter, then letters, digits and `_`.
        splits: For each split what gives its examples, or pairs `(key, example)`. An example
            without a key has its index as key. Examples are stored in the order of the
            keys' hashes, as builders store them, unless `disable_shuffling=True` is given.
        features: The features of an example, such as a `FeaturesDict`.
        data_dir: Folder of the datasets; by default `$FEATUREKIT_DATA_DIR`,
            `$TFDS_DATA_DIR` or `~/tensorflow_datasets`.
        version: Version of the dataset.
        config: Name of a config, or a `BuilderConfig`; by default there is none.
        release_notes: What changed, by version.
        num_shards: Number of files of each split; by default the 10 x hosts rule decides.
        num_hosts: Number of hosts that will read at once, for that rule.
        num_processes: Number of processes that encode examples; see
            `GeneratorBasedBuilder.download_and_prepare`.
        overwrite: Whether to replace a dataset that is there.
        quiet: Whether to show no progress.
        **info_fields: More about the dataset, as `DatasetInfo` takes it: `description`,
            `supervised_keys`, `homepage`, `citation`, `license`, `metadata`,
            `disable_shuffling`, ...

    Raises:
        BuildError: The dataset is there already, a key is there twice, or a split is empty.
        EncodeError: An example does not fit the features; says which.
        InvalidNameError: The dataset, config or a split cannot be called so.
        WriteError: The disk is full.

    Example:
        >>> import tempfile
        >>> import numpy as np
        >>> import featurekit as fk
        >>> features = fk.FeaturesDict({"x": np.int64})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     squares = ({"x": i * i} for i in range(4))
        ...     reader = fk.write_dataset("squares", {"train": squares}, features, folder)
        ...     sorted(int(example["x"]) for example in reader.as_data_source("train"))
        [0, 1, 4, 9]
    """
    chosen = BuilderConfig(config) if isinstance(config, str) else config
    folder = dataset_dir(default_data_dir(data_dir), name, chosen.name if chosen else None, version)
    identity = DatasetIdentity(
        name=name,
        version=Version(version),
        release_notes=dict(release_notes or {}),
        data_dir=folder,
        **config_fields(chosen),
    )
    info = DatasetInfo(identity=identity, features=features, **info_fields)
    options = BuildOptions(
        policy=ShardPolicy(num_shards=num_shards, num_hosts=num_hosts),
        num_processes=num_processes,
        quiet=quiet,
    )
    if not isinstance(splits, Mapping):
        raise InvalidTypeError(
            f"splits must be a dict of examples, got {short_repr(splits)}",
            hint="give {'train': examples}",
        )
    for split, examples in splits.items():
        check_split(split, examples)
    pairs = {split: _with_keys(examples) for split, examples in splits.items()}
    with atomic_directory(folder, overwrite=overwrite) as unfinished:
        info.splits = write_splits(str(unfinished), info, pairs, options)
        write_info(info, str(unfinished))
    return DatasetReader(folder, features=features)


def _with_keys(examples: Iterable[Any]) -> Iterator[Any]:
    """Pairs `(key, example)` of examples that may come without keys."""
    rest = iter(examples)
    for first in rest:  # it tells which of the two forms they have
        found = itertools.chain([first], rest)
        yield from found if isinstance(first, tuple) else enumerate(found)
