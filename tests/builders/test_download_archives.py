"""Archives: every kind is read and extracted, and none does harm."""

import bz2
import gzip
import io
import logging
import lzma
import os
import pathlib
import random
import struct
import tarfile
import zipfile

import pytest

from featurekit.builders import archive_stream
from featurekit.builders.extract import (
    ExtractMethod,
    extract,
    guess_extract_method,
    iter_archive,
    iter_tar,
    iter_zip,
)
from featurekit.errors import ArchiveError, InvalidArgumentError, WriteError

FILES = {"a.txt": b"alpha", "b/c.txt": b"", "b/d/e.bin": random.Random(0).randbytes(100_000)}

PACKERS = {".tar": bytes, ".tar.gz": gzip.compress, ".tar.bz2": bz2.compress,
           ".tar.xz": lzma.compress}  # fmt: skip


def tar_of(*members):
    """A tar archive of `(name, content)` or `(TarInfo, content)`."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as tar:
        for member, content in members:
            info = member if isinstance(member, tarfile.TarInfo) else tarfile.TarInfo(member)
            info.size = len(content or b"")
            tar.addfile(info, io.BytesIO(content or b""))
    return data.getvalue()


def zip_of(*members):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members:
            packed.writestr(name, content)
    return data.getvalue()


def special(name, kind, target=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info, None


def unpack(folder, name, data, method=None, max_expansion=250):
    """Extract an archive; gives what there is then, by path."""
    path = folder / name
    path.write_bytes(data)
    method = method or guess_extract_method(name)
    target = folder / "out" / f"{method.name}.{name}"
    extract(path, method, target, max_expansion=max_expansion)
    assert os.listdir(folder / "out") == [target.name]
    return contents(target)


def contents(target):
    if target.is_file():
        return target.read_bytes()
    assert not any(path.is_symlink() for path in target.rglob("*"))
    return {str(path.relative_to(target)): path.read_bytes()
            for path in target.rglob("*") if path.is_file()}  # fmt: skip


def refused(folder, name, data, method=None, **options):
    """What is said of an archive that is refused, of which nothing is left then."""
    with pytest.raises(ArchiveError) as caught:
        unpack(folder, name, data, method, **options)
    assert not (folder / "out").exists() or os.listdir(folder / "out") == []
    assert os.listdir(folder) in ([name], [name, "out"], ["out", name])
    assert caught.value.file == str(folder / name)
    return str(caught.value)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("ending", PACKERS)
def test_tar(tmp_path, ending, stream):
    data = PACKERS[ending](tar_of(*FILES.items()))
    method = ExtractMethod.TAR_STREAM if stream else None
    assert unpack(tmp_path, f"x{ending}", data, method) == FILES


def test_zip(tmp_path):
    assert unpack(tmp_path, "x.zip", zip_of(("b/", b""), *FILES.items())) == FILES


@pytest.mark.parametrize(
    ("ending", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_one_file(tmp_path, ending, pack):
    assert unpack(tmp_path, f"x.csv{ending}", pack(b"1,2\n" * 1000)) == b"1,2\n" * 1000


def test_an_archive_of_nothing(tmp_path):
    assert unpack(tmp_path, "x.zip", zip_of()) == {}
    assert (tmp_path / "out" / "ZIP.x.zip").is_dir()


def test_what_is_there_is_replaced(tmp_path):
    unpack(tmp_path, "x.zip", zip_of(("a", b"1"), ("b", b"2")))
    assert unpack(tmp_path, "x.zip", zip_of(("c", b"3"))) == {"c": b"3"}


NAMES = {
    "x.tar.gz": ExtractMethod.TAR_GZ, "x.tgz": ExtractMethod.TAR_GZ, "x.tar": ExtractMethod.TAR,
    "x.tar.bz2": ExtractMethod.TAR, "x.tbz2": ExtractMethod.TAR, "x.tbz": ExtractMethod.TAR,
    "x.tb2": ExtractMethod.TAR, "x.tar.xz": ExtractMethod.TAR, "x.txz": ExtractMethod.TAR,
    "x.zip": ExtractMethod.ZIP, "x.tar.zip": ExtractMethod.ZIP, "x.gz": ExtractMethod.GZIP,
    "x.bz2": ExtractMethod.BZIP2, "x.xz": ExtractMethod.XZ, "x.csv": ExtractMethod.NO_EXTRACT,
    "x.gz.part": ExtractMethod.NO_EXTRACT, "targz": ExtractMethod.NO_EXTRACT,
}  # fmt: skip


@pytest.mark.parametrize(("name", "method"), NAMES.items())
def test_names_tell_how_a_file_is_packed(name, method):
    assert guess_extract_method(name) is method


def test_which_files_count(tmp_path):
    members = [
        (name, b"") for name in ("./a", "b/../c", ".hidden/x", "d/.x", "e~", "d/.y/z", "f//g")
    ]
    assert sorted(unpack(tmp_path, "x.tar", tar_of(*members))) == ["a", "c", "d/.y/z", "f/g"]
    assert [name for name, _ in iter_zip(io.BytesIO(zip_of(*members)))] == [
        "a", "c", "d/.y/z", "f/g"
    ]  # fmt: skip


def test_members_are_read_as_they_come(tmp_path):
    (tmp_path / "x.tar.gz").write_bytes(gzip.compress(tar_of(*FILES.items())))
    found = iter_archive(tmp_path / "x.tar.gz", ExtractMethod.TAR_GZ)
    assert {name: file.read() for name, file in found} == FILES
    for name, file in iter_archive(tmp_path / "x.tar.gz", ExtractMethod.TAR_GZ_STREAM):
        assert file.read(3) == FILES[name][:3]
    with pytest.raises(InvalidArgumentError, match="is no archive that can be read"):
        iter_archive(tmp_path / "x.csv", ExtractMethod.NO_EXTRACT)


@pytest.mark.parametrize("stream", [False, True])
def test_archives_within_archives(stream):
    inner = gzip.compress(tar_of(*FILES.items()))
    outer = io.BytesIO(tar_of(("one.tar.gz", inner), ("two.zip", zip_of(*FILES.items()))))
    files = iter_tar(outer, stream=stream)
    assert {name: file.read() for name, file in iter_tar(next(files)[1], stream=True)} == FILES
    _, file = next(files)
    assert {name: file.read() for name, file in iter_zip(io.BytesIO(file.read()))} == FILES


# Harm.

OUTSIDE = ["../x", "/x", "a/../../x", "..", "/", "a/../../../../../../tmp/x", "//x"]


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize("ending", [".tar", ".tar.gz", ".zip"])
def test_files_outside_of_the_folder(tmp_path, name, ending):
    pack = zip_of if ending == ".zip" else tar_of
    data = pack(("good", b"1"), (name, b"harm"))
    if ending == ".zip" and name.endswith("/"):
        pytest.skip("this is a folder")
    data = gzip.compress(data) if ending == ".tar.gz" else data
    assert refused(tmp_path, f"x{ending}", data) == (
        f"the archive has a file {name!r} that would lie outside of its folder\n"
        f"  at: {tmp_path}/x{ending}\n"
        "  hint: do not trust it; get it from another place, or extract it by hand"
    )


def test_links_give_what_they_mean_within_the_archive(tmp_path, caplog):
    data = tar_of(
        ("a", b"alpha"),
        special("hard", tarfile.LNKTYPE, "a"),
        special("b/soft", tarfile.SYMTYPE, "../a"),
        special("out", tarfile.SYMTYPE, "/etc/passwd"),
        special("up", tarfile.SYMTYPE, "../../../../etc/passwd"),
        special("hard_out", tarfile.LNKTYPE, "/etc/passwd"),
        special("self", tarfile.SYMTYPE, "self"),
        special("one", tarfile.SYMTYPE, "two"),
        special("two", tarfile.SYMTYPE, "one"),
        special("folder", tarfile.SYMTYPE, "/tmp"),
    )
    with caplog.at_level(logging.WARNING, "featurekit"):
        got = unpack(tmp_path, "x.tar", data)
    assert got == {"a": b"alpha", "hard": b"alpha", "b/soft": b"alpha"}
    said = [record.getMessage() for record in caplog.records]
    assert said[0] == f"{tmp_path}/x.tar: skipped 'out', a link to '/etc/passwd'"
    assert [line.split("'")[1] for line in said] == [
        "out", "up", "hard_out", "self", "one", "two", "folder"
    ]  # fmt: skip


def test_a_link_is_no_way_out(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    link = special("way", tarfile.SYMTYPE, str(tmp_path / "elsewhere"))
    (tmp_path / "work").mkdir()
    assert unpack(tmp_path / "work", "x.tar", tar_of(link, ("way/harm", b"1"))) == {
        "way/harm": b"1"
    }
    assert os.listdir(tmp_path / "elsewhere") == []


def test_a_link_is_skipped_where_it_cannot_be_followed(tmp_path, caplog):
    data = tar_of(("a", b"alpha"), special("soft", tarfile.SYMTYPE, "a"), ("b", b"beta"))
    with caplog.at_level(logging.WARNING, "featurekit"):
        got = unpack(tmp_path, "x.tar", data, ExtractMethod.TAR_STREAM)
    assert got == {"a": b"alpha", "b": b"beta"}
    assert len(caplog.records) == 1


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_devices_are_skipped(tmp_path, caplog, kind):
    with caplog.at_level(logging.WARNING, "featurekit"):
        assert unpack(tmp_path, "x.tar", tar_of(special("dev", kind), ("a", b"1"))) == {"a": b"1"}
    assert caplog.records[0].getMessage() == (f"{tmp_path}/x.tar: skipped 'dev', a device or pipe")


def test_a_file_that_is_a_folder_too(tmp_path):
    (tmp_path / "x.tar").write_bytes(tar_of(("a", b"1"), ("a/b", b"2")))
    with pytest.raises(WriteError, match="cannot write: "):
        extract(tmp_path / "x.tar", ExtractMethod.TAR, tmp_path / "out", max_expansion=250)
    assert os.listdir(tmp_path) == ["x.tar"]


@pytest.fixture
def small_limits(monkeypatch):
    """As if a gigabyte were 100 kB: what is always allowed."""
    monkeypatch.setattr(archive_stream, "_ALWAYS_ALLOWED", 100_000)


BOMBS = {
    "x.zip": zip_of(("zeros", bytes(5_000_000))),
    "x.gz": gzip.compress(bytes(5_000_000)),
    "x.bz2": bz2.compress(bytes(5_000_000)),
    "x.xz": lzma.compress(bytes(5_000_000)),
    "x.tar.gz": gzip.compress(tar_of(("zeros", bytes(5_000_000)))),
    "x.tar.bz2": bz2.compress(tar_of(("zeros", bytes(5_000_000)))),
    "x.tar.xz": lzma.compress(tar_of(("zeros", bytes(5_000_000)))),
}


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.usefixtures("small_limits")
def test_bombs(tmp_path, name):
    message = refused(tmp_path, name, BOMBS[name])
    assert message.startswith("the archive unpacks to more than ")
    assert "if it is to be trusted, " in message
    assert unpack(tmp_path, "y.zip", BOMBS["x.zip"], max_expansion=2000) == {
        "zeros": bytes(5_000_000)
    }


@pytest.mark.usefixtures("small_limits")
def test_a_whole_message_about_a_bomb(tmp_path):
    size = len(BOMBS["x.zip"])
    limit = max(100_000, 250 * size)
    assert refused(tmp_path, "x.zip", BOMBS["x.zip"]) == (
        f"the archive unpacks to more than {limit} bytes, though it has {size}\n"
        f"  at: {tmp_path}/x.zip\n"
        "  hint: if it is to be trusted, raise max_expansion= of DownloadConfig"
    )


@pytest.mark.usefixtures("small_limits")
def test_many_files_count_too(tmp_path):
    data = gzip.compress(tar_of(*((f"{i}", b"") for i in range(3000))))
    assert "unpacks to more than" in refused(tmp_path, "x.tar.gz", data, max_expansion=2)


@pytest.mark.usefixtures("small_limits")
def test_many_links_to_a_large_file(tmp_path):
    links = (special(f"l{i}", tarfile.LNKTYPE, "a") for i in range(100))
    data = tar_of(("a", random.Random(0).randbytes(50_000)), *links)
    assert "unpacks to more than" in refused(tmp_path, "x.tar", data, max_expansion=2)


def sparse_tar(size):
    """A tar archive with a file of one hole of that size."""
    info = tarfile.TarInfo("hole")
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    header[156:157] = tarfile.GNUTYPE_SPARSE
    header[386:398] = b"%011o\0" % 0
    header[398:410] = b"%011o\0" % 0
    header[483:495] = b"%011o\0" % size
    header[148:156] = b"%06o\0 " % (sum(header[:148]) + sum(header[156:]) + 8 * 32)
    return bytes(header) + bytes(1024)


@pytest.mark.usefixtures("small_limits")
def test_holes(tmp_path):
    assert unpack(tmp_path, "y.tar", sparse_tar(50_000)) == {"hole": bytes(50_000)}
    data = sparse_tar(2**32)
    with pytest.raises(ArchiveError, match="unpacks to more than"):
        unpack(tmp_path, "x.tar", data, max_expansion=2)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_headers_of_any_length_are_not_read(tmp_path, pack):
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 2**33
    data = pack(info.tobuf(tarfile.GNU_FORMAT) + bytes(10_000))
    ending = ".tar" if pack is bytes else ".tar.gz"
    assert refused(tmp_path, f"x{ending}", data) == (
        f"a member of the archive has a header of {2**33} bytes\n"
        f"  at: {tmp_path}/x{ending}\n"
        "  hint: do not trust it; get it from another place"
    )


# Damage.


def damaged():
    rng = random.Random(1)
    whole = {
        "x.zip": zip_of(*FILES.items()),
        "x.tar": tar_of(*FILES.items()),
        **{f"x{end}": pack(tar_of(*FILES.items())) for end, pack in PACKERS.items()},
        "x.gz": gzip.compress(b"text" * 100),
        "x.bz2": bz2.compress(b"text" * 100),
        "x.xz": lzma.compress(b"text" * 100),
    }
    for name, data in whole.items():
        yield name, b""
        yield name, rng.randbytes(500)
        yield name, data[: len(data) // 2]
        yield name, data[: min(len(data), 20)]
        for _ in range(4):
            copy = bytearray(data)
            copy[rng.randrange(min(len(copy), 600))] ^= 1 << rng.randrange(8)
            yield name, bytes(copy)


@pytest.mark.parametrize(
    ("name", "data"), list(damaged()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_damaged_archives(tmp_path, name, data):
    """Each is refused with nothing left of it, or is whole in what was not damaged."""
    error = None
    try:
        unpack(tmp_path, name, data)
    except ArchiveError as caught:
        error = caught
    if error is not None:
        assert error.file == str(tmp_path / name)
        assert not (tmp_path / "out").exists() or os.listdir(tmp_path / "out") == []


def test_a_whole_message_about_damage(tmp_path):
    assert refused(tmp_path, "x.zip", b"no zip") == (
        f"the archive cannot be read: File is not a zip file\n  at: {tmp_path}/x.zip\n"
        "  hint: it may be damaged, or packed in another way: download it again, or state "
        "Resource(extract_method=)"
    )


def test_a_wrong_checksum_in_a_zip(tmp_path):
    data = bytearray(zip_of(("a", b"alpha" * 100)))
    place = data.index(b"PK\x01\x02") + 16
    data[14:18] = data[place : place + 4] = struct.pack("<I", 5)
    assert "Bad CRC-32 for file 'a'" in refused(tmp_path, "x.zip", bytes(data))


def test_an_encrypted_zip(tmp_path):
    data = bytearray(zip_of(("a", b"alpha")))
    place = data.index(b"PK\x01\x02") + 8
    data[6] |= 1
    data[place] |= 1
    assert "password required" in refused(tmp_path, "x.zip", bytes(data))


def test_the_archive_must_exist():
    with pytest.raises(FileNotFoundError):
        list(iter_archive(pathlib.Path("none.tar"), ExtractMethod.TAR))
