"""Video: frames, each stored as an encoded picture."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from collections.abc import Sequence as SequenceOf
from typing import Any, Self

import numpy as np

from featurekit.connector import Documentation, FeatureConnector, encode_at
from featurekit.connectors.image import Image, image_arguments
from featurekit.connectors.image_codecs import gif
from featurekit.connectors.image_codecs.channels import Pixels, fit
from featurekit.connectors.image_codecs.inputs import is_url, read_file, read_path
from featurekit.connectors.image_codecs.thumbnail import animation_html
from featurekit.connectors.image_codecs.video import ffmpeg_frames, video_frames
from featurekit.connectors.sequence import Sequence
from featurekit.dtypes import dtype_name
from featurekit.errors import (
    DecodeError,
    EncodeError,
    InvalidArgumentError,
    add_location,
)
from featurekit.feature_json import ProtoContent
from featurekit.tensor_info import Shape

__all__ = ["Video"]


class Video(Sequence):
    """A video: a sequence of `Image` frames.

    Takes an array `(frames, height, width, channels)`, or a list of anything that `Image`
    takes; or a video or GIF, as a path, bytes or an open binary file, whose frames are
    decoded now and stored one by one. GIFs need nothing else; other videos need PyAV
    (`pip install 'featurekit[video]'`), or the ffmpeg program where `ffmpeg_extra_args` is
    given. Without these arguments every frame of the file is taken once, whatever its time
    stamp.

    Args:
        shape: `(frames, height, width, channels)`, None for sizes that vary;
            `(None, None, None, 3)` by default.
        encoding_format: How frames given as arrays are stored: `"png"` or `"jpeg"`.
        ffmpeg_extra_args: Arguments of ffmpeg, such as `["-r", "5"]` for five frames a second.
        use_colormap: Values are classes; as of an `Image`.
        dtype: uint8 or uint16.
        doc: What the feature means.

    Raises:
        InvalidArgumentError: The arguments do not go together.

    Example:
        >>> video = Video(shape=(None, 4, 6, 3))
        >>> stored = video.encode_example(np.zeros((2, 4, 6, 3), np.uint8))
        >>> len(stored), video.decode_example(stored).shape
        (2, (2, 4, 6, 3))
    """

    tfds_name = "tensorflow_datasets.core.features.video_feature.Video"

    def __init__(
        self,
        shape: Shape | None = None,
        encoding_format: str | None = "png",
        ffmpeg_extra_args: SequenceOf[str] = (),
        use_colormap: bool = False,
        dtype: Any = np.uint8,
        doc: Documentation | str | None = None,
    ) -> None:
        shape = tuple(shape or (None, None, None, 3))
        if len(shape) != 4:
            raise InvalidArgumentError(
                f"a video has shape (frames, height, width, channels), got {shape}",
                hint="give four sizes, with None for those that vary",
            )
        self._frame = Image(
            shape=shape[1:],
            dtype=dtype,
            encoding_format=encoding_format,
            use_colormap=use_colormap,
        )
        super().__init__(self._frame, length=shape[0], doc=doc)
        self._ffmpeg_extra_args = [str(argument) for argument in ffmpeg_extra_args or ()]

    def encode_example(self, value: Any) -> Any:
        """Encode the frames of an array, a list, or a video file.

        Raises:
            EncodeTypeError: It is none of these.
            EncodeError: A frame does not fit, their number is not the declared one, or the
                file is damaged or no video.
            MissingFileError: There is no file at the path.
            MissingDependencyError: The file needs a package or program that is not installed.
        """
        if isinstance(value, (str, os.PathLike)):
            return self._encode_file(read_path(value) if is_url(value) else value)
        if isinstance(value, (bytes, bytearray, memoryview)):
            return self._encode_file(bytes(value))
        if hasattr(value, "read") and not isinstance(value, np.ndarray):
            return self._encode_file(read_file(value))
        return super().encode_example(value)

    def _encode_file(self, video: str | os.PathLike[str] | bytes) -> list[Any]:
        try:
            # One by one, since a whole video may be larger than the memory.
            encoded = [
                encode_at(self._frame, frame, index)
                for index, frame in enumerate(self._frames(video))
            ]
            self._check_length(len(encoded))
        except EncodeError as error:
            add_location(error, file=None if isinstance(video, bytes) else video)
            raise
        return encoded

    def _frames(self, video: str | os.PathLike[str] | bytes) -> Iterable[Any]:
        if self._ffmpeg_extra_args:
            encoding_format = self._frame.encoding_format or "png"
            return ffmpeg_frames(video, self._ffmpeg_extra_args, encoding_format)
        if _is_gif(video):
            return self._gif_frames(video if isinstance(video, bytes) else read_path(video))
        info = self._frame.get_tensor_info()
        return video_frames(video, info.shape[-1] or 3, info.dtype)

    def _gif_frames(self, data: bytes) -> Iterator[Pixels]:
        info: Any = self._frame.get_tensor_info()
        channels = info.shape[-1] or 3
        try:
            for frame in gif.gif_frames(data, "RGBA" if channels in (2, 4) else "RGB"):
                yield fit(frame, channels, info.dtype)
        except DecodeError as error:
            raise EncodeError(error.message, hint=error.hint) from error

    def to_json_content(self) -> Any:
        """The arguments, in TFDS's form."""
        info: Any = self.get_tensor_info()
        return ProtoContent(
            "video",
            shape=info.shape,
            dtype=dtype_name(info.dtype),
            encoding_format=self._frame.encoding_format,
            use_colormap=self._frame.use_colormap,
            ffmpeg_extra_args=self._ffmpeg_extra_args,
        )

    @classmethod
    def from_json_content(cls, value: Any) -> Self:
        """Make a `Video` from what TFDS wrote."""
        arguments = image_arguments(value)
        return cls(
            **arguments | {"dtype": arguments["dtype"] or np.uint8},
            ffmpeg_extra_args=value.get("ffmpeg_extra_args") or (),
            use_colormap=bool(value.get("use_colormap")),
        )

    _identity = FeatureConnector._identity

    def repr_html(self, value: Any) -> str:
        """The frames as an animation."""
        return animation_html(value, use_colormap=self._frame.use_colormap)


def _is_gif(video: str | os.PathLike[str] | bytes) -> bool:
    size = len(gif.SIGNATURE)
    return (video[:size] if isinstance(video, bytes) else read_path(video, size)) == gif.SIGNATURE
