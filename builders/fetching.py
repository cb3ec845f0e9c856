"""Fetching one file from where it lies: http, https, ftp, another URL, or a path."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import http.client
import importlib.metadata
import os
import re
import ssl
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from featurekit.builders import progress
from featurekit.builders.archive_stream import expansion_limit
from featurekit.builders.checksums import UrlInfo
from featurekit.builders.disk import writing
from featurekit.errors import DownloadError, FeatureKitError

__all__ = ["fetch"]

_BLOCK_BYTES = 1 << 20
_TIMEOUT_SECONDS = 60.0  # without a byte
_HINT = "check the URL and the network, or get the file by hand"
_WEB = ("http", "https", "ftp")
_DRIVE = re.compile(r"https?://(drive|docs)\.google\.com/")


class _Source(NamedTuple):
    """An open file, wherever it lies.

    Attributes:
        stream: Gives its bytes.
        filename: What it is called there.
        size: Number of bytes to come, as far as that is known.
        limit: Number of bytes that would be too many, as far as there is one.
    """

    stream: Any
    filename: str
    size: int | None
    limit: int | None = None


def fetch(url: str, folder: Path, *, verify_ssl: bool = True, quiet: bool = False) -> UrlInfo:
    """Fetch a file into a folder, and give its size, checksum and name there.

    Args:
        url: Of the file. `file:` URLs and plain paths are copied; other URLs than those of
            http, https and ftp go through fsspec.
        folder: An existing folder.
        verify_ssl: Whether the server of an https URL must prove who it is.
        quiet: Whether to show no progress.

    Raises:
        DownloadError: The server does not have it, cannot be reached, or ended too early.
        WriteError: The disk is full.
    """
    with contextlib.ExitStack() as stack:
        with _faults(url):
            source = stack.enter_context(_open(url, verify_ssl))
        path = folder / source.filename
        stack.enter_context(writing(path))
        file = stack.enter_context(open(path, "wb"))
        count = stack.enter_context(progress.transfer(url, source.size, quiet=quiet))
        digest = hashlib.sha256()
        size = 0
        for block in _blocks(source, url):
            file.write(block)
            digest.update(block)
            size += len(block)
            count(len(block))
        file.flush()
        os.fsync(file.fileno())
    if source.size is not None and size != source.size:
        raise _failed(url, f"it ended after {size} of {source.size} bytes", "download it again")
    return UrlInfo(size, digest.hexdigest(), source.filename)


def _blocks(source: _Source, url: str) -> Iterator[bytes]:
    left = source.limit
    while True:
        with _faults(url):
            block: bytes = source.stream.read(_BLOCK_BYTES)
        if not block:
            return
        if left is not None:
            left -= len(block)
            if left < 0:
                raise _failed(url, f"it unpacks to more than {source.limit} bytes", _HINT)
        yield block


@contextlib.contextmanager
def _faults(url: str) -> Iterator[None]:
    """Turn what the libraries raise into a `DownloadError`."""
    try:
        yield
    except FeatureKitError:
        raise
    except urllib.error.HTTPError as error:
        error.close()
        where = "" if error.url == url else f" at {error.url}"
        reason = f"the server answers {error.code} {error.reason}{where}"
        raise _failed(url, reason, _HINT) from error
    except urllib.error.URLError as error:
        raise _failed(url, str(error.reason), _HINT) from error
    except (EOFError, http.client.IncompleteRead) as error:
        raise _failed(url, "it ended too early", "download it again") from error
    except FileNotFoundError as error:
        raise _failed(url, "there is no such file", "check the path") from error
    except (http.client.HTTPException, OSError, ValueError, ImportError) as error:
        raise _failed(url, str(error) or type(error).__name__, _HINT) from error


def _failed(url: str, reason: str, hint: str) -> DownloadError:
    return DownloadError(f"{url} cannot be downloaded: {reason}", hint=hint)


def _open(url: str, verify_ssl: bool) -> contextlib.AbstractContextManager[_Source]:
    scheme = urllib.parse.urlsplit(url).scheme.lower() if "://" in url else "file"
    if scheme in _WEB:
        return _open_web(url, verify_ssl)
    return _open_local(url) if scheme == "file" else _open_remote(url)


@contextlib.contextmanager
def _open_web(url: str, verify_ssl: bool) -> Iterator[_Source]:
    agent = {"User-Agent": f"featurekit/{importlib.metadata.version('featurekit')}"}
    # Spaces and letters beyond ASCII, as browsers and TFDS quote them.
    request = urllib.request.Request(
        urllib.parse.quote(url, safe="!#$%&'()*+,/:;=?@[]~"), headers=agent
    )
    context = ssl.create_default_context()
    if not verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS, context=context) as response:
        headers = response.headers
        name = _stated_name(headers.get("Content-Disposition") or "")
        is_page = (headers.get("Content-Type") or "").startswith("text/html")
        if _DRIVE.match(url) and is_page and not name:
            raise _failed(
                url,
                "Google Drive wants it confirmed in a browser",
                "download it there, and put it into manual_dir under the name that checksums.tsv "
                "gives it",
            )
        name = name or _name_of(response.url)
        length = headers.get("Content-Length") or ""
        size = int(length) if length.isdecimal() else None
        if (headers.get("Content-Encoding") or "").lower() in ("gzip", "x-gzip"):
            unpacked = gzip.GzipFile(fileobj=response)
            yield _Source(unpacked, name, None, expansion_limit(size or 0))
        else:
            yield _Source(response, name, size)


@contextlib.contextmanager
def _open_local(url: str) -> Iterator[_Source]:
    path = url
    if "://" in url:
        parsed = urllib.parse.urlsplit(url)
        if parsed.netloc not in ("", "localhost"):
            raise _failed(url, f"the file lies on {parsed.netloc!r}", "write file:///path")
        path = urllib.request.url2pathname(parsed.path)
    path = os.path.expanduser(path)
    if os.path.exists(path) and not os.path.isfile(path):
        raise _failed(url, "this is no regular file", "give the path of one file")
    with open(path, "rb") as file:
        yield _Source(file, _name_of(path), os.fstat(file.fileno()).st_size)


@contextlib.contextmanager
def _open_remote(url: str) -> Iterator[_Source]:
    import fsspec  # slow to import

    with fsspec.open(url, "rb") as file:
        yield _Source(file, _name_of(url), getattr(file, "size", None))


def _stated_name(disposition: str) -> str:
    """The file name of a Content-Disposition header, or `''`."""
    match = re.search(r"""filename= *["']?([^;"'\r\n]+)""", disposition, re.IGNORECASE)
    return _safe_name(match[1].strip()) if match else ""


def _name_of(url: str) -> str:
    """The last part of a path or of a URL's path; quoting stays, as TFDS has it."""
    path = urllib.parse.urlsplit(url).path if "://" in url else url
    return _safe_name(path.rpartition("/")[2].replace("%2F", "_")) or "unknown_name"


def _safe_name(name: str) -> str:
    """A name that stays in its folder, of a length that file systems take; else `''`."""
    name = name.rpartition("/")[2].replace("\0", "")
    return "" if name in ("", ".", "..") else name[-200:]
