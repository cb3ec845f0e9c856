"""ReducedImage: pictures decoded to a smaller size than they are stored in."""

from __future__ import annotations

from typing import Any

import numpy as np

from featurekit.connectors.image import Image
from featurekit.connectors.image_codecs.channels import Pixels
from featurekit.connectors.image_codecs.files import decode_image
from featurekit.decode import Decoder
from featurekit.errors import InvalidArgumentError, InvalidTypeError
from featurekit.tensor_info import TensorInfo

__all__ = ["ReducedImage"]


class ReducedImage(Decoder):
    """Decodes pictures no larger than needed: a decoder for `Image` features.

    Of a JPEG file the decoder works out a picture of n/8 of its height and width, with the
    smallest n that gives at least what was asked for: often in a fraction of the time. Files
    of other formats, which cannot be decoded so, come whole. Resizing and cropping to one size
    are left to the model's own transforms.

    Args:
        min_height: In pixels.
        min_width: In pixels.

    Raises:
        InvalidArgumentError: A size is below 1.
        InvalidTypeError: Given for a feature that is no `Image` of one picture of uint8.

    Example:
        >>> fk.load("pets", decoders={"image": fk.ReducedImage(224, 224)})  # doctest: +SKIP
    """

    def __init__(self, min_height: int, min_width: int) -> None:
        if min(min_height, min_width) < 1:
            raise InvalidArgumentError(
                f"expected sizes of 1 or more, got {min_height} x {min_width}"
            )
        self._least = (int(min_height), int(min_width))

    def setup(self, *, feature: Any) -> None:
        """Learn which feature it is for."""
        shape = feature.get_tensor_info().shape if isinstance(feature, Image) else ()
        if len(shape) != 3 or feature.dtype != np.uint8:
            raise InvalidTypeError(
                f"ReducedImage decodes an Image of one picture of uint8, not {feature!r}"
            )
        super().setup(feature=feature)
        self._channels = shape[2]

    def get_tensor_info(self) -> TensorInfo:
        """Any height and width."""
        return TensorInfo((None, None, self._channels), np.uint8)

    def decode_example(self, stored: bytes) -> Pixels:
        """Decode one file."""
        return decode_image(stored, self._channels, np.dtype(np.uint8), reduce_to=self._least)

    def __repr__(self) -> str:
        """The sizes."""
        return f"ReducedImage({self._least[0]}, {self._least[1]})"
