"""How large a picture may be, checked on its header, before anything is allocated."""

from __future__ import annotations

from featurekit.errors import DecodeError

__all__ = ["MAX_PIXELS", "Size", "check_size"]

# Half a GiB of RGB, the size from which Pillow too takes a file for a decompression bomb.
MAX_PIXELS = (1 << 29) // 3

# Declared height and width, None where they vary.
Size = tuple[int | None, int | None]


def check_size(height: int, width: int, expected: Size = (None, None), frames: int = 1) -> None:
    """Check the size that a file's header states.

    Args:
        height: Of the picture, in pixels.
        width: The same.
        expected: The declared height and width.
        frames: Number of frames.

    Raises:
        DecodeError: There are no pixels, too many, or others than declared.
    """
    if expected[0] not in (None, height) or expected[1] not in (None, width):
        shown = tuple("any" if size is None else size for size in expected)
        raise DecodeError(
            f"expected a picture of {shown[0]} x {shown[1]} pixels (height x width), "
            f"got one of {height} x {width}",
            hint="resize the picture, or declare None for the sizes that vary",
        )
    if height <= 0 or width <= 0:
        raise DecodeError(f"a picture of {height} x {width} pixels is empty")
    if frames * height * width > MAX_PIXELS:
        count = f"{frames} frames of " if frames > 1 else ""
        raise DecodeError(
            f"{count}{height} x {width} pixels pass the limit of {MAX_PIXELS} pixels",
            hint="the file is damaged or hostile; if you trust it, raise "
            "featurekit.connectors.image_codecs.limits.MAX_PIXELS",
        )
