"""Image: a picture, stored as an encoded file."""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np

from featurekit.connector import Documentation, FeatureConnector
from featurekit.connectors.image_codecs.channels import Pixels, put
from featurekit.connectors.image_codecs.files import ImageHeader, decode_image, read_header
from featurekit.connectors.image_codecs.inputs import read_file, read_path
from featurekit.connectors.image_codecs.jpeg import encode_jpeg
from featurekit.connectors.image_codecs.limits import check_size
from featurekit.connectors.image_codecs.pillow import is_pil_image, pil_pixels
from featurekit.connectors.image_codecs.png import encode_png
from featurekit.connectors.image_codecs.thumbnail import image_html
from featurekit.dtypes import as_dtype, dtype_name
from featurekit.errors import (
    DecodeError,
    EncodeError,
    EncodeTypeError,
    InvalidArgumentError,
    add_location,
    add_path,
    did_you_mean,
    short_repr,
)
from featurekit.feature_json import ProtoContent
from featurekit.nesting import unstack
from featurekit.tensor_info import Shape, TensorInfo, as_shape
from featurekit.values import as_array, check_shape

__all__ = ["Image", "image_arguments"]

_DTYPES = ("uint8", "uint16", "float32")

# The numbers of channels that arrays may have, and TFDS reads a file of each format into.
_WRITABLE = {"png": (0, 1, 2, 3, 4, None), "jpeg": (0, 1, 3, None)}
_READABLE = {"PNG": (1, 2, 3, 4), "JPEG": (1, 3), "GIF": (3,), "BMP": (3, 4)}


