"""Encoding the examples of a split in several processes.

Every worker is a fork of the builder's process, so that examples and builder classes need
not be pickled. Each runs the whole generator, encodes every n-th example, and sends it with
its key through a pipe. The parent takes from the pipes in turn: it sees the order of
generation, and a worker that is ahead waits.

That is right only if the generator gives the same keys in every process. So each message
carries a digest of all keys so far, and the parent compares it with its own.
"""

from __future__ import annotations

import io
import itertools
import os
import pickle
import select
import signal
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any

from featurekit.builders.keys import Key, unpack_key
from featurekit.builders.serializing import ExampleSerializer
from featurekit.builders.worker import (
    END,
    ERROR,
    HEADER,
    KeyBoard,
    KeyDigest,
    Message,
    Share,
    flush_streams,
    work,
)
from featurekit.errors import BuildError, UnsupportedError, add_context, short_repr

__all__ = ["records_from_workers"]

_BUFFER_BYTES = 2**18
_LIFE_CHECK_MS = 500  # how long to wait for a message before seeing whether all workers live

_HINTS = {
    signal.SIGKILL: "the system may be short of memory: build with fewer processes",
    signal.SIGSEGV: "a library crashed: run with num_processes=1 and python -X faulthandler",
}


def records_from_workers(
    serializer: ExampleSerializer, items: Iterable[Any], num_processes: int
) -> Generator[tuple[Key, bytes], None, None]:
    """Keys and bytes of what a generator yields, in its order, encoded by several processes.

    Close the iterator where it is not read to its end: that ends the workers.

    Args:
        serializer: Encodes one example.
        items: What yields `(key, example)`: the same keys in every process.
        num_processes: Number of workers.

    Raises:
        BuildError: A worker was killed, the system has no room for one, or the generator
            gives each worker other keys.
        UnsupportedError: The system cannot fork.
        Exception: What the generator or a connector raises, with the worker's traceback as
            a note.
    """
    if not hasattr(os, "fork"):
        raise UnsupportedError(
            "this system cannot fork, which a build in several processes needs",
            hint="build with num_processes=1",
        )
    workers: list[_Worker] = []

    def check_all() -> None:
        for worker in workers:
            worker.check()

    try:
        for rank in range(num_processes):
            board = KeyBoard()
            foreign = [worker.descriptor for worker in workers]
            share = Share(rank, num_processes, os.getpid(), board, foreign)
            process, descriptor = _fork(share, serializer, items)
            workers.append(_Worker(process, descriptor, board, serializer.building, check_all))
        yield from _in_turn(workers, serializer.building)
    finally:
        for worker in workers:
            worker.stop()


def _in_turn(workers: Sequence[_Worker], building: str) -> Iterator[tuple[Key, bytes]]:
    """The examples of all workers in order, until each has ended."""
    keys = KeyDigest()
    for worker in itertools.cycle(workers):
        message = worker.receive()
        if message.kind == END:
            break
        keys.add(message.key)
        key = unpack_key(message.key)
        if message.digest != keys.value():
            raise _not_deterministic(building, f"at key {short_repr(key)}")
        yield key, message.payload
    ends = [message, *(other.receive() for other in workers if other is not worker)]
    if any(end.kind != END or end.digest != keys.value() for end in ends):
        raise _not_deterministic(building, "at the end of the split")
    for worker in workers:
        worker.wait()  # they may still have something to print


def _not_deterministic(building: str, place: str) -> BuildError:
    error = BuildError(
        "the generator does not give every process the same keys",
        hint="yield the same keys in the same order each time, for example by sorting what a "
        "folder lists; or build with num_processes=1",
    )
    add_context(error, f"while building {building}, {place}")
    return error


def _fork(share: Share, serializer: ExampleSerializer, items: Iterable[Any]) -> tuple[int, int]:
    """Start a worker: its process number, and the descriptor to read from."""
    flush_streams()  # else both processes write what is buffered
    descriptors: tuple[int, ...] = ()
    try:
        descriptors = os.pipe()
        process = os.fork()
    except OSError as error:
        for descriptor in descriptors:
            os.close(descriptor)
        raise BuildError(
            f"cannot start worker {share.rank + 1} of {share.num_workers}: {error.strerror}",
            hint="build with fewer processes, or raise the limits on processes (ulimit -u) and "
            "open files (ulimit -n)",
        ) from error
    read_end, write_end = descriptors
    if process == 0:
        work(share, serializer, items, read_end, write_end)
    os.close(write_end)
    return process, read_end


