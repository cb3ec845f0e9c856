"""How fast PNG files become arrays, and arrays PNG files, against Pillow.

    python benchmarks/png.py [--rounds 9]

Each round times all of them, in turn, in one process; the medians of the rounds are
compared. A figure is how many times as long as featurekit Pillow took. The file that is
decoded is featurekit's own.
"""

import argparse
import io
import statistics
import time

import numpy as np
from PIL import Image

from featurekit.connectors.image_codecs.png import decode_png, encode_png
from featurekit.native import kernel

UINT8 = np.dtype(np.uint8)


def digit(size):
    """Gray: a bright disc with a rough rim, on black."""
    y, x = np.mgrid[:size, :size] - size / 2
    noise = np.random.default_rng(0).integers(0, 20, (size, size))
    return np.clip(300 - (x**2 + y**2) * 7840 / size**2 + noise, 0, 255).astype(np.uint8)[..., None]


def photo(size):
    """RGB: smooth changes, and the noise of a camera."""
    y, x = np.mgrid[:size, :size]
    waves = [128 + 60 * np.sin(x / 20 + i) + 50 * np.cos(y * (i + 1) / 15) for i in range(3)]
    noise = np.random.default_rng(0).normal(0, 3, (size, size, 3))
    return np.clip(np.stack(waves, -1) + noise, 0, 255).astype(np.uint8)


PICTURES = {  # title: pixels, how many at once
    "28 x 28 gray": (digit(28), 300),
    "28 x 28 RGB": (photo(28), 300),
    "256 x 256 RGB": (photo(256), 10),
}


def pillow_decode(data, channels):
    return np.asarray(Image.open(io.BytesIO(data)))


def pillow_encode(pixels):
    buffer = io.BytesIO()
    Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels).save(buffer, "PNG")
    return buffer.getvalue()


def our_decode(data, channels):
    return decode_png(data, channels, UINT8)


def seconds(function, arguments, count):
    start = time.perf_counter()
    for _ in range(count):
        function(*arguments)
    return (time.perf_counter() - start) / count


def medians(functions, arguments, count, rounds):
    """Seconds of one call of each, the median of the rounds, after one to warm up."""
    results = [[seconds(f, arguments, count) for f in functions] for _ in range(rounds + 1)]
    return [statistics.median(values) for values in zip(*results[1:], strict=True)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    print(f"compiled kernel: {'in use' if kernel('png') else 'NOT in use'}\n")
    print(f"{'':24}{'featurekit':>14}{'Pillow':>18}")
    print(f"{'':24}{'us a picture':>14}{'times as long':>18}")
    for title, (pixels, count) in PICTURES.items():
        data = encode_png(pixels)
        for name, functions, arguments in (
            ("decode", (our_decode, pillow_decode), (data, pixels.shape[-1])),
            ("encode", (encode_png, pillow_encode), (pixels,)),
        ):
            ours, theirs = medians(functions, arguments, count, options.rounds)
            print(f"{name} {title:17}{ours * 1e6:>14.1f}{theirs / ours:>17.1f}x", flush=True)


if __name__ == "__main__":
    main()
