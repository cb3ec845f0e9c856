"""DownloadConfig: how what a dataset is made of is got, and how it is built; TFDS's options."""

from __future__ import annotations

import dataclasses
import enum
import os
from typing import Any, Self

from featurekit.builders.archive_stream import DEFAULT_EXPANSION
from featurekit.errors import InvalidArgumentError, did_you_mean

__all__ = ["ComputeStatsMode", "DownloadConfig", "GenerateMode"]


class GenerateMode(enum.StrEnum):
    """What to do with downloads and with a dataset that are there; names as in TFDS."""

    REUSE_DATASET_IF_EXISTS = enum.auto()  # keep both
    UPDATE_DATASET_INFO = enum.auto()  # write what the code says about the dataset anew
    REUSE_CACHE_IF_EXISTS = enum.auto()  # keep downloads, build again
    FORCE_REDOWNLOAD = enum.auto()  # download and build again

    @classmethod
    def _missing_(cls, value: object) -> GenerateMode:
        raise InvalidArgumentError(f"there is no download mode {value!r}{did_you_mean(value, cls)}")

    @property
    def force_download(self) -> bool:
        """Whether to download again what is there."""
        return self is GenerateMode.FORCE_REDOWNLOAD

    @property
    def overwrite_dataset(self) -> bool:
        """Whether to build again a dataset that is there."""
        return self in (GenerateMode.REUSE_CACHE_IF_EXISTS, GenerateMode.FORCE_REDOWNLOAD)


class ComputeStatsMode(enum.Enum):
    """Whether to compute statistics while building; names as in TFDS."""

    AUTO = "auto"
    FORCE = "force"
    SKIP = "skip"


@dataclasses.dataclass(eq=False)
class DownloadConfig:
    """How to get what a dataset is made of, and how to build it.

    Attributes:
        extract_dir: Folder for extracted archives; by default `extracted` in the folder of
            downloads.
        manual_dir: Folder of files that were got by hand; by default `manual` in the folder of
            downloads.
        download_mode: What to do with downloads and with a dataset that are there.
        compute_stats: Without effect: no statistics are computed while building.
        max_examples_per_split: Number of examples after which each split ends. 0 downloads
            and extracts, and builds nothing.
        register_checksums: Whether to record the checksums of downloads beside the builder's
            module, in place of checking them.
        force_checksums_validation: Whether to refuse URLs whose checksum is not recorded.
        beam_runner: Runner of Apache Beam, for builders that use it.
        beam_options: Options of Apache Beam, for builders that use it.
        try_download_gcs: Without effect: prepared datasets are not downloaded.
        verify_ssl: Whether servers of https URLs must prove who they are.
        override_max_simultaneous_downloads: Without effect: there is one at a time.
        num_shards: Number of files of each split.
        min_shard_size: Size below which a split is not cut further, in bytes.
        max_shard_size: Size above which a shard is cut, in bytes.
        ignore_duplicates: Keep the first of the examples that have the same key.
        nondeterministic_order: For Apache Beam: whether the order may change between builds.
        max_expansion: How many times larger than an archive its files may be.

    Example:
        >>> DownloadConfig(register_checksums=True).replace(num_shards=4).num_shards
        4
    """

    extract_dir: str | os.PathLike[str] | None = None
    manual_dir: str | os.PathLike[str] | None = None
    download_mode: GenerateMode = GenerateMode.REUSE_DATASET_IF_EXISTS
    compute_stats: ComputeStatsMode = ComputeStatsMode.SKIP
    max_examples_per_split: int | None = None
    register_checksums: bool = False
    force_checksums_validation: bool = False
    beam_runner: Any | None = None
    beam_options: Any | None = None
    try_download_gcs: bool = True
    verify_ssl: bool = True
    override_max_simultaneous_downloads: int | None = None
    num_shards: int | None = None
    min_shard_size: int | None = None
    max_shard_size: int | None = None
    ignore_duplicates: bool = False
    nondeterministic_order: bool = False
    max_expansion: int = DEFAULT_EXPANSION

    @classmethod
    def of(cls, config: Any) -> Self:
        """The options of any object that has some of them as attributes; the defaults of None."""
        if isinstance(config, cls):
            return config
        names = [field.name for field in dataclasses.fields(cls)]
        return cls(**{name: getattr(config, name) for name in names if hasattr(config, name)})

    def __post_init__(self) -> None:
        self.download_mode = GenerateMode(getattr(self.download_mode, "value", self.download_mode))

    def replace(self, **changes: Any) -> Self:
        """A copy with some options changed."""
        return dataclasses.replace(self, **changes)
