"""Downloads: what comes and what does not, what is kept, and checksums."""

import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import resource
import zipfile

import fsspec
import pytest
from web import give, raw, redirect, serving

from featurekit.builders.checksums import UrlInfo, load_url_infos, save_url_infos
from featurekit.builders.download import DownloadManager
from featurekit.builders.download_cache import cache_name
from featurekit.builders.extract import ExtractMethod
from featurekit.builders.resource import Resource
from featurekit.errors import (
    BuildError,
    ChecksumError,
    DownloadError,
    InvalidArgumentError,
    InvalidNameError,
    InvalidTypeError,
    MissingFileError,
    UnsupportedError,
    WriteError,
)

BODY = b"what there is to download\n" * 100
SHA = hashlib.sha256(BODY).hexdigest()
INFO = UrlInfo(len(BODY), SHA, "file.txt")


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving({"/file.txt": BODY, "/other.txt": b"other"}) as server:
        yield server


@pytest.fixture
def manager(tmp_path):
    return DownloadManager(download_dir=tmp_path, dataset_name="pets")


def failure(error_type, function, *args):
    with pytest.raises(error_type) as caught:
        function(*args)
    return str(caught.value)


def files(folder):
    return sorted(str(p.relative_to(folder)) for p in pathlib.Path(folder).rglob("*"))


# Names of files.

NAMES = pathlib.Path(__file__).parent.parent / "data" / "downloads" / "cache_names.json"


@pytest.mark.parametrize(("url", "checksum", "name"), json.loads(NAMES.read_text("utf-8")))
def test_files_are_called_as_tfds_calls_them(url, checksum, name):
    assert cache_name(url, checksum) == name


# What comes.


def test_a_file_comes_once(server, manager, tmp_path):
    url = f"{server.url}/file.txt"
    path = manager.download(url)
    assert path == tmp_path / "pets" / cache_name(url)
    assert path.read_bytes() == BODY
    assert json.loads((tmp_path / "pets" / f"{path.name}.INFO").read_text()) == {
        "dataset_names": ["pets"],
        "original_fname": "file.txt",
        "url_info": {"checksum": SHA, "filename": "file.txt", "size": len(BODY)},
        "urls": [url],
    }
    assert len(files(tmp_path)) == 3
    again = DownloadManager(download_dir=tmp_path, dataset_name="pets")
    assert manager.download(url) == again.download(url) == path
    assert server.requests == ["/file.txt"]
    assert manager.downloaded_size == again.downloaded_size == len(BODY)
    assert server.headers[0]["User-Agent"].startswith("featurekit/")


def test_the_form_of_what_is_asked_for_is_kept(server, manager):
    one, two = f"{server.url}/file.txt", f"{server.url}/other.txt"
    got = manager.download({"a": one, "b": [two, (Resource(url=one),)], "c": []})
    first, second = manager.download(one), manager.download(two)
    assert got == {"a": first, "b": [second, (first,)], "c": []}
    assert len(server.requests) == 2
    assert manager.downloaded_size == len(BODY) + 5


def test_a_resource_can_have_a_folder(server, manager, tmp_path):
    url = f"{server.url}/file.txt"
    path = manager.download(Resource(url=url, relative_download_dir="train/a"))
    assert path.parent == tmp_path / "pets" / "train" / "a"
    assert "leave" in failure(
        InvalidNameError, lambda: Resource(url=url, relative_download_dir="../a")
    )


@pytest.mark.parametrize("given", [5, None, b"http://x", 1.5])
def test_what_is_no_url_is_refused(manager, given):
    assert failure(InvalidTypeError, manager.download, given) == (
        f"expected a URL, got {given!r}\n"
        "  hint: give text, a path, a Resource, or lists and dicts of them"
    )


