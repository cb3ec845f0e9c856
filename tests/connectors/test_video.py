"""Video: frames from arrays, pictures, GIFs and video files."""

import contextlib
import io
import os
import pathlib
import stat
import sys

import golden
import numpy as np
import pictures
import pytest

from featurekit.connectors.features_dict import FeaturesDict
from featurekit.connectors.video import Video
from featurekit.errors import (
    EncodeError,
    EncodeTypeError,
    InvalidArgumentError,
    MissingDependencyError,
    MissingFileError,
)
from featurekit.testing import Bad, Case, ConnectorSuite, assert_same

NAME = "tensorflow_datasets.core.features.video_feature.Video"

FRAMES = pictures.noise((3, 4, 5, 3)) // 64 * 64
FILES = [pictures.png(frame) for frame in FRAMES]
GIF = pictures.gif(FRAMES)
CLIP = golden.ROOT / "video" / "inputs" / "clip.avi"


class TestVideo(ConnectorSuite):
    connector = Video(shape=(None, 4, 5, 3))
    in_nested_sequence = True
    valid = (
        Case(value=FRAMES, id="array"),
        Case(value=list(FRAMES), decoded=FRAMES, id="list of arrays"),
        Case(value=FILES, stored=FILES, decoded=FRAMES, id="list of files"),
        Case(value=[FRAMES[0], FILES[1]], decoded=FRAMES[:2], id="both"),
        Case(value=[], stored=[], decoded=np.zeros((0, 4, 5, 3), np.uint8), id="no frames"),
        Case(value=GIF, decoded=FRAMES, id="GIF"),
        Case(value=lambda: io.BytesIO(GIF), decoded=FRAMES, id="open GIF"),
    )
    invalid = (
        Bad(
            value=FRAMES[0],
            error=EncodeError,
            match=r"expected shape \(4, 5, 3\), got \(5, 3\)\n  at: \[0\] \(Image\)",
            id="one frame",
        ),
        Bad(
            value=[FRAMES[0], FRAMES[1][:3]],
            error=EncodeError,
            match=r"expected shape \(4, 5, 3\), got \(3, 5, 3\)\n  at: \[1\] \(Image\)",
            id="frames of two sizes",
        ),
        Bad(
            value=pictures.gif(FRAMES[:, :3]),
            error=EncodeError,
            match=r"expected shape \(4, 5, 3\), got \(3, 5, 3\)\n  at: \[0\] \(Image\)",
            id="GIF of another size",
        ),
        Bad(value=GIF[:-1], error=EncodeError, match="the GIF file is damaged: it is cut short"),
        Bad(
            value=5,
            error=EncodeTypeError,
            message="expected a list, got int 5\n  hint: give a list, a tuple or an array",
        ),
        Bad(
            value="/no/such.avi",
            error=MissingFileError,
            message="there is no such file\n  at: /no/such.avi\n  hint: check the path",
        ),
    )
    unequal = (Video(), Video(shape=(None, 4, 5, 3), ffmpeg_extra_args=["-r", "5"]))
    tfds_json = {
        "pythonClassName": NAME,
        "video": {
            "shape": {"dimensions": ["-1", "4", "5", "3"]},
            "dtype": "uint8",
            "encodingFormat": "png",
        },
    }
    tfds_repr = "Video(Image(shape=(4, 5, 3), dtype=uint8))"


class TestFixedLength(ConnectorSuite):
    connector = Video((2, None, None, 1), "jpeg", ["-r", "5"], False, np.uint8, "a clip")
    valid = (
        Case(
            value=np.full((2, 8, 8, 1), 128, np.uint8),
            decoded=np.full((2, 8, 8, 1), 128, np.uint8),
            id="array",
        ),
    )
    invalid = (
        Bad(
            value=np.full((3, 8, 8, 1), 128, np.uint8),
            error=EncodeError,
            match="expected 2 elements, got 3",
        ),
    )
    tfds_json = {
        "pythonClassName": NAME,
        "description": "a clip",
        "video": {
            "shape": {"dimensions": ["2", "-1", "-1", "1"]},
            "dtype": "uint8",
            "encodingFormat": "jpeg",
            "ffmpegExtraArgs": ["-r", "5"],
        },
    }


def test_a_video_of_another_rank_is_refused():
    with pytest.raises(InvalidArgumentError) as caught:
        Video(shape=(2, 2, 3))
    assert str(caught.value) == (
        "a video has shape (frames, height, width, channels), got (2, 2, 3)\n"
        "  hint: give four sizes, with None for those that vary"
    )


def test_defaults():
    assert Video().shape == (None, None, None, 3)
    assert Video(encoding_format=None).encoding_format is None
    assert Video(shape=(None, 2, 2, 1), use_colormap=True).use_colormap


def test_legacy_json():
    content = {"shape": [None, 4, 5, 3], "encoding_format": "png", "ffmpeg_extra_args": ["-r", "5"]}
    wanted = Video(shape=(None, 4, 5, 3), ffmpeg_extra_args=("-r", "5"))
    assert Video.from_json({"type": NAME, "content": content}) == wanted


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_frames_of_a_gif_by_path_have_the_declared_form(tmp_path, channels):
    path = tmp_path / "a.video"
    path.write_bytes(GIF)
    video = Video(shape=(None, None, None, channels), dtype=np.uint16)
    decoded = video.decode_example(video.encode_example(path))
    assert (decoded.shape, decoded.dtype) == ((3, 4, 5, channels), np.uint16)
    if channels != 1:
        np.testing.assert_array_equal(decoded[..., :3] >> 8, FRAMES)


