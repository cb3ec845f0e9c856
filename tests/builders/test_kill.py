"""A build that is killed leaves nothing that reads as a dataset, and the next one succeeds.

The build is killed at every point where it touches the file system, in a forked process
with an audit hook.
"""

import os
import signal
import sys

import pytest

import featurekit as fk
from featurekit.builders.spill import MAX_OPEN_RUNS
from featurekit.builders.writer import SplitWriter
from featurekit.errors import DatasetNotFoundError

WATCHED = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "fcntl.flock",
           "shutil.rmtree", "os.fork")  # fmt: skip


class Toy(fk.GeneratorBasedBuilder, skip_registration=True):
    VERSION = fk.Version("1.0.0")
    count = 40

    def _info(self):
        features = fk.FeaturesDict({"x": fk.Text(), "label": fk.ClassLabel(names=["a", "b"])})
        return fk.DatasetInfo(builder=self, features=features, license="MIT", metadata={"a": 1})

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples()}

    def _generate_examples(self):
        for index in range(self.count):
            yield index, {"x": "x" * 500, "label": index % 2}


class Longer(Toy, skip_registration=True):
    name = "toy"
    count = 41


def build(cls, folder, **options):
    cls(data_dir=folder).download_and_prepare(num_shards=2, quiet=True, **options)


def build_until_killed(number, folder, options):
    """Build in a forked process that is killed at the given event; whether it was."""
    process = os.fork()
    if process == 0:
        try:
            countdown = iter(range(number, 0, -1))

            def audit(event, arguments):
                if event in WATCHED and next(countdown, None) == 1:
                    os.kill(os.getpid(), signal.SIGKILL)

            sys.addaudithook(audit)
            build(Longer, folder, **options)
        finally:
            os._exit(0)
    _, status = os.waitpid(process, 0)
    return os.WIFSIGNALED(status)


def count(folder):
    """Number of examples of the dataset; 0 where there is none."""
    try:
        return len(list(fk.load("toy", "train", data_dir=folder)))
    except DatasetNotFoundError:
        return 0


def names(folder):
    return sorted(os.listdir(folder / "toy")) if os.path.exists(folder / "toy") else []


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch):
    """The process is killed, not the machine."""
    monkeypatch.setattr("os.fsync", lambda descriptor: None)


@pytest.fixture
def small_memory(monkeypatch):
    """Let a build spill to disk, and merge what it spilled."""
    defaults = SplitWriter.__init__.__kwdefaults__
    buffer_bytes = 40 * 700 // (MAX_OPEN_RUNS + 4)
    monkeypatch.setitem(defaults, "max_buffer_bytes", buffer_bytes)


@pytest.mark.usefixtures("small_memory")
@pytest.mark.parametrize(("num_processes", "step"), [(1, 3), (2, 11)])
def test_a_new_build(tmp_path, num_processes, step):
    number, folder = 1, tmp_path / "1"
    while build_until_killed(number, folder, {"num_processes": num_processes}):
        found = count(folder)
        assert found == 0 or ("1.0.0" in names(folder) and found == 41)  # killed after the rename
        build(Toy, folder, overwrite=bool(found))
        assert count(folder) == 40
        assert names(folder) == ["1.0.0"]
        number += step
        folder = tmp_path / str(number)
    assert number > 60
    assert count(folder) == 41


def test_a_build_in_place_of_another_one(tmp_path):
    number, found = 1, set()
    build(Toy, tmp_path)
    while build_until_killed(number, tmp_path, {"overwrite": True}):
        found.add(count(tmp_path))
        build(Toy, tmp_path, overwrite=True)
        assert count(tmp_path) == 40
        assert names(tmp_path) == ["1.0.0"]
        number += 1
    assert found == {0, 40, 41}  # 0 between two renames: the next build brings the old one back
    assert count(tmp_path) == 41


def test_a_build_between_the_renames_is_brought_back(tmp_path):
    number = 1
    build(Toy, tmp_path)
    while build_until_killed(number, tmp_path, {"overwrite": True}) and count(tmp_path):
        number += 1
    assert count(tmp_path) == 0
    with pytest.raises(fk.errors.BuildError, match="there is a dataset already"):
        # Not by is_prepared: the folder is seen only after the lock is taken.
        build(Toy, tmp_path)
    assert count(tmp_path) == 40
