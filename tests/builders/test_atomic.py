import json
import os
import random
import subprocess
import sys
import threading

import pytest

from featurekit.builders import atomic
from featurekit.builders.atomic import atomic_directory
from featurekit.errors import BuildError, WriteError


def build(target, text="whole", **options):
    with atomic_directory(target, **options) as folder:
        (folder / "sub").mkdir()
        (folder / "sub/data").write_text(text)
        (folder / "dataset_info.json").write_text(text)


def names(folder):
    return sorted(os.listdir(folder))


def content(target):
    return [(target / name).read_text() for name in ("sub/data", "dataset_info.json")]


def test_folder_appears_when_it_is_complete(tmp_path):
    target = tmp_path / "pets" / "1.0.0"
    with atomic_directory(target) as folder:
        assert folder.parent == target.parent
        assert not target.exists()
        assert set(names(target.parent)) == {folder.name, "incomplete.1.0.0.lock"}
        (folder / "data").write_text("whole")
    assert names(target.parent) == ["1.0.0"]
    assert names(target) == ["data"]


def test_temporary_name_is_that_of_tfds(tmp_path):
    with atomic_directory(tmp_path / "1.0.0") as folder:
        assert folder.name.startswith("incomplete.")
        assert folder.name.endswith("_1.0.0")
        assert len(folder.name) == len("incomplete.ABC123_1.0.0")


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_nothing_is_left_after_an_exception(tmp_path, error):
    def fail():
        with atomic_directory(tmp_path / "1.0.0") as folder:
            (folder / "data").write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert names(tmp_path) == []


def test_permissions_follow_the_umask(tmp_path):
    old = os.umask(0o027)
    try:
        build(tmp_path / "1.0.0")
    finally:
        os.umask(old)
    assert (tmp_path / "1.0.0").stat().st_mode & 0o777 == 0o750


def test_existing_folder_is_kept(tmp_path):
    target = tmp_path / "1.0.0"
    build(target, "old")
    with pytest.raises(BuildError) as caught:
        build(target, "new")
    assert str(caught.value) == (
        f"there is a dataset already\n  at: {target}\n  hint: load it, or build with overwrite"
    )
    assert content(target) == ["old", "old"]
    assert names(tmp_path) == ["1.0.0"]


def test_existing_folder_is_replaced_on_request(tmp_path):
    target = tmp_path / "1.0.0"
    build(target, "old")
    (target / "extra").write_text("old")
    build(target, "new", overwrite=True)
    assert content(target) == ["new", "new"]
    assert names(target) == ["dataset_info.json", "sub"]
    assert names(tmp_path) == ["1.0.0"]


def test_existing_folder_survives_a_failed_replacement(tmp_path):
    target = tmp_path / "1.0.0"
    build(target, "old")
    with pytest.raises(RuntimeError), atomic_directory(target, overwrite=True):
        raise RuntimeError
    assert content(target) == ["old", "old"]
    assert names(tmp_path) == ["1.0.0"]


def test_existing_folder_comes_back_when_renaming_fails(tmp_path, monkeypatch):
    target = tmp_path / "1.0.0"
    build(target, "old")
    rename = os.rename

    def fail_for_new(source, destination):
        if (
            destination == target
            and "dataset_info.json" in names(source)
            and content(source)[0] == "new"
        ):
            raise PermissionError(13, "Permission denied")
        rename(source, destination)

    monkeypatch.setattr(atomic.os, "rename", fail_for_new)
    with pytest.raises(WriteError, match="cannot write: Permission denied"):
        build(target, "new", overwrite=True)
    assert content(target) == ["old", "old"]
    assert names(tmp_path) == ["1.0.0"]


