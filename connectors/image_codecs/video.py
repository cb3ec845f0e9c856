"""The frames of a video file: by PyAV, or by the ffmpeg program where it must be."""

from __future__ import annotations

import io
import os
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from featurekit.connectors.image_codecs.channels import Pixels
from featurekit.errors import EncodeError, MissingDependencyError, MissingFileError
from featurekit.optional import import_optional

__all__ = ["ffmpeg_frames", "video_frames"]

_PIXEL_FORMATS = {
    (1, "uint8"): "gray",
    (3, "uint8"): "rgb24",
    (4, "uint8"): "rgba",
    (1, "uint16"): "gray16le",
    (3, "uint16"): "rgb48le",
    (4, "uint16"): "rgba64le",
}


def video_frames(
    video: str | os.PathLike[str] | bytes, channels: int, dtype: np.dtype[Any]
) -> Iterator[Pixels]:
    """The frames of a video file, one after another, each one once and turned upright.

    Args:
        video: A path, or the bytes of the file.
        channels: 1, 3 or 4.
        dtype: uint8 or uint16.

    Yields:
        `(height, width, channels)` of `dtype`.

    Raises:
        EncodeError: The file has no pictures, is damaged or no video.
        MissingFileError: There is no file at the path.
        MissingDependencyError: PyAV is not installed.
    """
    av = import_optional("av", extra="video", purpose="Reading a video file")
    pixel_format = _PIXEL_FORMATS.get((channels, dtype.name))
    if pixel_format is None:
        raise EncodeError(
            f"a video file has no frames of {channels} channels",
            hint="declare 1, 3 or 4 channels, or give the frames as arrays",
        )
    count = 0
    try:
        with av.open(io.BytesIO(video) if isinstance(video, bytes) else os.fspath(video)) as file:
            if not file.streams.video:
                raise EncodeError(
                    "the file has no pictures", hint="give a file with a video stream"
                )
            for frame in file.decode(video=0):
                # The interpolation of the ffmpeg program.
                plain = frame.reformat(format=pixel_format, interpolation="BICUBIC")
                pixels = plain.to_ndarray().reshape(frame.height, frame.width, channels)
                turns = round(getattr(frame, "rotation", 0) / 90)
                yield np.rot90(pixels, turns) if turns else pixels
                count += 1
    except FileNotFoundError:
        raise _missing(video) from None
    except av.FFmpegError as error:
        raise EncodeError(
            f"the video cannot be read after {count} frames: {error}",
            hint="give a video file that ffmpeg reads, or the frames themselves",
        ) from error
    if not count:
        raise EncodeError("the video file has no frames", hint="copy or download the file again")


def ffmpeg_frames(
    video: str | os.PathLike[str] | bytes, arguments: Sequence[str], encoding_format: str
) -> list[bytes]:
    """The frames of a video file as the ffmpeg program writes them, each an encoded picture.

    It is called as `ffmpeg -i <video> <arguments> <folder>/%010d.<encoding_format>`.

    Args:
        video: A path, or the bytes of the file.
        arguments: Arguments of ffmpeg.
        encoding_format: `"png"` or `"jpeg"`.

    Raises:
        MissingDependencyError: There is no such program.
        MissingFileError: There is no file at the path.
        EncodeError: The program failed; what it said is in the text.
    """
    program = shutil.which("ffmpeg")
    if program is None:
        raise MissingDependencyError(
            "ffmpeg_extra_args= needs the program ffmpeg, which is not on the PATH",
            hint="install ffmpeg, or leave ffmpeg_extra_args out: PyAV then reads the file",
        )
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "video") if isinstance(video, bytes) else pathlib.Path(video)
        if isinstance(video, bytes):
            source.write_bytes(video)
        elif not source.exists():
            raise _missing(video)
        frames = pathlib.Path(folder, "frames")
        frames.mkdir()
        pattern = frames / f"%010d.{encoding_format}"
        # A path that begins with "-" must not be an option.
        command = [program, "-nostdin", "-v", "error", "-i", f"file:{source.absolute()}"]
        done = subprocess.run(
            [*command, *arguments, str(pattern)], capture_output=True, check=False
        )
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise EncodeError(
                f"ffmpeg failed with exit code {done.returncode}: {said[-500:]}",
                hint="fix the file, or ffmpeg_extra_args=",
            )
        return [path.read_bytes() for path in sorted(frames.iterdir())]


def _missing(video: Any) -> MissingFileError:
    return MissingFileError("there is no such video", file=video, hint="check the path")
