"""Making a folder appear all at once, complete, or not at all.

A build writes to a sibling of its target, `incomplete.<6 characters>_<name>` as TensorFlow
Datasets has it, which readers ignore. `incomplete.<name>.lock` beside it is locked while the
build runs and names the siblings, so that a build that was killed is recognised (the system
drops its lock) and the next one removes what it left, and nothing else.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import shutil
import string
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from featurekit.builders.disk import fsync_path, fsync_tree, writing
from featurekit.dataset.folders import INFO_FILE
from featurekit.errors import BuildError

__all__ = ["atomic_directory"]

_ALPHABET = string.ascii_uppercase + string.digits
_NEW, _OLD = "new", "old"


@contextmanager
def atomic_directory(target: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[Path]:
    """An empty folder that becomes `target` when the block ends without an exception.

    All its files are flushed to disk before it is renamed. After an exception it is removed;
    after a kill it stays under a name that readers ignore until the next build of `target`.

    Args:
        target: The folder to make; its parents are made too.
        overwrite: Replace an existing folder. It is moved aside just before the new one is
            moved in, and comes back at the next build should the process die in between.

    Raises:
        BuildError: `target` exists already, or another process is building it.
        WriteError: The disk is full, or does not allow writing.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as root:
    ...     with atomic_directory(f"{root}/1.0.0") as folder:
    ...         _ = (folder / "data").write_text("whole")
    ...     os.listdir(root)
    ['1.0.0']
    """
    target = Path(target)
    with writing(target.parent):
        target.parent.mkdir(parents=True, exist_ok=True)
    with _build_lock(target) as lock:
        _clean_up(target, lock)
        if not overwrite:
            _check_free(target)
        folder = _new_sibling(target, lock, _NEW)
        try:
            with writing(folder):
                folder.mkdir()
            yield folder
            fsync_tree(folder)
            _install(folder, target, lock, overwrite)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise


def _check_free(target: Path) -> None:
    """Refuse to replace anything but an empty folder, as a killed build of TFDS leaves it."""
    if not os.path.lexists(target):
        return
    if (target / INFO_FILE).exists():
        raise BuildError(
            "there is a dataset already", file=target, hint="load it, or build with overwrite"
        )
    if target.is_dir() and not target.is_symlink() and not any(target.iterdir()):
        return
    raise BuildError(
        f"there is {'a folder' if target.is_dir() else 'a file'} already, which is no dataset",
        file=target,
        hint="move it away, or build with overwrite",
    )


def _install(folder: Path, target: Path, lock: int, overwrite: bool) -> None:
    """Rename `folder` to `target`, in place of what is there if `overwrite`."""
    with writing(target):
        aside = None
        if overwrite and os.path.lexists(target):
            aside = _new_sibling(target, lock, _OLD)
            os.rename(target, aside)
        try:
            os.rename(folder, target)
        except BaseException as error:
            if aside is not None:
                os.rename(aside, target)
            if isinstance(error, OSError) and error.errno in (
                errno.ENOTEMPTY,
                errno.EEXIST,
                errno.ENOTDIR,
            ):
                raise BuildError(
                    "another program made this folder meanwhile",
                    file=target,
                    hint="load it, or build with overwrite",
                ) from error
            raise
        fsync_path(target.parent)
    if aside is not None:
        with suppress(OSError):  # files that a reader on NFS has open: the next build's job
            _remove(aside)


# The lock file: a line with the process's number, then one for each sibling.


@contextmanager
def _build_lock(target: Path) -> Iterator[int]:
    """Hold the lock file of `target`; gives its descriptor, open for appending."""
    path = target.with_name(f"incomplete.{target.name}.lock")
    with writing(path):
        lock = _open_locked(path, target)
    _held_locks.add(lock)
    try:
        yield lock
    finally:
        if not _noted_siblings(target, lock):  # else the next build removes them
            path.unlink(missing_ok=True)  # while we hold it: nobody can take it over in between
        _held_locks.discard(lock)
        os.close(lock)


_held_locks: set[int] = set()


def _leave_locks_to_the_parent() -> None:
    """Close the locks in a forked process: else they outlive a build that is killed."""
    while _held_locks:
        os.close(_held_locks.pop())


os.register_at_fork(after_in_child=_leave_locks_to_the_parent)


def _open_locked(path: Path, target: Path) -> int:
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_same_file(lock, path):
                return lock
        except BlockingIOError:
            owner = re.match(rb"process (\d+)\n", os.pread(lock, 100, 0))
            process = f"process {int(owner[1])}" if owner else "another process"
            os.close(lock)
            raise BuildError(
                f"{process} is building this dataset",
                file=target,
                hint="wait until it has finished, then load the dataset",
            ) from None
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)  # its owner finished, and removed it, just before we got the lock


def _is_same_file(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _clean_up(target: Path, lock: int) -> None:
    """Remove what the build that held the lock before us left, if it was killed."""
    with writing(target):
        for kind, sibling in _noted_siblings(target, lock):
            if kind == _OLD and not os.path.lexists(target):
                os.rename(sibling, target)  # killed between the two renames of _install
            else:
                _remove(sibling)
        os.ftruncate(lock, 0)
        os.write(lock, f"process {os.getpid()}\n".encode())


def _noted_siblings(target: Path, lock: int) -> list[tuple[str, Path]]:
    """The siblings that the lock file names, with their kind, as far as they exist."""
    pattern = rf"^({_NEW}|{_OLD}) (incomplete\.[A-Z0-9]{{6}}_{re.escape(target.name)})$"
    notes = os.pread(lock, os.fstat(lock).st_size, 0).decode(errors="replace")
    siblings = [
        (kind, target.with_name(name)) for kind, name in re.findall(pattern, notes, re.MULTILINE)
    ]
    return [(kind, sibling) for kind, sibling in siblings if os.path.lexists(sibling)]


def _new_sibling(target: Path, lock: int, kind: str) -> Path:
    """Choose a name beside `target`, noted in the lock file before anything has it."""
    while True:
        characters = "".join(secrets.choice(_ALPHABET) for _ in range(6))
        sibling = target.with_name(f"incomplete.{characters}_{target.name}")
        if not os.path.lexists(sibling):
            with writing(sibling):
                os.write(lock, f"{kind} {sibling.name}\n".encode())
                os.fsync(lock)
            return sibling


def _remove(path: Path) -> None:
    """Remove a folder, or a link to one, for good."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    else:
        shutil.rmtree(path)