def test_link_to_a_folder_is_replaced_and_its_target_kept(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    build(elsewhere, "old")
    target = tmp_path / "1.0.0"
    target.symlink_to(elsewhere)
    build(target, "new", overwrite=True)
    assert content(target) == ["new", "new"]
    assert content(elsewhere) == ["old", "old"]
    assert names(tmp_path) == ["1.0.0", "elsewhere"]


def test_second_build_at_the_same_time_is_refused(tmp_path):
    target = tmp_path / "1.0.0"
    with atomic_directory(target) as folder:
        with pytest.raises(BuildError) as caught:
            build(target)
        assert str(caught.value) == (
            f"process {os.getpid()} is building this dataset\n"
            f"  at: {target}\n"
            "  hint: wait until it has finished, then load the dataset"
        )
        build(tmp_path / "2.0.0")
        (folder / "data").write_text("whole")
    assert names(tmp_path) == ["1.0.0", "2.0.0"]
    assert names(target) == ["data"]


def test_folder_made_meanwhile_by_another_program_is_kept(tmp_path):
    target = tmp_path / "1.0.0"

    def build_late():
        with atomic_directory(target):
            target.mkdir()
            (target / "theirs").touch()

    with pytest.raises(BuildError) as caught:
        build_late()
    assert str(caught.value) == (
        "another program made this folder meanwhile\n"
        f"  at: {target}\n  hint: load it, or build with overwrite"
    )
    assert names(target) == ["theirs"]
    assert names(tmp_path) == ["1.0.0"]


def test_many_threads_build_once(tmp_path):
    target = tmp_path / "1.0.0"
    outcomes = []
    start = threading.Barrier(8)

    def attempt():
        start.wait()
        try:
            build(target)
            outcomes.append("built")
        except BuildError as error:
            outcomes.append(error.message.partition(" is ")[2])

    threads = [threading.Thread(target=attempt) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count("built") == 1
    assert content(target) == ["whole", "whole"]
    assert names(tmp_path) == ["1.0.0"]


HOLD = """
import sys
from featurekit.builders.atomic import atomic_directory

with atomic_directory(sys.argv[1]) as folder:
    (folder / "data").write_text("half")
    print("started", flush=True)
    sys.stdin.read()
"""


def test_what_a_killed_build_left_is_removed_by_the_next(tmp_path):
    target = tmp_path / "1.0.0"
    theirs = tmp_path / "incomplete.TFDS00_1.0.0"  # of a program that does not use the lock
    theirs.mkdir()
    command = [sys.executable, "-c", HOLD, target]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"started\n"
        with pytest.raises(BuildError, match=f"process {process.pid} is building this dataset"):
            build(target)
        process.kill()
    left = names(tmp_path)
    assert len(left) == 3
    assert all(name.startswith("incomplete.") for name in left)
    build(target)
    assert names(tmp_path) == ["1.0.0", theirs.name]


def test_lock_file_cannot_name_folders_elsewhere(tmp_path):
    victims = ["keep", "incomplete.ABC123_2.0.0", "2.0.0"]
    for name in victims:
        (tmp_path / name).mkdir()
    lines = [f"new {name}" for name in victims] + ["new ../keep", "old /", "\0\xff"]
    root = tmp_path / "root"
    root.mkdir()
    for folder in (tmp_path, root):
        (folder / "incomplete.1.0.0.lock").write_text("\n".join(lines))
        build(folder / "1.0.0")
    assert names(tmp_path) == sorted([*victims, "1.0.0", "root"])


# A driver forks one child for each moment k: the child kills itself just before the k-th
# thing that it does to the disk. What is left then, and after the next build, is printed.
KILL_EVERYWHERE = """
import json, os, signal, sys
from itertools import count
from pathlib import Path
from featurekit.builders.atomic import atomic_directory

EVENTS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate", "fcntl.flock"}

def build(target, text):
    with atomic_directory(target, overwrite=True) as folder:
        for name in ("a", "b", "c"):
            (folder / name).write_text(text)

def die_before(moment):
    moments = count()
    def hook(event, args):
        if event in EVENTS and next(moments) == moment:
            os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(hook)

def state(root):
    names = sorted(os.listdir(root))
    target = root / "1.0.0"
    files = {f.name: f.read_text() for f in target.iterdir()} if target.exists() else None
    return {"names": names, "files": files}

for moment in count():
    root = Path(sys.argv[1], str(moment))
    root.mkdir()
    if sys.argv[2] == "replace":
        build(root / "1.0.0", "old")
    pid = os.fork()
    if pid == 0:
        die_before(moment)
        build(root / "1.0.0", "new")
        os._exit(0)
    killed = os.WIFSIGNALED(os.waitpid(pid, 0)[1])
    left = state(root)
    build(root / "1.0.0", "next")
    print(json.dumps({"killed": killed, "left": left, "next": state(root)}))
    if not killed:
        break
"""


def whole(text):
    return dict.fromkeys("abc", text)


@pytest.mark.parametrize("mode", ["create", "replace"])
def test_kill_at_every_moment(tmp_path, mode):
    command = [sys.executable, "-c", KILL_EVERYWHERE, tmp_path, mode]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(rows) > 15
    allowed = {"create": [None, whole("new")], "replace": [whole("old"), None, whole("new")]}[mode]
    seen = []
    for row in rows:
        if not seen or seen[-1] != row["left"]["files"]:
            seen.append(row["left"]["files"])
        others = [name for name in row["left"]["names"] if name != "1.0.0"]
        assert all(name.startswith("incomplete.") for name in others)
        assert row["next"] == {"names": ["1.0.0"], "files": whole("next")}
    assert seen == allowed
    assert rows[-1] == {**rows[-1], "killed": False}
    assert rows[-1]["left"] == {"names": ["1.0.0"], "files": whole("new")}


REBUILD = """
import sys
from itertools import count
from featurekit.builders.atomic import atomic_directory

print("started", flush=True)
for version in count():
    with atomic_directory(sys.argv[1], overwrite=True) as folder:
        for number in range(20):
            (folder / str(number)).write_text(str(version) * 1000)
"""


def test_kill_at_random_moments(tmp_path):
    target = tmp_path / "1.0.0"
    moments = random.Random(0)
    for _ in range(20):
        command = [sys.executable, "-c", REBUILD, target]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(timeout=moments.uniform(0, 0.1))
            process.kill()
        if target.exists():
            assert len(names(target)) == 20
            assert len({path.read_text() for path in target.iterdir()}) == 1
    build(target, overwrite=True)
    assert names(tmp_path) == ["1.0.0"]
    assert content(target) == ["whole", "whole"]


def test_version_comes_back_after_a_kill_between_the_renames(tmp_path):
    target = tmp_path / "1.0.0"
    build(target, "old")
    target.rename(tmp_path / "incomplete.ABC123_1.0.0")
    (tmp_path / "incomplete.1.0.0.lock").write_text("process 1\nold incomplete.ABC123_1.0.0\n")
    with pytest.raises(BuildError, match="there is a dataset already"):
        build(target)
    assert content(target) == ["old", "old"]
    assert names(tmp_path) == ["1.0.0"]


def test_folder_that_cannot_be_made_is_an_error(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(WriteError) as caught:
        build(tmp_path / "file/pets/1.0.0")
    assert str(caught.value) == f"cannot write: Not a directory\n  at: {tmp_path}/file/pets"


def test_an_empty_folder_counts_as_nothing(tmp_path):
    target = tmp_path / "1.0.0"
    target.mkdir()  # as a killed build of TFDS leaves it
    build(target)
    assert content(target) == ["whole", "whole"]


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_is_no_dataset_is_kept_and_not_called_one(tmp_path, kind):
    target = tmp_path / "1.0.0"
    mine = target if kind == "file" else target / "mine"
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("mine")
    with pytest.raises(BuildError) as caught:
        build(target)
    assert str(caught.value) == (
        f"there is a {kind} already, which is no dataset\n"
        f"  at: {target}\n"
        "  hint: move it away, or build with overwrite"
    )
    assert mine.read_text() == "mine"
