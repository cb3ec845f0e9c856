"""Record files of all formats: one way to write and read them, whatever is wrong with them."""

import os
import pickle
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import featurekit.optional
from featurekit.errors import (
    CorruptRecordError,
    InvalidArgumentError,
    InvalidTypeError,
    MissingDependencyError,
    MissingFileError,
    RecordIndexError,
    UnsupportedError,
    WriteError,
)
from featurekit.io.record_files import check_file_format, open_records, open_writer

RECORDS = [random.Random(i).randbytes(i * 13 % 700) for i in range(250)]
PACKAGES = {"array_record": "array_record", "parquet": "pyarrow"}


@pytest.fixture(params=["tfrecord", "array_record", "parquet"])
def file_format(request):
    if request.param in PACKAGES:
        pytest.importorskip(PACKAGES[request.param])
    return request.param


@pytest.fixture(params=["array_record", "parquet"])
def indexed_format(request):
    pytest.importorskip(PACKAGES[request.param])
    return request.param


def write(path, file_format, records=RECORDS):
    writer = open_writer(path, file_format)
    for record in records:
        writer.write(record)
    writer.close()
    return open_records(path, file_format)


def failure(error_type, function, *args):
    with pytest.raises(error_type) as caught:
        function(*args)
    return str(caught.value)


def test_what_is_written_is_read(tmp_path, file_format):
    reader = write(tmp_path / "file", file_format)
    assert len(reader) == 250
    assert list(reader) == RECORDS
    assert [reader[i] for i in reversed(range(250))] == RECORDS[::-1]
    assert reader[-1] == RECORDS[-1]
    assert reader[95:205:10] == RECORDS[95:205:10]
    reader.close()
    assert reader[3] == RECORDS[3]


def test_no_records(tmp_path, file_format):
    reader = write(tmp_path / "file", file_format, [])
    assert (len(reader), list(reader)) == (0, [])


def test_the_same_records_give_the_same_file(tmp_path, file_format):
    for name in ("a", "b"):
        write(tmp_path / name, file_format)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_iterators_do_not_disturb_each_other(tmp_path, file_format):
    reader = write(tmp_path / "file", file_format)
    for first, second, record in zip(reader, reader, RECORDS, strict=True):
        assert first == second == record
        assert reader[200] == RECORDS[200]


def test_readers_are_pickled_shared_and_forked(tmp_path, file_format):
    reader = write(tmp_path / "file", file_format)
    assert pickle.loads(pickle.dumps(reader))[7] == RECORDS[7]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(reader.__getitem__, range(250))) == RECORDS


@pytest.mark.parametrize("opened", [False, True])
def test_a_fork_reads(tmp_path, file_format, opened):
    code = f"""
import os, sys
from featurekit.io.record_files import open_records, open_writer
writer = open_writer(sys.argv[1], {file_format!r})
for number in range(100):
    writer.write(b"%d" % number)
writer.close()
reader = open_records(sys.argv[1], {file_format!r})
if {opened}:
    reader[0]
child = os.fork()
if child == 0:
    os._exit(reader[50] != b"50" or len(list(reader)) != 100)
sys.exit(os.waitpid(child, 0)[1] != 0)
"""
    assert subprocess.run([sys.executable, "-c", code, tmp_path / "file"]).returncode == 0


def test_records_that_are_not_there(tmp_path, file_format):
    path = tmp_path / "file"
    reader = write(path, file_format, [b"one", b"two"])
    for index in (2, -3):
        assert failure(RecordIndexError, reader.__getitem__, index) == (
            f"there is no record {index}: the file has 2 records\n  at: {path}"
        )
    assert failure(InvalidTypeError, reader.__getitem__, "0") == (
        f"a record's index is an int or a slice, not str\n  at: {path}"
    )


def test_files_that_are_not_there(tmp_path, file_format):
    reader = open_records(tmp_path / "none", file_format)
    assert failure(MissingFileError, len, reader) == (
        f"there is no such file\n  at: {tmp_path / 'none'}\n  hint: check the path"
    )
    reader = open_records(tmp_path, file_format)
    assert "not a regular file" in failure(InvalidArgumentError, list, reader)


