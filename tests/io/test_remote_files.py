"""Record files behind URLs: what is fetched of them, and what is copied to this machine."""

import os
import pickle
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from featurekit.errors import CorruptRecordError, DownloadError, MissingFileError
from featurekit.io import files, local_copy
from featurekit.io.record_files import open_records, open_writer

fsspec = pytest.importorskip("fsspec")
from fsspec.implementations.memory import MemoryFileSystem  # noqa: E402

PACKAGES = {"array_record": "array_record", "parquet": "pyarrow"}
RECORDS = [random.Random(i).randbytes(10_000) for i in range(350)]  # row groups of a megabyte
GROUP = 1_000_000
FOOTER = 1 << 16  # what pyarrow reads to have the footer


@pytest.fixture(params=["tfrecord", "array_record", "parquet"])
def file_format(request):
    if request.param in PACKAGES:
        pytest.importorskip(PACKAGES[request.param])
    return request.param


@pytest.fixture
def fetched(monkeypatch):
    """The sizes of all requests to the store in memory."""
    sizes = []
    cat_file = MemoryFileSystem.cat_file

    def counted(self, path, start=None, end=None, **options):
        data = cat_file(self, path, start=start, end=end, **options)
        sizes.append(len(data))
        return data

    monkeypatch.setattr(MemoryFileSystem, "cat_file", counted)
    return sizes


@pytest.fixture
def store():
    """An empty store in memory."""
    filesystem = MemoryFileSystem()
    filesystem.rm("/", recursive=True)
    yield filesystem
    filesystem.rm("/", recursive=True)


@pytest.fixture(autouse=True)
def _no_copies(monkeypatch):
    monkeypatch.setattr(local_copy, "_copies", type(local_copy._copies)())


@pytest.fixture
def put(store, tmp_path):
    """Write records to the store; gives the URL."""

    def written(file_format, records=RECORDS, name="file"):
        path = tmp_path / name
        with open_writer(path, file_format) as writer:
            for record in records:
                writer.write(record)
        store.pipe_file(f"/{name}", path.read_bytes())
        return f"memory://{name}"

    return written


@pytest.mark.parametrize("scheme", ["memory", "file"])
def test_the_same_records(put, tmp_path, file_format, scheme):
    url = put(file_format)
    reader = open_records(url if scheme == "memory" else f"file://{tmp_path}/file", file_format)
    assert len(reader) == len(RECORDS)
    assert list(reader) == RECORDS
    assert reader[-1] == RECORDS[-1]
    assert reader[330:20:-70] == RECORDS[330:20:-70]
    assert pickle.loads(pickle.dumps(reader))[7] == RECORDS[7]
    reader.close()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(reader.__getitem__, range(350))) == RECORDS


def test_a_file_without_records(put, file_format):
    reader = open_records(put(file_format, []), file_format)
    assert (len(reader), list(reader)) == (0, [])


def test_a_fork_reads(put, tmp_path, file_format):
    put(file_format)
    code = f"""
import os, sys
from featurekit.io.record_files import open_records
reader = open_records(sys.argv[1], {file_format!r})
reader[0]
child = os.fork()
if child == 0:
    again = open_records(sys.argv[1], {file_format!r})
    os._exit(len(again[50]) != 10_000 or len(list(again)) != 350)
sys.exit(os.waitpid(child, 0)[1] != 0)
"""
    url = f"file://{tmp_path}/file"
    assert subprocess.run([sys.executable, "-c", code, url]).returncode == 0


def test_a_file_that_is_not_there(store, file_format):
    with pytest.raises(MissingFileError) as caught:
        len(open_records("memory://none", file_format))
    assert str(caught.value) == (
        "there is no such file\n  at: memory://none\n  hint: check the URL"
    )


def test_damage_says_where(put, store, file_format):
    url = put(file_format)
    store.pipe_file("/file", store.cat_file("/file")[:-50_000])
    with pytest.raises(CorruptRecordError) as caught:
        list(open_records(url, file_format))
    assert caught.value.file == url


def test_a_store_that_fails_is_no_damage(put, file_format, monkeypatch):
    url = put(file_format)

    def failing(self, path, **options):
        raise ConnectionResetError("the connection was reset")

    readers = [open_records(url, file_format)]
    if file_format == "parquet":  # the others have all of the file by then
        readers.append(open_records(url, file_format))
        assert len(readers[1]) == 350
    monkeypatch.setattr(MemoryFileSystem, "cat_file", failing)
    for reader in readers:
        with pytest.raises(DownloadError) as caught:
            reader[0]
        assert str(caught.value) == (
            "the file cannot be fetched: the connection was reset\n"
            "  at: memory://file\n  hint: read it again"
        )