def test_a_resource_without_a_url(manager):
    assert "the resource has no URL" in failure(
        InvalidArgumentError, manager.download, Resource(path="x")
    )
    assert "the resource has no path" in failure(
        InvalidArgumentError, manager.extract, Resource(url="x")
    )


@pytest.mark.parametrize("form", ["path", "file:", "file:localhost", "pathlib"])
def test_files_of_this_machine(manager, tmp_path, form):
    source = tmp_path / "a b.txt"
    source.write_bytes(BODY)
    quoted = str(source).replace(" ", "%20")
    given = {"path": str(source), "file:": f"file://{quoted}", "pathlib": source,
             "file:localhost": f"file://localhost{quoted}"}[form]  # fmt: skip
    path = manager.download(given)
    assert path != source
    assert path.read_bytes() == BODY


def test_files_through_fsspec(manager):
    fsspec.filesystem("memory").pipe("/some/thing.csv", BODY)
    path = manager.download("memory://some/thing.csv")
    assert path.read_bytes() == BODY
    assert path.suffix == ".csv"


def test_redirects_are_followed(server, manager):
    server.answers["/old"] = redirect("/newer", 301)
    server.answers["/newer"] = redirect(f"{server.url}/file.txt", 307)
    path = manager.download(f"{server.url}/old")
    assert path.read_bytes() == BODY
    assert path.name == cache_name(f"{server.url}/old")
    assert json.loads(path.with_name(f"{path.name}.INFO").read_text())["original_fname"] == (
        "file.txt"
    )


@pytest.mark.parametrize(
    ("stated", "name"),
    [
        ('attachment; filename="data.tar.gz"', "data.tar.gz"),
        ("attachment; filename=data.zip; size=3", "data.zip"),
        ('attachment; filename="../../etc/passwd"', "passwd"),
        ('attachment; filename=".."', "get"),
        ("inline", "get"),
        ("attachment; filename*=UTF-8''x.zip", "get"),
        (f'attachment; filename="{"long" * 100}.zip"', ("long" * 100 + ".zip")[-200:]),
    ],
)
def test_the_server_can_say_the_name(server, manager, stated, name):
    server.answers["/get"] = give(BODY, Content_Disposition=stated)
    path = manager.download(f"{server.url}/get")
    info = json.loads(path.with_name(f"{path.name}.INFO").read_text())
    assert info["original_fname"] == info["url_info"]["filename"] == name
    assert path.read_bytes() == BODY


def test_a_body_of_unknown_length(server, manager):
    server.answers["/x"] = give(BODY, length="none")
    assert manager.download(f"{server.url}/x").read_bytes() == BODY


def test_a_body_that_the_server_packed(server, manager):
    server.answers["/x.csv"] = give(gzip.compress(BODY), Content_Encoding="gzip")
    assert manager.download(f"{server.url}/x.csv").read_bytes() == BODY


def test_odd_characters_in_a_url(server, manager):
    server.answers["/a%20b/%C3%BC.txt?x=%41&y=z%20"] = BODY
    path = manager.download(f"{server.url}/a b/ü.txt?x=%41&y=z ")
    assert path.read_bytes() == BODY


# What does not come.

ANSWERS = {
    "404": (None, "the server answers 404 Not Found"),
    "500": (give(b"", 500), "the server answers 500 Internal Server Error"),
    "loop": (redirect("/x"), "the server answers 302 The HTTP server returned a redirect error"),
    "cut": (give(b"part", length=100), "it ended after 4 of 100 bytes"),
    "cut chunks": (
        raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\npart"),
        "it ended too early",
    ),
    "cut gzip": (give(gzip.compress(BODY)[:-20], Content_Encoding="gzip"), "it ended too early"),
    "no gzip": (give(BODY, Content_Encoding="gzip"), "Not a gzipped file"),
    "nonsense": (raw(b"hello\r\n\r\n"), "hello"),
    "nothing": (raw(b""), "Remote end closed connection without response"),
    "to a file": (redirect("file:///etc/passwd"), "302 Found - Redirection to url 'file:///etc"),
}


