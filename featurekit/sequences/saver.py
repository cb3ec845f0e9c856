"""SequenceQueueingStateSaver: batches of segments of long sequences, and their states."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from featurekit.errors import InvalidArgumentError, OutOfRangeError, UnsavedStateError
from featurekit.sequences import checkpoint
from featurekit.sequences.barrier import Barrier
from featurekit.sequences.batch import NextQueuedSequenceBatch
from featurekit.sequences.feeder import Feeder
from featurekit.sequences.inlet import Inlet, UniqueKeys
from featurekit.sequences.items import ItemReader
from featurekit.sequences.specs import (
    InputSpecs,
    as_batch_size,
    as_count,
    as_num_unroll,
    check_capacity,
)
from featurekit.sequences.splitting import Splitter

__all__ = ["SequenceQueueingStateSaver"]

_SECONDS_TO_END = 1.0  # how long close() waits for feeders that are busy reading their input


class SequenceQueueingStateSaver:
    """Cuts sequences into segments, batches them, and carries states from each to the next.

    For truncated back-propagation through time. Examples go in whole, by `enqueue` or `feed`;
    batches of segments of `num_unroll` steps come out of `next_batch`, or of iteration. The
    first segment of an example starts from its initial state, each later one from what was
    saved with `save_state` for the one before, which must be done for each state of each
    batch. Older examples go first.

    The inputs are declared: there is no graph to take their shapes from. All arguments are
    those of TensorFlow 1. Threads may use a saver together. It is a context manager, which
    closes it and ends its threads.

    Args:
        batch_size: Rows of a batch; None where each `next_batch` says how many.
        num_unroll: Steps of a segment, above 0.
        input_length: `TensorInfo((), np.int32)`.
        input_key: `TensorInfo((), np.str_)`.
        input_sequences: A `TensorInfo` for each sequence by name, time first; the other
            dimensions must be known. An empty `SparseTensor` declares a sparse one (a
            dimension of 0 is any size).
        input_context: The same for values that belong to a whole example. May be empty.
        initial_states: One state or more by name: an array of NumPy, PyTorch or JAX that
            examples start from, a `TensorInfo` where each example brings its own, or nested
            dicts, lists and tuples of them.
        capacity: How many examples may be active at a time: inserting more waits until the
            last segment of one was taken. None is no limit; a small multiple of the batch
            size is right.
        allow_small_batch: Whether there are smaller batches at the end, once closed. Without
            it, segments that do not fill a batch are left.
        name: Stands in the names of threads.

    Raises:
        InvalidTypeError: An argument has a wrong type.
        InvalidArgumentError: It has a wrong value: no state, no sequence, a colon in a name,
            a capacity below the batch size, a time that is no multiple of `num_unroll`.

    Example:
        >>> import numpy as np
        >>> from featurekit import TensorInfo
        >>> saver = SequenceQueueingStateSaver(
        ...     batch_size=1,
        ...     num_unroll=2,
        ...     input_length=TensorInfo((), np.int32),
        ...     input_key=TensorInfo((), np.str_),
        ...     input_sequences={"x": TensorInfo((None,), np.float32)},
        ...     input_context={},
        ...     initial_states={"sum": np.float32(0)},
        ... )
        >>> saver.enqueue(key="a", length=3, sequences={"x": [1, 2, 3, 0]})
        >>> saver.close()
        >>> for batch in saver:
        ...     batch.save_state("sum", batch.state("sum") + batch.sequences["x"].sum(axis=1))
        ...     print(batch.key[0], batch.length[0], batch.state("sum")[0])
        b'00000_of_00002:a' 2 0.0
        b'00001_of_00002:a' 1 3.0

    Source: the documentation of tf.contrib.training.SequenceQueueingStateSaver.
    """

    def __init__(
        self,
        batch_size: int | None,
        num_unroll: int,
        input_length: Any,
        input_key: Any,
        input_sequences: Any,
        input_context: Any,
        initial_states: Any,
        capacity: int | None = None,
        allow_small_batch: bool = False,
        name: str | None = None,
    ) -> None:
        self._set_up(
            None if batch_size is None else as_batch_size(batch_size),
            Splitter(
                InputSpecs.of(
                    input_key, input_length, input_sequences, input_context, initial_states
                ),
                as_num_unroll(num_unroll),
            ),
            capacity,
            allow_small_batch,
            name or type(self).__name__,
        )

    @classmethod
    def _of(cls, *args: Any, **options: Any) -> Self:
        """A saver whose examples are cut by a splitter that does more, see `_set_up`."""
        saver = cls.__new__(cls)
        saver._set_up(*args, **options)
        return saver

    def _set_up(
        self,
        batch_size: int | None,
        splitter: Splitter,
        capacity: int | None,
        allow_small_batch: bool,
        name: str,
        *,
        num_threads: int = 1,
        unique_keys: UniqueKeys | None = None,
    ) -> None:
        splitter.check_declared_times()
        self._batch_size = batch_size
        self._splitter = splitter
        self._capacity = check_capacity(capacity, batch_size)
        self._barrier = Barrier(self._capacity, bool(allow_small_batch), splitter.specs.states)
        self._inlet = Inlet(splitter, self._barrier, unique_keys)
        self._num_threads = as_count("num_threads", num_threads)
        self._feeder: Feeder | None = None
        self.name = name
        # Threads must not outlive the saver, nor wait while the interpreter ends.
        weakref.finalize(self, self._barrier.close, True)

    # What it is.

    @property
    def batch_size(self) -> int | None:
        """Rows of a batch; None if each `next_batch` says how many."""
        return self._batch_size

    @property
    def num_unroll(self) -> int:
        """Steps of a segment."""
        return self._splitter.num_unroll

    @property
    def barrier(self) -> Barrier:
        """Where the segments wait: `ready_size()` and `incomplete_size()`."""
        return self._barrier

    def active_size(self) -> int:
        """Number of examples that count towards the capacity: their last segment is not taken."""
        return self._barrier.active_size()

    @property
    def prefetch_op(self) -> Feeder | None:
        """The threads that feed it, or None before `feed`."""
        return self._feeder

    # Examples in.

    def enqueue(
        self,
        *,
        key: str | bytes,
        length: int | None = None,
        sequences: Mapping[str, Any],
        context: Mapping[str, Any] | None = None,
        initial_states: Mapping[str, Any] | None = None,
        batch_size: int | None = None,
        timeout: float | None = None,
    ) -> None:
        """Put in one example; waits while `capacity` examples are active.

        Nothing is changed if it is refused.

        Args:
            key: Its key, unlike that of all active examples.
            length: How many steps are data; by default all that the sequences have.
            sequences: Every declared sequence, all with the same number of steps, which is a
                multiple of `num_unroll`. Arrays, lists, `RaggedTensor`s, `SparseTensor`s.
            context: Every declared context value.
            initial_states: Values of states; needed for those declared by a `TensorInfo`.
            batch_size: Where it is dynamic, how many rows are to be taken; an example is
                refused if the capacity is below.
            timeout: How long to wait for room, in seconds; 0 does not wait.

        Raises:
            CancelledError: The saver is closed, or was closed with cancelling meanwhile.
            InvalidArgumentError: The key is that of an active example, or a value, a length
                or a number of steps does not fit.
            EncodeError: A value has another shape or dtype than declared.
            WaitTimeoutError: There was no room for so long.
        """
        if batch_size is not None:
            self._check_room_for(as_batch_size(batch_size))
        self._inlet.insert(key, length, sequences, context, initial_states, timeout=timeout)

    def feed(
        self,
        source: Iterable[Any],
        *,
        num_threads: int | None = None,
        key: str | None = None,
        length: str | None = None,
    ) -> Feeder:
        """Start threads that put in all examples of an input, then close the saver.

        Args:
            source: A `DataSource` or any other iterable. Its items are dicts of the arguments
                of `enqueue`; or pairs of dicts, context and sequences, as
                `fk.io.parse_single_sequence_example` gives them; or dicts of features, where
                a name such as `"steps/reward"` finds a value inside of another.
            num_threads: How many threads. The order of the input is kept with one.
            key: Name of the feature that is an example's key; by default its index.
            length: Name of the feature that is its length; by default all steps.

        Returns:
            The threads: `join()`, `is_running`.

        Raises:
            InvalidArgumentError: It was fed already.
            InvalidTypeError: The source cannot be iterated over.
        """
        if self._feeder is not None:
            raise InvalidArgumentError(
                "the saver is fed already",
                hint="give feed() one input that has all: itertools.chain joins several",
            )
        threads = self._num_threads if num_threads is None else num_threads
        reader = ItemReader(self._splitter.specs, key, length)
        self._feeder = Feeder(
            source,
            functools.partial(self._inlet.insert_item, reader),
            self._barrier,
            num_threads=as_count("num_threads", threads),
            name=self.name,
        )
        self._feeder.start()
        return self._feeder

    def close(self, cancel_pending_enqueues: bool = False) -> None:
        """Accept no more examples; a second call does nothing.

        Examples that are in go on to their ends: their segments can be taken and their states
        saved. An `enqueue` of another thread that waits for room is still carried out, and
        waited for.

        Args:
            cancel_pending_enqueues: Drop instead all segments that are not ready, and let
                waiting calls of `enqueue` raise CancelledError. Ready segments can be taken,
                but no state can be saved. Ends the threads of `feed`.
        """
        self._barrier.close(cancel_pending_enqueues)
        if cancel_pending_enqueues and self._feeder is not None:
            self._feeder.join(_SECONDS_TO_END)

    # Batches out.

    def next_batch(
        self, batch_size: int | None = None, *, timeout: float | None = None
    ) -> NextQueuedSequenceBatch:
        """The ready segments of the oldest examples; waits until there are enough.

        Args:
            batch_size: How many rows, where the saver was made without.
            timeout: How long to wait, in seconds; 0 does not wait. It also says that other
                threads will save the states of batches that this one took.

        Raises:
            OutOfRangeError: The saver is closed, and there are not enough segments.
            UnsavedStateError: It would wait for ever, as states were not saved.
            WaitTimeoutError: There were not enough for so long.
            InvalidArgumentError: The batch size is missing, given twice or above the capacity.
        """
        size = self._size_of_batch(batch_size)
        try:
            loan = self._barrier.take(size, timeout)
        except KeyboardInterrupt:
            self.close(cancel_pending_enqueues=True)
            raise
        return NextQueuedSequenceBatch(
            loan, self._barrier, self._splitter.specs, self._splitter.num_unroll, self
        )

    def __iter__(self) -> Iterator[NextQueuedSequenceBatch]:
        """All batches, until the saver is closed and has no more.

        Raises:
            UnsavedStateError: Examples cannot go on, as states were not saved.
        """
        while True:
            try:
                batch = self.next_batch()
            except OutOfRangeError:
                break
            yield batch
        if self._barrier.has_lost_states():
            raise UnsavedStateError(f"examples did not come to their ends{self._barrier.unsaved()}")

    def _size_of_batch(self, batch_size: int | None) -> int:
        if (batch_size is None) == (self._batch_size is None):
            given = "twice" if self._batch_size is not None else "neither to the saver nor here"
            raise InvalidArgumentError(
                f"batch_size was given {given}",
                hint="give it to the saver, or None there and a number to each next_batch",
            )
        if batch_size is None:
            return self._batch_size or 0
        size = as_batch_size(batch_size)
        self._check_room_for(size)
        return size

    def _check_room_for(self, batch_size: int) -> None:
        if self._capacity is not None and batch_size > self._capacity:
            raise InvalidArgumentError(
                f"capacity needs to be >= batch_size. The capacity is {self._capacity}, the "
                f"batch_size {batch_size}"
            )

    # Checkpoints.

    def state_dict(self) -> dict[str, Any]:
        """All that is needed to go on later: active examples, states, place in the input.

        Made of plain dicts, lists and arrays, for pickle or `torch.save`. The states of all
        batches taken must be saved.

        Raises:
            UnsavedStateError: They are not.
            CancelledError: The saver was closed with cancelling.
        """
        return checkpoint.save(self._inlet, fed=self._feeder is not None)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from `state_dict()`, in a new saver that was declared alike.

        Call `feed` with the same input afterwards: it goes on behind the examples that are in.

        Raises:
            InvalidArgumentError: The saver is not new, or was declared otherwise.
        """
        if self._feeder is not None:
            raise InvalidArgumentError(
                "the saver is fed already", hint="load the state first, then call feed()"
            )
        checkpoint.load(self._inlet, state)

    # Life.

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: object) -> None:
        self.close(cancel_pending_enqueues=True)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(batch_size={self.batch_size}, num_unroll={self.num_unroll}, "
            f"active={self.active_size()})"
        )
