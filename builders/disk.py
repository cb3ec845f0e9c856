"""Writing so that it is known to be on disk, with errors that say what to do."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from featurekit.errors import FeatureKitError, WriteError

__all__ = ["fsync_path", "fsync_tree", "writing"]

_HINTS = {
    errno.ENOSPC: "free some space, or build in another data_dir",
    errno.EDQUOT: "the disk quota is used up: free some space, or build in another data_dir",
    errno.EFBIG: "raise the limit on file size (ulimit -f), or write more shards",
    errno.EMFILE: "raise the limit on open files (ulimit -n)",
}


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn an `OSError` within the block into a `WriteError` that names `path`."""
    try:
        yield
    except FeatureKitError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        hint = _HINTS.get(error.errno or 0)
        raise WriteError(f"cannot write: {reason}", file=path, hint=hint) from error


def fsync_path(path: str | os.PathLike[str]) -> None:
    """Wait until a file's bytes, or a folder's entries, are on disk.

    Raises:
        WriteError: The disk reports a fault.
    """
    with writing(path):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def fsync_tree(root: str | os.PathLike[str]) -> None:
    """Wait until a folder and everything below it is on disk; links are not followed.

    Raises:
        WriteError: The disk reports a fault.
    """
    for folder, _, names in os.walk(root, topdown=False):
        for name in names:
            path = Path(folder, name)
            if not path.is_symlink():
                fsync_path(path)
        fsync_path(folder)