@pytest.mark.parametrize(("answer", "reason"), ANSWERS.values(), ids=ANSWERS.keys())
def test_a_file_that_does_not_come(server, manager, tmp_path, answer, reason):
    server.answers["/x"] = answer
    url = f"{server.url}/x"
    message = failure(DownloadError, manager.download, url)
    first, hint = message.split("\n")[0], message.split("\n")[-1]
    assert first.startswith(f"{url} cannot be downloaded: ")
    assert reason in message
    assert hint in (
        "  hint: check the URL and the network, or get the file by hand",
        "  hint: download it again",
    )
    assert files(tmp_path) == ["pets"]
    server.answers["/x"] = BODY
    assert manager.download(url).read_bytes() == BODY


def test_whole_messages(server, manager):
    assert failure(DownloadError, manager.download, f"{server.url}/none") == (
        f"{server.url}/none cannot be downloaded: the server answers 404 Not Found\n"
        "  hint: check the URL and the network, or get the file by hand"
    )
    server.answers["/old"] = redirect("/none")
    assert failure(DownloadError, manager.download, f"{server.url}/old") == (
        f"{server.url}/old cannot be downloaded: the server answers 404 Not Found at "
        f"{server.url}/none\n  hint: check the URL and the network, or get the file by hand"
    )


def test_a_server_that_is_not_there(server, manager):
    url = server.url
    server.close()
    message = failure(DownloadError, manager.download, f"{url}/x")
    assert "Connection refused" in message
    server.close = lambda: None


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("file:///no/such/file", "there is no such file\n  hint: check the path"),
        ("/no/such/file", "there is no such file\n  hint: check the path"),
        ("file://elsewhere/x", "the file lies on 'elsewhere'\n  hint: write file:///path"),
        ("/tmp", "this is no regular file\n  hint: give the path of one file"),
        ("/dev/zero", "this is no regular file\n  hint: give the path of one file"),
        ("nosuchscheme://x/y", "Protocol not known: nosuchscheme"),
        ("http://", "no host given"),
    ],
)
def test_urls_of_nothing(manager, url, reason):
    message = failure(DownloadError, manager.download, url)
    assert message.startswith(f"{url} cannot be downloaded: {reason}")


def test_a_full_disk_is_an_error(server, manager, tmp_path):
    server.answers["/big"] = bytes(3_000_000)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))
    try:
        message = failure(WriteError, manager.download, f"{server.url}/big")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert message.startswith("cannot write: File too large\n  at: ")
    assert files(tmp_path) == ["pets"]


def test_google_drive_asks_in_a_page(server, manager, monkeypatch):
    monkeypatch.setattr("featurekit.builders.fetching._DRIVE", re.compile(re.escape(server.url)))
    server.answers["/uc"] = give(b"<html>", Content_Type="text/html; charset=utf-8")
    assert "Google Drive wants it confirmed in a browser" in failure(
        DownloadError, manager.download, f"{server.url}/uc"
    )
    server.answers["/uc"] = give(
        BODY, Content_Type="text/html", Content_Disposition="attachment; filename=a.html"
    )
    assert manager.download(f"{server.url}/uc").read_bytes() == BODY


# What is kept.


def test_a_file_without_a_note_is_not_whole(server, manager, tmp_path):
    url = f"{server.url}/file.txt"
    (tmp_path / "pets").mkdir()
    (tmp_path / "pets" / cache_name(url)).write_bytes(b"part")
    assert manager.download(url).read_bytes() == BODY


@pytest.mark.parametrize("note", ["", "[]", "{}", '{"url_info": 5}', '{"url_info": {"size": 1}}'])
def test_a_damaged_note_counts_as_none(server, manager, tmp_path, note):
    url = f"{server.url}/file.txt"
    path = manager.download(url)
    path.with_name(f"{path.name}.INFO").write_text(note)
    DownloadManager(download_dir=tmp_path, dataset_name="pets").download(url)
    assert server.requests == ["/file.txt"] * 2