# Parquet: the footer, and the row groups that are asked for.


def test_parquet_at_random_fetches_a_row_group(put, fetched):
    pytest.importorskip("pyarrow")
    reader = open_records(put("parquet"), "parquet")
    assert len(reader) == 350
    assert fetched == [FOOTER]
    assert reader[250] == RECORDS[250]
    assert reader[201] == RECORDS[201]
    assert len(fetched) == 2
    assert GROUP < fetched[1] < 1.01 * GROUP


def test_parquet_from_front_to_back_fetches_each_byte_once(put, store, fetched):
    pytest.importorskip("pyarrow")
    url = put("parquet")
    assert list(iter(open_records(url, "parquet"))) == RECORDS
    # The footer, the first group, and all others in one request since they are small.
    assert len(fetched) == 3
    assert sum(fetched) <= store.size("/file") + FOOTER


# ArrayRecord: a copy of the whole.


@pytest.fixture
def put_array_record(put):
    pytest.importorskip("array_record")
    return lambda *args, **options: put("array_record", *args, **options)


def test_readers_and_threads_share_a_copy(put_array_record, store, fetched, monkeypatch):
    monkeypatch.setattr(local_copy, "_CHUNK_BYTES", 3_000_000)
    monkeypatch.setattr(files, "_READ_AHEAD", 0)
    url = put_array_record()
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda i: open_records(url, "array_record")[i], range(350))
        assert list(found) == RECORDS
    assert fetched == [3_000_000, store.size("/file") - 3_000_000]


def test_what_has_changed_is_copied_again(put_array_record):
    url = put_array_record([b"one"])
    before = open_records(url, "array_record")
    assert before[0] == b"one"
    put_array_record([b"two"])
    assert open_records(url, "array_record")[0] == b"two"
    assert before[0] == b"one"  # as it was opened


def test_the_oldest_copies_are_let_go(put_array_record, store, monkeypatch):
    urls = [put_array_record([name.encode()], name=name) for name in "abc"]
    monkeypatch.setattr(local_copy, "_KEPT_BYTES", 2 * store.size("/a"))
    readers = [open_records(url, "array_record") for url in urls]
    assert [reader[0] for reader in readers] == [b"a", b"b", b"c"]
    assert [url for url, _ in local_copy._copies] == urls[1:]
    assert readers[0][0] == b"a"  # still open
    monkeypatch.setattr(local_copy, "_KEPT_BYTES", 1)
    assert open_records(urls[0], "array_record")[0] == b"a"
    assert [url for url, _ in local_copy._copies] == urls[:1]


def test_copies_are_let_go_for_room_on_the_disk(put_array_record, monkeypatch):
    urls = [put_array_record([name.encode()], name=name) for name in "ab"]
    usage = local_copy.shutil.disk_usage("/")
    monkeypatch.setattr(local_copy.shutil, "disk_usage", lambda folder: usage._replace(free=0))
    assert [open_records(url, "array_record")[0] for url in urls] == [b"a", b"b"]
    assert [url for url, _ in local_copy._copies] == urls[1:]


def test_copies_have_no_name_and_close_their_file(put_array_record, tmp_path, monkeypatch):
    (tmp_path / "copies").mkdir()
    monkeypatch.setattr(local_copy.tempfile, "tempdir", str(tmp_path / "copies"))
    copy = local_copy.local_file(put_array_record([b"one"]))
    assert os.path.getsize(copy.path) == copy.size
    assert os.listdir(tmp_path / "copies") == []
    local_copy._copies.clear()
    path = copy.path
    assert os.readlink(path).startswith(str(tmp_path / "copies"))
    del copy
    assert not os.path.lexists(path)


def test_copies_that_cannot_be_made(put_array_record, store, tmp_path, monkeypatch):
    url = put_array_record([b"one"])
    size = store.size("/file")
    with monkeypatch.context() as patch:
        patch.setattr(local_copy.tempfile, "tempdir", str(tmp_path / "none"))
        with pytest.raises(DownloadError) as caught:
            len(open_records(url, "array_record"))
    assert str(caught.value) == (
        "the file cannot be copied to this machine: No such file or directory\n"
        f"  at: {url}\n  hint: set TMPDIR to a folder with room for its {size:,} bytes"
    )
    monkeypatch.setattr(MemoryFileSystem, "cat_file", lambda self, path, **options: b"cut")
    with pytest.raises(DownloadError) as caught:
        len(open_records(url, "array_record"))
    assert str(caught.value) == (
        f"expected {size} bytes, got 3\n  at: {url}\n"
        "  hint: read it again when nobody writes to it any more"
    )
    assert not local_copy._copies
