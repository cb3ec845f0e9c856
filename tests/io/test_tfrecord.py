"""Reading TFRecord files: as a sequence, damaged, and salvaged."""

import gc
import gzip
import multiprocessing
import os
import pickle
import struct
import tracemalloc
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featurekit.errors import (
    CorruptRecordError,
    InvalidArgumentError,
    InvalidTypeError,
    MissingFileError,
    RecordIndexError,
)
from featurekit.io import TFRecordReader, TFRecordWriter
from featurekit.io.crc32c import masked_crc32c
from featurekit.io.framing import Fault, frame, read_block
from featurekit.io.resync import header_positions

COMPRESSIONS = [None, "GZIP", "ZLIB"]
PACK = {
    None: lambda data: data,
    "GZIP": lambda data: gzip.compress(data, mtime=0),
    "ZLIB": zlib.compress,
}
RECORDS = [b"first", b"", b"third" * 50, bytes(range(256)), b"last"]


def stored(path, data):
    path.write_bytes(data)
    return path


def framed(records):
    return b"".join(map(frame, records))


def forged(length, payload):
    """A record whose length is wrong, with checksums that hold."""
    header = struct.pack("<Q", length)
    crcs = (struct.pack("<I", masked_crc32c(part)) for part in (header, payload))
    return header + next(crcs) + payload + next(crcs)


def flip(data, place, bit=1):
    changed = bytearray(data)
    changed[place] ^= bit
    return bytes(changed)


def read(reader):
    records = []
    with pytest.raises(CorruptRecordError) as caught:
        records.extend(iter(reader))  # extend keeps what came before the error
    return records, caught.value


@pytest.fixture(params=COMPRESSIONS, ids=str)
def compression(request):
    return request.param


@pytest.fixture
def path(tmp_path, compression):
    return stored(tmp_path / "a.tfrecord", PACK[compression](framed(RECORDS)))


# Reading as a sequence.


def test_reader_is_a_sequence(path, compression):
    reader = TFRecordReader(path)
    assert reader.compression == compression
    assert len(reader) == len(RECORDS)
    assert list(reader) == RECORDS
    assert list(reader) == RECORDS
    assert [reader[i] for i in range(-5, 5)] == RECORDS * 2
    assert reader[np.int64(2)] == RECORDS[2]
    assert not reader.lost
    assert reader.path == str(path)
    assert repr(reader) == f"TFRecordReader({str(path)!r})"


@pytest.mark.parametrize(
    "part",
    [slice(None), slice(1, 3), slice(-2, None), slice(None, None, -2), slice(4, 9), slice(0)],
)
def test_slices_are_lists(path, part):
    assert TFRecordReader(path)[part] == RECORDS[part]


@pytest.mark.parametrize("i", [5, -6, 2**70, -(2**70)])
def test_index_out_of_range(path, i):
    with pytest.raises(RecordIndexError) as caught:
        TFRecordReader(path)[i]
    assert str(caught.value) == f"there is no record {i}: the file has 5 records\n  at: {path}"


@pytest.mark.parametrize("i", ["0", 1.0, None, (1, 2)])
def test_index_of_wrong_type(path, i):
    with pytest.raises(InvalidTypeError, match="a record's index is an int or a slice, not"):
        TFRecordReader(path)[i]


def test_two_iterations_at_once(path):
    reader = TFRecordReader(path)
    assert list(zip(reader, reader, strict=True)) == [(record, record) for record in RECORDS]


def test_file_without_records(tmp_path, compression):
    reader = TFRecordReader(stored(tmp_path / "a", b""), compression)
    assert (len(reader), list(reader), reader[:]) == (0, [], [])
    with pytest.raises(RecordIndexError):
        reader[0]


def test_reader_closes_its_file_and_opens_it_again(path):
    def descriptors():
        gc.collect()
        return sum(
            os.path.realpath(f"/proc/self/fd/{name}") == os.path.realpath(path)
            for name in os.listdir("/proc/self/fd")
        )

    with TFRecordReader(path) as reader:
        assert descriptors() == 0, "opened when needed"
        iterator = iter(reader)
        next(iterator)
        reader[0]
        assert descriptors() == 1
    assert list(iterator) == RECORDS[1:], "an iteration under way goes on"
    del iterator
    assert descriptors() == 0
    assert reader[1] == RECORDS[1]


