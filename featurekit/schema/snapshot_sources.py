"""Where a version of a dataset can be read from: a folder, a file, a builder, or git."""

from __future__ import annotations

import dataclasses
import io
import multiprocessing
import os
import posixpath
import subprocess
import tarfile
import tempfile
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from featurekit.builders.loading import find_builder_class
from featurekit.connector import FEATURES_FILE
from featurekit.dataset.folders import INFO_FILE
from featurekit.dataset.info_json import LICENSE_FILE, read_info
from featurekit.errors import BuildError, InvalidArgumentError, MissingFileError
from featurekit.schema.feature_files import read_features
from featurekit.schema.snapshot import FeatureNode, Snapshot

__all__ = ["open_snapshot"]


def open_snapshot(source: str, *, trust: tuple[str, ...] = ()) -> Snapshot:
    """Read a version of a dataset.

    Args:
        source: The folder of a dataset's version; a features.json; a builder's Python file, or
            its folder; or `REVISION:PATH`, any of these in git, the path relative to the
            repository's top, or to the working directory where it begins with `./`.
        trust: Packages that connector classes named in the files may be imported from.

    Raises:
        MissingFileError: There is no such thing.
        InvalidArgumentError: git cannot give it.
    """
    if os.path.exists(source):
        return _open_path(source, source, trust)
    revision, colon, path = source.partition(":")
    if not colon or not revision:
        raise MissingFileError(
            "there is no such folder or file", file=source, hint="for git, write REVISION:PATH"
        )
    with tempfile.TemporaryDirectory(prefix="featurekit-") as folder:
        snapshot = _open_path(_check_out(revision, path, folder), source, trust)
        return dataclasses.replace(snapshot, folder=None)  # it goes with the block


def _open_path(path: str, source: str, trust: tuple[str, ...]) -> Snapshot:
    if os.path.basename(path) == INFO_FILE:
        path = os.path.dirname(path) or "."
    if os.path.isfile(os.path.join(path, INFO_FILE)):
        info = read_info(path, trust=trust)
        return Snapshot.of_info(source, info, is_built=True)
    if path.endswith(".json") or os.path.isfile(os.path.join(path, FEATURES_FILE)):
        return Snapshot(source, FeatureNode.of(read_features(path, trust=trust)))
    return _in_another_process(path, source)


def _in_another_process(path: str, source: str) -> Snapshot:
    """Import a builder's file where it meets no other of the same name."""
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(1, context) as pool:
        try:
            return pool.submit(_of_builder, os.path.abspath(path), source).result()
        except BrokenProcessPool:
            raise BuildError("importing the builder ended the process", file=path) from None


def _of_builder(path: str, source: str) -> Snapshot:
    with tempfile.TemporaryDirectory(prefix="featurekit-") as nothing:
        builder = find_builder_class(path)(data_dir=nothing)
        return Snapshot.of_info(source, builder.info, is_built=False)


# Git.


def _check_out(revision: str, path: str, folder: str) -> str:
    """Write what a path was to a folder: without the shards, where it is a dataset."""
    path = path.rstrip("/")
    if path.startswith("."):
        path = posixpath.normpath(posixpath.join(_git("rev-parse", "--show-prefix"), path))
    kind = _git("cat-file", "-t", f"{revision}:{path}")
    tree = path if kind == "tree" else posixpath.dirname(path)
    names = _git("ls-tree", "--name-only", "-z", f"{revision}:{tree}").split("\0")
    # A builder needs its neighbours; the folder's name tells which file is the builder.
    target = os.path.join(folder, posixpath.basename(tree) or "repository")
    os.mkdir(target)
    if FEATURES_FILE in names or INFO_FILE in names or path.endswith(".json"):
        for name in filter(_is_metadata, names):
            data = _git_bytes("cat-file", "blob", f"{revision}:{posixpath.join(tree, name)}")
            with open(os.path.join(target, name), "wb") as file:
                file.write(data)
    else:
        archive = _git_bytes("archive", "--format=tar", f"{revision}:{tree}")
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(target, filter="data")
    return target if kind == "tree" else os.path.join(target, posixpath.basename(path))


def _is_metadata(name: str) -> bool:
    return name.endswith((".json", ".labels.txt")) or name == LICENSE_FILE


def _git(*arguments: str) -> str:
    return _git_bytes(*arguments).decode("utf-8", "surrogateescape").rstrip("\n")


def _git_bytes(*arguments: str) -> bytes:
    where = [] if arguments[0] == "rev-parse" else ["-C", _git("rev-parse", "--show-toplevel")]
    try:
        return subprocess.run(["git", *where, *arguments], check=True, capture_output=True).stdout
    except FileNotFoundError:
        raise InvalidArgumentError(
            "the program git is needed for that, and not there", hint="install git"
        ) from None
    except subprocess.CalledProcessError as error:
        message = error.stderr.decode("utf-8", "replace").strip()
        raise InvalidArgumentError(
            f"git does not give {arguments[-1]!r}: {message}",
            hint="write REVISION:PATH, such as HEAD~1:data/pets/1.0.0",
        ) from None
