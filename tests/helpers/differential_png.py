"""What fuzzing checks of PNG files: the kernel, and the Python code without it, agree."""

from unittest import mock

import numpy as np
from differential import outcome

from featurekit.connectors.image_codecs import limits, png
from featurekit.errors import FeatureKitError
from featurekit.native import png as kernel

ANY = (None, None)
CHANNELS = (None, 1, 2, 3, 4)
DTYPES = (np.dtype(np.uint8), np.dtype(np.uint16))


def check(data, size=ANY):
    """Decode into everything; gives whether the kernel took it as it is."""
    for channels in CHANNELS:
        for dtype in DTYPES:
            args = (data, channels, dtype, size)
            with mock.patch.object(png, "_KERNEL", None):
                wanted = outcome(png.decode_png, *args)
            assert outcome(png.decode_png, *args) == wanted, args
    return decode(data, size=size) is not None


def decode(data, channels=None, size=ANY):
    """What the kernel itself says."""
    return kernel.decode(data, channels, size, limits.MAX_PIXELS)


def check_rows(rows, step):
    """Filter rows; the numbers of the filters are in the result."""
    found = kernel.filter_rows(rows, step)
    assert found == png._filter_slowly(rows, step), (rows, step)
    return found


def check_encoding(data):
    """Encode what a file decodes to, if it does, and decode that."""
    try:
        pixels = png.decode_png(data, None, DTYPES[1])
    except FeatureKitError:
        return
    encoded = png.encode_png(pixels)
    with mock.patch.object(png, "_KERNEL", None):
        assert png.encode_png(pixels) == encoded, data
    np.testing.assert_array_equal(decode(encoded), pixels)