@pytest.mark.parametrize("used", [False, True])
def test_pickled_reader_reads(path, used):
    reader = TFRecordReader(path, on_corrupt="skip")
    if used:
        len(reader)
    arrived = pickle.loads(pickle.dumps(reader))
    assert list(arrived) == RECORDS
    assert arrived[3] == RECORDS[3]


def _read_in_child(reader, iterator, queue):
    queue.put((list(iterator), [reader[i] for i in range(len(reader))]))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_forked_processes_do_not_disturb_each_other(tmp_path):
    records = [np.random.default_rng(i).bytes(3000) for i in range(2000)]  # some blocks
    reader = TFRecordReader(stored(tmp_path / "a", framed(records)))
    iterator = iter(reader)
    assert next(iterator) == records[0]
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    children = [
        context.Process(target=_read_in_child, args=(reader, iterator, queue)) for _ in range(2)
    ]
    for child in children:
        child.start()
    assert list(iterator) == records[1:]
    for _ in children:
        assert queue.get(timeout=60) == (records[1:], records)
    for child in children:
        child.join()


# Arguments and files that make no sense.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"compression": "gzip"},
            "'gzip' is not a compression of record files; did you mean 'GZIP'?",
        ),
        ({"compression": 5}, "5 is not a compression of record files; there are 'GZIP', "),
        ({"on_corrupt": "skp"}, "on_corrupt='skp' is not known; did you mean 'skip'?"),
        ({"on_corrupt": "skip", "check_crc": False}, 'on_corrupt="skip" finds records by their'),
    ],
)
def test_refused_arguments(tmp_path, arguments, message):
    with pytest.raises(InvalidArgumentError) as caught:
        TFRecordReader(tmp_path / "a", **arguments)
    assert message in str(caught.value)


@pytest.mark.parametrize("path", [b"bytes", 3, None])
@pytest.mark.parametrize("opener", [TFRecordReader, TFRecordWriter])
def test_refused_paths(opener, path):
    with pytest.raises(InvalidTypeError, match=r"a path is a str or an os.PathLike of str, not"):
        opener(path)


def test_folders_and_pipes_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(InvalidArgumentError, match="this is not a regular file"):
            list(TFRecordReader(path))
    with pytest.raises(MissingFileError):
        list(TFRecordReader(tmp_path / "none"))


# Detecting the compression.


@pytest.mark.parametrize("start", [b"\x1f\x8b\x08\0", b"\x78\x01\0\0", b"\x78\x9c\0\0"])
def test_lengths_that_look_like_compressed_files(tmp_path, start):
    length = int.from_bytes(start, "little")
    path = tmp_path / "a"
    if length > 1 << 17:  # a file with a hole, whose record is not sound
        header = struct.pack("<Q", length)
        path.write_bytes(header + struct.pack("<I", masked_crc32c(header)))
        os.truncate(path, length + 16)
    else:
        path.write_bytes(frame(bytes(length)))
    reader = TFRecordReader(path)
    assert reader.compression is None
    assert len(reader) == 1


def test_damaged_length_that_looks_like_zlib(tmp_path):
    damaged = flip(frame(bytes(0x0178)), 9)
    _, error = read(TFRecordReader(stored(tmp_path / "a", damaged)))
    assert error.message.startswith("length checksum is ")


def test_given_compression_is_believed(tmp_path):
    path = stored(tmp_path / "a", framed(RECORDS))
    _, error = read(TFRecordReader(path, "GZIP"))
    assert str(error) == (
        "the GZIP stream is damaged: Error -3 while decompressing data: incorrect header check\n"
        f"  at: {path}, record 0, byte 0\n"
        '  hint: this may be no GZIP file: try compression="auto"; '
        'copy the file again, or read what is whole with on_corrupt="skip"'
    )


# Damage.

THREE = [b"rec%d" % i * 3 for i in range(3)]
WHOLE = framed(THREE)  # 28 bytes each


