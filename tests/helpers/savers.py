"""Savers with one sequence and one state, for tests."""

import numpy as np

from featurekit import TensorInfo, sequences

LENGTH = TensorInfo((), np.int32)
KEY = TensorInfo((), np.str_)


def make(batch_size=1, num_unroll=2, *, x=((None,), np.int64), context=None, state=None, **options):
    """A saver of a sequence `x` and a state `s`, an int64 that starts at 0."""
    return sequences.SequenceQueueingStateSaver(
        batch_size,
        num_unroll,
        LENGTH,
        KEY,
        {"x": TensorInfo(*x)},
        context or {},
        {"s": np.int64(0)} if state is None else state,
        **options,
    )


def make_padding(batch_size=1, num_unroll=2, *, x=((None,), np.int64), state=None, **options):
    """The same of `batch_sequences_with_states`."""
    return sequences.batch_sequences_with_states(
        KEY,
        {"x": x if not isinstance(x, tuple) else TensorInfo(*x)},
        options.pop("context", {}),
        options.pop("input_length", None),
        {"s": np.int64(0)} if state is None else state,
        num_unroll,
        batch_size,
        **options,
    )


def put(saver, key, steps, **values):
    """Put in an example whose steps are 0, 1, ..."""
    saver.enqueue(key=key, sequences={"x": np.arange(steps)}, **values)


def count(batch):
    """Save the number of segments that were seen of each example."""
    batch.save_state("s", batch.state("s") + 1)


def drain(saver):
    """The keys of all batches, each saved."""
    keys = []
    for batch in saver:
        count(batch)
        keys.append([key.decode() for key in batch.key])
    return keys
