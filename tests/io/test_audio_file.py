"""Sound files: exact samples of every kind, and no way to pass a damaged one off as whole."""

import contextlib
import io
import struct

import numpy as np
import pytest
import soundfile

from featurekit.errors import DecodeError
from featurekit.io.audio import AudioFile

RAMP = (np.sin(np.arange(4000) / 10) * 10000).astype(np.int16)
CUT_SHORT = "the sound file is cut short"


def wav(samples, bits, *, rate=16000, kind=1, extensible=False, size=None):
    """A WAV file made by hand: `kind` 1 is integers, 3 is floats."""
    array = np.asarray(samples)
    channels = 1 if array.ndim == 1 else array.shape[1]
    if bits == 24:
        sound = b"".join(struct.pack("<i", int(value))[:3] for value in array.reshape(-1))
    else:
        code = {(1, 8): "u1", (1, 16): "<i2", (1, 32): "<i4", (3, 32): "<f4", (3, 64): "<f8"}
        sound = array.astype(code[kind, bits]).tobytes()
    frame = channels * bits // 8
    form = struct.pack(
        "<HHIIHH", 0xFFFE if extensible else kind, channels, rate, rate * frame, frame, bits
    )
    if extensible:
        form += struct.pack("<HHIH", 22, bits, 0, kind)
        form += bytes.fromhex("000000001000800000aa00389b71")
    body = b"WAVEfmt " + struct.pack("<I", len(form)) + form
    body += b"data" + struct.pack("<I", len(sound) if size is None else size) + sound
    return b"RIFF" + struct.pack("<I", len(body)) + body


def written(samples, container, subtype=None, rate=16000, **options):
    buffer = io.BytesIO()
    channels = 1 if samples.ndim == 1 else samples.shape[1]
    with soundfile.SoundFile(
        buffer, "w", rate, channels, format=container, subtype=subtype, **options
    ) as file:
        file.write(samples)
    return buffer.getvalue()


@pytest.mark.parametrize("extensible", [False, True])
@pytest.mark.parametrize(
    ("samples", "bits", "kind", "expected"),
    [
        ([0, 128, 255, 1], 8, 1, np.array([-128, 0, 127, -127], np.int8)),
        ([0, 32767, -32768], 16, 1, np.array([0, 32767, -32768], np.int16)),
        (
            [0, 8388607, -8388608, 1, 256],
            24,
            1,
            np.array([0, 2147483392, -2147483648, 256, 65536], np.int32),
        ),
        ([1, -(2**31), 2**31 - 1], 32, 1, np.array([1, -(2**31), 2**31 - 1], np.int32)),
        ([0.1, -1.5, 1], 32, 3, np.array([0.1, -1.5, 1], np.float32)),
        ([0.1, -1.5, 1], 64, 3, np.array([0.1, -1.5, 1])),
    ],
)
def test_a_wav_gives_the_numbers_in_it(samples, bits, kind, expected, extensible):
    file = AudioFile(wav(samples, bits, kind=kind, rate=48000, extensible=extensible))
    assert (file.format, file.sample_rate, file.channels) == ("wav", 48000, 1)
    got = file.read()
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected[:, None])


@pytest.mark.parametrize(
    ("container", "subtype", "name", "expected"),
    [
        ("FLAC", "PCM_16", "flac", RAMP),
        ("FLAC", "PCM_24", "flac", RAMP.astype(np.int32) << 16),
        ("FLAC", "PCM_S8", "flac", (RAMP >> 8).astype(np.int8)),
        ("AIFF", "PCM_16", "aiff", RAMP),
        ("AU", "PCM_16", "au", RAMP),
        ("RF64", "PCM_16", "wav", RAMP),
    ],
)
def test_lossless_formats_give_the_numbers_in_them(container, subtype, name, expected):
    file = AudioFile(written(RAMP, container, subtype))
    assert (file.format, file.frames) == (name, len(RAMP))
    got = file.read()
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got[:, 0], expected)


@pytest.mark.parametrize(
    ("container", "subtype"),
    [("OGG", "VORBIS"), ("OGG", "OPUS"), ("MP3", None), ("WAV", "ULAW"), ("WAV", "ALAW")],
)
def test_lossy_formats_give_16_bits(container, subtype):
    got = AudioFile(written(RAMP, container, subtype)).read()
    assert (got.shape, got.dtype) == ((len(RAMP), 1), np.int16)
    middle = slice(1000, 3000)
    assert np.abs(got[middle, 0].astype(int) - RAMP[middle]).mean() < 500


def test_formats_that_cannot_be_rewound_are_read():
    got = AudioFile(written(RAMP[:3200], "WAV", "GSM610", rate=8000)).read()
    assert got.shape == (3200, 1)


def test_channels_are_columns():
    stereo = np.stack([RAMP, -RAMP], axis=1)
    file = AudioFile(written(stereo, "FLAC"))
    assert file.channels == 2
    np.testing.assert_array_equal(file.read(), stereo)


def test_an_empty_file_has_no_samples():
    assert AudioFile(wav(np.zeros(0), 16)).read().shape == (0, 1)


# Files that are cut.


