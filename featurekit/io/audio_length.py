"""What a sound file says of its own length, where libsndfile does not look.

libsndfile reads what there is of a WAV, AIFF, AU or Ogg file that is cut short, as if it were
whole; and it stops early in an MP3 that does not say its length.

Sources: the RIFF, RF64 (EBU Tech 3306), AIFF and AU formats; RFC 3533 for Ogg; ISO 11172-3
and 13818-3 for the frames of MP3.
"""

from __future__ import annotations

import struct

from featurekit.errors import DecodeError

__all__ = ["check_complete", "shortest_length"]

# Programs that write to a pipe leave a number near one of the two largest.
_UNKNOWN_SIZE = 0x7FFF_F000


def check_complete(data: bytes) -> None:
    """Raise a `DecodeError` where a sound file is shorter than it says."""
    start = data[:4]
    if start in (b"RIFF", b"RF64"):
        _check_chunks(data, "<4sI", b"data")
    elif start == b"FORM":
        _check_chunks(data, ">4sI", b"SSND")
    elif start == b".snd" and len(data) >= 12:
        offset, size = struct.unpack_from(">II", data, 4)
        if size < _UNKNOWN_SIZE:
            _check_size(data, offset, size)
    elif start == b"OggS":
        _check_pages(data)


def _check_chunks(data: bytes, layout: str, sound: bytes) -> None:
    """Find the chunk that holds the sound, and check its size."""
    header = struct.Struct(layout)
    at = 12
    long_size: int | None = None
    while at + header.size <= len(data):
        name, size = header.unpack_from(data, at)
        at += header.size
        if name == b"ds64" and at + 16 <= len(data):
            long_size = struct.unpack_from("<Q", data, at + 8)[0]
        if name == sound:
            if size == 0xFFFF_FFFF and long_size is not None:
                _check_size(data, at, long_size)
            elif size < _UNKNOWN_SIZE:
                _check_size(data, at, size)
            return
        at += size + size % 2


def _check_size(data: bytes, start: int, size: int) -> None:
    there = max(len(data) - start, 0)
    if size > there:
        raise _cut_short(f"it promises {size} bytes of sound, and has {there}")
    if size == 0 and there >= 8 and not data[start : start + 4].strip().isalnum():
        raise DecodeError(
            f"the sound file promises no sound, and has {there} bytes of it",
            hint="the recording was not finished; repair its header",
        )


def _check_pages(data: bytes) -> None:
    """The last page of an Ogg file must be whole, and say that it is the last."""
    at = data.rfind(b"OggS")
    if at + 27 <= len(data):
        segments = data[at + 27 : at + 27 + data[at + 26]]
        end = at + 27 + data[at + 26] + sum(segments)
        if end <= len(data) and data[at + 5] & 4:
            return
    raise _cut_short("its last page is missing")


# MP3.

_BIT_RATES = (
    (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
    (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
)  # kbit/s, of versions 2 and 2.5, and of version 1
_SAMPLE_RATES = (44100, 48000, 32000)  # Hz, of version 1; halved for 2, halved again for 2.5


def shortest_length(data: bytes, frames: int) -> int:
    """Number of samples of each channel that an MP3 must have at least.

    Args:
        data: The file.
        frames: What libsndfile makes of its length: exact where the file begins with a frame
            that tells it, else a guess from the bit rate so far.

    Raises:
        DecodeError: The guess is too low, so that libsndfile would drop the rest; or the last
            frame is cut.
    """
    start = _after_tag(data)
    first = _frame(data, start)
    if first is None:
        return frames  # another layer than III, or no fixed frame size
    samples, size = first
    if any(tag in data[start : start + size] for tag in (b"Xing", b"Info", b"VBRI")):
        return frames
    at, count = start, 0
    while (frame := _frame(data, at)) is not None:
        at += frame[1]
        count += samples
    if at > len(data):
        raise _cut_short("its last frame is not whole")
    if count > frames:
        raise DecodeError(
            "an MP3 of variable bit rate that does not say its length would be cut",
            hint="add the length with: ffmpeg -i in.mp3 -c copy out.mp3",
        )
    return count


def _after_tag(data: bytes) -> int:
    """Where the first frame begins, behind an ID3 tag."""
    if data[:3] != b"ID3" or len(data) < 10:
        return 0
    size = 0
    for byte in data[6:10]:
        size = size << 7 | byte & 0x7F
    return 10 + size + (10 if data[5] & 0x10 else 0)


def _frame(data: bytes, at: int) -> tuple[int, int] | None:
    """Samples a channel, and bytes, of the MP3 frame at a place; None if there is none."""
    header = data[at : at + 4]
    if len(header) < 4 or header[0] != 0xFF or header[1] & 0xE6 != 0xE2:
        return None
    version, rate, sample_rate = header[1] >> 3 & 3, header[2] >> 4, header[2] >> 2 & 3
    if version == 1 or rate in (0, 15) or sample_rate == 3:
        return None
    is_first = version == 3
    bits = _BIT_RATES[is_first][rate] * 1000
    hertz = _SAMPLE_RATES[sample_rate] >> {3: 0, 2: 1, 0: 2}[version]
    samples = 1152 if is_first else 576
    return samples, samples // 8 * bits // hertz + (header[2] >> 1 & 1)


def _cut_short(how: str) -> DecodeError:
    return DecodeError(f"the sound file is cut short: {how}", hint="copy the file again")
