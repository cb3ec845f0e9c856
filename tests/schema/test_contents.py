"""What bytes are recognised as."""

import golden
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import featurekit as fk
from featurekit.io import make_example, make_sequence_example, serialize, serialize_tensor
from featurekit.schema.contents import Content, recognise
from featurekit.schema.messages import read_message

AUDIO = golden.ROOT / "audio" / "inputs"


def png(*shape, dtype=np.uint8):
    return fk.Image(shape=(None, None, shape[-1]), dtype=dtype).encode_example(
        np.zeros(shape, dtype)
    )


def pillow(kind, mode="RGB", size=(5, 3), **options):
    import io

    from PIL import Image

    buffer = io.BytesIO()
    Image.new(mode, size).save(buffer, kind, **options)
    return buffer.getvalue()


EXAMPLE = serialize(make_example({"a": 1}))
SEQUENCE = serialize(make_sequence_example({"a": 1}, {"b": [[1]]}))
CASES = {
    "nothing": (b"", Content("empty")),
    "png": (png(2, 4, 3), Content("image", "PNG", (2, 4, 3), "uint8")),
    "png 16": (png(2, 4, 1, dtype=np.uint16), Content("image", "PNG", (2, 4, 1), "uint16")),
    "png cut": (png(2, 4, 3)[:-4], Content("image", "PNG", is_whole=False)),
    "jpeg": (pillow("JPEG"), Content("image", "JPEG", (3, 5, 3), "uint8")),
    "gray jpeg": (pillow("JPEG", "L"), Content("image", "JPEG", (3, 5, 1), "uint8")),
    "gif": (pillow("GIF"), Content("image", "GIF", (1, 3, 5, 3), "uint8")),
    "bmp": (pillow("BMP"), Content("image", "BMP", (3, 5, 3), "uint8")),
    "bmp cut": (pillow("BMP")[:-20], Content("image", "BMP", is_whole=False)),
    "webp": (pillow("WEBP"), Content("image", "WebP", (3, 5, 3), "uint8")),
    "webp lossless": (
        pillow("WEBP", "RGBA", (300, 20), lossless=True, exact=True),
        Content("image", "WebP", (20, 300, 4), "uint8"),
    ),
    "webp with metadata": (
        pillow("WEBP", "RGB", (300, 20), icc_profile=b"x" * 10),
        Content("image", "WebP", (20, 300, 3), "uint8"),
    ),
    "webp cut": (pillow("WEBP")[:-4], Content("image", "WebP", (3, 5, 3), "uint8", is_whole=False)),
    "webp header cut": (pillow("WEBP")[:18], Content("image", "WebP", is_whole=False)),
    "wav": (
        (AUDIO / "mono10.wav").read_bytes(),
        Content("audio", "WAV", (10, 1), "int16", 8000),
    ),
    "wav cut": ((AUDIO / "mono10.wav").read_bytes()[:-5], Content("audio", "WAV", is_whole=False)),
    "flac": (
        (AUDIO / "s500.flac").read_bytes(),
        Content("audio", "FLAC", (500, 2), "int16", 16000),
    ),
    "text": ("a cat, eine K\xe4tzin\n".encode(), Content("text")),
    "text like BMP": (b"BM is a signature", Content("text")),
    "text like AIFF": (b"FORM follows function", Content("text")),
    "text like MP3": (b"ID3", Content("text")),
    "json": (b' {"a": [1, null]}\n', Content("json")),
    "json list": (b"[]", Content("json")),
    "nearly json": (b"{cat}", Content("text")),
    "deep json": (b"[" * 100_000, Content("text")),
    "a number": (b"12", Content("text")),
    "tensor": (serialize_tensor(np.ones((2, 3), np.int16)), Content("tensor", "", (2, 3), "int16")),
    "scalar tensor": (serialize_tensor(np.float32(3)), Content("tensor", "", (), "float32")),
    "text tensor": (serialize_tensor(["a", "b"]), Content("tensor", "", (2,), "string")),
    "tensor cut": (serialize_tensor(np.ones((2, 3)))[:-1], Content("bytes")),
    "tensor without values": (b"\x08\x01\x12\x04\x12\x02\x08\x03", Content("bytes")),
    "example": (EXAMPLE, Content("Example")),
    "sequence example": (SEQUENCE, Content("SequenceExample")),
    "empty example": (b"\n\x00", Content("bytes")),
    "other message": (b"\x1a\x03cat", Content("bytes")),
    "bytes": (b"\x00\x01\xff", Content("bytes")),
    "utf-16": ("cat".encode("utf-16"), Content("bytes")),
}  # fmt: skip


@pytest.mark.parametrize(("data", "content"), CASES.values(), ids=CASES.keys())
def test_what_is_recognised(data, content):
    assert recognise(data) == content


@given(st.binary(max_size=60))
@example(b"\xff\xfb\x90\x00")
@example(b"RIFF\x00\x00\x00\x00WAVE")
@example(b"RIFF\x00\x00\x00\x00WEBPVP8X")
@example(b"GIF89a\x00\x00")
@example(b"BM\x00\x00\x00\x00")
@example(b"\x08\x01\x12\x0b\x12\x09\x08\xff\xff\xff\xff\xff\xff\xff\x7f")
def test_any_bytes_are_something(data):
    assert recognise(data).kind


@pytest.mark.parametrize("name", ["png", "jpeg", "gif", "webp", "wav", "flac", "tensor"])
def test_a_file_cut_anywhere_is_something(name):
    data = CASES[name][0]
    for length in range(0, len(data), max(1, len(data) // 200)):
        assert recognise(data[:length]) != CASES[name][1]


MESSAGES = {
    "example": (EXAMPLE, "Example"),
    "nothing": (b"", "Example"),
    "no features": (b"\n\x00", "Example"),
    "no kind": (b"\n\x05\n\x03\n\x01a", "Example"),
    "two parts": (EXAMPLE + EXAMPLE, "Example"),
    "sequence": (SEQUENCE, "SequenceExample"),
    "no lists": (b"\n\x00\x12\x00", "SequenceExample"),
    "context only": (serialize(make_sequence_example({"a": 1})), "Example"),
    "cut": (EXAMPLE[:-1], None),
    "text": (b"hello", None),
    "text after a line break": (b"\n\x09 x{},:[]z", None),
    "another field": (EXAMPLE + b"\x1a\x00", None),
    "long length": (b"\n\xff\xff\xff\xff\xff\xff\x01", None),
}


@pytest.mark.parametrize(("data", "kind"), MESSAGES.values(), ids=MESSAGES.keys())
def test_messages(data, kind):
    message = read_message(data)
    assert (message and message.kind) == kind
