"""DownloadManager: gets what a dataset is made of, once, and checks that it is that."""

from __future__ import annotations

import logging
import os
import shutil
import textwrap
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, TypeAlias

from featurekit.builders import download_cache as cache
from featurekit.builders.archive_stream import DEFAULT_EXPANSION
from featurekit.builders.checksums import (
    UrlInfo,
    compute_url_info,
    load_url_infos,
    save_url_infos,
)
from featurekit.builders.disk import writing
from featurekit.builders.extract import ExtractMethod, extract, iter_archive
from featurekit.builders.resource import Resource
from featurekit.errors import (
    BuildError,
    ChecksumError,
    InvalidArgumentError,
    InvalidTypeError,
    MissingFileError,
    UnsupportedError,
    WriteError,
    short_repr,
)

__all__ = ["DownloadManager"]

_logger = logging.getLogger("featurekit")

PathLike: TypeAlias = str | os.PathLike[str]


class DownloadManager:
    """Downloads and extracts files, and keeps them; what `_split_generators` is given.

    `download`, `extract` and `download_and_extract` take a URL or path, a `Resource`, or
    lists and dicts of them, nested or not, and give paths in the same form. What was
    downloaded or extracted before is used again. The folders are laid out as TFDS's.

    Args:
        download_dir: Folder for downloads.
        extract_dir: Folder for extracted archives; by default `extracted` below that.
        manual_dir: Folder of files that were got by hand.
        manual_dir_instructions: How to get them.
        url_infos: Recorded sizes and checksums, by URL.
        dataset_name: Downloads go to a folder of that name.
        force_download: Whether to download again what is there.
        force_extraction: Whether to extract again what is there.
        force_checksums_validation: Whether to refuse URLs whose checksum is not recorded.
        register_checksums: Whether to record checksums in place of checking them.
        register_checksums_path: File to record them in.
        verify_ssl: Whether servers of https URLs must prove who they are.
        max_simultaneous_downloads: Without effect: there is one at a time.
        max_expansion: How many times larger than an archive its files may be.
        quiet: Whether to show no progress.

    Raises:
        InvalidArgumentError: Checksums shall be recorded, but not where.
        WriteError: A folder or that file cannot be written to.

    Example:
        >>> manager = DownloadManager(download_dir="downloads")  # doctest: +SKIP
        >>> manager.download_and_extract({  # doctest: +SKIP
        ...     "train": "https://example.org/train.tar.gz",
        ...     "labels": "https://example.org/labels.txt",
        ... })
        {'train': PosixPath('downloads/extracted/TAR_GZ.example.org_train...'), 'labels': ...}
    """

    def __init__(
        self,
        *,
        download_dir: PathLike,
        extract_dir: PathLike | None = None,
        manual_dir: PathLike | None = None,
        manual_dir_instructions: str | None = None,
        url_infos: Mapping[str, UrlInfo] | None = None,
        dataset_name: str | None = None,
        force_download: bool = False,
        force_extraction: bool = False,
        force_checksums_validation: bool = False,
        register_checksums: bool = False,
        register_checksums_path: PathLike | None = None,
        verify_ssl: bool = True,
        max_simultaneous_downloads: int | None = None,
        max_expansion: int = DEFAULT_EXPANSION,
        quiet: bool = False,
    ) -> None:
        self._download_dir = Path(download_dir).expanduser()
        self._extract_dir = (
            Path(extract_dir).expanduser() if extract_dir else self._download_dir / "extracted"
        )
        self._manual_dir = Path(manual_dir).expanduser() if manual_dir else None
        self._manual_dir_instructions = textwrap.dedent(manual_dir_instructions or "").strip()
        self._dataset_name = dataset_name
        self._force_download = force_download
        self._force_extraction = force_extraction
        self._force_validation = force_checksums_validation
        self._register = _checked_register_path(register_checksums, register_checksums_path)
        self._verify_ssl = verify_ssl
        self._max_expansion = max_expansion
        self._quiet = quiet
        self._known = dict(url_infos or {})
        self._used: dict[str, UrlInfo] = {}
        self._downloaded: dict[str, Path] = {}  # what this one has got, by URL
        self._extracted: set[Path] = set()

    # What there is.

    @property
    def download_dir(self) -> Path:
        """Folder of downloads, which exists."""
        with writing(self._download_dir):
            self._download_dir.mkdir(parents=True, exist_ok=True)
        return self._download_dir

    @property
    def downloaded_size(self) -> int:
        """Bytes of all files that were asked for, downloaded now or before."""
        return sum(info.size for info in self._used.values())

    @property
    def register_checksums(self) -> bool:
        """Whether checksums are recorded in place of checked."""
        return self._register is not None

    @property
    def manual_dir(self) -> Path:
        """Folder of the files that were got by hand.

        Raises:
            BuildError: The dataset does not say how to get them.
            MissingFileError: There are none; says how to get them.
        """
        if self._manual_dir is None:
            raise BuildError(
                "there is no folder of files got by hand",
                hint="give DownloadConfig(manual_dir=...), or featurekit build --manual-dir",
            )
        if not self._manual_dir_instructions:
            raise BuildError(
                "the builder asks for files got by hand, and does not say how to get them",
                hint="state MANUAL_DOWNLOAD_INSTRUCTIONS in its class",
            )
        if not self._manual_dir.is_dir() or not any(self._manual_dir.iterdir()):
            raise MissingFileError(
                "the dataset needs files that must be got by hand:\n"
                + textwrap.indent(self._manual_dir_instructions, "    "),
                file=self._manual_dir,
                hint="put them into this folder, or name another: featurekit build --manual-dir",
            )
        return self._manual_dir

    # What it does.

    def download(self, url_or_urls: Any) -> Any:
        """Download files that are not there yet.

        Args:
            url_or_urls: A URL or `Resource`, or nested lists and dicts of them.

        Returns:
            The paths, in the same form.

        Raises:
            DownloadError: A file cannot be downloaded.
            ChecksumError: A file is not the one whose checksum is recorded.
        """
        return _map(lambda item: self._download(_as_resource(item, "url")), url_or_urls)

    def extract(self, path_or_paths: Any) -> Any:
        """Extract archives that are not yet; a file that is none stays as it is.

        Args:
            path_or_paths: A path or `Resource`, or nested lists and dicts of them.

        Returns:
            The paths of folders, or of files for what holds one file only, in the same form.

        Raises:
            ArchiveError: An archive is damaged or would do harm.
        """
        return _map(lambda item: self._extract(_as_resource(item, "path")), path_or_paths)

    def download_and_extract(self, url_or_urls: Any) -> Any:
        """Download files and extract those that are archives; see `download` and `extract`."""

        def get(item: Any) -> Path:
            resource = _as_resource(item, "url")
            resource.path = self._download(resource)
            return self._extract(resource)

        return _map(get, url_or_urls)

    def iter_archive(self, resource: PathLike | Resource) -> Iterator[tuple[str, IO[bytes]]]:
        """The files in an archive, as they come, without extracting it.

        Args:
            resource: Path of the archive, or a `Resource`.

        Yields:
            Path within the archive, and the open file, to be read before the next one.

        Raises:
            InvalidArgumentError: It is no archive.
            ArchiveError: It is damaged or would do harm.
        """
        resource = _as_resource(resource, "path")
        return iter_archive(resource.local_path, resource.extract_method)

    def download_checksums(self, checksums_url: str) -> None:
        """Download a file of checksums, and check what is downloaded from now on by it."""
        self._known |= load_url_infos(self.download(checksums_url))

    def download_kaggle_data(self, competition_or_dataset: str) -> Path:
        """Refuse: what Kaggle has is got by hand.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError(
            f"the data {competition_or_dataset!r} of Kaggle must be downloaded by hand",
            hint="use its website or its command kaggle, and take the files from manual_dir",
        )

    # Downloading one file.

    def _download(self, resource: Resource) -> Path:
        url = resource.url
        if url not in self._downloaded:
            recorded = self._known.get(url)
            if recorded is None and self._force_validation and self._register is None:
                raise ChecksumError(
                    f"no checksum is recorded for {url}",
                    hint="record it: featurekit build --register-checksums, or download without "
                    "force_checksums_validation",
                )
            found = self._find(resource, recorded)
            if found is None:
                self._downloaded[url] = self._fetch(resource)
            else:
                _logger.info("%s is there already: %s", url, found[0])
                self._account(url, found[1])
                self._downloaded[url] = found[0]
        return self._downloaded[url]

    def _find(self, resource: Resource, recorded: UrlInfo | None) -> tuple[Path, UrlInfo] | None:
        """A file that was got before, by hand or by us, and what is known about it."""
        if recorded and recorded.filename and self._manual_dir is not None:
            by_hand = self._manual_dir / os.path.basename(recorded.filename)
            if by_hand.is_file():
                return by_hand, compute_url_info(by_hand)
        if self._force_download:
            return None
        names = [cache.cache_name(resource.url)]
        if recorded is not None:
            names.insert(0, cache.cache_name(resource.url, recorded.checksum))
        for name in names:
            for folder in (self._folder(resource), self._download_dir):  # TFDS's older place
                info = cache.cached_info(folder / name)
                if info is not None and recorded in (None, info):
                    return folder / name, info
        return None

    def _folder(self, resource: Resource) -> Path:
        return self._download_dir / (self._dataset_name or "") / resource.relative_download_dir

    def _fetch(self, resource: Resource) -> Path:
        """Download a file; it appears in its place when all of it is there."""
        # Not at the top: the standard library's HTTP is slow to import, and few builds download.
        from featurekit.builders.fetching import fetch

        url, folder = resource.url, self._folder(resource)
        unfinished = folder / f"{cache.cache_name(url)}.tmp.{uuid.uuid4().hex}"
        try:
            with writing(unfinished):
                unfinished.mkdir(parents=True)
            info = fetch(url, unfinished, verify_ssl=self._verify_ssl, quiet=self._quiet)
            self._account(url, info)
            named_by = info.checksum if url in self._known or self.register_checksums else None
            path = folder / cache.cache_name(url, named_by)
            cache.forget(path)
            with writing(path):
                os.replace(unfinished / str(info.filename), path)
            cache.note(path, url, info, self._dataset_name)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
        return path

    def _account(self, url: str, info: UrlInfo) -> None:
        """Record what a URL gave, or check it against what is recorded."""
        recorded = self._known.get(url)
        if self._register is None and recorded is not None and recorded != info:
            raise ChecksumError(
                f"{url} gives another file than the recorded one: expected {recorded}, got {info}",
                hint="try again; if the file was changed on purpose, check it and record it anew: "
                "featurekit build --register-checksums",
            )
        self._used[url] = info
        if self._register is not None:
            save_url_infos(self._register, self._used)

    # Extracting one file.

    def _extract(self, resource: Resource) -> Path:
        path, method = resource.local_path, resource.extract_method
        if method is ExtractMethod.NO_EXTRACT:
            return path
        if not path.is_file():
            raise MissingFileError("the archive does not exist", file=path)
        target = self._extract_dir / f"{method.name}.{path.name}"
        again = self._force_extraction and target not in self._extracted
        if again or not target.exists():
            _logger.info("extracting %s", path)
            extract(path, method, target, max_expansion=self._max_expansion)
        self._extracted.add(target)
        return target


def _checked_register_path(register: bool, path: PathLike | None) -> Path | None:
    """Where to record checksums, which can be written to; None for nowhere."""
    if not register:
        return None
    if path is None:
        raise InvalidArgumentError(
            "it is not known where to record checksums",
            hint="give register_checksums_path=; builders record them beside their module",
        )
    path = Path(path)
    if os.access(path if path.exists() else path.parent, os.W_OK):
        return path
    raise WriteError(
        "checksums cannot be recorded here", file=path, hint="copy the builder's folder elsewhere"
    )


def _as_resource(item: Any, field: str) -> Resource:
    if isinstance(item, Resource):
        return item
    if isinstance(item, (str, os.PathLike)):
        text = os.fspath(item)
        return Resource(url=text) if field == "url" else Resource(path=text)
    raise InvalidTypeError(
        f"expected a {'URL' if field == 'url' else 'path'}, got {short_repr(item)}",
        hint="give text, a path, a Resource, or lists and dicts of them",
    )


def _map(function: Callable[[Any], Path], items: Any) -> Any:
    """Apply a function to all leaves of nested lists and dicts."""
    if isinstance(items, Mapping):
        return {key: _map(function, item) for key, item in items.items()}
    if isinstance(items, (list, tuple)):
        found = [_map(function, item) for item in items]
        return found if isinstance(items, list) else tuple(found)
    return function(items)