class Image(FeatureConnector):
    """A picture.

    Takes, and stores

    - an array of exactly the shape and dtype: encoded as `encoding_format`;
    - the path, the bytes or an open binary file of a PNG, JPEG, BMP or GIF: as it is, what
      its name or `encoding_format` may say;
    - a PIL image: as an array with the image's own channels.

    A file may have other channels than the shape: reading converts them as TensorFlow does
    (gray is repeated, alpha dropped, palettes looked up, colour turned gray). A file of 16
    bits does not fit uint8; one of 8 bits is widened to uint16 (255 becomes 65535). EXIF
    orientation is ignored. JPEG files give the pixels that TensorFlow gives.

    float32 is for one channel: each value's four bytes are stored as a pixel of an RGBA PNG.

    Args:
        shape: `(height, width, channels)` with None for sizes that vary, `(None, None, 3)`
            by default; `(frames, height, width, 3)` for GIF files, animated or not.
        dtype: uint8 (the default), uint16 or float32.
        encoding_format: How arrays are stored: `"png"` (the default) or `"jpeg"` (quality
            95, 4:2:0).
        use_colormap: Values are classes: show each in a colour of its own, and refuse files
            whose values reading would change (palettes, colour, another number of bits).
        doc: What the feature means.

    Raises:
        InvalidArgumentError: The arguments do not go together.

    Example:
        >>> image = Image(shape=(None, None, 1))
        >>> stored = image.encode_example(np.array([[[0], [255]]], np.uint8))
        >>> image.decode_example(stored)[..., 0]
        array([[  0, 255]], dtype=uint8)
    """

    tfds_name = "tensorflow_datasets.core.features.image_feature.Image"

    def __init__(
        self,
        *,
        shape: Shape | None = None,
        dtype: Any = None,
        encoding_format: str | None = None,
        use_colormap: bool = False,
        doc: Documentation | str | None = None,
    ) -> None:
        super().__init__(doc=doc)
        self._shape = as_shape(shape or (None, None, 3))
        self._dtype = as_dtype(np.uint8 if dtype is None else dtype)
        self._encoding_format = encoding_format or None
        self._use_colormap = bool(use_colormap)
        self._check_arguments()
        self._info = TensorInfo(self._shape, self._dtype)

    def _check_arguments(self) -> None:
        _check_format(self._encoding_format, self._shape, self._dtype)
        problem = None
        if self._dtype == np.float32 and (len(self._shape) != 3 or self._shape[-1] != 1):
            problem = f"a float32 image has shape (height, width, 1), got {self._shape}"
        elif self._use_colormap and self._encoding_format == "jpeg":
            problem = "use_colormap= is for classes, which JPEG does not keep exactly"
        elif self._use_colormap and self._shape[-1] != 1:
            problem = f"use_colormap= is for one channel, got shape {self._shape}"
        elif self._use_colormap and self._dtype.kind != "u":
            problem = f"use_colormap= is for integers, got {dtype_name(self._dtype)}"
        if problem:
            raise InvalidArgumentError(problem)

    @property
    def encoding_format(self) -> str | None:
        """How arrays are stored; None stands for PNG."""
        return self._encoding_format

    @property
    def use_colormap(self) -> bool:
        """Whether every value is shown in a colour of its own."""
        return self._use_colormap

    def get_tensor_info(self) -> TensorInfo:
        """The declared shape and dtype."""
        return self._info

    def get_serialized_info(self) -> TensorInfo:
        """The bytes of one file."""
        return TensorInfo((), np.object_)

    # From a value to the bytes of a file.

    def encode_example(self, value: Any) -> bytes:
        """Take the bytes of a file as they are; encode an array.

        Raises:
            EncodeTypeError: It is none of the things that can be a picture.
            EncodeError: It does not fit the shape or dtype, is damaged or no picture.
            MissingFileError: There is no file at the path.
        """
        if isinstance(value, np.ndarray):
            return self._encode_array(value)
        if self._dtype == np.float32:
            raise EncodeTypeError(
                f"a float32 image takes arrays only, got {type(value).__name__} "
                f"{short_repr(value)}",
                hint="read the file yourself, and give its values as a float32 array",
            )
        if isinstance(value, (str, os.PathLike)):
            return self._encode_path(value)
        if isinstance(value, (bytes, bytearray, memoryview)):
            return self._check_file(bytes(value))
        if is_pil_image(value):
            return self._check_file(self._encode_pixels(pil_pixels(value)))
        if hasattr(value, "read"):
            return self._check_file(read_file(value))
        raise EncodeTypeError(
            f"expected a picture, got {type(value).__name__} {short_repr(value)}",
            hint="give an array, a path, the bytes of a file, an open file or a PIL image",
        )

    def _encode_array(self, array: Pixels) -> bytes:
        if len(self._shape) != 3:
            raise EncodeTypeError(
                f"an image of shape {self._shape} takes GIF files only, got an array",
                hint="declare a Video, which stores every frame",
            )
        as_array(array, self._dtype, self._shape)
        if self._dtype == np.float32:
            array = np.ascontiguousarray(array, "<f4").view(np.uint8)
        return self._encode_pixels(array)

    def _encode_pixels(self, pixels: Pixels) -> bytes:
        name = self._encoding_format or "png"
        if 0 in pixels.shape or pixels.shape[-1] not in _WRITABLE[name]:
            raise EncodeError(
                f"an array of shape {pixels.shape} cannot be a {name} file",
                hint="sizes are 1 or more, channels 1 to 4 (1 or 3 for jpeg)",
            )
        return encode_jpeg(pixels) if name == "jpeg" else encode_png(pixels)

    def _encode_path(self, path: str | os.PathLike[str]) -> bytes:
        data = read_path(path)
        try:
            return self._check_file(data)
        except EncodeError as error:
            add_location(error, file=path)
            raise

    def _check_file(self, data: bytes) -> bytes:
        """Whether a file is whole and fits, as far as its header tells."""
        try:
            header = read_header(data)
            check_size(header.height, header.width, self._size, header.frames or 1)
        except DecodeError as error:
            raise EncodeError(error.message, hint=error.hint) from error
        self._check_header(header)
        return data

    def _check_header(self, header: ImageHeader) -> None:
        is_gif = header.format == "GIF"
        if is_gif != (len(self._shape) == 4):
            raise EncodeError(
                f"a {header.format} file does not fit shape {self._shape}: a GIF has shape "
                "(frames, height, width, 3), other pictures (height, width, channels)",
                hint="convert the file to PNG" if is_gif else "declare a shape of three sizes",
            )
        if is_gif:
            check_shape((header.frames or 0, header.height, header.width, 3), self._shape)
        if header.bits > 8 * self._dtype.itemsize:
            raise EncodeError(
                f"the {header.format} file has {header.bits} bits a sample, and the feature is "
                f"{dtype_name(self._dtype)}",
                hint="declare dtype=np.uint16, or convert the file",
            )
        channels = self._shape[-1]
        if channels is not None and channels not in _READABLE[header.format]:
            raise EncodeError(
                f"TFDS cannot read a {header.format} file into {channels} channels",
                hint="convert the file to PNG, or give the pixels as an array",
            )
        if self._use_colormap and (header.channels > 2 or header.bits != 8 * self._dtype.itemsize):
            raise EncodeError(
                f"the classes of a {header.format} file of {header.channels} channels and "
                f"{header.bits} bits would change when it is read as {dtype_name(self._dtype)}",
                hint="give them as an array: np.asarray(PIL.Image.open(path))[..., np.newaxis]",
            )

    @property
    def _size(self) -> tuple[int | None, int | None]:
        return self._shape[-3], self._shape[-2]

    # And back.

    def decode_example(self, stored: Any) -> Pixels:
        """Decode a file: an array of the declared shape and dtype.

        Raises:
            DecodeError: The file is damaged, cut short, or has another size.
        """
        return self._decode(stored, None)

    def decode_batch_example(self, stored: Any) -> Any:
        """Decode the pictures of a sequence.

        Returns:
            An array where all have one shape, into which they are decoded; else a list.
        """
        if type(self).decode_example is not Image.decode_example:
            return super().decode_batch_example(stored)
        files = unstack(stored)
        batch: Pixels | None = None
        pictures = []
        for index, file in enumerate(files):
            try:
                picture = self._decode(file, None if batch is None else batch[index])
            except Exception as error:
                add_path(error, index, type(self).__name__)
                raise
            if batch is None:
                batch = np.empty((len(files), *picture.shape), picture.dtype)
                picture = put(picture, batch[index])
            pictures.append(picture)
        if batch is None:
            return super().decode_batch_example(stored)
        is_whole = all(np.may_share_memory(picture, batch) for picture in pictures)
        return batch if is_whole else pictures

    def _decode(self, stored: bytes, out: Pixels | None) -> Pixels:
        """Decode a file, into `out` where the pixels fit there."""
        if self._dtype == np.float32:
            return put(self._decode_floats(stored), out)
        pixels = decode_image(stored, self._shape[-1], self._dtype, self._size, out=out)
        shape = pixels.shape
        if len(shape) != len(self._shape) or self._shape[0] not in (None, shape[0]):
            raise DecodeError(
                f"expected shape {self._shape}, got {shape}",
                hint="the record was written with other features; check features.json",
            )
        return pixels

    def _decode_floats(self, stored: bytes) -> Pixels:
        header = read_header(stored)
        if (header.format, header.channels, header.bits) != ("PNG", 4, 8):
            raise DecodeError(
                f"a float32 image is an RGBA PNG, got a {header.format} file with "
                f"{header.channels} channels of {header.bits} bits",
                hint="the record was written with other features; check features.json",
            )
        pixels = decode_image(stored, 4, np.dtype(np.uint8), self._size)
        return pixels.view("<f4").astype(np.float32, copy=False)

    # Metadata.

    def to_json_content(self) -> Any:
        """The arguments, in TFDS's form."""
        return ProtoContent(
            "image",
            shape=self._shape,
            dtype=dtype_name(self._dtype),
            encoding_format=self._encoding_format,
            use_colormap=self._use_colormap,
        )

    @classmethod
    def from_json_content(cls, value: Any) -> Self:
        """Make an `Image` from what TFDS wrote."""
        return cls(**image_arguments(value), use_colormap=bool(value.get("use_colormap")))

    def repr_html(self, value: Any) -> str:
        """A thumbnail; of a GIF, of its first frame."""
        frame = value[0] if np.ndim(value) == 4 else value
        return image_html(frame, use_colormap=self._use_colormap)


