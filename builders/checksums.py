"""Sizes and checksums of what is downloaded: the file checksums.tsv beside a builder.

One line a URL, sorted: `URL <tab> size in bytes <tab> SHA-256 in hex <tab> file name`. Blank
lines and those that begin with `#` are skipped; older files lack the name, or have spaces in
place of tabs. The format is that of TFDS.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from featurekit.builders.disk import writing
from featurekit.dataset.storage import read_text, write_text
from featurekit.errors import BuildError, InvalidArgumentError, short_repr

__all__ = ["CHECKSUMS_FILE", "UrlInfo", "compute_url_info", "load_url_infos", "save_url_infos"]

CHECKSUMS_FILE = "checksums.tsv"

_BLOCK_BYTES = 1 << 20


@dataclasses.dataclass(frozen=True)
class UrlInfo:
    """What a URL gives.

    Attributes:
        size: In bytes.
        checksum: SHA-256, as 64 hexadecimal digits.
        filename: Name of the file; does not count when two are compared.
    """

    size: int
    checksum: str
    filename: str | None = dataclasses.field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.size, int) or self.size < 0:
            raise InvalidArgumentError(f"a size is a number of bytes, not {short_repr(self.size)}")
        if not re.fullmatch(r"[0-9a-f]{64}", self.checksum):
            raise InvalidArgumentError(
                f"a SHA-256 has 64 digits in lower case, not {self.checksum!r}"
            )

    def asdict(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        """For messages."""
        return f"{self.size} bytes with the SHA-256 {self.checksum}"


def compute_url_info(path: str | os.PathLike[str]) -> UrlInfo:
    """Size and checksum of a file on disk."""
    digest = hashlib.sha256()
    size = 0
    with open(path, "rb") as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
            size += len(block)
    return UrlInfo(size, digest.hexdigest(), Path(path).name)


def load_url_infos(path: str | os.PathLike[str]) -> dict[str, UrlInfo]:
    """What a checksums file says, by URL.

    Raises:
        MissingFileError: There is no such file.
        BuildError: A line is none.
    """
    try:
        lines = read_text(os.fspath(path)).splitlines()
    except UnicodeDecodeError as error:
        raise BuildError(f"the checksums are no UTF-8 text: {error}", file=path) from error
    infos = {}
    for number, line in enumerate(map(str.strip, lines), 1):
        if line and not line.startswith("#"):
            try:
                url, info = _parse(line)
            except ValueError as error:
                raise BuildError(
                    f"line {number} of the checksums is none: {error}",
                    file=path,
                    hint="write 'URL, size, SHA-256, file name' with tabs between, or have it "
                    "written: featurekit build --register-checksums",
                ) from error
            infos[url] = info
    return infos


def _parse(line: str) -> tuple[str, UrlInfo]:
    fields = line.split("\t") if "\t" in line else line.rsplit(" ", 2)
    if len(fields) not in (3, 4):
        raise ValueError(f"expected 3 or 4 fields, got {len(fields)} in {short_repr(line)}")
    url, size, checksum, *names = fields
    if not size.isdecimal():
        raise ValueError(f"a size is a number of bytes, not {size!r}")
    return url, UrlInfo(int(size), checksum.lower(), names[0] if names else None)


def save_url_infos(path: str | os.PathLike[str], infos: Mapping[str, UrlInfo]) -> None:
    """Add to a checksums file, or make one; what it says of other URLs stays.

    Raises:
        BuildError: The file that is there is none of checksums.
        WriteError: It cannot be written.
    """
    known = load_url_infos(path) if os.path.exists(path) else {}
    lines = [
        f"{url}\t{info.size}\t{info.checksum}\t{info.filename or ''}\n"
        for url, info in sorted({**known, **infos}.items())
    ]
    with writing(path):
        write_text(os.fspath(path), "".join(lines))