class _Worker:
    """A worker as the parent sees it.

    Args:
        process: Number of its process.
        descriptor: Where to read its messages.
        board: Where it notes its key.
        building: What is being built, for errors.
        check_all: Called while there is nothing to read; raises if a worker was killed.
    """

    def __init__(
        self,
        process: int,
        descriptor: int,
        board: KeyBoard,
        building: str,
        check_all: Callable[[], None],
    ) -> None:
        self.descriptor = descriptor
        self._process = process
        self._board = board
        self._building = building
        self._exit_code: int | None = None  # minus the signal where one killed it
        pipe = _Pipe(descriptor, self._is_alive, check_all)
        self._pipe = io.BufferedReader(pipe, _BUFFER_BYTES)

    def receive(self) -> Message:
        """The next example or the end; raises the error that the worker sends."""
        header = self._pipe.read(HEADER.size)
        if len(header) == HEADER.size:
            kind, key_size, payload_size, digest = HEADER.unpack(header)
            message = Message(
                kind, self._pipe.read(key_size), self._pipe.read(payload_size), digest
            )
            if (len(message.key), len(message.payload)) == (key_size, payload_size):
                if kind == ERROR:
                    raise _sent_error(message)
                return message
        self.stop()
        raise self._death()

    def check(self) -> None:
        """Raise if the worker was killed: it may be long until its turn comes."""
        if not self._is_alive() and self._exit_code != 0:
            raise self._death()

    def wait(self) -> None:
        """Wait until the process has ended."""
        self._reap(0)

    def stop(self) -> None:
        """End the process at once, if it lives; stopping again does nothing."""
        self._pipe.close()
        if self._is_alive():
            os.kill(self._process, signal.SIGKILL)
            self._reap(0)

    def _is_alive(self) -> bool:
        self._reap(os.WNOHANG)
        return self._exit_code is None

    def _reap(self, options: int) -> None:
        if self._exit_code is not None:
            return
        try:
            process, status = os.waitpid(self._process, options)
        except ChildProcessError:  # the program ignores or collects its children
            process, status = self._process, 0
        if process:
            self._exit_code = os.waitstatus_to_exitcode(status)

    def _death(self) -> BuildError:
        code = self._exit_code or 0
        if code < 0:
            number = signal.Signals(-code)
            text = f"worker killed, signal {number.value} ({number.name})"
            error = BuildError(text, hint=_HINTS.get(number))
        else:
            error = BuildError(f"worker ended with exit code {code} before its work was done")
        key = self._board.read()
        place = "before its first key" if key is None else f"at key {short_repr(key)} or after it"
        add_context(error, f"while building {self._building}, {place}")
        return error


class _Pipe(io.FileIO):
    """A pipe from a worker that looks after the workers while there is nothing to read."""

    def __init__(
        self, descriptor: int, is_alive: Callable[[], bool], check_all: Callable[[], None]
    ) -> None:
        super().__init__(descriptor, "rb")
        self._is_alive = is_alive
        self._check_all = check_all
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)

    def readinto(self, buffer: Any) -> int | None:
        """Read what there is, at least one byte; 0 where the worker has ended."""
        while not self._poll.poll(_LIFE_CHECK_MS):
            self._check_all()
            if not self._is_alive() and not self._poll.poll(0):
                return 0  # a child of the worker keeps the pipe open
        return super().readinto(buffer)


def _sent_error(message: Message) -> BaseException:
    """The exception that a worker sent, with the traceback of the worker."""
    traceback = message.key.decode().splitlines()
    try:
        error: BaseException = pickle.loads(message.payload)
    except Exception:  # an author's exception may fail in any way
        error = BuildError("a worker failed, and its exception cannot be sent")
        for line in traceback:
            add_context(error, line)
    else:
        error.add_note("\n".join(["In a worker process:", *traceback]))
    return error
