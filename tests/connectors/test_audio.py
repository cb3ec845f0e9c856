"""Audio: samples and sound files in, samples out, nothing scaled, mixed or resampled."""

import io
import pathlib
import wave

import numpy as np
import pytest
import soundfile

from featurekit.connector import FeatureConnector
from featurekit.connectors.audio import Audio
from featurekit.connectors.features_dict import FeaturesDict
from featurekit.connectors.sequence import Sequence
from featurekit.errors import (
    DecodeError,
    EncodeError,
    EncodeTypeError,
    InvalidArgumentError,
    MissingFileError,
    SchemaError,
    UnsupportedError,
)
from featurekit.io.columns import read_example, write_example
from featurekit.tensor_info import TensorInfo
from featurekit.testing import Bad, Case, ConnectorSuite

TFDS_NAME = "tensorflow_datasets.core.features.audio_feature.Audio"
MONO = np.array([0, 1, -2, 300, -32768, 32767], np.int16)
STEREO = np.stack([MONO, -MONO // 2], axis=1)


def sound(samples=MONO, container="WAV", subtype="PCM_16", rate=8000):
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, rate, format=container, subtype=subtype)
    return buffer.getvalue()


class TestAudio(ConnectorSuite):
    connector = Audio(shape=(6,), dtype=np.int16, sample_rate=8000)
    valid = (
        Case(MONO, stored=MONO.tolist()),
        Case(MONO.tolist(), MONO, stored=MONO.tolist(), id="list"),
        Case(sound(), MONO, stored=MONO.tolist(), id="file"),
        Case(lambda: io.BytesIO(sound()), MONO, stored=MONO.tolist(), id="open file"),
    )
    invalid = (
        Bad(MONO[:5], EncodeError, match=r"expected shape \(6,\), got \(5,\)"),
        Bad(sound(STEREO), EncodeError, match="expected 1 channel"),
        Bad(None, EncodeTypeError, match="expected sound, got NoneType None"),
    )
    unequal = (
        Audio(shape=(6,), dtype=np.int16),
        Audio(shape=(6,), dtype=np.int16, sample_rate=8000, encoding="zlib"),
        Audio(shape=(6,), dtype=np.int16, sample_rate=8000, lazy_decode=True),
    )
    tfds_json = {
        "pythonClassName": TFDS_NAME,
        "audio": {
            "shape": {"dimensions": ["6"]},
            "dtype": "int16",
            "encoding": "NONE",
            "sampleRate": "8000",
        },
    }
    tfds_repr = "Audio(shape=(6,), dtype=int16)"


class TestLazyAudio(ConnectorSuite):
    connector = Audio(dtype=np.int16, lazy_decode=True)
    valid = (
        Case(sound(), MONO, stored=[sound()]),
        Case(sound(MONO[:3], "FLAC"), MONO[:3], stored=[sound(MONO[:3], "FLAC")]),
    )
    invalid = (
        Bad(MONO, EncodeTypeError, match="stores sound files, and got samples"),
        Bad(b"", EncodeError, match="expected a WAV, FLAC, Ogg"),
    )
    tfds_repr = "Audio(shape=(None,), dtype=int16)"


class TestEncodedAudio(ConnectorSuite):
    connector = Audio(shape=(None, 2), dtype=np.float32, encoding="zlib")
    valid = (
        Case(np.array([[0.5, 1], [2, 3]], np.float32)),
        Case(sound(STEREO), STEREO.astype(np.float32)),
    )
    invalid = (Bad(sound(), EncodeError, match="expected 2 channel"),)


class TestPlainAudio(ConnectorSuite):
    connector = Audio()
    valid = (Case(np.arange(3)), Case(sound(), MONO.astype(np.int64)))
    invalid = (Bad([1.5], EncodeError, match=r"1\.5 is not an integer"),)
    # A sequence of lists whose lengths vary would be unreadable.
    in_sequence = False
    in_nested_sequence = False


def round_trip(feature, value):
    return feature.deserialize_example(feature.serialize_example(value))


def assert_equal(got, expected):
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(got, expected)


# Samples.


@pytest.mark.parametrize("encoding", ["none", "bytes", "zlib"])
@pytest.mark.parametrize(
    ("shape", "dtype", "value"),
    [
        ((None,), np.int64, [1, -2, 3]),
        ((None,), np.int64, (1, 2**40)),
        ((None,), np.int64, []),
        ((None,), np.int16, MONO),
        ((6,), np.int16, MONO),
        ((None,), np.int16, MONO.astype(np.int64)),
        ((None,), np.int64, MONO),
        ((None,), np.uint8, [0, 255]),
        ((None,), np.float32, [0.5, -1, 2]),
        ((None,), np.float32, np.array([0.1, 0.2])),
        ((None,), np.float32, MONO),
        ((None, 2), np.int16, STEREO),
        ((None, 2), np.int16, np.zeros((0, 2), np.int16)),
        ((None, 1), np.int16, MONO[:, None]),
    ],
)
def test_samples_are_stored_as_they_are(shape, dtype, value, encoding):
    feature = Audio(shape=shape, dtype=dtype, encoding=encoding)
    assert_equal(round_trip(feature, value), np.asarray(value, dtype))


@pytest.mark.parametrize("encoding", ["none", "zlib"])
@pytest.mark.parametrize(
    ("arguments", "value", "error"),
    [
        ({}, np.zeros((2, 2), np.int64), EncodeError),
        ({}, ["a"], EncodeTypeError),
        ({}, None, EncodeTypeError),
        ({}, 5, EncodeTypeError),
        ({}, np.array(["a"]), EncodeError),
        ({}, {"a": 1}, EncodeTypeError),
        ({}, [1, 2.5], EncodeError),
        ({}, np.array([0.1], np.float32), EncodeTypeError),
        ({"dtype": np.int16}, [40000], EncodeError),
        ({"dtype": np.int16}, np.array([40000]), EncodeError),
        ({"dtype": np.int16}, np.array([2**63], np.uint64), EncodeError),
        ({"dtype": np.uint8}, np.array([-1]), EncodeError),
        ({"dtype": np.float16}, np.array([1e6]), EncodeError),
        ({"shape": (5,)}, [1, 2], EncodeError),
        ({"shape": (None, 2)}, [1, 2], EncodeError),
        ({"shape": (None, 2)}, [[1, 2, 3]], EncodeError),
    ],
)
def test_samples_that_do_not_fit_are_refused(arguments, value, error, encoding):
    with pytest.raises(error):
        Audio(**arguments, encoding=encoding).serialize_example(value)


def test_a_sample_that_does_not_fit_is_named():
    features = FeaturesDict({"a": Audio(dtype=np.int16)})
    with pytest.raises(EncodeError) as caught:
        features.encode_example({"a": np.array([1, 40000, 2])})
    assert str(caught.value) == (
        "sample 40000 does not fit int16\n"
        "  at: a (Audio)\n"
        "  hint: declare dtype=np.int64, or scale the samples yourself"
    )


# Files.


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "a.wav"
    file.write_bytes(sound())
    return file


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("give", [str, pathlib.Path, pathlib.Path.read_bytes])
def test_a_file_comes_as_path_or_bytes(path, give, lazy):
    feature = Audio(dtype=np.int16, lazy_decode=lazy)
    assert_equal(round_trip(feature, give(path)), MONO)


@pytest.mark.parametrize("lazy", [False, True])
def test_a_file_comes_open(path, lazy):
    with path.open("rb") as file:
        assert_equal(round_trip(Audio(dtype=np.int16, lazy_decode=lazy), file), MONO)
    with path.open("r", encoding="latin-1") as file, pytest.raises(EncodeTypeError, match="binary"):
        Audio(lazy_decode=lazy).encode_example(file)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("container", ["WAV", "FLAC", "AIFF", "AU"])
@pytest.mark.parametrize(
    ("subtype", "dtype", "expected"),
    [
        ("PCM_16", np.int16, MONO),
        ("PCM_16", np.int32, MONO.astype(np.int32)),
        ("PCM_24", np.int32, MONO.astype(np.int32) << 16),
    ],
)
def test_integers_keep_their_value(container, subtype, dtype, expected, lazy):
    feature = Audio(dtype=dtype, lazy_decode=lazy)
    assert_equal(round_trip(feature, sound(MONO, container, subtype)), expected)


def test_integers_keep_their_value_in_a_float_dtype():
    assert_equal(round_trip(Audio(dtype=np.float32), sound()), MONO.astype(np.float32))


def test_unsigned_bytes_become_signed():
    samples = np.array([-128, 0, 127], np.int16) << 8
    got = round_trip(Audio(dtype=np.int32), sound(samples, "WAV", "PCM_U8"))
    assert_equal(got, np.array([-128, 0, 127], np.int32))


@pytest.mark.parametrize("subtype", ["FLOAT", "DOUBLE"])
def test_floats_keep_their_value_and_need_a_float_dtype(subtype):
    floats = np.array([0.5, -0.25, 1])
    data = sound(floats, "WAV", subtype)
    assert_equal(round_trip(Audio(dtype=np.float32), data), floats.astype(np.float32))
    with pytest.raises(EncodeTypeError, match=r"the samples are float\d\d, and the feature is int"):
        Audio(dtype=np.int16).encode_example(data)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(
    ("container", "subtype"), [("OGG", "VORBIS"), ("OGG", "OPUS"), ("MP3", None)]
)
def test_lossy_formats_are_integers_of_16_bits(container, subtype, lazy):
    ramp = (np.sin(np.arange(4000) / 10) * 10000).astype(np.int16)
    feature = Audio(dtype=np.int16, lazy_decode=lazy, file_format=container.lower())
    got = round_trip(feature, sound(ramp, container, subtype))
    assert (got.shape, got.dtype) == ((4000,), np.int16)
    assert np.abs(got[1000:3000].astype(int) - ramp[1000:3000]).mean() < 1000


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(
    ("shape", "samples", "expected"),
    [
        ((None, 2), STEREO, STEREO),
        ((6, 2), STEREO, STEREO),
        ((None, 1), MONO, MONO[:, None]),
        ((6,), MONO, MONO),
        ((None,), MONO[:0], MONO[:0]),
    ],
)
def test_shapes_of_files(shape, samples, expected, lazy):
    feature = Audio(shape=shape, dtype=np.int16, lazy_decode=lazy)
    assert_equal(round_trip(feature, sound(samples)), expected)


def test_any_number_of_channels_with_an_encoding():
    feature = Audio(shape=(None, None), dtype=np.int16, encoding="zlib")
    assert_equal(round_trip(feature, sound(STEREO)), STEREO)
    assert_equal(round_trip(feature, sound(MONO)), MONO[:, None])


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(
    ("arguments", "samples", "message"),
    [
        ({}, STEREO, "expected 1 channel(s), got 2"),
        ({"shape": (None, 2)}, MONO, "expected 2 channel(s), got 1"),
        ({"shape": (5,)}, MONO, "expected 5 samples, got 6"),
        ({"dtype": np.int8}, MONO, "sample -32768 does not fit int8"),
        ({"sample_rate": 16000}, MONO, "expected a sample rate of 16000 Hz, got 8000 Hz"),
        ({"file_format": "flac"}, MONO, "expected a flac file, got wav"),
        ({"file_format": "m4a"}, MONO, "expected a m4a file, got wav"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(arguments, samples, message, lazy, tmp_path):
    path = tmp_path / "a.wav"
    path.write_bytes(sound(samples))
    feature = Audio(**{"dtype": np.int16, "lazy_decode": lazy} | arguments)
    with pytest.raises(EncodeError) as caught:
        feature.encode_example(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_the_whole_error_names_feature_file_and_cure(tmp_path):
    path = tmp_path / "two.wav"
    path.write_bytes(sound(STEREO))
    with pytest.raises(EncodeError) as caught:
        FeaturesDict({"voice": Audio(dtype=np.int16)}).encode_example({"voice": path})
    assert str(caught.value) == (
        "expected 1 channel(s), got 2\n"
        f"  at: voice (Audio), {path}\n"
        "  hint: declare shape=(None, 2), or mix the channels yourself"
    )


@pytest.mark.parametrize("name", ["wav", "WAV", "wave"])
def test_names_of_formats(name):
    assert_equal(round_trip(Audio(file_format=name, dtype=np.int16), sound()), MONO)


@pytest.mark.parametrize("lazy", [False, True])
def test_files_that_cannot_be_read(tmp_path, lazy):
    feature = Audio(lazy_decode=lazy)
    with pytest.raises(MissingFileError) as caught:
        feature.encode_example(tmp_path / "no.wav")
    assert str(caught.value) == (
        f"there is no such sound file\n  at: {tmp_path / 'no.wav'}\n  hint: check the path"
    )
    with pytest.raises(EncodeError, match="the sound file cannot be read"):
        feature.encode_example(tmp_path)
    with pytest.raises(EncodeError, match="cut short"):
        feature.encode_example(sound()[:-2])
    with pytest.raises(EncodeError, match="expected a WAV, FLAC, Ogg"):
        feature.encode_example(b"no sound")


# Files stored as they are.


def test_a_lazy_file_is_stored_as_it_is():
    data = sound(MONO, "FLAC")
    feature = FeaturesDict({"a": Audio(file_format="flac", dtype=np.int16, lazy_decode=True)})
    assert list(read_example(feature.serialize_example({"a": data}))["a"]) == [data]


def test_a_lazy_feature_takes_files_only():
    with pytest.raises(EncodeTypeError) as caught:
        Audio(lazy_decode=True).encode_example(MONO)
    assert str(caught.value) == (
        "lazy_decode=True stores sound files, and got samples\n"
        "  hint: give the file, or declare the feature without lazy_decode"
    )


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        (sound(STEREO), "expected 1 channel"),
        (sound()[:-3], "cut short"),
        (b"", "expected a WAV, FLAC, Ogg"),
        (sound(MONO, "WAV", "PCM_32"), "does not fit int16"),
    ],
)
def test_a_stored_file_that_does_not_fit(stored, message):
    feature = FeaturesDict({"a": Audio(dtype=np.int16, lazy_decode=True)})
    with pytest.raises(DecodeError, match=message) as caught:
        feature.deserialize_example(write_example({"a": [stored]}))
    assert caught.value.path == ("a",)


def test_the_rate_of_a_stored_file_is_not_checked():
    """Datasets of TFDS, which does not look at it, are read."""
    feature = Audio(dtype=np.int16, lazy_decode=True, sample_rate=44100)
    assert_equal(feature.decode_example(sound(rate=8000)), MONO)


# In sequences.


def test_sequences_of_sound():
    fixed = Sequence(Audio(shape=(6,), dtype=np.int16))
    assert_equal(round_trip(fixed, [MONO, sound()]), np.stack([MONO, MONO]))
    lazy = Sequence(Audio(dtype=np.int16, lazy_decode=True))
    assert_equal(round_trip(lazy, [sound(), sound()]), np.stack([MONO, MONO]))
    lengths = [len(item) for item in round_trip(lazy, [sound(), sound(MONO[:2])])]
    assert lengths == [6, 2]
    with pytest.raises(UnsupportedError):
        Sequence(Audio(dtype=np.int16)).serialize_example([MONO, MONO])


# Arguments and metadata.


@pytest.mark.parametrize(
    "arguments",
    [
        {"shape": ()},
        {"shape": (None, 2, 2)},
        {"dtype": np.bool_},
        {"dtype": np.str_},
        {"dtype": np.complex64},
        {"sample_rate": 16000.5},
        {"sample_rate": -1},
        {"sample_rate": "16000"},
        {"lazy_decode": True, "encoding": "zlib"},
        {"lazy_decode": True, "file_format": "flac"},
        {"lazy_decode": True, "file_format": "flac", "dtype": np.float32},
        {"encoding": "gzip"},
    ],
)
def test_arguments_that_make_no_sense(arguments):
    with pytest.raises(InvalidArgumentError):
        Audio(**arguments)


@pytest.mark.parametrize(
    ("arguments", "content"),
    [
        ({}, {"dtype": "int64", "encoding": "NONE"}),
        (
            {"file_format": "wav", "dtype": np.int16, "sample_rate": np.int64(44100)},
            {"dtype": "int16", "encoding": "NONE", "fileFormat": "wav", "sampleRate": "44100"},
        ),
        ({"dtype": np.int16, "encoding": "zlib"}, {"dtype": "int16", "encoding": "ZLIB"}),
        (
            {"file_format": "flac", "dtype": np.int32, "lazy_decode": True},
            {"dtype": "int32", "encoding": "NONE", "fileFormat": "flac", "lazyDecode": True},
        ),
    ],
)
def test_json(arguments, content):
    feature = Audio(**arguments, doc="speech")
    json_ = feature.to_feature_json()
    assert json_ == {
        "pythonClassName": TFDS_NAME,
        "audio": {"shape": {"dimensions": ["-1"]}} | content,
        "description": "speech",
    }
    again = FeatureConnector.from_json(json_)
    assert again == feature
    assert (again.sample_rate, again.file_format, again.lazy_decode) == (
        feature.sample_rate,
        feature.file_format,
        feature.lazy_decode,
    )


def test_json_of_earlier_releases():
    legacy = {
        "type": TFDS_NAME,
        "content": {"file_format": None, "shape": [None, 2], "dtype": "int16", "sample_rate": 8000},
    }
    expected = Audio(shape=(None, 2), dtype=np.int16, sample_rate=8000)
    assert FeatureConnector.from_json(legacy) == expected
    without_encoding = {
        "pythonClassName": TFDS_NAME,
        "audio": {"dtype": "int64", "shape": {"dimensions": ["-1"]}},
    }
    assert FeatureConnector.from_json(without_encoding) == Audio()


@pytest.mark.parametrize("content", [{"dtype": "int64"}, {"shape": {}, "dtype": "int64"}])
def test_json_that_makes_no_sense_is_refused(content):
    with pytest.raises((SchemaError, InvalidArgumentError)):
        FeatureConnector.from_json({"pythonClassName": TFDS_NAME, "audio": content})


def test_infos_and_repr():
    feature = Audio(shape=(None, 2), dtype=np.int16, doc="speech")
    assert feature.get_tensor_info() == TensorInfo((None, 2), np.int16)
    assert feature.get_serialized_info() == TensorInfo((None, 2), np.int16)
    assert repr(feature) == "Audio(shape=(None, 2), dtype=int16, description=speech)"
    for stored in (Audio(lazy_decode=True), Audio(encoding="bytes")):
        assert stored.get_serialized_info() == TensorInfo((), np.object_)


@pytest.mark.parametrize(
    ("shape", "samples"), [((None,), MONO), ((None, 2), STEREO), ((None,), MONO[:0])]
)
def test_html_is_a_player(shape, samples):
    import base64

    html = Audio(shape=shape, dtype=np.int16, sample_rate=8000).repr_html(samples)
    start = '<audio controls src="data:audio/wav;base64,'
    assert html.startswith(start)
    data = base64.b64decode(html[len(start) :].split('"')[0])
    with wave.open(io.BytesIO(data)) as file:
        assert (file.getframerate(), file.getnframes()) == (8000, len(samples))
