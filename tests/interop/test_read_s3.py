"""Datasets in S3: a server on this machine, its requests counted."""

import socket

import pytest
import training_data

import featurekit as fk

server = pytest.importorskip("moto.server", reason="moto is not installed")
s3fs = pytest.importorskip("s3fs", reason="s3fs is not installed")

pytestmark = [
    # JAX, where another test has used it, warns of every fork.
    pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=False)
    running.start()
    for name, value in (
        ("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}"), ("AWS_ACCESS_KEY_ID", "a"),
        ("AWS_SECRET_ACCESS_KEY", "b"), ("AWS_DEFAULT_REGION", "us-east-1"),
        ("FEATUREKIT_CACHE_DIR", ""),
    ):  # fmt: skip
        patch.setenv(name, value)
    folder = tmp_path_factory.mktemp("s3")
    training_data.write(folder)
    filesystem = s3fs.S3FileSystem()
    filesystem.mkdir("bucket")
    filesystem.put(str(folder / "training"), "bucket/training", recursive=True)
    yield folder
    running.stop()
    patch.undo()


@pytest.fixture
def requests(monkeypatch):
    """The ranges that were asked for, of record files."""
    asked = []
    fetch = s3fs.S3FileSystem._cat_file

    async def counted(self, path, version_id=None, start=None, end=None, **options):
        if "tfrecord" in path and not path.endswith("fkindex"):
            asked.append((start, end))
        return await fetch(self, path, version_id=version_id, start=start, end=end, **options)

    monkeypatch.setattr(s3fs.S3FileSystem, "_cat_file", counted)
    s3fs.S3FileSystem.clear_instance_cache()
    return asked


def test_a_dataset_in_s3(store, requests):
    local = fk.load("training", "train", data_dir=store)
    source = fk.load("training", "train", data_dir="s3://bucket")
    assert [int(one["id"]) for one in source] == [int(one["id"]) for one in local]
    assert len(requests) == 5  # one a file
    ids = [int(one["id"]) for one in source.shuffle(3)]
    assert ids == [int(one["id"]) for one in local.shuffle(3)]
    again = fk.load("training", "train", data_dir="s3://bucket")
    again[0]
    requests.clear()
    again[[7, 3, 4, 30]].batches(4)[0]
    # Records that follow one another are one request, and none is larger than what it is for.
    sizes = sorted(end - start for start, end in requests)
    assert len(sizes) == 3
    assert sum(sizes) < 4 * 1000
