"""Resource: a file to download, extract or both, where its URL or path does not say all."""

from __future__ import annotations

import os
from pathlib import Path

from featurekit.builders.download_cache import original_name
from featurekit.builders.extract import ExtractMethod, guess_extract_method
from featurekit.dataset.naming import check_inside
from featurekit.errors import InvalidArgumentError

__all__ = ["Resource"]


class Resource:
    """A file to download, extract or both.

    Args:
        url: Where it comes from.
        extract_method: How it is packed; by default its name tells.
        path: Where it lies on disk.
        relative_download_dir: Folder to download it to, below the usual one.

    Example:
        >>> Resource(path="/data/train.zip").extract_method
        <ExtractMethod.ZIP: 5>
    """

    def __init__(
        self,
        *,
        url: str | None = None,
        extract_method: ExtractMethod | None = None,
        path: str | os.PathLike[str] | None = None,
        relative_download_dir: str | os.PathLike[str] = "",
    ) -> None:
        self._url = url
        self._extract_method = extract_method
        self.path = None if path is None else Path(path)
        folder = os.fspath(relative_download_dir)
        self.relative_download_dir = check_inside(folder, "a download folder") if folder else ""

    @property
    def url(self) -> str:
        """Where it comes from.

        Raises:
            InvalidArgumentError: Nobody said.
        """
        if not self._url:
            raise InvalidArgumentError("the resource has no URL", hint="give Resource(url=...)")
        return self._url

    @property
    def extract_method(self) -> ExtractMethod:
        """How it is packed: as stated, else as the name it was downloaded under tells.

        Raises:
            InvalidArgumentError: It has no path yet.
        """
        return self._extract_method or guess_extract_method(original_name(self.local_path))

    @property
    def local_path(self) -> Path:
        """Where it lies on disk.

        Raises:
            InvalidArgumentError: It has no path yet.
        """
        if self.path is None:
            raise InvalidArgumentError(
                "the resource has no path", hint="download it first, or give Resource(path=...)"
            )
        return self.path

    def __repr__(self) -> str:
        method = self._extract_method and self._extract_method.name
        return f"Resource(url={self._url!r}, path={self.path!r}, extract_method={method})"
