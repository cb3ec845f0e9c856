"""DownloadConfig and GenerateMode: how a dataset is built, as TFDS's scripts state it."""

from __future__ import annotations

import dataclasses
import enum
import os
from typing import Any

__all__ = ["DownloadConfig", "GenerateMode"]


class GenerateMode(enum.Enum):
    """What to do where a dataset, or what it was downloaded from, is there already."""

    REUSE_DATASET_IF_EXISTS = "reuse_dataset_if_exists"
    UPDATE_DATASET_INFO = "update_dataset_info"
    REUSE_CACHE_IF_EXISTS = "reuse_cache_if_exists"
    FORCE_REDOWNLOAD = "force_redownload"

    @property
    def overwrite_dataset(self) -> bool:
        """Whether the dataset is built again where it is there."""
        return self in (GenerateMode.REUSE_CACHE_IF_EXISTS, GenerateMode.FORCE_REDOWNLOAD)

    @property
    def overwrite_download(self) -> bool:
        """Whether files are downloaded again where they are there."""
        return self is GenerateMode.FORCE_REDOWNLOAD


@dataclasses.dataclass(kw_only=True)
class DownloadConfig:
    """How to build a dataset.

    Attributes:
        extract_dir: Where archives are unpacked.
        manual_dir: Where files are that people have to download themselves.
        download_mode: What to do where the dataset is there.
        max_examples_per_split: Number of examples of each split to build; None for all.
        register_checksums: Whether to record the checksums of downloads.
        force_checksums_validation: Whether downloads without a recorded checksum are refused.
        num_shards: Number of files of each split; by default the 10 x hosts rule decides.
        ignore_duplicates: Whether to keep the first of the examples that have the same key.
        beam_runner: Runner of Apache Beam; by default the one in this process.
        beam_options: Options of Apache Beam.
        verify_ssl: Whether to check the certificates of servers.
        override_max_simultaneous_downloads: Number of downloads at a time.
        compute_stats: Not used.
        try_download_gcs: Not used: nothing is taken from TFDS's bucket.
        num_examples_per_shard: Not used.
        nondeterministic_order: Whether the order of examples may change between builds.
    """

    extract_dir: str | os.PathLike[str] | None = None
    manual_dir: str | os.PathLike[str] | None = None
    download_mode: GenerateMode = GenerateMode.REUSE_DATASET_IF_EXISTS
    max_examples_per_split: int | None = None
    register_checksums: bool = False
    force_checksums_validation: bool = False
    num_shards: int | None = None
    ignore_duplicates: bool = False
    beam_runner: Any = None
    beam_options: Any = None
    verify_ssl: bool = True
    override_max_simultaneous_downloads: int | None = None
    compute_stats: Any = None
    try_download_gcs: bool = False
    num_examples_per_shard: int | None = None
    nondeterministic_order: bool = False

    def replace(self, **changes: Any) -> DownloadConfig:
        """A copy with some attributes changed."""
        return dataclasses.replace(self, **changes)
