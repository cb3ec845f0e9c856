"""What a string of bytes is: a picture, a sound file, text, JSON, a message, or none of these."""

from __future__ import annotations

import dataclasses
import json
import re
import struct

import numpy as np

from featurekit.connectors.image_codecs.files import decode_image, read_header
from featurekit.errors import DecodeError, ParseError
from featurekit.io.audio import AudioFile
from featurekit.io.tensor_proto import tensor_header
from featurekit.schema.messages import read_message

__all__ = ["Content", "recognise"]

_IMAGES = {b"\x89PNG\r\n\x1a\n": "PNG", b"\xff\xd8\xff": "JPEG", b"GIF8": "GIF", b"BM": "BMP"}
_SOUNDS = {
    b"RIFF": "WAV",
    b"RF64": "WAV",
    b"fLaC": "FLAC",
    b"OggS": "OGG",
    b"ID3": "MP3",
    b"FORM": "AIFF",
    b".snd": "AU",
}
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_MAX_JSON = 1 << 20  # a longer text is not parsed


@dataclasses.dataclass(frozen=True)
class Content:
    """What some bytes are.

    Attributes:
        kind: `"image"`, `"audio"`, `"text"`, `"json"`, `"tensor"` (a TensorProto), `"Example"`,
            `"SequenceExample"`, `"bytes"` (anything else) or `"empty"`.
        format: Of pictures and sounds, such as `"PNG"` or `"WAV"`.
        shape: `(height, width, channels)` of a picture, before them the frames of a GIF;
            `(samples, channels)` of a sound; of a tensor. `()` where it is not known.
        dtype: Of the samples of pictures and sounds, and of tensors.
        rate: Sample rate of a sound, in Hz.
        is_whole: False for a picture or sound that is cut or damaged.
    """

    kind: str
    format: str = ""
    shape: tuple[int, ...] = ()
    dtype: str = ""
    rate: int = 0
    is_whole: bool = True


def recognise(data: bytes) -> Content:
    r"""What some bytes are, by their first bytes and their form.

    Headers are read, and messages and JSON are parsed. Pixels and samples are decoded only of
    BMP and FLAC files, where nothing else tells whether they are whole.

    >>> recognise(b'{"a": 1}').kind, recognise(b"a cat").kind, recognise(b"\xff").kind
    ('json', 'text', 'bytes')
    """
    if not data:
        return Content("empty")
    damaged = None
    for recogniser in (_image, _sound, _text, _tensor, _message):
        content = recogniser(data)
        if content is not None and content.is_whole:
            return content
        damaged = damaged or content
    return damaged or Content("bytes")


def _image(data: bytes) -> Content | None:
    name = next((name for magic, name in _IMAGES.items() if data.startswith(magic)), None)
    if name is None:
        return _webp(data) if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else None
    try:
        header = read_header(data)
    except DecodeError:
        # "BM" begins many a text.
        return None if name == "BMP" else Content("image", name, is_whole=False)
    try:
        if name == "BMP":  # whose header does not tell whether the file is whole
            decode_image(data, None, np.dtype(np.uint8))
    except DecodeError:
        return Content("image", name, is_whole=False)
    shape: tuple[int, ...] = (header.height, header.width, header.channels)
    if header.frames is not None:
        shape = (header.frames, *shape)
    return Content("image", name, shape, "uint16" if header.bits > 8 else "uint8")


def _webp(data: bytes) -> Content:
    """The size of a WebP file, by https://developers.google.com/speed/webp/docs/riff_container."""
    try:
        if data[12:16] == b"VP8X":
            flags, low_width, high_width, low_height, high_height = struct.unpack_from(
                "<B3xHBHB", data, 20
            )
            width, height = low_width + (high_width << 16) + 1, low_height + (high_height << 16) + 1
            has_alpha = bool(flags & 16)
        elif data[12:16] == b"VP8L":
            (bits,) = struct.unpack_from("<I", data, 21)
            width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
            has_alpha = bool(bits >> 28 & 1)
        else:
            width, height = (size & 0x3FFF for size in struct.unpack_from("<2H", data, 26))
            has_alpha = False
    except struct.error:
        return Content("image", "WebP", is_whole=False)
    is_whole = len(data) >= 8 + int.from_bytes(data[4:8], "little")
    return Content("image", "WebP", (height, width, 4 if has_alpha else 3), "uint8", 0, is_whole)


def _sound(data: bytes) -> Content | None:
    name = next((name for magic, name in _SOUNDS.items() if data.startswith(magic)), None)
    if name == "WAV" and data[8:12] != b"WAVE":
        return None
    is_frame = name is None and data[0] == 0xFF and data[1:2] >= b"\xe0"  # MP3 without a tag
    if name is None and not is_frame:
        return None
    try:
        file = AudioFile(data)
        if file.format == "flac":  # whose header does not tell whether the file is whole
            file.read()
    except DecodeError:
        # A frame's mark proves little, and the last three begin many a text.
        sure = name is not None and name not in ("MP3", "AIFF", "AU")
        return Content("audio", name, is_whole=False) if sure and name else None
    shape = (file.frames, file.channels)
    return Content("audio", file.format.upper(), shape, file.dtype, file.sample_rate)


def _text(data: bytes) -> Content | None:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    if _CONTROLS.search(text):
        return None
    if data.lstrip()[:1] in (b"{", b"[") and len(data) <= _MAX_JSON:
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return Content("text")
        return Content("json")
    return Content("text")


def _tensor(data: bytes) -> Content | None:
    if data[0] != 0x08:  # the field of the dtype, which every writer puts first
        return None
    try:
        dtype, shape = tensor_header(data)
    except ParseError:
        return None
    return Content("tensor", shape=shape, dtype=dtype)


def _message(data: bytes) -> Content | None:
    message = read_message(data)
    if message is None or not (message.features or message.lists):
        return None
    return Content(message.kind)
