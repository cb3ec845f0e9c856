"""TFDS finds what we downloaded, extracted and recorded, and we find what it did."""

import gzip
import io
import json
import pathlib
import tarfile
import zipfile

import pytest
from web import serving

from featurekit.builders.checksums import load_url_infos, save_url_infos
from featurekit.builders.download import DownloadManager

pytest.importorskip("tensorflow", reason="TensorFlow is not installed")
tfds = pytest.importorskip("tensorflow_datasets", reason="TFDS is not installed")

pytestmark = pytest.mark.filterwarnings("ignore")

FILES = {"a.txt": b"alpha", "b/c.txt": b"beta", ".hidden": b"", "d/e~": b""}


def tar():
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as packed:
        for name, content in FILES.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            packed.addfile(info, io.BytesIO(content))
    return data.getvalue()


def zipped():
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as packed:
        for name, content in FILES.items():
            packed.writestr(name, content)
    return data.getvalue()


ANSWERS = {
    "/x/data.zip": zipped(),
    "/x/data.tar": tar(),
    "/x/train-00001-of-00002.tar.gz": gzip.compress(tar(), mtime=0),
    "/numbers.csv.gz": gzip.compress(b"1,2\n", mtime=0),
    "/plain.txt": b"plain",
}


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving(ANSWERS) as server:
        yield server


def ours(folder, **options):
    return DownloadManager(download_dir=folder, dataset_name="pets", **options)


def theirs(folder, **options):
    return tfds.download.DownloadManager(download_dir=str(folder), dataset_name="pets", **options)


def tree(folder):
    """All files below a folder; notes as the values in them."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            found[str(path.relative_to(folder))] = (
                json.loads(data) if path.suffix == ".INFO" else data
            )
    return found


def test_both_leave_the_same_files(server, tmp_path):
    urls = [server.url + path for path in ANSWERS]
    made = []
    for make, name in ((ours, "ours"), (theirs, "theirs")):
        folder = tmp_path / name
        checksums = tmp_path / f"{name}.tsv"
        make(folder / "plain").download_and_extract(urls)
        recording = {"register_checksums": True, "register_checksums_path": checksums}
        manager = make(folder / "recorded", **recording)
        paths = manager.download_and_extract({"all": urls})["all"]
        relative = [str(pathlib.Path(path).relative_to(folder)) for path in paths]
        made.append((tree(folder), checksums.read_text(), relative, manager.downloaded_size))
    assert made[0] == made[1]


@pytest.mark.parametrize(("first", "second"), [(ours, theirs), (theirs, ours)])
def test_each_uses_what_the_other_downloaded(server, tmp_path, first, second):
    urls = [server.url + path for path in ANSWERS]
    before = [str(path) for path in first(tmp_path).download_and_extract(urls)]
    asked = len(server.requests)
    assert [str(path) for path in second(tmp_path).download_and_extract(urls)] == before
    assert len(server.requests) == asked


def test_checksums_are_read_by_both(server, tmp_path):
    from tensorflow_datasets.core.download import checksums

    url = f"{server.url}/plain.txt"
    path = tmp_path / "checksums.tsv"
    ours(tmp_path / "d", register_checksums=True, register_checksums_path=path).download(url)
    infos = checksums.load_url_infos(path)
    assert infos[url].size == 5
    assert infos[url].checksum == load_url_infos(path)[url].checksum
    before = path.read_text()
    checksums.save_url_infos(tmp_path / "again.tsv", infos)
    save_url_infos(path, load_url_infos(path))
    assert (tmp_path / "again.tsv").read_text() == path.read_text() == before