def test_a_url_is_read_through_fsspec():
    import fsspec

    fsspec.filesystem("memory").pipe_file("/videos/a.gif", GIF)
    video = Video()
    np.testing.assert_array_equal(
        video.decode_example(video.encode_example("memory://videos/a.gif")), FRAMES
    )


def test_an_error_in_a_file_names_file_and_frame(tmp_path):
    path = tmp_path / "a.gif"
    path.write_bytes(pictures.gif(FRAMES))
    with pytest.raises(EncodeError) as caught:
        FeaturesDict({"v": Video(shape=(None, 4, 4, 3))}).encode_example({"v": path})
    assert str(caught.value) == (
        "expected shape (4, 4, 3), got (4, 5, 3)\n"
        f"  at: v[0] (Image), {path}\n"
        "  hint: fix the value, or declare the shape that it has (None for a varying size)"
    )


def test_a_text_file_is_refused():
    with pytest.raises(EncodeTypeError, match=r"its read\(\) gave str"):
        Video().encode_example(io.StringIO("text"))


def test_html_is_an_animation():
    assert Video().repr_html(FRAMES).startswith('<img src="data:image/gif;base64,')
    assert Video().repr_html(FRAMES[:0]) == "0 frames"


# Video files: PyAV may not be there.


def test_a_video_file_without_pyav_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(MissingDependencyError) as caught:
        Video().encode_example(CLIP)
    assert str(caught.value) == (
        "Reading a video file needs the package 'av', which cannot be imported: import of av "
        "halted; None in sys.modules\n  hint: pip install 'featurekit[video]'"
    )


def video_file_examples():
    expected = next(e for e in golden.datasets() if e.name == "video_file")
    inputs, written = expected.inputs("train"), expected.json["written"]["train"]["input_index"]
    for index, wanted in zip(written, expected.examples("train"), strict=True):
        yield inputs[index][1]["v"], wanted["v"]


def test_frames_of_a_video_file_are_those_of_ffmpeg():
    pytest.importorskip("av")
    video = Video(shape=(None, 16, 16, 3))
    for value, wanted in video_file_examples():
        assert_same(video.decode_example(video.encode_example(value)), wanted)


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_frames_of_a_video_file_have_the_declared_form(channels, dtype):
    pytest.importorskip("av")
    video = Video(shape=(3, None, None, channels), dtype=dtype)
    decoded = video.decode_example(video.encode_example(CLIP))
    assert (decoded.shape, decoded.dtype) == ((3, 16, 16, channels), dtype)


@pytest.mark.parametrize("data", [b"", b"junk" * 99], ids=["empty", "junk"])
def test_a_file_that_is_no_video_is_refused(data):
    pytest.importorskip("av")
    with pytest.raises(EncodeError, match="the video cannot be read after 0 frames"):
        Video().encode_example(data)


def test_a_video_file_that_is_cut_short_is_refused_or_whole_frames():
    pytest.importorskip("av")
    data = CLIP.read_bytes()
    for length in range(0, len(data), 97):
        with contextlib.suppress(EncodeError):
            assert Video().encode_example(data[:length])


# The ffmpeg program: a stand-in, since it may not be there.

STAND_IN = """#!{python}
import pathlib, sys
arguments = sys.argv[1:]
if "fail" in arguments:
    sys.exit("this went wrong")
source = pathlib.Path(arguments[arguments.index("-i") + 1].removeprefix("file:"))
for number, frame in enumerate(source.read_bytes().split(b"|"), 1):
    pathlib.Path(arguments[-1] % number).write_bytes(frame)
"""


@pytest.fixture
def ffmpeg(tmp_path, monkeypatch):
    program = tmp_path / "bin" / "ffmpeg"
    program.parent.mkdir()
    program.write_text(STAND_IN.format(python=sys.executable))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.usefixtures("ffmpeg")
@pytest.mark.parametrize("form", [bytes, io.BytesIO, str, pathlib.Path])
def test_ffmpeg_makes_the_frames_where_it_is_given_arguments(tmp_path, form):
    data = b"|".join(FILES)
    path = tmp_path / "-a b.video"
    path.write_bytes(data)
    value = form(path) if form in (str, pathlib.Path) else form(data)
    video = Video(shape=(None, 4, 5, 3), ffmpeg_extra_args=["-r", "5"])
    assert video.encode_example(value) == FILES


@pytest.mark.usefixtures("ffmpeg")
def test_what_ffmpeg_says_is_in_the_error():
    with pytest.raises(EncodeError) as caught:
        Video(ffmpeg_extra_args=["fail"]).encode_example(b"x")
    assert str(caught.value) == (
        "ffmpeg failed with exit code 1: this went wrong\n"
        "  hint: fix the file, or ffmpeg_extra_args="
    )


def test_without_ffmpeg_the_error_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingDependencyError) as caught:
        Video(ffmpeg_extra_args=["-r", "5"]).encode_example(CLIP)
    assert str(caught.value) == (
        "ffmpeg_extra_args= needs the program ffmpeg, which is not on the PATH\n"
        "  hint: install ffmpeg, or leave ffmpeg_extra_args out: PyAV then reads the file"
    )
