"""Indexes of TFRecord files, and reading by them."""

import gzip
import pickle
import struct

import numpy as np
import pytest

from featurekit.errors import CorruptRecordError, InvalidArgumentError
from featurekit.io import TFRecordReader
from featurekit.io.crc32c import masked_crc32c
from featurekit.io.framing import frame
from featurekit.io.index import RecordIndex, scan

THREE = [b"rec%d" % i * 3 for i in range(3)]
MANY = [bytes([i]) * (i % 40) for i in range(200)]


def stored(path, records):
    path.write_bytes(b"".join(map(frame, records)))
    return path


def offset_of(i):
    return sum(16 + len(record) for record in MANY[:i])


def test_scan_gives_offsets_and_lengths(tmp_path):
    path = stored(tmp_path / "a", MANY)
    index = scan(path)
    assert len(index) == 200
    assert index.offsets.dtype == index.lengths.dtype == np.uint64
    assert list(index) == [(offset_of(i), len(record)) for i, record in enumerate(MANY)]
    assert index[3] == (offset_of(3), 3)
    assert repr(index) == "RecordIndex(200 records)"
    arrived = pickle.loads(pickle.dumps(index))
    assert list(TFRecordReader(path, index=arrived)[:]) == MANY


def test_scan_reads_headers_of_large_records_only(tmp_path):
    records = [bytes(300_000), b"", bytes(1_000_000), b"x"]
    index = scan(stored(tmp_path / "a", records))
    assert index.lengths.tolist() == [300_000, 0, 1_000_000, 1]


def test_records_behind_four_gib(tmp_path):
    gap = 2**32 + 4096
    with open(tmp_path / "a", "wb") as file:
        file.write(frame(b"first"))
        file.seek(gap)
        file.write(frame(b"last"))
    index = RecordIndex([0, gap], [5, 4])
    reader = TFRecordReader(tmp_path / "a", index=index)
    assert reader[:] == [b"first", b"last"]
    with pytest.raises(CorruptRecordError) as caught:
        list(TFRecordReader(tmp_path / "a"))
    assert (caught.value.record, caught.value.byte) == (1, 21)


def test_scan_goes_beyond_four_gib(tmp_path):
    hole = 2**32 + 4096
    header = struct.pack("<Q", hole)
    with open(tmp_path / "a", "wb") as file:
        file.write(header + struct.pack("<I", masked_crc32c(header)))
        file.seek(hole + 16)
        file.write(frame(b"last"))
    reader = TFRecordReader(tmp_path / "a")
    assert (len(reader), reader[-1]) == (2, b"last")


@pytest.mark.parametrize(
    ("offsets", "lengths", "message"),
    [
        ([0, 28], [12, 11], "the record has a payload of 12 bytes, the index says 11"),
        ([0, 28], [12, 2**63], "the record has a payload of 12 bytes, the index says 9223"),
        ([0, 29], [12, 12], "length checksum is 0x"),
        ([0, 84], [12, 12], "record is cut: the file ends after 0 of the 12 bytes of its header"),
        ([0, 2**64 - 1], [12, 12], "record is cut: the file ends after 0 of the 12 bytes"),
    ],
)
def test_index_of_another_file(tmp_path, offsets, lengths, message):
    path = stored(tmp_path / "a", THREE)
    reader = TFRecordReader(path, index=RecordIndex(offsets, lengths))
    assert reader[0] == THREE[0]
    with pytest.raises(CorruptRecordError) as caught:
        reader[1]
    assert caught.value.message.startswith(message)
    assert (caught.value.file, caught.value.record) == (str(path), 1)


def test_message_of_an_outdated_index(tmp_path):
    path = stored(tmp_path / "a", THREE)
    with pytest.raises(CorruptRecordError) as caught:
        TFRecordReader(path, index=RecordIndex([28], [3]))[0]
    assert str(caught.value) == (
        "the record has a payload of 12 bytes, the index says 3\n"
        f"  at: {path}, record 0, byte 28\n"
        "  hint: the file has changed since it was indexed: open it again, or index it again"
    )


@pytest.mark.parametrize(
    ("offsets", "lengths"), [([0], []), ([-1], [3]), ([2**64], [3]), ([0.5], [3]), (["0"], [3])]
)
def test_refused_indexes(offsets, lengths):
    with pytest.raises(InvalidArgumentError):
        RecordIndex(offsets, lengths)


def test_compressed_file_takes_no_index(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(gzip.compress(b"".join(map(frame, THREE))))
    with pytest.raises(InvalidArgumentError, match="index= is for uncompressed files"):
        TFRecordReader(path, index=RecordIndex([], []))[0]
