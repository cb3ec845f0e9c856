"""One worker of a build: what the forked process does, and what it sends to the parent."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import mmap
import os
import pickle
import signal
import stat
import struct
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple, NoReturn

from featurekit.builders.keys import PlainKey, pack_key, unpack_key
from featurekit.builders.serializing import ExampleSerializer

__all__ = [
    "END",
    "ERROR",
    "EXAMPLE",
    "HEADER",
    "KeyBoard",
    "KeyDigest",
    "Message",
    "Share",
    "flush_streams",
    "work",
]

EXAMPLE, END, ERROR = range(3)  # kinds of messages
_DIGEST_BYTES = 8
HEADER = struct.Struct(f"<BIQ{_DIGEST_BYTES}s")  # kind, sizes of key and payload, digest


class Message(NamedTuple):
    """What a worker sends: an example, the end of the generator, or an error.

    Attributes:
        kind: `EXAMPLE`, `END` or `ERROR`.
        key: The packed key; of an error its traceback as UTF-8.
        payload: The serialized example; of an error the pickled exception, or nothing.
        digest: Of all keys that the worker's generator has given so far.
    """

    kind: int
    key: bytes = b""
    payload: bytes = b""
    digest: bytes = bytes(_DIGEST_BYTES)


class KeyDigest:
    """A running digest of packed keys: equal where the keys so far are."""

    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=_DIGEST_BYTES)

    def add(self, packed: bytes) -> None:
        """Take the next key."""
        self._hash.update(b"%d:%b" % (len(packed), packed))

    def value(self) -> bytes:
        """The digest of all keys taken."""
        return self._hash.copy().digest()


class KeyBoard:
    """Memory in which a worker notes the key it is at, for the parent to read if it dies."""

    _SIZE = struct.Struct("<H")
    _MAX_KEY_BYTES = 2000

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, self._SIZE.size + self._MAX_KEY_BYTES)  # shared by forks

    def note(self, packed: bytes) -> None:
        """Note a packed key; what is too long is cut."""
        if len(packed) > self._MAX_KEY_BYTES:
            packed = pack_key(packed[1 : self._MAX_KEY_BYTES])  # as bytes: text may break
        self._memory[: self._SIZE.size + len(packed)] = self._SIZE.pack(len(packed)) + packed

    def read(self) -> PlainKey | None:
        """The key, or None before the first one."""
        (size,) = self._SIZE.unpack_from(self._memory)
        return unpack_key(self._memory[self._SIZE.size : self._SIZE.size + size]) if size else None


class Share(NamedTuple):
    """What a worker has to do, and with what.

    Attributes:
        rank: It encodes the examples whose index leaves `rank` modulo
            `num_workers`.
        num_workers: Number of workers.
        parent: Number of the process that reads what it sends.
        board: Where it notes its key.
        foreign: Descriptors to close: those of the workers before it.
    """

    rank: int
    num_workers: int
    parent: int
    board: KeyBoard
    foreign: Sequence[int]


def work(
    share: Share,
    serializer: ExampleSerializer,
    items: Iterable[Any],
    read_end: int,
    write_end: int,
) -> NoReturn:
    """Do a worker's part in a process that was just forked, and end that process."""
    status = 1
    try:
        for descriptor in (*share.foreign, read_end):
            os.close(descriptor)
        _detach()
        with open(write_end, "wb") as pipe:
            for message in _messages(share, serializer, items):
                _send(pipe, message)
        status = 0
    except BrokenPipeError:
        pass  # the parent is gone, or has enough
    finally:
        flush_streams()
        os._exit(status)  # without the parent's exit handlers


def _messages(
    share: Share, serializer: ExampleSerializer, items: Iterable[Any]
) -> Iterator[Message]:
    keys = KeyDigest()
    try:
        for index, (key, example) in enumerate(serializer.pairs(items)):
            if os.getppid() != share.parent:
                return  # it was killed, and nobody will read what we send
            packed = pack_key(key)
            keys.add(packed)
            share.board.note(packed)
            if index % share.num_workers == share.rank:
                payload = serializer.serialize(key, example)
                yield Message(EXAMPLE, packed, payload, keys.value())
        yield Message(END, digest=keys.value())
    except GeneratorExit:
        raise
    except BaseException as error:
        text = "".join(traceback.format_exception(error))
        yield Message(ERROR, text.encode(errors="replace"), _pickled(error))


def _send(pipe: BinaryIO, message: Message) -> None:
    sizes = len(message.key), len(message.payload)
    pipe.write(HEADER.pack(message.kind, *sizes, message.digest) + message.key)
    pipe.write(message.payload)


def _pickled(error: BaseException) -> bytes:
    """The pickled exception, or nothing where it cannot travel."""
    try:
        data = pickle.dumps(error)
        return data if type(pickle.loads(data)) is type(error) else b""
    except Exception:  # an author's exception may fail in any way
        return b""


def _detach() -> None:
    """Cut what a fork still shares with the parent and the other workers."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends a worker without a word
    if not os.path.isdir("/proc/self/fd"):
        return
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # the descriptor of the listing itself is closed by now
            _reopen(int(name))


def _reopen(descriptor: int) -> None:
    """Give a file that is open for reading a position of its own.

    A forked descriptor shares its position: workers reading an archive that was opened
    before the fork would take bytes away from each other.
    """
    access = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE
    if access != os.O_RDONLY or not stat.S_ISREG(os.fstat(descriptor).st_mode):
        return
    position = os.lseek(descriptor, 0, os.SEEK_CUR)
    own = os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY)
    os.lseek(own, position, os.SEEK_SET)
    os.dup2(own, descriptor, inheritable=os.get_inheritable(descriptor))
    os.close(own)


def flush_streams() -> None:
    """Write what the standard streams have buffered."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # a stream may be closed, or None
            stream.flush()
