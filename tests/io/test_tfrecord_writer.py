"""Writing TFRecord files, on full disks too."""

import gzip
import os
import subprocess
import sys
import zlib

import numpy as np
import pytest

from featurekit.errors import InvalidArgumentError, InvalidTypeError, WriteError
from featurekit.io import TFRecordReader, TFRecordWriter
from featurekit.io.framing import frame

COMPRESSIONS = [None, "GZIP", "ZLIB"]
RECORDS = [b"first", b"", b"third" * 50, bytes(range(256)), b"last"]


@pytest.fixture(params=COMPRESSIONS, ids=str)
def compression(request):
    return request.param


def test_written_file_unpacks_to_framed_records(tmp_path, compression):
    with TFRecordWriter(tmp_path / "a", compression) as writer:
        for record in RECORDS:
            writer.write(record)
    data = (tmp_path / "a").read_bytes()
    unpack = {None: bytes, "GZIP": gzip.decompress, "ZLIB": zlib.decompress}[compression]
    assert unpack(data) == b"".join(map(frame, RECORDS))


def test_writing_twice_gives_the_same_bytes(tmp_path, compression):
    for name in "ab":
        with TFRecordWriter(tmp_path / name, compression) as writer:
            for record in RECORDS:
                writer.write(record)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_gzip_header_has_no_time_and_no_name(tmp_path):
    TFRecordWriter(tmp_path / "a", "GZIP").close()
    assert (tmp_path / "a").read_bytes()[:8] == b"\x1f\x8b\x08\0\0\0\0\0"


def test_flushed_records_can_be_read(tmp_path, compression):
    with TFRecordWriter(tmp_path / "a", compression) as writer:
        writer.write(b"one")
        writer.flush()
        reader = TFRecordReader(tmp_path / "a", compression, on_corrupt="stop")
        assert list(reader) == [b"one"]
        assert bool(reader.lost) == (compression is not None)  # the stream has not ended
        writer.write(b"two")
    assert list(TFRecordReader(tmp_path / "a", compression)) == [b"one", b"two"]


def test_write_many_bytes(tmp_path, compression):
    records = [np.random.default_rng(i).bytes(700_000) for i in range(5)]
    with TFRecordWriter(tmp_path / "a", compression) as writer:
        for record in records:
            writer.write(record)
    assert list(TFRecordReader(tmp_path / "a")) == records


@pytest.mark.parametrize("record", ["text", None, 3, bytearray(b"x"), memoryview(b"x"), [b"x"]])
def test_only_bytes_are_written(tmp_path, record):
    with TFRecordWriter(tmp_path / "a") as writer:
        writer.write(b"good")
        with pytest.raises(InvalidTypeError, match="a record is bytes, not"):
            writer.write(record)
        writer.write(b"good too")
    assert list(TFRecordReader(tmp_path / "a")) == [b"good", b"good too"]


def test_message_for_text(tmp_path):
    with TFRecordWriter(tmp_path / "a") as writer, pytest.raises(InvalidTypeError) as caught:
        writer.write("text")
    assert str(caught.value) == (
        "a record is bytes, not str: 'text'\n"
        f"  at: {tmp_path / 'a'}\n"
        "  hint: text.encode() makes bytes of text, example.SerializeToString() of a message"
    )


def test_closed_writer_takes_nothing(tmp_path):
    writer = TFRecordWriter(tmp_path / "a")
    writer.close()
    writer.close()
    for use in (writer.flush, lambda: writer.write(b"x")):
        with pytest.raises(InvalidArgumentError, match="the writer is closed"):
            use()


def test_forgotten_writer_is_completed_with_a_warning(tmp_path):
    writer = TFRecordWriter(tmp_path / "a")
    writer.write(b"x")
    with pytest.warns(ResourceWarning, match="TFRecordWriter.* was not closed"):
        del writer
    assert list(TFRecordReader(tmp_path / "a")) == [b"x"]


@pytest.mark.parametrize("name", ["missing_folder/a", "."])
def test_file_that_cannot_be_created(tmp_path, name):
    with pytest.raises(WriteError) as caught:
        TFRecordWriter(tmp_path / name)
    assert isinstance(caught.value, OSError)
    reason = os.strerror(caught.value.errno)
    assert str(caught.value) == (
        f"the file cannot be created: {reason}\n"
        f"  at: {tmp_path / name}\n"
        "  hint: check that its folder exists and may be written to"
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_full_device(compression):
    message = (
        "the file cannot be written: No space left on device\n"
        "  at: /dev/full\n"
        "  hint: make room and write the file again: it is incomplete"
    )
    writer = TFRecordWriter("/dev/full", compression)
    with pytest.raises(WriteError) as caught:
        writer.write(np.random.default_rng(0).bytes(5 << 20))
    assert str(caught.value) == message
    for use in (lambda: writer.write(b"x"), writer.flush, writer.close):
        with pytest.raises(WriteError):
            use()
    small = TFRecordWriter("/dev/full", compression)
    small.write(b"x")
    with pytest.raises(WriteError) as caught:
        small.close()
    assert str(caught.value) == message


FILL_DISK = """
import resource, sys
from featurekit.errors import WriteError
from featurekit.io import TFRecordWriter

resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))
try:
    with TFRecordWriter(sys.argv[1]) as writer:
        for _ in range(int(sys.argv[2])):
            writer.write(bytes(1000))
except WriteError as error:
    print(error.message, error.file == sys.argv[1])
    sys.exit(3)
"""


@pytest.mark.parametrize(("count", "code"), [(1900, 0), (1970, 3), (5000, 3)])
def test_full_disk_is_an_error_of_write_or_close(tmp_path, count, code):
    command = [sys.executable, "-c", FILL_DISK, str(tmp_path / "a"), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    if code:
        assert done.stdout == "the file cannot be written: File too large True\n"
    else:
        assert len(TFRecordReader(tmp_path / "a")) == count


def test_writer_does_not_detect(tmp_path):
    with pytest.raises(InvalidArgumentError, match="'auto' is not a compression"):
        TFRecordWriter(tmp_path / "a", "auto")
    assert not (tmp_path / "a").exists()
