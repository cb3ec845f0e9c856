"""The folder of downloaded files: what they are called, and what is noted about each.

A file is called by its URL, shortened, and a SHA-256: that of its bytes where it is recorded,
else that of the URL. Beside it lies `<file>.INFO`, written last: a file without one is not
whole. Names and notes are those of TFDS, so that both share the folder.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import urllib.parse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from featurekit.builders.checksums import UrlInfo
from featurekit.builders.disk import writing
from featurekit.dataset.storage import write_text

__all__ = ["cache_name", "cached_info", "forget", "note", "original_name"]

_URL_CHARACTERS = 46
_MIN_WORD = 4

# Parts of URLs that tell nothing. The order counts.
_HOST_STARTS = ("www.", "storage.googleapis.com", "drive.google.com", "github.com")
_HOST_ENDS = (".github.io", ".s3-website.eu-central-1.amazonaws.com", ".amazonaws.com")
_DULL_PARTS = ("_data_", "_dataset_", "_static_", "_of_", "-of-")

# Endings that are kept whole, in place of what follows the last dot.
_ENDINGS = (".tar.gz", ".tgz", ".tar", ".tar.bz2", ".tbz2", ".tbz", ".tb2", ".zip", ".gz", ".bz2")


def cache_name(url: str, checksum: str | None = None) -> str:
    """The name of a downloaded file: the same as TFDS gives it.

    Args:
        url: Where it comes from.
        checksum: SHA-256 of its bytes in hex, or None while that is not recorded.

    Example:
        >>> cache_name("https://www.example.org/data/train-00001-of-00010.zip")
        'example.org_train-1_10ETD_OGoyrtDQJtTeboHGAcXJAyQxyD_U2eoRTiFEJmg.zip'
    """
    digest = bytes.fromhex(checksum) if checksum else hashlib.sha256(url.encode()).digest()
    text, ending = _split_url(url)
    short = _shorten(text, _URL_CHARACTERS - len(ending))
    return short + base64.urlsafe_b64encode(digest).decode().removesuffix("=") + ending


def _split_url(url: str) -> tuple[str, str]:
    """The telling parts of a URL without separators between, and the ending of the file."""
    parsed = urllib.parse.urlparse(url)
    host = parsed.netloc
    for start in _HOST_STARTS:
        host = host.removeprefix(start)
    for end in _HOST_ENDS:
        host = host.removesuffix(end)
    text = host + parsed.path + parsed.params + parsed.query
    for ending in _ENDINGS:
        if text.endswith(ending):
            return text.removesuffix(ending), ending
    return os.path.splitext(text)


def _shorten(text: str, limit: int) -> str:
    """Letters, digits, `.`, `-` and `_` only, and no more of them than the limit."""
    text = re.sub(r"[^a-zA-Z0-9.\-_]+", "_", text)
    for part in _DULL_PARTS:
        text = text.replace(part, "_")
    text = text.strip("_")
    text = re.sub(r"(?<![0-9])0+(?=[0-9])", "", text)  # leading zeros
    longest = max(map(len, re.split(r"[.\-_]", text)))
    while len(text) > limit and longest > _MIN_WORD:
        longest -= 1
        text = re.sub(rf"([^.\-_]{{{longest}}})[^.\-_]+", r"\1", text)
    return text[:limit]


# What is noted.


def _note_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.INFO")


def _read_note(path: Path) -> dict[str, Any]:
    """What is noted about a file; nothing where the note is absent or damaged."""
    try:
        value = json.loads(_note_path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def cached_info(path: Path) -> UrlInfo | None:
    """Size and checksum of a file that was downloaded whole; None where there is none."""
    fields: Any = _read_note(path).get("url_info")
    try:
        info = UrlInfo(int(fields["size"]), fields["checksum"], fields.get("filename"))
        whole = path.stat().st_size == info.size
    except (OSError, TypeError, ValueError, KeyError, AttributeError):
        return None
    return info if whole else None


def original_name(path: Path) -> str:
    """The name that a file had where it was downloaded from, else the one it has."""
    name = _read_note(path).get("original_fname")
    return name if isinstance(name, str) else path.name


def note(path: Path, url: str, info: UrlInfo, dataset_name: str | None) -> None:
    """Note that a file has been downloaded whole.

    Raises:
        WriteError: The disk is full.
    """
    known = _read_note(path)
    value = {
        "dataset_names": _with(known.get("dataset_names"), [dataset_name] if dataset_name else []),
        "original_fname": info.filename,
        "url_info": info.asdict(),
        "urls": _with(known.get("urls"), [url]),
    }
    with writing(path):
        write_text(os.fspath(_note_path(path)), json.dumps(value, sort_keys=True))


def forget(path: Path) -> None:
    """Remove the note of a file that is going to be replaced."""
    with writing(path):
        _note_path(path).unlink(missing_ok=True)


def _with(known: Any, more: Iterable[str]) -> list[str]:
    """A list with further names, each once."""
    return list(dict.fromkeys([*(known if isinstance(known, list) else []), *more]))
