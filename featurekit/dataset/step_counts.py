"""How many steps each episode has: one pass over the files, remembered in the cache.

Counting decodes nothing: of each record one short list is looked at, such as `is_first`.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
import uuid
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from featurekit.connector import FeatureConnector
from featurekit.dataset.index_files import cache_folder
from featurekit.dataset.source import DataSource
from featurekit.decode import feature_names, select_features
from featurekit.dtypes import is_string
from featurekit.io.crc32c import crc32c
from featurekit.io.files import open_file
from featurekit.layout import OpaqueInfo
from featurekit.tensor_info import TensorInfo, Tree

__all__ = ["step_counts"]

_MAGIC = b"FKSTEPS1"
_SMALL = 1 << 20  # bytes of a dataset that is counted anew each time


def step_counts(source: DataSource, steps: str) -> npt.NDArray[np.int64]:
    """Number of steps of each episode, `(episodes,)` int64, in the order of the source.

    Args:
        source: The episodes.
        steps: Name of the feature that holds the steps.
    """
    column = _cheapest(select_features(source.features, [steps]))
    place = _place(source, column)
    counts = None if place is None else _read(place, len(source))
    if counts is None:
        counts = np.fromiter(_count(source, steps, column), np.int64, len(source))
        if place is not None:
            with contextlib.suppress(OSError):  # a cache that cannot be written to is none
                _write(place, counts)
    return counts


def _count(source: DataSource, steps: str, column: str) -> Iterator[int]:
    counting = source.decoded_by(select_features(source.features, [column]))
    return (len(example[steps]) for example in counting)


def _cheapest(features: FeatureConnector) -> str:
    """The feature of the steps that takes the fewest bytes, as far as that can be told."""
    return min(feature_names(features), key=lambda name: _cost(features, name))


def _cost(features: FeatureConnector, name: str) -> float:
    return sum(map(_bytes_of, _leaves(select_features(features, [name]).get_serialized_info())))


def _leaves(infos: Tree[TensorInfo]) -> Iterator[TensorInfo]:
    if isinstance(infos, TensorInfo):
        yield infos
        return
    for info in infos.values():
        yield from _leaves(info)


def _bytes_of(info: TensorInfo) -> float:
    """Of one step, roughly; text and pictures may be of any size."""
    if isinstance(info, OpaqueInfo):
        return float("inf")
    inner = info.shape[1:]
    known = float(np.prod([dim or 100 for dim in inner]))
    return known * (10_000 if is_string(info.dtype) else info.dtype.itemsize)


# The cache.


def _place(source: DataSource, column: str) -> str | None:
    """Where the counts of these episodes are kept; None where they are not."""
    folder = cache_folder()
    if folder is None or source.info.file_format != "tfrecord":
        return None
    digest, size = hashlib.blake2b(digest_size=16), 0
    for text in (source.order, str(source.current_epoch), column):
        digest.update(f"{text}\n".encode())
    for piece in source.info.splits[source.split].file_instructions:
        file = open_file(piece.filename)
        size += file.size
        digest.update(f"{file.path}\n{file.size}\n{file.stamp}\n".encode())
    return os.path.join(folder, "steps", digest.hexdigest()) if size >= _SMALL else None


def _read(place: str, count: int) -> npt.NDArray[np.int64] | None:
    try:
        with open(place, "rb") as file:
            data = file.read()
    except OSError:
        return None
    start = len(_MAGIC) + 4
    if len(data) != start + 8 * count or not data.startswith(_MAGIC):
        return None
    if crc32c(data[start:]) != int.from_bytes(data[len(_MAGIC) : start], "little"):
        return None
    return np.frombuffer(data, "<i8", offset=start).astype(np.int64)


def _write(place: str, counts: npt.NDArray[np.int64]) -> None:
    body = counts.astype("<i8").tobytes()
    unfinished = f"{place}.{uuid.uuid4().hex}"
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(unfinished, "wb") as file:
        file.write(_MAGIC + struct.pack("<I", crc32c(body)) + body)
    os.replace(unfinished, place)
