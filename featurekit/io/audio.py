"""Sound files: their samples as they are stored, by libsndfile.

Samples are never scaled, mixed or resampled:

    ===========================================  ==========================================
    in the file                                  samples
    ===========================================  ==========================================
    integers of 8 or 16 bits                     int8, int16 (unsigned 8 bits minus 128)
    integers of 24 bits                          int32, times 256: shifted to the upper bits
    integers of 32 bits                          int32
    floats of 32 or 64 bits                      float32, float64
    MP3, Vorbis, Opus, mu-law, A-law, ADPCM      int16
    ===========================================  ==========================================
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import numpy.typing as npt

from featurekit.errors import DecodeError, short_repr
from featurekit.io.audio_length import check_complete, shortest_length

__all__ = ["AudioFile"]

# How each kind of integer or float is read, and how far it is shifted back down.
_READ_AS = {
    "PCM_S8": ("int16", 8),
    "PCM_U8": ("int16", 8),
    "PCM_16": ("int16", 0),
    "PCM_24": ("int32", 0),
    "PCM_32": ("int32", 0),
    "FLOAT": ("float32", 0),
    "DOUBLE": ("float64", 0),
}
# Their parsers are in use everywhere. libsndfile has two dozen more, for formats nobody
# trains on, which a hostile file should not reach.
_FORMATS = {
    "WAV": "wav",
    "WAVEX": "wav",
    "RF64": "wav",
    "FLAC": "flac",
    "OGG": "ogg",
    "MP3": "mp3",
    "AIFF": "aiff",
    "AU": "au",
}
_STARTS = (b"RIFF", b"RF64", b"fLaC", b"OggS", b"FORM", b".snd", b"ID3")

_UNKNOWN_LENGTH = 2**63 - 1
_MAX_SAMPLES = 2**30
# Room for so many samples is made at once, whatever the header says. Within it a file is read
# in one go, since libsndfile loses its place in an MP3 between two reads. The densest MP3
# has 48 samples a byte.
_ROOM = 2**22
_ROOM_PER_BYTE = 64


class _Memory(io.BytesIO):
    """Bytes as a file that stays where it is when a damaged header sends it elsewhere."""

    def seek(self, offset: int, whence: int = 0, /) -> int:
        try:
            return super().seek(offset, whence)
        except (ValueError, OverflowError):  # libsndfile compares the places itself
            return self.tell()


class AudioFile:
    """A sound file in memory: what its header says, and on demand its samples.

    Args:
        data: The bytes of a WAV, FLAC, Ogg (Vorbis, Opus), MP3, AIFF or AU file.

    Attributes:
        format: `wav`, `flac`, `ogg`, `mp3`, `aiff` or `au`.
        sample_rate: In Hz.
        channels: Number of channels.
        frames: Number of samples of each channel, as the header promises.
        dtype: Name of the samples' dtype, as told above.

    Raises:
        DecodeError: It is none of these, is cut short, or says nonsense.
    """

    def __init__(self, data: bytes) -> None:
        import soundfile  # loads libsndfile

        is_mp3 = data[:1] == b"\xff" and data[1:2] >= b"\xe0"
        if not data.startswith(_STARTS) and not is_mp3:
            raise _unreadable(f"these are no sound file: {short_repr(data)}")
        check_complete(data)
        try:
            self._file = soundfile.SoundFile(_Memory(data))
        except soundfile.SoundFileError as error:
            raise _unreadable(_reason(error)) from error
        if self._file.format not in _FORMATS:
            raise _unreadable(f"a sound file of format {self._file.format}")
        self._size = len(data)
        self.format: str = _FORMATS[self._file.format]
        self.sample_rate: int = self._file.samplerate
        self.channels: int = self._file.channels
        self._read_as, self._shift = _READ_AS.get(self._file.subtype, ("int16", 0))
        self.dtype: str = "int8" if self._shift else self._read_as
        self.frames: int = self._file.frames
        if self.frames == _UNKNOWN_LENGTH:
            raise DecodeError(
                "the sound file does not say how long it is",
                hint="it was written to a pipe; write it again to a file",
            )
        if self.format == "mp3":
            self.frames = shortest_length(data, self.frames)
        if self.frames * self.channels > _MAX_SAMPLES:
            raise DecodeError(
                f"the sound file promises {self.frames} samples of {self.channels} channel(s); "
                f"more than {_MAX_SAMPLES} in all are not read",
                hint="cut long recordings into parts",
            )

    def read(self) -> npt.NDArray[Any]:
        """All samples, `(frames, channels)`, once; their dtype is told above.

        Raises:
            DecodeError: The file is damaged, or shorter than its header says.
        """
        import soundfile

        room = max(_ROOM, _ROOM_PER_BYTE * self._size) // self.channels
        blocks = []
        try:
            while True:
                blocks.append(self._file.read(room, dtype=self._read_as, always_2d=True))
                if len(blocks[-1]) < room:
                    break
        except soundfile.SoundFileError as error:
            raise DecodeError(
                f"the sound file is cut short or damaged: {_reason(error)}",
                hint="copy the file again",
            ) from error
        samples = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        if len(samples) < self.frames:
            raise DecodeError(
                f"the sound file is cut short: it promises {self.frames} samples, and "
                f"has {len(samples)}",
                hint="copy the file again",
            )
        return (samples >> self._shift).astype(np.int8) if self._shift else samples


def _reason(error: Exception) -> str:
    """What libsndfile says, without the address of the buffer it was given."""
    return str(getattr(error, "error_string", error)).rstrip(".")


def _unreadable(what: str) -> DecodeError:
    return DecodeError(
        f"expected a WAV, FLAC, Ogg, MP3, AIFF or AU file, got: {what}",
        hint="convert the file, with ffmpeg for example",
    )
