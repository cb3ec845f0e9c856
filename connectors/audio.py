"""Audio: sound, as samples or as the file it came in."""

from __future__ import annotations

import operator
import os
import pathlib
from typing import Any, Self

import numpy as np

from featurekit.connector import Documentation
from featurekit.connectors.tensor import Encoding, Tensor
from featurekit.dtypes import dtype_name
from featurekit.errors import (
    DecodeError,
    EncodeError,
    EncodeTypeError,
    FeatureKitError,
    InvalidArgumentError,
    MissingFileError,
    add_location,
    short_repr,
)
from featurekit.feature_json import ProtoContent
from featurekit.io.audio import AudioFile
from featurekit.tensor_info import Shape, TensorInfo, Tree
from featurekit.values import check_shape, narrow_float

__all__ = ["Audio"]

# Other names of the formats, as ffmpeg and file names have them.
_ALIASES = {"wave": "wav", "oga": "ogg", "opus": "ogg", "vorbis": "ogg", "aif": "aiff"}
# What the op decodes that TFDS reads such a feature with.
_LAZY_FLAC_DTYPES = ("uint8", "int16", "int32")

_HTML_SECONDS = 30
_HTML_RATE = 16_000  # Hz, where the feature does not say


class Audio(Tensor):
    """Sound: `(length,)` samples, or `(length, channels)`.

    Takes samples as an array or list; or a sound file (WAV, FLAC, Ogg, MP3, AIFF, AU) as a
    path, bytes or open binary file, read when the example is written. A file's samples are
    stored as they are in it, neither scaled nor mixed nor resampled: integers keep their
    value (24 bits become 32, times 256), in a float dtype too; MP3, Vorbis and Opus count as
    16-bit integers; floats need a float dtype. What does not fit is refused.

    Args:
        file_format: Format of the files; others are refused. By default each file tells.
        shape: `(length,)` for one channel, `(length, channels)`; None where it varies.
        dtype: Integers or floats.
        sample_rate: In Hz; files of another rate are refused. Arrays do not tell theirs.
        encoding: How samples are stored; as in `Tensor`.
        doc: What the feature means.
        lazy_decode: Whether to store files as they are, and decode them on reading.

    Raises:
        InvalidArgumentError: An argument makes no sense.

    Example:
        >>> Audio(dtype=np.int16, sample_rate=8000).encode_example([1, -2, 3])
        array([ 1, -2,  3], dtype=int16)
    """

    tfds_name = "tensorflow_datasets.core.features.audio_feature.Audio"

    def __init__(
        self,
        *,
        file_format: str | None = None,
        shape: Shape = (None,),
        dtype: Any = np.int64,
        sample_rate: int | None = None,
        encoding: str | Encoding = Encoding.NONE,
        doc: Documentation | str | None = None,
        lazy_decode: bool = False,
    ) -> None:
        super().__init__(shape=shape, dtype=dtype, encoding=encoding, doc=doc)
        self._file_format = file_format
        self._sample_rate = _rate(sample_rate)
        self._lazy_decode = lazy_decode
        self._check_arguments()

    def _check_arguments(self) -> None:
        if len(self._shape) not in (1, 2):
            raise InvalidArgumentError(
                f"audio has shape (length,) or (length, channels), not {self._shape}",
                hint="use None for a length that varies",
            )
        if self._dtype.kind not in "iuf":
            raise InvalidArgumentError(
                f"samples are integers or floats, not {dtype_name(self._dtype)}",
                hint="use np.int16, or np.float32",
            )
        if self._lazy_decode and self._is_encoded:
            raise InvalidArgumentError(
                f"lazy_decode=True stores files as they are, without encoding="
                f"{self._encoding.value!r}",
                hint="leave one of the two out",
            )
        lazy_flac = self._lazy_decode and self._file_format == "flac"
        if lazy_flac and self._dtype.name not in _LAZY_FLAC_DTYPES:
            raise InvalidArgumentError(
                f"TFDS reads lazy flac as {', '.join(_LAZY_FLAC_DTYPES)} only, "
                f"not as {self._dtype.name}",
                hint="declare dtype=np.int16, or np.int32 for files of 24 bits",
            )

    @property
    def file_format(self) -> str | None:
        """Format of the files, or None where any is taken."""
        return self._file_format

    @property
    def sample_rate(self) -> int | None:
        """Samples a second in each channel, in Hz, where it was declared."""
        return self._sample_rate

    @property
    def lazy_decode(self) -> bool:
        """Whether files are stored as they are."""
        return self._lazy_decode

    def get_serialized_info(self) -> Tree[TensorInfo]:
        """As a `Tensor`'s; one bytes item where files are stored."""
        return TensorInfo((), np.object_) if self._lazy_decode else super().get_serialized_info()

    # From a value to samples.

    def encode_example(self, value: Any) -> Any:
        """Check samples, or read a sound file, which is stored whole with `lazy_decode`.

        Raises:
            EncodeTypeError: It is none of the things that can be sound.
            EncodeError: The file is damaged, or of another format, rate or number of channels
                than declared; or its samples do not fit the dtype or shape.
            MissingFileError: There is no file at the path.
        """
        if isinstance(value, np.ndarray) and value.dtype.kind in "iuf":
            value = self._fit(value)
        if isinstance(value, (np.ndarray, list, tuple)):
            return self._encode_samples(value)
        if isinstance(value, (str, os.PathLike)):
            return self._encode_path(value)
        if isinstance(value, (bytes, bytearray, memoryview)):
            return self._encode_file(bytes(value))
        if hasattr(value, "read"):
            return self._encode_file(_read(value))
        raise EncodeTypeError(
            f"expected sound, got {type(value).__name__} {short_repr(value)}",
            hint="give an array of samples, or a sound file as path, bytes or open file",
        )

    def _encode_samples(self, samples: Any) -> Any:
        if self._lazy_decode:
            raise EncodeTypeError(
                "lazy_decode=True stores sound files, and got samples",
                hint="give the file, or declare the feature without lazy_decode",
            )
        return super().encode_example(samples)

    def _encode_path(self, path: str | os.PathLike[str]) -> Any:
        try:
            data = pathlib.Path(path).read_bytes()
        except FileNotFoundError:
            raise MissingFileError(
                "there is no such sound file", file=path, hint="check the path"
            ) from None
        except OSError as error:
            raise EncodeError(f"the sound file cannot be read: {error}", file=path) from error
        try:
            return self._encode_file(data)
        except FeatureKitError as error:
            add_location(error, file=path)
            raise

    def _encode_file(self, data: bytes) -> Any:
        try:
            file = AudioFile(data)
            self._check_header(file)
            # Also where the file is stored as it is: a reader must not be the first to
            # find out that it is damaged or does not fit.
            samples = self._samples(file)
        except DecodeError as error:
            raise EncodeError(error.message, hint=error.hint) from error
        return data if self._lazy_decode else super().encode_example(samples)

    def _check_header(self, file: AudioFile) -> None:
        declared = self._file_format and self._file_format.lower()
        if declared and _ALIASES.get(declared, declared) != file.format:
            raise EncodeError(
                f"expected a {self._file_format} file, got {file.format}",
                hint="convert the file, or leave file_format= out",
            )
        if self._sample_rate and file.sample_rate != self._sample_rate:
            raise EncodeError(
                f"expected a sample rate of {self._sample_rate} Hz, got {file.sample_rate} Hz",
                hint="resample the file, or declare its rate",
            )

    def _samples(self, file: AudioFile) -> np.ndarray[Any, Any]:
        """The samples of a file, in the declared shape and dtype."""
        length, channels = self._shape[0], self._shape[1] if len(self._shape) == 2 else 1
        if channels not in (None, file.channels):
            shape = (None,) if file.channels == 1 else (None, file.channels)
            raise EncodeError(
                f"expected {channels} channel(s), got {file.channels}",
                hint=f"declare shape={shape}, or mix the channels yourself",
            )
        if length not in (None, file.frames):  # before they are decoded: it may be too many
            raise EncodeError(
                f"expected {length} samples, got {file.frames}",
                hint="cut or pad the file, or declare the length None",
            )
        samples = self._fit(file.read())
        samples = samples if len(self._shape) == 2 else samples[:, 0]
        check_shape(samples.shape, self._shape)
        return samples

    def _fit(self, samples: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The same numbers in the declared dtype; floats may round."""
        if samples.dtype == self._dtype:
            return samples
        if self._dtype.kind == "f":
            return narrow_float(samples.astype(np.float64), self._dtype)
        if samples.dtype.kind == "f":
            raise EncodeTypeError(
                f"the samples are {samples.dtype.name}, and the feature is {self._dtype.name}",
                hint=f"declare dtype=np.{samples.dtype.name}, or scale and round them yourself",
            )
        limits = np.iinfo(self._dtype)
        for worst in (samples.min(initial=0), samples.max(initial=0)):
            if not limits.min <= worst <= limits.max:
                raise EncodeError(
                    f"sample {worst} does not fit {self._dtype.name}",
                    hint=f"declare dtype=np.{samples.dtype.name}, or scale the samples yourself",
                )
        return samples.astype(self._dtype)

    # And back.

    @property
    def is_plain(self) -> bool:
        """Whether the samples are stored as they are."""
        own = type(self).decode_example is not Audio.decode_example
        return not (self._lazy_decode or self._is_encoded or own)

    def decode_example(self, stored: Any) -> Any:
        """Give the samples; of a stored file, decode them.

        Raises:
            DecodeError: The stored file is damaged, or does not fit the shape or dtype.
        """
        if not self._lazy_decode:
            return super().decode_example(stored)
        try:
            return self._samples(AudioFile(stored))
        except EncodeError as error:
            raise DecodeError(error.message, hint=error.hint) from error

    # Metadata.

    def to_json_content(self) -> Any:
        """Shape, dtype and how files are read and stored, in TFDS's form."""
        return ProtoContent(
            "audio",
            shape=self._shape,
            dtype=dtype_name(self._dtype),
            file_format=self._file_format,
            sample_rate=self._sample_rate,
            encoding=self._encoding.name,
            lazy_decode=self._lazy_decode,
        )

    @classmethod
    def from_json_content(cls, value: Any) -> Self:
        """Make an `Audio` from what TFDS wrote; earlier releases wrote no encoding."""
        return cls(
            file_format=value.get("file_format") or None,
            shape=tuple(value["shape"] or ()),
            dtype=value["dtype"],
            sample_rate=value.get("sample_rate") or None,
            encoding=value.get("encoding") or Encoding.NONE,
            lazy_decode=bool(value.get("lazy_decode")),
        )

    def repr_html(self, value: Any) -> str:
        """A player of the beginning, made as loud as can be."""
        import base64

        rate = self._sample_rate or _HTML_RATE
        wav = _to_wav(np.asarray(value)[: rate * _HTML_SECONDS], rate)
        data = base64.b64encode(wav).decode("ascii")
        return f'<audio controls src="data:audio/wav;base64,{data}"></audio>'


def _rate(sample_rate: Any) -> int | None:
    if sample_rate is None:
        return None
    try:
        rate = operator.index(sample_rate)
    except TypeError:
        rate = -1
    if rate < 0:
        raise InvalidArgumentError(
            f"a sample rate is a number of Hz, got {sample_rate!r}", hint="use an integer > 0"
        )
    return rate or None  # TFDS keeps None as 0


def _read(file: Any) -> bytes:
    data = file.read()
    if not isinstance(data, (bytes, bytearray)):
        raise EncodeTypeError(
            f"expected a file of bytes, its read() gave {type(data).__name__}",
            hint="open the file in binary mode: open(path, 'rb')",
        )
    return bytes(data)


def _to_wav(samples: np.ndarray[Any, Any], rate: int) -> bytes:
    """A WAV file of 16 bits; the largest sample becomes the largest there is."""
    import io
    import wave

    floats = np.nan_to_num(samples.astype(np.float64))
    loudest = np.abs(floats).max(initial=0) or 1
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(samples.shape[1] if samples.ndim == 2 else 1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes((floats / loudest * 32767).astype("<i2").tobytes())
    return buffer.getvalue()