@pytest.mark.parametrize("container", ["WAV", "FLAC", "OGG", "MP3", "AIFF", "AU", "RF64"])
@pytest.mark.parametrize("eighths", [1, 4, 6, 7, -1])
def test_a_file_that_is_cut_is_refused(container, eighths):
    data = written(RAMP, container)
    cut = data[:-1] if eighths < 0 else data[: len(data) * eighths // 8]
    with pytest.raises(DecodeError):
        AudioFile(cut).read()


def test_a_cut_is_told():
    with pytest.raises(DecodeError) as caught:
        AudioFile(wav(RAMP, 16)[:-100])
    assert str(caught.value) == (
        "the sound file is cut short: it promises 8000 bytes of sound, and has 7900\n"
        "  hint: copy the file again"
    )


@pytest.mark.parametrize("size", [0xFFFF_FFFF, 0x7FFF_FFFF, 0x7FFF_FFDB])
def test_a_wav_written_to_a_pipe_is_read_to_its_end(size):
    np.testing.assert_array_equal(AudioFile(wav(RAMP, 16, size=size)).read()[:, 0], RAMP)


def test_a_recording_that_was_not_finished_is_refused():
    with pytest.raises(DecodeError, match="promises no sound, and has 8000 bytes of it"):
        AudioFile(wav(RAMP, 16, size=0))


def test_an_odd_number_of_bytes():
    whole = wav(RAMP[:3], 16)
    assert AudioFile(whole + b"\0").read().shape == (3, 1)
    odd = wav(RAMP[:3], 16, size=7) + b"\1"
    assert AudioFile(odd).read().shape == (3, 1)


def test_a_flac_that_does_not_say_its_length_is_refused():
    data = bytearray(written(RAMP, "FLAC"))
    data[21] &= 0xF0  # the upper 4 of 36 bits in the STREAMINFO block
    data[22:26] = bytes(4)
    with pytest.raises(DecodeError, match="does not say how long it is"):
        AudioFile(bytes(data))


@pytest.mark.parametrize(
    ("upper", "lower", "message"),
    [
        (0xF, 0xFFFF_FFFF, "promises 68719476735 samples of 1 channel"),
        (0, 2**30 - 1, "the sound file is cut short or damaged"),
        (0, 4001, "the sound file is cut short"),
    ],
)
def test_no_room_is_made_for_what_a_header_promises(upper, lower, message):
    data = bytearray(written(RAMP, "FLAC"))
    data[21] |= upper
    data[22:26] = struct.pack(">I", lower)
    with pytest.raises(DecodeError, match=message):
        AudioFile(bytes(data)).read()


# MP3 that does not say its length.


def first_frame(data):
    """Size of the frame with the length, which encoders put in front."""
    return data.index(data[:2], 4)


def loud(begin, end):
    noise = np.random.default_rng(0).standard_normal(100_000) * 5000
    noise[:begin] = noise[end:] = 0
    return noise.astype(np.int16)


def test_an_mp3_of_constant_bit_rate_needs_no_length():
    data = written(loud(0, 50_000), "MP3", compression_level=0.5, bitrate_mode="CONSTANT")
    bare = data[first_frame(data) :]
    frames = AudioFile(bare).read().shape[0]
    assert frames % 576 == 0
    assert 100_000 <= frames < 103_000
    tagged = b"ID3\x03\0\0\0\0\x20\x0a" + bytes(0x20 << 7 | 0x0A) + bare + b"TAG" + bytes(125)
    assert AudioFile(tagged).read().shape[0] == frames


def test_an_mp3_that_would_be_read_in_part_is_refused():
    data = written(loud(0, 20_000), "MP3", bitrate_mode="VARIABLE")
    with pytest.raises(DecodeError) as caught:
        AudioFile(data[first_frame(data) :])
    assert str(caught.value) == (
        "an MP3 of variable bit rate that does not say its length would be cut\n"
        "  hint: add the length with: ffmpeg -i in.mp3 -c copy out.mp3"
    )


def test_the_last_frame_of_an_mp3_is_whole():
    data = written(loud(0, 50_000), "MP3", compression_level=0.5, bitrate_mode="CONSTANT")
    with pytest.raises(DecodeError, match="its last frame is not whole"):
        AudioFile(data[first_frame(data) : -1])


# What is no sound file.


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"RIFF",
        b"RIFF\0\0\0\0WAVE",
        b"\0" * 100,
        b"abc" * 1000,
        b"ID3\x03",
        b"OggS" * 10,
        b"fLaC",
        b"\xff\xfb\x90\x00",
        b"\x89PNG\r\n\x1a\n",
        b".snd" + b"\xff" * 20,
        b"FORM" + b"\xff" * 20,
        b"riff.\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\0\0",
    ],
)
def test_what_is_no_sound_file_is_refused(data):
    with pytest.raises(DecodeError):
        AudioFile(data).read()


def test_the_message_names_the_formats():
    with pytest.raises(DecodeError) as caught:
        AudioFile(b"\x89PNG")
    assert str(caught.value) == (
        "expected a WAV, FLAC, Ogg, MP3, AIFF or AU file, got: these are no sound file: "
        "b'\\x89PNG'\n"
        "  hint: convert the file, with ffmpeg for example"
    )


@pytest.mark.parametrize("channels", [0, 0xFFFF])
def test_an_impossible_number_of_channels(channels):
    data = bytearray(wav(RAMP, 16))
    data[22:24] = struct.pack("<H", channels)
    with pytest.raises(DecodeError):
        AudioFile(bytes(data))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("container", ["WAV", "FLAC", "OGG", "AIFF", "AU", "RF64"])
def test_damage_is_an_error_or_no_matter(container, seed):
    random = np.random.default_rng(seed)
    data = bytearray(written(RAMP, container))
    for place in random.integers(0, 120, 4):
        data[place] = random.integers(0, 256)
    with contextlib.suppress(DecodeError):
        AudioFile(bytes(data)).read()