def test_a_file_of_another_size_is_downloaded_again(server, manager, tmp_path):
    url = f"{server.url}/file.txt"
    manager.download(url).write_bytes(b"changed")
    again = DownloadManager(download_dir=tmp_path, dataset_name="pets").download(url)
    assert again.read_bytes() == BODY


def test_downloads_are_shared(server, tmp_path):
    url = f"{server.url}/file.txt"
    path = DownloadManager(download_dir=tmp_path).download(url)  # TFDS's older place
    assert path.parent == tmp_path
    assert DownloadManager(download_dir=tmp_path, dataset_name="dogs").download(url) == path
    assert server.requests == ["/file.txt"]


def test_a_download_can_be_forced(server, manager, tmp_path):
    url = f"{server.url}/file.txt"
    manager.download(url)
    server.answers["/file.txt"] = b"new"
    forced = DownloadManager(download_dir=tmp_path, dataset_name="cats", force_download=True)
    assert forced.download(url).read_bytes() == forced.download(url).read_bytes() == b"new"
    assert server.requests == ["/file.txt"] * 2


# Checksums.


def checked(tmp_path, infos, **options):
    return DownloadManager(
        download_dir=tmp_path / "downloads", dataset_name="pets", url_infos=infos, **options
    )


def test_a_recorded_checksum_names_the_file(server, tmp_path):
    url = f"{server.url}/file.txt"
    path = checked(tmp_path, {url: INFO}).download(url)
    assert path.name == cache_name(url, SHA)
    assert checked(tmp_path, {url: INFO}).download(url) == path
    assert server.requests == ["/file.txt"]


def test_another_file_than_the_recorded_one_is_refused(server, tmp_path):
    url = f"{server.url}/file.txt"
    server.answers["/file.txt"] = b"changed"
    manager = checked(tmp_path, {url: INFO})
    got = hashlib.sha256(b"changed").hexdigest()
    assert failure(ChecksumError, manager.download, url) == (
        f"{url} gives another file than the recorded one: expected {len(BODY)} bytes with the "
        f"SHA-256 {SHA}, got 7 bytes with the SHA-256 {got}\n"
        "  hint: try again; if the file was changed on purpose, check it and record it anew: "
        "featurekit build --register-checksums"
    )
    assert files(tmp_path / "downloads") == ["pets"]
    server.answers["/file.txt"] = BODY
    assert manager.download(url).read_bytes() == BODY


def test_a_file_that_came_before_its_checksum_was_recorded(server, tmp_path):
    url = f"{server.url}/file.txt"
    path = checked(tmp_path, {}).download(url)
    assert checked(tmp_path, {url: INFO}).download(url) == path
    other = UrlInfo(5, "0" * 64)
    assert failure(ChecksumError, checked(tmp_path, {url: other}).download, url)
    assert server.requests == ["/file.txt"] * 2


def test_unrecorded_urls_can_be_refused(server, tmp_path):
    url = f"{server.url}/file.txt"
    manager = checked(tmp_path, {url: INFO}, force_checksums_validation=True)
    manager.download(url)
    assert failure(ChecksumError, manager.download, f"{server.url}/other.txt") == (
        f"no checksum is recorded for {server.url}/other.txt\n"
        "  hint: record it: featurekit build --register-checksums, or download without "
        "force_checksums_validation"
    )