@pytest.mark.parametrize("access", ["iterate", "len"])
@pytest.mark.parametrize(
    ("size", "text"),
    [
        (1, "1 of the 12 bytes of its header"),
        (11, "11 of the 12 bytes of its header"),
        (12, "0 of the 12 bytes of its payload"),
        (20, "8 of the 12 bytes of its payload"),
        (24, "0 of the 4 bytes of its payload's checksum"),
        (27, "3 of the 4 bytes of its payload's checksum"),
        (29, "1 of the 12 bytes of its header"),
        (40, "0 of the 12 bytes of its payload"),
        (61, "5 of the 12 bytes of its header"),
        (83, "3 of the 4 bytes of its payload's checksum"),
    ],
)
def test_every_cut_is_an_error(tmp_path, size, text, access):
    path = stored(tmp_path / "a", WHOLE[:size])
    reader = TFRecordReader(path)
    if access == "iterate":
        records, error = read(reader)
        assert records == THREE[: size // 28]
    else:
        with pytest.raises(CorruptRecordError) as caught:
            len(reader)
        error = caught.value
    assert str(error) == (
        f"record is cut: the file ends after {text}\n"
        f"  at: {path}, record {size // 28}, byte {size // 28 * 28}\n"
        '  hint: copy the file again, or read what is whole with on_corrupt="skip"'
    )


def test_whole_and_empty_files_are_no_errors(tmp_path):
    for size in (0, 28, 56, 84):
        path = stored(tmp_path / "a", WHOLE[:size])
        assert list(TFRecordReader(path)) == THREE[: size // 28]


@pytest.mark.parametrize("place", range(len(WHOLE)))
def test_every_flipped_byte_is_an_error_at_its_record(tmp_path, place):
    reader = TFRecordReader(stored(tmp_path / "a", flip(WHOLE, place)))
    records, error = read(reader)
    assert records == THREE[: place // 28]
    assert error.record == place // 28
    with pytest.raises(CorruptRecordError) as caught:
        reader[place // 28]
    assert str(caught.value) == str(error)


def test_message_of_a_damaged_payload(tmp_path):
    path = stored(tmp_path / "a", flip(WHOLE, 28 + 12))
    _, error = read(TFRecordReader(path))
    changed = b"s" + THREE[1][1:]
    assert str(error) == (
        f"payload checksum is 0x{masked_crc32c(changed):08x}, "
        f"the file says 0x{masked_crc32c(THREE[1]):08x}\n"
        f"  at: {path}, record 1, byte 40\n"
        '  hint: copy the file again, or read what is whole with on_corrupt="skip"'
    )


def test_message_of_a_file_of_another_kind(tmp_path):
    path = stored(tmp_path / "a", b"id,label,text\n0,cat,x\n")
    _, error = read(TFRecordReader(path))
    assert str(error) == (
        f"length checksum is 0x{masked_crc32c(b'id,label'):08x}, "
        f"the file says 0x{int.from_bytes(b',tex', 'little'):08x}\n"
        f"  at: {path}, record 0, byte 0\n"
        '  hint: this may be no TFRecord file, or a compressed one: try compression="auto"; '
        'copy the file again, or read what is whole with on_corrupt="skip"'
    )


def test_damaged_payload_leaves_the_others_readable(tmp_path):
    reader = TFRecordReader(stored(tmp_path / "a", flip(WHOLE, 28 + 12)))
    assert (len(reader), reader[0], reader[2]) == (3, THREE[0], THREE[2])


def test_unchecked_reading_gives_what_is_there(tmp_path):
    path = stored(tmp_path / "a", flip(flip(WHOLE, 28 + 12), 56 + 9))
    reader = TFRecordReader(path, check_crc=False)
    changed = [THREE[0], b"s" + THREE[1][1:], THREE[2]]
    assert list(reader) == changed
    assert reader[:] == changed
    _, error = read(TFRecordReader(stored(path, WHOLE[:61]), check_crc=False))
    assert error.byte == 56


def peak_bytes(function):
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("on_corrupt", ["raise", "skip", "stop"])
@pytest.mark.parametrize("length", [1 << 35, 1 << 62, 1 << 63, (1 << 64) - 16, (1 << 64) - 1])
def test_forged_length_allocates_nothing(tmp_path, compression, length, on_corrupt):
    data = frame(b"good") + forged(length, b"payload") + frame(b"lost")
    path = stored(tmp_path / "a", PACK[compression](data))
    reader = TFRecordReader(path, on_corrupt=on_corrupt)
    if on_corrupt != "raise":
        rest = [b"lost"] if on_corrupt == "skip" else []
        assert list(reader) == [b"good", *rest]
        assert reader.lost.bytes == len(data) - sum(20 for _ in reader)
        return
    found = []
    assert peak_bytes(lambda: found.append(read(reader))) < 16 << 20
    (records, error), text = found[0], f"the {length} bytes of its payload"
    assert records == [b"good"]
    assert error.message == f"record is cut: the file ends after 31 of {text}"


def test_bomb_is_unpacked_no_further_than_needed(tmp_path):
    data = gzip.compress(frame(b"good") + bytes(64 << 20))
    reader = TFRecordReader(stored(tmp_path / "a", data))
    assert peak_bytes(lambda: read(reader)) < 16 << 20


# Salvage.


def salvage(path, **arguments):
    reader = TFRecordReader(path, on_corrupt="skip", **arguments)
    records = list(reader)
    assert reader[:] == records
    assert len(reader) == len(records)
    return records, reader.lost


MANY = [bytes([i]) * (i % 40) for i in range(200)]


def offset_of(i):
    return len(framed(MANY[:i]))


def test_skip_passes_over_damaged_payloads(tmp_path, compression):
    data = framed(MANY)
    for i in (5, 17, 18, 199):
        data = flip(data, offset_of(i) + 12)
    records, lost = salvage(stored(tmp_path / "a", PACK[compression](data)))
    assert records == [record for i, record in enumerate(MANY) if i not in (5, 17, 18, 199)]
    assert (lost.errors, lost.records) == (4, 4)
    assert lost.bytes == len(data) - len(framed(records))
    assert lost.first_error.record == 5


def test_skip_finds_the_next_record_after_damaged_lengths(tmp_path, compression):
    data = framed(MANY)
    for i in (0, 50, 199):
        data = flip(data, offset_of(i) + 8)
    records, lost = salvage(stored(tmp_path / "a", PACK[compression](data)))
    assert records == [record for i, record in enumerate(MANY) if i not in (0, 50, 199)]
    assert (lost.errors, lost.records) == (3, 3)
    assert lost.bytes == len(data) - len(framed(records))


def test_skip_finds_records_where_bytes_are_missing(tmp_path, compression):
    middle = offset_of(110) + 20
    data = framed(MANY)[:middle] + framed(MANY)[middle + 7 :]
    records, lost = salvage(stored(tmp_path / "a", PACK[compression](data)))
    assert records == MANY[:110] + MANY[111:]
    assert (lost.errors, lost.records) == (1, 1)
    assert lost.bytes == 16 + len(MANY[110]) - 7


@pytest.mark.parametrize("junk", [b"x", bytes(16), bytes(5_000_000), b"\x01\x02\x03" * 1_000_000])
def test_skip_passes_over_junk(tmp_path, compression, junk):
    data = framed(MANY[:3]) + junk + framed(MANY[3:])
    records, lost = salvage(stored(tmp_path / "a", PACK[compression](data)))
    assert records == MANY
    assert (lost.errors, lost.records, lost.bytes) == (1, 1, len(junk))


def test_stop_ends_at_the_first_damage(tmp_path, compression):
    data = flip(framed(MANY), offset_of(50) + 8)
    reader = TFRecordReader(stored(tmp_path / "a", PACK[compression](data)), on_corrupt="stop")
    assert list(reader) == MANY[:50]
    assert (reader.lost.errors, reader.lost.records) == (1, 1)
    assert reader.lost.bytes == len(data) - offset_of(50)
    assert len(reader) == 50
    assert reader[-1] == MANY[49]


def test_loss_is_that_of_the_latest_pass(tmp_path):
    path = stored(tmp_path / "a", WHOLE[:-1])
    reader = TFRecordReader(path, on_corrupt="skip")
    assert list(reader) == list(reader) == THREE[:2]
    assert (reader.lost.errors, reader.lost.records, reader.lost.bytes) == (1, 1, 27)
    path.write_bytes(WHOLE)
    reader.close()
    assert list(reader) == THREE
    assert not reader.lost


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB"])
def test_damaged_compression_is_unpacked_up_to_the_fault(tmp_path, compression):
    records = [np.random.default_rng(i).bytes(1000) for i in range(300)]
    packed = PACK[compression](framed(records))
    bad_trailer = stored(tmp_path / "a", flip(packed, len(packed) - 1))
    found, lost = salvage(bad_trailer)
    assert found == records
    assert (lost.errors, lost.records, lost.bytes) == (1, 0, 0)
    found, error = read(TFRecordReader(bad_trailer))
    assert found == records[: len(found)]
    assert f"the {compression} stream is damaged: Error -3" in error.message
    found, lost = salvage(stored(tmp_path / "b", packed[:200_000]))
    assert found == records[: len(found)]
    assert len(found) in range(190, 200)
    assert lost.bytes in range(1, 1016)


def nested_claims(count):
    """Headers that hold, each of which claims all that follows as its payload."""
    size = 16 * count
    return b"".join(forged(size - 16 * i - 16, b"") for i in range(count))


def test_time_for_hostile_files_is_linear(tmp_path, monkeypatch):
    data = nested_claims(20_000) + frame(b"end")
    work = []

    def counted(*arguments, **keywords):
        block = read_block(*arguments, **keywords)
        work.append(block.size + (block.needed if block.fault is Fault.PAYLOAD else 0))
        return block

    monkeypatch.setattr("featurekit.io.resync.read_block", counted)
    monkeypatch.setattr("featurekit.io.stream.read_block", counted)
    reader = TFRecordReader(stored(tmp_path / "a", data), on_corrupt="skip")
    list(reader)
    assert reader.lost
    assert len(data) < sum(work) < 20 * len(data)


def test_headers_are_found_at_every_place():
    data = b"?" * 7 + frame(b"") + b"??" + frame(b"abc")[:12]
    assert header_positions(data).tolist() == [7, 25]
    assert header_positions(data[:11]).tolist() == []
    assert header_positions(bytes(100)).tolist() == []


# Properties.


@settings(deadline=None)
@given(
    records=st.lists(st.binary(max_size=300) | st.integers(0, 70_000).map(bytes), max_size=30),
    compression=st.sampled_from(COMPRESSIONS),
)
def test_what_is_written_is_read(tmp_path_factory, records, compression):
    path = tmp_path_factory.mktemp("records") / "a"
    with TFRecordWriter(path, compression) as writer:
        for record in records:
            writer.write(record)
    reader = TFRecordReader(path)
    assert list(reader) == records
    assert reader[:] == records
    assert len(reader) == len(records)


@settings(deadline=None, max_examples=300)
@given(data=st.data(), compression=st.sampled_from(COMPRESSIONS))
def test_damage_never_goes_unnoticed(tmp_path_factory, data, compression):
    """One changed byte or one cut: an error or a count, and never a record that was not there."""
    records = data.draw(st.lists(st.binary(max_size=60), min_size=1, max_size=8, unique=True))
    packed = PACK[compression](framed(records))
    place = data.draw(st.integers(0, len(packed) - 1))
    if data.draw(st.booleans()):
        damaged = flip(packed, place, data.draw(st.integers(1, 255)))
    else:
        damaged = packed[:place]
    path = stored(tmp_path_factory.mktemp("damaged") / "a", damaged)
    reader = TFRecordReader(path, compression, on_corrupt="skip")
    found = list(reader)
    if compression is None:
        assert [record for record in records if record in found] == found
    else:  # damaged back references can give a record twice
        assert set(found) <= set(records)
    assert reader[:] == found
    if found != records:
        whole = compression is None and damaged == framed(found)  # cut between two records
        assert reader.lost or whole or not damaged
    reader = TFRecordReader(path, compression)
    strict = []
    try:
        strict.extend(iter(reader))
    except CorruptRecordError as error:
        assert error.file == str(path)  # noqa: PT017
    assert records[: len(strict)] == strict or compression is not None


@settings(deadline=None)
@given(junk=st.binary(max_size=2000), on_corrupt=st.sampled_from(["raise", "skip", "stop"]))
def test_random_bytes_do_no_harm(tmp_path_factory, junk, on_corrupt):
    path = stored(tmp_path_factory.mktemp("junk") / "a", junk)
    for compression in ("auto", *COMPRESSIONS):
        reader = TFRecordReader(path, compression, on_corrupt)
        try:
            assert list(reader) == []
        except CorruptRecordError:
            assert on_corrupt == "raise"
