"""Archives: the files in them, one after another, and extracting them without harm.

Nothing is written outside the folder that is asked for, no link, device or pipe is made, and
what unpacks to far more than its size is refused. Which files of an archive count, and by what
names, is as in TFDS: those that are hidden or end in `~` do not.
"""

from __future__ import annotations

import bz2
import contextlib
import enum
import gzip
import logging
import lzma
import os
import posixpath
import shutil
import struct
import tarfile
import uuid
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, TypeAlias

from featurekit.builders.archive_stream import ArchiveStream, expansion_limit
from featurekit.builders.disk import writing
from featurekit.errors import ArchiveError, FeatureKitError, InvalidArgumentError, short_repr

__all__ = [
    "ExtractMethod",
    "extract",
    "guess_extract_method",
    "iter_archive",
    "iter_bzip2",
    "iter_gzip",
    "iter_tar",
    "iter_tar_stream",
    "iter_xz",
    "iter_zip",
]

_logger = logging.getLogger("featurekit")

# An archive: its path, or the open file.
Archive: TypeAlias = str | os.PathLike[str] | IO[bytes]
Members: TypeAlias = Iterator[tuple[str, IO[bytes]]]

_COPY_BYTES = 1 << 20
_FILE_BYTES = 512  # what a file costs beyond its bytes

# What the libraries raise where an archive is damaged, or is none.
_FAULTS = (
    tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError,
    OSError, ValueError, OverflowError, NotImplementedError, RuntimeError, MemoryError,
)  # fmt: skip


class ExtractMethod(enum.Enum):
    """How an archive is packed; names and values are those of TFDS, but for `XZ`."""

    NO_EXTRACT = 1
    TAR = 2  # however it is compressed
    TAR_GZ = 3
    GZIP = 4
    ZIP = 5
    BZIP2 = 6
    TAR_STREAM = 7  # read from front to back only
    TAR_GZ_STREAM = 8
    XZ = 9


_ENDINGS = {
    ExtractMethod.TAR_GZ: (".tar.gz", ".tgz"),
    ExtractMethod.TAR: (".tar", ".tar.bz2", ".tbz2", ".tbz", ".tb2", ".tar.xz", ".txz"),
    ExtractMethod.ZIP: (".zip",),
    ExtractMethod.GZIP: (".gz",),
    ExtractMethod.BZIP2: (".bz2",),
    ExtractMethod.XZ: (".xz",),
}


def guess_extract_method(name: str) -> ExtractMethod:
    """How a file is packed, as its name says.

    >>> guess_extract_method("train.tar.bz2"), guess_extract_method("train.csv")
    (<ExtractMethod.TAR: 2>, <ExtractMethod.NO_EXTRACT: 1>)
    """
    for method, endings in _ENDINGS.items():
        if name.endswith(endings):
            return method
    return ExtractMethod.NO_EXTRACT


# The files in an archive.


def iter_archive(archive: Archive, method: ExtractMethod) -> Members:
    """The files in an archive, as they come, each to be read before the next is asked for.

    Args:
        archive: Its path, or the open file.
        method: How it is packed.

    Yields:
        Path within the archive, and the open file.

    Raises:
        InvalidArgumentError: It is no archive.
        ArchiveError: It is damaged or would do harm.
    """
    if method not in _MEMBERS:
        raise InvalidArgumentError(
            f"{_name(archive)} is no archive that can be read",
            hint="its name tells how it is packed; else give Resource(path=, extract_method=)",
        )
    return _MEMBERS[method](archive)


def iter_tar(archive: Archive, stream: bool = False) -> Members:
    """The files in a tar archive, however it is compressed; links give the file they mean.

    Args:
        archive: Its path, or the open file.
        stream: Whether to read it from front to back only: links are skipped then, and little
            memory is used, whatever the number of files.
    """
    with _opened(archive) as file, _faults(archive):
        plain = ArchiveStream(file, forward_only=stream)
        with tarfile.open(fileobj=plain, mode="r:") as tar:  # type: ignore[call-overload]
            members = iter(tar)
            while True:
                with plain.reading_headers():
                    member = next(members, None)
                    if member is None:
                        return
                    if stream:
                        tar.members.clear()  # kept for links, which may come later
                    path = _inner_path(member.path, archive)
                    content = _content(tar, member, stream) if path else None
                if path and content is not None:
                    yield path, content


def iter_tar_stream(archive: Archive) -> Members:
    """`iter_tar(archive, stream=True)`."""
    return iter_tar(archive, stream=True)


def iter_zip(archive: Archive) -> Members:
    """The files in a zip archive."""
    with _opened(archive) as file, _faults(archive), zipfile.ZipFile(file) as packed:
        for member in packed.infolist():
            if not member.is_dir() and (path := _inner_path(member.filename, archive)):
                with packed.open(member) as content:
                    yield path, content


def iter_gzip(archive: Archive) -> Members:
    """The one file in a gzip file, whose path is `''`."""
    with _opened(archive) as file, gzip.GzipFile(fileobj=file) as content:
        yield "", content  # type: ignore[misc]


def iter_bzip2(archive: Archive) -> Members:
    """The one file in a bzip2 file, whose path is `''`."""
    with _opened(archive) as file, bz2.BZ2File(file) as content:
        yield "", content


