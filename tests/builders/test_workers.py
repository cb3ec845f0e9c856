"""Builds in several processes: the same bytes, and no end without a word."""

import errno
import itertools
import os
import pathlib
import pickle
import random
import signal
import subprocess
import sys

import numpy as np
import pytest

import featurekit as fk
from featurekit.builders.sharding import ShardPolicy
from featurekit.errors import (
    BuildError,
    DatasetNotFoundError,
    EncodeError,
    InvalidArgumentError,
)

ROWS = 100


class Unpicklable:
    def __reduce__(self):
        raise RuntimeError("cannot travel to the worker")


class UnpicklableError(Exception):
    def __init__(self, code, reason):
        super().__init__(f"{code}: {reason}")
        self.baggage = Unpicklable()


class Toy(fk.GeneratorBasedBuilder, skip_registration=True):
    VERSION = fk.Version("1.0.0")

    def __init__(self, generate, **kwargs):
        super().__init__(**kwargs)
        self.generate = generate

    def _info(self):
        return fk.DatasetInfo(
            builder=self, features=fk.FeaturesDict({"i": np.int64, "text": fk.Text()})
        )

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples()}

    def _generate_examples(self):
        return self.generate()


def example(index):
    return {"i": index, "text": "x" * (index % 7)}


def rows():
    for index in range(ROWS):
        yield f"key_{index}", example(index)


def build(folder, generate, num_processes, **options):
    builder = Toy(generate, data_dir=folder)
    builder.download_and_prepare(num_processes=num_processes, quiet=True, **options)
    return files(builder.data_dir)


def files(folder):
    return {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}


def descriptors():
    return sorted(os.listdir("/proc/self/fd"))


@pytest.fixture(autouse=True)
def nothing_is_left():
    before = descriptors()
    yield
    assert descriptors() == before
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)  # there are no children


def failure(folder, generate, num_processes=3, kind=BuildError):
    with pytest.raises(kind) as caught:
        build(folder, generate, num_processes)
    assert os.listdir(folder / "toy") == []
    return caught.value


@pytest.mark.parametrize("num_rows", [1, 2, 7, 8, 9, ROWS])
def test_bytes_do_not_depend_on_the_number_of_processes(tmp_path, num_rows):
    def generate():
        yield from ((f"k{i}", example(i)) for i in range(num_rows))

    policy = ShardPolicy(num_shards=min(3, num_rows))
    built = [build(tmp_path / str(n), generate, n, policy=policy) for n in (1, 2, 8)]
    assert built[0] == built[1] == built[2]


@pytest.mark.parametrize(
    "keys", [range(-3, 9), [b"\xff", b"", b"a"], ["", "é", "\\"], np.arange(4)]
)
def test_keys_of_every_type_travel(tmp_path, keys):
    def generate():
        yield from ((key, example(0)) for key in keys)

    assert build(tmp_path / "a", generate, 1) == build(tmp_path / "b", generate, 2)


def test_large_examples_travel(tmp_path):
    def generate():
        numbers = random.Random(0)
        for index in range(9):
            yield index, {"i": index, "text": numbers.randbytes(300_000 * index)}

    assert build(tmp_path / "a", generate, 1) == build(tmp_path / "b", generate, 4)


def test_examples_need_not_be_picklable(tmp_path):
    def generate():
        for index in range(9):
            baggage = Unpicklable()
            yield index, {"i": index, "text": type(baggage).__name__}

    assert build(tmp_path / "a", generate, 1) == build(tmp_path / "b", generate, 2)


def test_generators_may_read_a_file_that_was_opened_before(tmp_path):
    source = tmp_path / "source.txt"
    source.write_text("".join(f"line {i} of a file longer than a buffer\n" for i in range(2000)))

    def build_from(lines, num_processes):
        next(lines)
        return build(
            tmp_path / str(num_processes),
            lambda: ((i, {"i": i, "text": line}) for i, line in enumerate(lines)),
            num_processes,
        )

    built = []
    for num_processes in (1, 4):
        with source.open("rb", buffering=512) as lines:
            built.append(build_from(lines, num_processes))
    assert built[0] == built[1]


# What goes wrong.