def image_arguments(value: Any) -> dict[str, Any]:
    """The constructor's arguments that all pictures have, from their JSON content."""
    return {
        "shape": value.get("shape") or None,
        "dtype": value.get("dtype") or None,
        "encoding_format": value.get("encoding_format") or None,
    }


def _check_format(encoding_format: str | None, shape: Shape, dtype: np.dtype[Any]) -> None:
    if encoding_format is not None and encoding_format not in _WRITABLE:
        raise InvalidArgumentError(
            f"{encoding_format!r} is not a format to store arrays in"
            f"{did_you_mean(encoding_format, _WRITABLE)}",
        )
    if len(shape) not in (3, 4):
        raise InvalidArgumentError(
            f"an image has shape (height, width, channels), got {shape}",
            hint="a gray image has one channel: (height, width, 1)",
        )
    if encoding_format is not None and shape[-1] not in _WRITABLE[encoding_format]:
        raise InvalidArgumentError(
            f"{encoding_format} does not store {shape[-1]} channels",
            hint="png has 1 to 4 channels, jpeg 1 or 3",
        )
    names = _DTYPES[:1] if encoding_format == "jpeg" else _DTYPES
    if dtype_name(dtype) not in names:
        raise InvalidArgumentError(
            f"a {encoding_format or 'png'} image has dtype {' or '.join(names)}, "
            f"got {dtype_name(dtype)}",
        )