def test_checksums_are_recorded(server, tmp_path):
    path = tmp_path / "checksums.tsv"
    path.write_text(f"# old\nhttps://example.org/z 3 {'a' * 64}\n")
    one, two = f"{server.url}/file.txt", f"{server.url}/other.txt"
    server.answers["/file.txt"] = BODY
    options = {"register_checksums": True, "register_checksums_path": path}
    manager = checked(tmp_path, {one: UrlInfo(1, "0" * 64)}, **options)
    assert manager.register_checksums
    assert manager.download(one).name == cache_name(one, SHA)
    manager.download(two)
    sha = hashlib.sha256(b"other").hexdigest()
    rows = [f"{one}\t{len(BODY)}\t{SHA}\tfile.txt\n", f"{two}\t5\t{sha}\tother.txt\n",
            f"https://example.org/z\t3\t{'a' * 64}\t\n"]  # fmt: skip
    assert path.read_text() == "".join(sorted(rows))
    assert checked(tmp_path, load_url_infos(path)).download([one, two])
    assert len(server.requests) == 2


def test_where_to_record_checksums_must_be_known(tmp_path):
    assert "it is not known where" in failure(
        InvalidArgumentError, lambda: checked(tmp_path, {}, register_checksums=True)
    )


def test_checksums_can_be_downloaded(server, manager):
    url = f"{server.url}/file.txt"
    server.answers["/SHA"] = f"{url}\t3\t{'0' * 64}\n".encode()
    manager.download_checksums(f"{server.url}/SHA")
    failure(ChecksumError, manager.download, url)


LINES = {
    "https://x 5": "expected 3 or 4 fields, got 2 in 'https://x 5'",
    "https://x\tfive\t" + "0" * 64: "a size is a number of bytes, not 'five'",
    "https://x\t5\t../../x": "a SHA-256 has 64 digits in lower case, not '../../x'",
    "a\t5\tb\tc\td": "expected 3 or 4 fields, got 5",
}


@pytest.mark.parametrize(("line", "reason"), LINES.items())
def test_lines_that_are_none(tmp_path, line, reason):
    path = tmp_path / "checksums.tsv"
    path.write_text(f"# comment\n\n{line}\n")
    message = failure(BuildError, load_url_infos, path)
    assert message.startswith(f"line 3 of the checksums is none: {reason}")
    assert message.endswith(
        f"  at: {path}\n  hint: write 'URL, size, SHA-256, file name' with tabs between, or have "
        "it written: featurekit build --register-checksums"
    )


def test_checksums_round_trip(tmp_path):
    infos = {"https://b": UrlInfo(1, "1" * 64, "ü.zip"), "https://a b": UrlInfo(0, "2" * 64)}
    path = tmp_path / "checksums.tsv"
    save_url_infos(path, infos)
    assert load_url_infos(path) == infos
    assert load_url_infos(path)["https://b"].filename == "ü.zip"
    path.write_bytes(b"\xff")
    assert "no UTF-8" in failure(BuildError, load_url_infos, path)
    failure(MissingFileError, load_url_infos, tmp_path / "none")


# Files got by hand.


def test_a_recorded_file_may_be_got_by_hand(server, tmp_path):
    url = f"{server.url}/file.txt"
    by_hand = tmp_path / "manual"
    by_hand.mkdir()
    (by_hand / "file.txt").write_bytes(BODY)
    manager = checked(tmp_path, {url: INFO}, manual_dir=by_hand)
    assert manager.download(url) == by_hand / "file.txt"
    assert server.requests == []
    (by_hand / "file.txt").write_bytes(b"changed")
    failure(ChecksumError, checked(tmp_path, {url: INFO}, manual_dir=by_hand).download, url)