def test_the_error_of_a_generator_arrives_with_its_type_and_traceback(tmp_path):
    def generate():
        for index, (key, value) in enumerate(rows()):
            if index == 50:
                raise ValueError("bad row 50")
            yield key, value

    error = failure(tmp_path, generate, kind=ValueError)
    assert type(error) is ValueError
    assert error.args == ("bad row 50",)
    place, note = error.__notes__
    assert place == "  while building toy:1.0.0, split train, after key 'key_49'"
    assert note.startswith("In a worker process:\nTraceback (most recent call last):\n")
    assert 'raise ValueError("bad row 50")' in note


def test_the_error_of_an_example_arrives_as_in_one_process(tmp_path):
    def generate():
        for index, (key, value) in enumerate(rows()):
            yield key, value | ({"i": "fifty"} if index == 50 else {})

    errors = [failure(tmp_path, generate, n, kind=EncodeError) for n in (1, 3)]
    assert str(errors[0]) == str(errors[1])
    assert str(errors[1]).splitlines()[-1] == (
        "  while building toy:1.0.0, split train, key 'key_50'"
    )
    assert type(errors[0]) is type(errors[1])
    assert pickle.loads(pickle.dumps(errors[1])).path == ("i",)


@pytest.mark.parametrize("num_processes", [1, 3])
def test_a_bad_key_is_the_same_error(tmp_path, num_processes):
    def generate():
        yield 1, example(1)
        yield 1.5, example(2)

    assert str(failure(tmp_path, generate, num_processes, kind=TypeError)) == (
        "a key must be bytes, str or int, got 1.5 of type float\n"
        "  hint: yield (key, example) with a key that is unique in the split, such as a file name\n"
        "  while building toy:1.0.0, split train"
    )


def test_an_error_that_cannot_travel_is_told(tmp_path):
    def generate():
        yield "a", example(1)
        raise UnpicklableError(7, "no such row")

    lines = str(failure(tmp_path, generate)).splitlines()
    assert lines[0] == "a worker failed, and its exception cannot be sent"
    assert lines[1] == "  Traceback (most recent call last):"
    assert "UnpicklableError: 7: no such row" in lines[-2]
    assert lines[-1] == "    while building toy:1.0.0, split train, after key 'a'"


@pytest.mark.parametrize(
    ("signal_number", "message", "hint"),
    [
        (9, "worker killed, signal 9 (SIGKILL)", "the system may be short of memory: build with "
         "fewer processes"),
        (11, "worker killed, signal 11 (SIGSEGV)", "a library crashed: run with num_processes=1 "
         "and python -X faulthandler"),
        (15, "worker killed, signal 15 (SIGTERM)", None),
    ],
)  # fmt: skip
def test_a_worker_that_is_killed_is_an_error(tmp_path, signal_number, message, hint):
    signal.signal(signal.SIGSEGV, signal.SIG_DFL)  # not the report of faulthandler
    parent = os.getpid()

    def generate():
        for index, (key, value) in enumerate(rows()):
            if index == 50 and os.getpid() != parent:
                os.kill(os.getpid(), signal_number)
            yield key, value

    error = failure(tmp_path, generate)
    assert error.message == message
    assert error.hint == hint
    assert error.context == ("while building toy:1.0.0, split train, at key 'key_49' or after it",)


def test_a_worker_that_exits_is_an_error(tmp_path):
    def generate():
        os._exit(3)
        yield

    assert str(failure(tmp_path, generate)) == (
        "worker ended with exit code 3 before its work was done\n"
        "  while building toy:1.0.0, split train, before its first key"
    )


