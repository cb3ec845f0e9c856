"""BBoxFeature: a bounding box."""

from __future__ import annotations

import enum
import html
from typing import Any, NamedTuple, Self

import numpy as np

from featurekit.connector import Documentation
from featurekit.connectors.tensor import Tensor
from featurekit.errors import EncodeError, InvalidArgumentError, did_you_mean
from featurekit.feature_json import ProtoContent
from featurekit.values import as_array

__all__ = ["BBox", "BBoxFeature", "BBoxFormat"]


class BBox(NamedTuple):
    """A box by its borders, from the top and from the left.

    Attributes:
        ymin: Upper border.
        xmin: Left border.
        ymax: Lower border.
        xmax: Right border.
    """

    ymin: float
    xmin: float
    ymax: float
    xmax: float


class BBoxFormat(enum.Enum):
    """What the four numbers of a box mean; `REL_` are fractions of the image, others pixels.

    The name is kept with the feature for its readers. It never reorders the numbers: they are
    stored in the order of `BBox`, whatever the format.
    """

    XYXY = "XYXY"
    YXYX = "YXYX"
    XYWH = "XYWH"
    REL_XYXY = "REL_XYXY"
    REL_YXYX = "REL_YXYX"

    @classmethod
    def of(cls, value: BBoxFormat | str) -> BBoxFormat:
        """Find a format by its name.

        Raises:
            InvalidArgumentError: There is none of that name.
        """
        try:
            return cls(value)
        except ValueError:
            names = [item.value for item in cls]
            raise InvalidArgumentError(
                f"{value!r} is not a format of boxes{did_you_mean(value, names)}"
            ) from None


_RELATIVE = (BBoxFormat.REL_XYXY, BBoxFormat.REL_YXYX)
# The formats whose fields are what their names in `BBox` say.
_ORDERED = (BBoxFormat.YXYX, BBoxFormat.REL_YXYX)


class BBoxFeature(Tensor):
    """A bounding box: `(4,)` float32 in the order ymin, xmin, ymax, xmax.

    Takes a `BBox`, or four numbers in that order. By default they are fractions of the
    image's height and width, in [0, 1].

    Args:
        doc: What the feature means.
        bbox_format: What the numbers mean, a `BBoxFormat` or its name. None where that is
            not known: then nothing but their number is checked.

    Raises:
        InvalidArgumentError: There is no such format.

    Example:
        >>> BBoxFeature().encode_example(BBox(ymin=0, xmin=0.25, ymax=0.5, xmax=1))
        array([0.  , 0.25, 0.5 , 1.  ], dtype=float32)
    """

    tfds_name = "tensorflow_datasets.core.features.bounding_boxes.BBoxFeature"

    def __init__(
        self,
        *,
        doc: Documentation | str | None = None,
        bbox_format: BBoxFormat | str | None = BBoxFormat.REL_YXYX,
    ) -> None:
        super().__init__(shape=(4,), dtype=np.float32, doc=doc)
        self.bbox_format = None if bbox_format is None else BBoxFormat.of(bbox_format)

    def encode_example(self, value: Any) -> Any:
        """Check a box and make it an array.

        Raises:
            EncodeTypeError: It is no box and no four numbers.
            EncodeError: A number is outside of [0, 1] in a relative format, a box is upside
                down, or a number is NaN or infinite.
        """
        if isinstance(value, np.ndarray) and value.dtype.kind in "iuf":
            value = value.tolist()  # a box is four numbers, of whatever dtype
        box = as_array(value, np.dtype(np.float64), (None,))
        if len(box) != 4:
            raise EncodeError(
                f"a box is four numbers, got {len(box)}",
                hint="give BBox(ymin, xmin, ymax, xmax); declare a Sequence for several boxes",
            )
        if self.bbox_format is not None:
            self._check(BBox(*box.tolist()), self.bbox_format)
        return super().encode_example(box.tolist())

    @staticmethod
    def _check(box: BBox, bbox_format: BBoxFormat) -> None:
        if not np.isfinite(box).all():
            raise EncodeError(f"{box} has a border that is not finite", hint="leave such boxes out")
        if bbox_format in _RELATIVE and not all(0 <= border <= 1 for border in box):
            raise EncodeError(
                f"{box} is not within 0 and 1",
                hint="divide y by the image's height and x by its width and clip, or declare "
                "bbox_format= for pixels",
            )
        if bbox_format in _ORDERED and (box.ymin > box.ymax or box.xmin > box.xmax):
            raise EncodeError(
                f"{box} is inverted: a lower border is above an upper one",
                hint="swap the borders; the order is ymin, xmin, ymax, xmax",
            )

    def to_json_content(self) -> Any:
        """Shape, dtype and format, in TFDS's form."""
        return ProtoContent(
            "boundingBox",
            shape=(4,),
            dtype="float32",
            bbox_format=self.bbox_format and self.bbox_format.value,
        )

    @classmethod
    def from_json_content(cls, value: Any) -> Self:
        """Make a `BBoxFeature` from what TFDS wrote; a file without a format has none."""
        if isinstance(value, ProtoContent):
            return cls(bbox_format=value["bbox_format"] or None)
        return cls(**value)

    def repr_html(self, value: Any) -> str:
        """A drawing of the box in a blank image, or its numbers where they are pixels."""
        if self.bbox_format is not BBoxFormat.REL_YXYX:
            return html.escape(str(value))
        top, left, bottom, right = (float(border) for border in value)
        return (
            '<svg width="128" height="128" viewBox="0 0 1 1" preserveAspectRatio="none" '
            'style="border:1px solid gray">'
            f'<rect x="{left:g}" y="{top:g}" width="{right - left:g}" height="{bottom - top:g}" '
            'fill="none" stroke="red" stroke-width="0.01"/></svg>'
        )