def test_the_folder_of_files_got_by_hand(tmp_path):
    folder = tmp_path / "manual"
    how = """
    Register at https://example.org,
    and download train.zip.
    """
    manager = DownloadManager(download_dir=tmp_path, manual_dir=folder, manual_dir_instructions=how)
    wanted = (
        "the dataset needs files that must be got by hand:\n"
        "    Register at https://example.org,\n    and download train.zip.\n"
        f"  at: {folder}\n"
        "  hint: put them into this folder, or name another: featurekit build --manual-dir"
    )
    assert failure(MissingFileError, lambda: manager.manual_dir) == wanted
    folder.mkdir()
    assert failure(MissingFileError, lambda: manager.manual_dir) == wanted
    (folder / "train.zip").write_bytes(b"")
    assert manager.manual_dir == folder
    silent = DownloadManager(download_dir=tmp_path, manual_dir=folder)
    assert failure(BuildError, lambda: silent.manual_dir) == (
        "the builder asks for files got by hand, and does not say how to get them\n"
        "  hint: state MANUAL_DOWNLOAD_INSTRUCTIONS in its class"
    )
    assert "there is no folder" in failure(
        BuildError, lambda: DownloadManager(download_dir=tmp_path).manual_dir
    )


def test_kaggle_is_not_offered(manager):
    assert "by hand" in failure(UnsupportedError, manager.download_kaggle_data, "owner/data")


# Downloading archives.


def archive(**contents):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as packed:
        for name, content in contents.items():
            packed.writestr(name, content)
    return data.getvalue()


def test_archives_are_extracted_once(server, manager, tmp_path):
    server.answers["/a.zip"] = archive(x=b"1")
    url = f"{server.url}/a.zip"
    folder = manager.download_and_extract(url)
    assert folder == tmp_path / "extracted" / f"ZIP.{cache_name(url)}"
    assert (folder / "x").read_bytes() == b"1"
    (folder / "mark").write_bytes(b"")
    again = DownloadManager(download_dir=tmp_path, dataset_name="pets")
    assert again.extract(again.download(url)) == folder
    assert (folder / "mark").exists()
    forced = DownloadManager(download_dir=tmp_path, dataset_name="pets", force_extraction=True)
    for _ in range(2):
        assert forced.download_and_extract([url, f"{server.url}/file.txt"])[0] == folder
    assert files(folder) == ["x"]


def test_the_name_at_the_server_tells_how_a_file_is_packed(server, manager, tmp_path):
    data = archive(x=b"1")
    server.answers["/get"] = give(data, Content_Disposition="attachment; filename=a.zip")
    folder = manager.download_and_extract(f"{server.url}/get")
    assert folder.name.startswith("ZIP.")
    path = manager.download(f"{server.url}/get")
    assert [name for name, _ in manager.iter_archive(path)] == ["x"]


def test_a_resource_can_say_how_it_is_packed(server, manager):
    server.answers["/a"] = archive(x=b"1")
    server.answers["/b.zip"] = archive(y=b"2")
    packed = Resource(url=f"{server.url}/a", extract_method=ExtractMethod.ZIP)
    kept = Resource(url=f"{server.url}/b.zip", extract_method=ExtractMethod.NO_EXTRACT)
    got = manager.download_and_extract({"a": packed, "b": kept})
    assert files(got["a"]) == ["x"]
    assert got["b"].is_file()
    assert files(manager.extract({"b": got["b"]})["b"]) == ["y"]


def test_another_folder_for_what_is_extracted(server, tmp_path):
    server.answers["/a.zip"] = archive(x=b"1")
    manager = DownloadManager(download_dir=tmp_path / "d", extract_dir=tmp_path / "e")
    assert manager.download_and_extract(f"{server.url}/a.zip").parent == tmp_path / "e"


def test_what_is_no_archive_stays_as_it_is(manager, tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"1,2")
    assert manager.extract({"a": [str(path)]}) == {"a": [path]}
    assert "is no archive" in failure(InvalidArgumentError, manager.iter_archive, path)
    message = failure(MissingFileError, manager.extract, tmp_path / "none.zip")
    assert message == f"the archive does not exist\n  at: {tmp_path / 'none.zip'}"


def test_the_folder_of_downloads_exists(tmp_path):
    assert DownloadManager(download_dir=tmp_path / "a" / "b").download_dir.is_dir()
    assert os.path.isdir(tmp_path / "a" / "b")