def test_a_pipe_is_refused(tmp_path, file_format):
    os.mkfifo(tmp_path / "pipe")
    failure(InvalidArgumentError, len, open_records(tmp_path / "pipe", file_format))


@pytest.mark.parametrize("name", ["none/file", "folder"])
def test_files_that_cannot_be_written(tmp_path, file_format, name):
    (tmp_path / "folder").mkdir()
    message = failure(WriteError, open_writer, tmp_path / name, file_format)
    reason = "No such file or directory" if name == "none/file" else "Is a directory"
    assert message == (
        f"the file cannot be created: {reason}\n  at: {tmp_path / name}\n"
        "  hint: check that its folder exists and may be written to"
    )


def test_what_is_no_record_is_refused(tmp_path, file_format):
    writer = open_writer(tmp_path / "file", file_format)
    assert "a record is bytes, not str: 'text'" in failure(InvalidTypeError, writer.write, "text")
    writer.write(b"one")
    writer.close()
    writer.close()
    assert "the writer is closed" in failure(InvalidArgumentError, writer.write, b"two")
    assert list(open_records(tmp_path / "file", file_format)) == [b"one"]


def test_a_full_disk_is_an_error(tmp_path, indexed_format):
    code = f"""
import os, resource, signal, sys
from featurekit.errors import WriteError
from featurekit.io.record_files import open_writer
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
writer = open_writer(sys.argv[1], {indexed_format!r})
try:
    for number in range(1000):
        writer.write(os.urandom(1000))
    writer.close()
except WriteError as error:
    first = str(error)
for again in (lambda: writer.write(b"more"), writer.close):
    try:
        again()
    except WriteError as error:
        assert str(error) == first
print(first)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "file"], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("the file cannot be written: ")
    assert "File too large" in lines[0]
    assert lines[1:] == [
        f"  at: {tmp_path / 'file'}",
        "  hint: make room and write the file again: it is incomplete",
    ]


def damaged(data):
    """A hundred damaged copies of a file: cut, with other bits, or with junk in place of it."""
    rng = random.Random(7)
    for _ in range(25):
        yield data[: rng.randrange(len(data))]
        for count in (1, 8):
            copy = bytearray(data)
            for _ in range(count):
                copy[rng.randrange(len(copy))] ^= 1 << rng.randrange(8)
            yield bytes(copy)
        yield rng.randbytes(rng.randrange(2000))


def test_damage_is_an_error_and_never_another_record(tmp_path, indexed_format):
    path = tmp_path / "file"
    write(path, indexed_format)
    faults = []
    for copy in damaged(path.read_bytes()):
        path.write_bytes(copy)
        got = []
        try:
            got.extend(open_records(path, indexed_format))
        except CorruptRecordError as error:
            faults.append(error)
        else:
            assert len(got) == len(RECORDS)  # it was in padding
        assert got == RECORDS[: len(got)]
    assert len(faults) > 50
    assert {error.file for error in faults} == {str(path)}


def test_records_before_and_after_the_damage_are_read(tmp_path, indexed_format):
    path = tmp_path / "file"
    records = [random.Random(i).randbytes(2000) for i in range(250)]
    write(path, indexed_format, records)
    data = bytearray(path.read_bytes())
    place = data.index(records[120])
    data[place + 1000] ^= 1
    path.write_bytes(data)
    reader = open_records(path, indexed_format)
    message = failure(CorruptRecordError, reader.__getitem__, 120)
    assert message.startswith("the record cannot be read: ")
    assert message.endswith(f"  at: {path}, record 120\n  hint: copy the file again")
    assert (reader[99], reader[200], reader[249]) == (records[99], records[200], records[249])
    got = []
    with pytest.raises(CorruptRecordError):
        got.extend(reader)
    assert got == records[: len(got)]
    assert len(got) in (100, 120)  # Parquet checks a page at a time


def test_names_of_formats():
    assert check_file_format("parquet") == "parquet"
    with pytest.raises(InvalidArgumentError) as caught:
        open_records("x", "array-record")
    assert str(caught.value) == (
        "there is no file format 'array-record'; did you mean 'array_record'?"
    )
    with pytest.raises(UnsupportedError) as caught:
        open_writer("x", "riegeli")
    assert str(caught.value) == (
        "files of the format 'riegeli' can be neither read nor written\n"
        "  hint: have TFDS write the dataset as one of tfrecord, array_record, parquet"
    )


@pytest.mark.parametrize(
    ("name", "extra", "package"),
    [("array_record", "array-record", "array_record"), ("parquet", "parquet", "pyarrow")],
)
def test_packages_that_are_not_installed(tmp_path, monkeypatch, name, extra, package):
    def absent(module):
        raise ImportError(f"No module named {module!r}")

    monkeypatch.setattr(featurekit.optional.importlib, "import_module", absent)
    (tmp_path / "file").write_bytes(b"")
    for function in (lambda: len(open_reader(tmp_path, name)), lambda: writer_of(tmp_path, name)):
        message = failure(MissingDependencyError, function)
        assert message.startswith(f"the file format {name!r} needs the package {package!r}, which")
        assert message.endswith(f"  hint: pip install 'featurekit[{extra}]'")


def open_reader(folder, name):
    from featurekit.io import array_record, parquet

    readers = {"array_record": array_record.ArrayRecordReader, "parquet": parquet.ParquetReader}
    return readers[name](folder / "file")


def writer_of(folder, name):
    from featurekit.io import array_record, parquet

    writers = {"array_record": array_record.ArrayRecordWriter, "parquet": parquet.ParquetWriter}
    return writers[name](folder / "file")


# Parquet's own.


def parquet_file(path, table):
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(table, path)
    return open_records(path, "parquet")


def test_parquet_has_one_column_and_groups_of_100_rows(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    write(tmp_path / "file", "parquet")
    file = pq.ParquetFile(tmp_path / "file")
    groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
    assert [group.num_rows for group in groups] == [100, 100, 50]
    assert groups[0].column(0).compression == "SNAPPY"
    assert str(file.schema_arrow) == "data: binary"
    assert file.schema_arrow.field(0).nullable
    file.close()


def test_large_records_have_smaller_groups(tmp_path, monkeypatch):
    pq = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr("featurekit.io.parquet._GROUP_BYTES", 1000)
    records = [b"a" * 400, b"b" * 400, b"c" * 400, b"d" * 5000, b"e"]
    assert list(write(tmp_path / "file", "parquet", records)) == records
    file = pq.ParquetFile(tmp_path / "file")
    rows = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
    assert rows == [2, 1, 1, 1]
    file.close()


def test_parquet_files_of_something_else_are_refused(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    path = tmp_path / "file"
    reader = parquet_file(path, arrow.table({"x": [1, 2], "data": ["a", "b"]}))
    assert failure(CorruptRecordError, len, reader) == (
        "expected a column 'data' of serialized examples, got the columns x (int64), "
        f"data (string)\n  at: {path}\n"
        "  hint: read other Parquet files with pyarrow, and write them with write_dataset"
    )


def test_a_row_without_a_record_is_refused(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    path = tmp_path / "file"
    reader = parquet_file(path, arrow.table({"data": arrow.array([b"a", None], arrow.binary())}))
    assert reader[0] == b"a"
    assert failure(CorruptRecordError, reader.__getitem__, 1) == (
        f"a record must be bytes, got None\n  at: {path}, record 1\n  hint: copy the file again"
    )


def test_files_with_further_columns_and_large_bytes_are_read(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    data = arrow.array([b"a", b"b"], arrow.large_binary())
    reader = parquet_file(tmp_path / "file", arrow.table({"key": [1, 2], "data": data}))
    assert list(reader) == [b"a", b"b"]
