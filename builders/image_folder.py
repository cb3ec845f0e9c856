"""ImageFolder: pictures in folders that are called like their classes."""

from __future__ import annotations

import os
import pathlib
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from featurekit.builders.in_place import InPlaceBuilder
from featurekit.connector import FeatureConnector
from featurekit.connectors.class_label import ClassLabel
from featurekit.connectors.features_dict import FeaturesDict
from featurekit.connectors.image import Image
from featurekit.connectors.text import Text
from featurekit.errors import MissingFileError

__all__ = ["ImageFolder"]

_SUFFIXES = (".jpg", ".jpeg", ".png")


class ImageFolder(InPlaceBuilder):
    """A dataset of the pictures in `<folder>/<split>/<class>/*.jpg`, `.jpeg` or `.png`.

    The features are `image`, `label` and `image/filename`. Their order is that of TFDS: fixed,
    and shuffled by a seed that is the split's name.

    Args:
        root_dir: The folder.
        shape: Shape of the pictures; by default `(None, None, 3)`.
        dtype: Their dtype; by default uint8.

    Raises:
        MissingFileError: There are no pictures.

    Example:
        >>> builder = ImageFolder("pets")  # doctest: +SKIP
        >>> builder.info.features["label"].names  # doctest: +SKIP
        ['cat', 'dog']
        >>> for example in builder.as_dataset("train"):  # doctest: +SKIP
        ...     example["image"]
    """

    name = "image_folder"
    _description = "Pictures in folders called like their classes."
    _supervised_keys = ("image", "label")

    def __init__(
        self,
        root_dir: str | os.PathLike[str],
        *,
        shape: tuple[int | None, ...] | None = None,
        dtype: Any = None,
    ) -> None:
        self._root = pathlib.Path(root_dir).expanduser()
        self._shape = shape
        self._dtype = dtype
        self._found = _find_pictures(self._root)
        self._labels = sorted({label for paths in self._found.values() for label, _ in paths})

    def _features(self) -> FeatureConnector:
        return FeaturesDict(
            {
                "image": Image(shape=self._shape, dtype=self._dtype),
                "label": ClassLabel(names=self._labels),
                "image/filename": Text(),
            }
        )

    def _splits(self) -> dict[str, Sequence[Any]]:
        numbers = {label: number for number, label in enumerate(self._labels)}
        return {split: _Pictures(found, numbers) for split, found in self._found.items()}


def _find_pictures(root: pathlib.Path) -> dict[str, list[tuple[str, pathlib.Path]]]:
    found = {}
    for split in _folders(root):
        pictures = [(label.name, path) for label in _folders(split) for path in _pictures(label)]
        random.Random(split.name).shuffle(pictures)
        if pictures:
            found[split.name] = pictures
    if not found:
        raise MissingFileError(
            "there are no pictures",
            file=root,
            hint="put them in <folder>/<split>/<class>/, as .jpg, .jpeg or .png",
        )
    return found


def _folders(parent: pathlib.Path) -> list[pathlib.Path]:
    if not parent.is_dir():
        return []
    return sorted((path for path in parent.iterdir() if path.is_dir()), key=lambda p: p.name)


def _pictures(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    paths = sorted(folder.iterdir(), key=lambda path: path.name)
    return (path for path in paths if path.name.lower().endswith(_SUFFIXES))


class _Pictures(Sequence[Mapping[str, Any]]):
    """What each example of a split consists of; a picture is read when it is asked for."""

    def __init__(self, found: Sequence[Any], numbers: Mapping[str, int]) -> None:
        self._found = found
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._found)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return _Pictures(self._found[index], self._numbers)
        label, path = self._found[index]
        return {
            "image": path.read_bytes(),
            "label": self._numbers[label],
            "image/filename": os.fsencode(path),
        }