def iter_xz(archive: Archive) -> Members:
    """The one file in an xz file, whose path is `''`."""
    with _opened(archive) as file, lzma.LZMAFile(file) as content:
        yield "", content


_MEMBERS: dict[ExtractMethod, Callable[[Archive], Members]] = {
    ExtractMethod.TAR: iter_tar,
    ExtractMethod.TAR_GZ: iter_tar,
    ExtractMethod.TAR_STREAM: iter_tar_stream,
    ExtractMethod.TAR_GZ_STREAM: iter_tar_stream,
    ExtractMethod.ZIP: iter_zip,
    ExtractMethod.GZIP: iter_gzip,
    ExtractMethod.BZIP2: iter_bzip2,
    ExtractMethod.XZ: iter_xz,
}


@contextlib.contextmanager
def _opened(archive: Archive) -> Iterator[IO[bytes]]:
    if isinstance(archive, (str, os.PathLike)):
        with open(archive, "rb") as file:
            yield file
    else:
        yield archive


def _inner_path(name: str, archive: Archive) -> str | None:
    """Where a file lies within its archive; None for one that does not count."""
    path = posixpath.normpath(name)
    if path.startswith(("/", "../")) or path == "..":
        raise ArchiveError(
            f"the archive has a file {short_repr(name)} that would lie outside of its folder",
            file=_name(archive),
            hint="do not trust it; get it from another place, or extract it by hand",
        )
    if path.startswith(".") or path.endswith("~") or posixpath.basename(path).startswith("."):
        return None
    return path


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo, stream: bool) -> IO[bytes] | None:
    """The bytes of a member; None for what has none."""
    is_link = member.issym() or member.islnk()
    if member.isdir():
        return None
    try:
        if member.isreg() or (is_link and not stream):
            return tar.extractfile(member)
    except (KeyError, RecursionError):
        pass  # a link to nothing in the archive, or to itself
    kind = f"link to {member.linkname!r}" if is_link else "device or pipe"
    _logger.warning("%s: skipped %r, a %s", _name(tar.fileobj), member.path, kind)
    return None


def _name(archive: Any) -> str:
    """What an archive is called, for messages."""
    name = archive if isinstance(archive, os.PathLike) else getattr(archive, "name", archive)
    return os.fspath(name) if isinstance(name, (str, os.PathLike)) else "an open file"


@contextlib.contextmanager
def _faults(archive: Archive) -> Iterator[None]:
    """Turn what the libraries raise into an `ArchiveError`."""
    try:
        yield
    except FeatureKitError:
        raise
    except FileNotFoundError:
        raise
    except _FAULTS as error:
        raise ArchiveError(
            f"the archive cannot be read: {str(error) or type(error).__name__}",
            file=_name(archive),
            hint="it may be damaged, or packed in another way: download it again, or state "
            "Resource(extract_method=)",
        ) from error


# Extracting.


def extract(path: Path, method: ExtractMethod, target: Path, *, max_expansion: int) -> None:
    """Extract an archive; `target` appears when all is there.

    Args:
        path: The archive.
        method: How it is packed.
        target: Folder to make, or file for what holds one file only; replaced if it is there.
        max_expansion: How many times larger than the archive the files may be altogether;
            1 GiB is always allowed.

    Raises:
        ArchiveError: It is damaged or would do harm; nothing is left of it then.
        WriteError: The disk is full.
    """
    unfinished = target.with_name(f"incomplete.{uuid.uuid4().hex}_{target.name}")
    limit = expansion_limit(path.stat().st_size, max_expansion)
    try:
        with writing(target):
            target.parent.mkdir(parents=True, exist_ok=True)
        left = limit
        for inner, content in _checked(path, method):
            left = _copy(content, unfinished / inner if inner else unfinished, left, path)
            if left < 0:
                raise _too_large(path, limit)
        with writing(target):
            if not unfinished.exists():
                unfinished.mkdir()  # an archive of nothing
            _install(unfinished, target)
    finally:
        _remove(unfinished)


def _checked(path: Path, method: ExtractMethod) -> Members:
    members = iter_archive(path, method)
    while True:
        with _faults(path):
            member = next(members, None)
        if member is None:
            return
        yield member


def _copy(content: IO[bytes], target: Path, left: int, archive: Path) -> int:
    """Write one file, and give what is left of the bytes that may be written."""
    left -= _FILE_BYTES
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(target, "wb") as file:
            while left >= 0:
                with _faults(archive):
                    block = content.read(_COPY_BYTES)
                if not block:
                    break
                file.write(block)
                left -= len(block)
    return left


def _too_large(path: Path, limit: int) -> ArchiveError:
    return ArchiveError(
        f"the archive unpacks to more than {limit} bytes, though it has {path.stat().st_size}",
        file=path,
        hint="if it is to be trusted, raise max_expansion= of DownloadConfig",
    )


def _install(unfinished: Path, target: Path) -> None:
    """Put what was extracted in its place, in place of what is there."""
    aside = None
    if target.is_dir():
        aside = target.with_name(f"{unfinished.name}.old")
        os.rename(target, aside)
    os.replace(unfinished, target)
    if aside is not None:
        _remove(aside)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