def test_a_killed_worker_is_noticed_while_another_one_works(tmp_path):
    # Worker 0 waits for ever; the parent waits for worker 0; worker 1 dies.
    read_end, write_end = os.pipe()
    parent = os.getpid()
    seen = tmp_path / "seen"

    def generate():
        yield "a", example(0)
        try:
            os.close(os.open(seen, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            os.kill(os.getpid(), 9)
        assert os.getpid() != parent
        os.read(read_end, 1)  # nobody writes
        yield "b", example(1)

    error = failure(tmp_path / "data", generate, 2)
    os.close(read_end)
    os.close(write_end)
    assert error.message == "worker killed, signal 9 (SIGKILL)"


def test_a_dead_worker_is_noticed_while_its_child_keeps_the_pipe(tmp_path):
    read_end, write_end = os.pipe()

    def generate():
        yield "a", example(0)
        if not os.fork():
            os.close(write_end)
            os.read(read_end, 1)  # until the test closes its end
        os._exit(0)

    error = failure(tmp_path, generate, 2)
    os.close(read_end)
    os.close(write_end)
    assert error.message == "worker ended with exit code 0 before its work was done"


def keys_that_differ():
    yield "same", example(0)
    yield os.urandom(8), example(1)


def numbers_that_differ():
    yield from ((i, example(i)) for i in range(3 + os.getpid() % 5))


def order_that_differs():
    keys = list(range(50))
    random.Random(os.getpid()).shuffle(keys)
    yield from ((key, example(key)) for key in keys)


@pytest.mark.parametrize("generate", [keys_that_differ, numbers_that_differ, order_that_differs])
def test_a_generator_that_is_not_deterministic_is_an_error(tmp_path, generate):
    error = failure(tmp_path, generate, 4)
    assert error.message == "the generator does not give every process the same keys"
    assert error.hint == (
        "yield the same keys in the same order each time, for example by sorting what a folder "
        "lists; or build with num_processes=1"
    )
    assert error.context[0].startswith("while building toy:1.0.0, split train, at ")


def test_a_fault_of_the_parent_ends_the_workers(tmp_path, monkeypatch):
    def generate():
        yield from ((index, example(index)) for index in itertools.count())

    def interrupt(writer, key, record):
        if key == 20:
            raise KeyboardInterrupt

    monkeypatch.setattr("featurekit.builders.writer.SplitWriter.write", interrupt)
    failure(tmp_path, generate, kind=KeyboardInterrupt)


def test_too_few_open_files_are_an_error(tmp_path, monkeypatch):
    pipes = iter([os.pipe(), os.pipe()])

    def pipe():
        try:
            return next(pipes)
        except StopIteration:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE)) from None

    monkeypatch.setattr("os.pipe", pipe)
    assert str(failure(tmp_path, rows)) == (
        "cannot start worker 3 of 3: Too many open files\n"
        "  hint: build with fewer processes, or raise the limits on processes (ulimit -u) and "
        "open files (ulimit -n)\n"
        "  while building toy:1.0.0, split train"
    )


@pytest.mark.parametrize("number", [0, -1])
def test_the_number_of_processes_is_checked(tmp_path, number):
    with pytest.raises(
        InvalidArgumentError, match=f"num_processes must be at least 1, got {number}"
    ):
        Toy(rows, data_dir=tmp_path).download_and_prepare(num_processes=number)


# Whole programs.

SCRIPT = """
import itertools, os, resource, sys
import numpy as np
import featurekit as fk


class Endless(fk.GeneratorBasedBuilder):
    VERSION = fk.Version("1.0.0")

    def _info(self):
        return fk.DatasetInfo(builder=self, features=fk.FeaturesDict({"x": fk.Text()}))

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples()}

    def _generate_examples(self):
        for index in itertools.count():
            yield index, {"x": "x" * 1000}
            if index == 1000:
                sys.stdout.write("ready\\n")
                sys.stdout.flush()
            if index == int(sys.argv[2]):
                return


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    Endless(data_dir=sys.argv[1]).download_and_prepare(num_processes=8)
"""


@pytest.fixture
def program(tmp_path):
    """Starts the script in a process group of its own; gives it and a pipe that it holds."""
    ends = []

    def start(limit):
        script = tmp_path / "endless.py"
        script.write_text(SCRIPT)
        read_end, write_end = os.pipe()
        ends.append(read_end)
        process = subprocess.Popen(
            [sys.executable, script, tmp_path / "data", str(limit)],
            stdout=subprocess.PIPE,
            pass_fds=[write_end],
            start_new_session=True,
        )
        os.close(write_end)
        return process, read_end

    yield start
    for end in ends:
        os.close(end)


def test_a_script_builds_in_processes_with_few_open_files(program, tmp_path):
    process, _ = program(2000)
    assert process.communicate()[0].count(b"ready") == 8
    assert process.returncode == 0
    assert len(fk.load("endless", "train", data_dir=tmp_path / "data")) == 2001


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGKILL, signal.SIGTERM])
def test_no_worker_outlives_its_parent(program, tmp_path, signal_number):
    process, pipe = program(10**9)
    process.stdout.readline()
    if signal_number == signal.SIGINT:
        os.killpg(process.pid, signal.SIGINT)  # what Ctrl-C does
    else:
        process.send_signal(signal_number)
    assert os.read(pipe, 1) == b""  # once no process holds the other end
    process.communicate()
    assert process.returncode == -signal_number
    with pytest.raises(DatasetNotFoundError):
        fk.load("endless", data_dir=tmp_path / "data")
