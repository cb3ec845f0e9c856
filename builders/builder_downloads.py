"""The download manager of a builder: its folders, and the checksums beside its module."""

from __future__ import annotations

import inspect
import os
from pathlib import Path
from typing import Any

from featurekit.builders.checksums import CHECKSUMS_FILE, load_url_infos
from featurekit.builders.download import DownloadManager
from featurekit.builders.download_config import DownloadConfig

__all__ = ["checksums_path", "manager_of"]


def checksums_path(builder: type[Any]) -> Path | None:
    """The file of recorded checksums of a builder class; None where it has no module on disk."""
    try:
        return Path(inspect.getfile(builder)).parent / CHECKSUMS_FILE
    except (TypeError, OSError):  # a notebook cell
        return None


def manager_of(
    builder: Any,
    download_dir: str | os.PathLike[str] | None,
    config: DownloadConfig,
    *,
    quiet: bool,
) -> DownloadManager:
    """The download manager of one build.

    Args:
        builder: Says its name, instructions and recorded checksums.
        download_dir: Folder for downloads; by default `downloads` beside the dataset.
        config: How to download.
        quiet: Whether to show no progress.

    Raises:
        BuildError: The file of checksums is damaged.
        InvalidArgumentError: Checksums shall be recorded, and the builder has no module on disk.
        WriteError: Checksums shall be recorded, and cannot be written.
    """
    download_dir = download_dir or os.path.join(builder.data_dir_root, "downloads")
    path = checksums_path(type(builder))
    force = config.download_mode.force_download
    return DownloadManager(
        download_dir=download_dir,
        extract_dir=config.extract_dir,
        manual_dir=config.manual_dir or os.path.join(download_dir, "manual"),
        manual_dir_instructions=builder.MANUAL_DOWNLOAD_INSTRUCTIONS,
        url_infos=load_url_infos(path) if path and path.exists() else None,
        dataset_name=builder.name,
        force_download=force,
        force_extraction=force,
        force_checksums_validation=config.force_checksums_validation,
        register_checksums=config.register_checksums,
        register_checksums_path=path,
        verify_ssl=config.verify_ssl,
        max_expansion=config.max_expansion,
        quiet=quiet,
    )
