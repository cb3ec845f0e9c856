"""LabeledImage: a picture whose pixels are classes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from featurekit.connector import Documentation
from featurekit.connectors.class_label import ClassLabel
from featurekit.connectors.image import Image, image_arguments
from featurekit.errors import InvalidTypeError, SchemaError, short_repr
from featurekit.feature_json import ProtoContent
from featurekit.tensor_info import Shape

__all__ = ["LabeledImage"]

Labels = Sequence[str] | str | os.PathLike[str] | int | None


class LabeledImage(Image):
    """A picture of one channel whose values are classes, as of a segmentation.

    A palette's indices are given as an array, `np.asarray(PIL.Image.open(path))[..., None]`;
    a palette file is refused, since it reads as its colours.

    Values beyond the classes are stored as they are: 255 is a usual mark for "no class". The
    names are kept beside features.json, in `<feature>.labels.txt`.

    Args:
        labels: The classes: a list of names, the path of a text file of them (one a line),
            their number, or None where nothing is known.
        shape: As of an `Image`, with one channel; `(None, None, 1)` by default.
        dtype: uint8 (the default) or uint16.
        encoding_format: `"png"`, the default; JPEG does not keep values exactly.
        doc: What the feature means.

    Raises:
        InvalidArgumentError: The arguments do not go together.
        InvalidTypeError: `labels` is none of these.

    Example:
        >>> mask = LabeledImage(labels=["background", "car"])
        >>> mask.names, mask.num_classes, mask.shape
        (['background', 'car'], 2, (None, None, 1))
    """

    tfds_name = "tensorflow_datasets.core.features.labeled_image.LabeledImage"

    def __init__(
        self,
        *,
        labels: Labels,
        shape: Shape | None = None,
        dtype: Any = None,
        encoding_format: str | None = None,
        doc: Documentation | str | None = None,
    ) -> None:
        super().__init__(
            shape=shape or (None, None, 1),
            dtype=dtype,
            encoding_format=encoding_format,
            use_colormap=True,
            doc=doc,
        )
        self._class_label = _class_label(labels)

    @property
    def num_classes(self) -> int | None:
        """Number of classes, or None where nothing was declared."""
        return self._class_label.num_classes

    @property
    def names(self) -> list[str] | None:
        """The classes' names, in order; their numbers as text where they have none.

        None where nothing was declared.
        """
        return None if self.num_classes is None else self._class_label.names

    def save_metadata(self, data_dir: str | os.PathLike[str], feature_name: str | None) -> None:
        """Write the names to `<feature>.labels.txt`, where there are any."""
        self._class_label.save_metadata(data_dir, feature_name)

    def load_metadata(self, data_dir: str | os.PathLike[str], feature_name: str | None) -> None:
        """Read the names from `<feature>.labels.txt`, where it exists."""
        self._class_label.load_metadata(data_dir, feature_name)

    def to_json_content(self) -> Any:
        """The arguments, in TFDS's form; names lie in a file of their own."""
        return ProtoContent("image", **super().to_json_content(), label=self.num_classes or 0)

    @classmethod
    def from_json_content(cls, value: Any) -> Self:
        """Make a `LabeledImage` from what TFDS wrote."""
        labels = value.get("label") if isinstance(value, ProtoContent) else value["labels"]
        if isinstance(labels, str):
            raise SchemaError(
                "the metadata of a LabeledImage names a file",
                hint="keep the names in <feature>.labels.txt beside features.json",
            )
        return cls(labels=labels or None, **image_arguments(value))

    def _identity(self) -> Any:
        return (super()._identity(), self._class_label._identity())

    def _repr_extras(self) -> list[str]:
        return [f"num_classes={self.num_classes}"]


def _class_label(labels: Labels) -> ClassLabel:
    if labels is None:
        return ClassLabel()
    if isinstance(labels, (str, os.PathLike)):
        return ClassLabel(names_file=labels)
    if isinstance(labels, (list, tuple)):
        return ClassLabel(names=labels)
    if isinstance(labels, (int, np.integer)):
        return ClassLabel(num_classes=int(labels))
    raise InvalidTypeError(
        f"labels are a list of names, a path or a number, got {short_repr(labels)}"
    )
