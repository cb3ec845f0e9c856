"""batch_sequences_with_states: a saver that pads, infers lengths and is fed by threads."""

from __future__ import annotations

from typing import Any

import numpy as np

from featurekit.errors import InvalidArgumentError
from featurekit.sequences.inlet import UniqueKeys
from featurekit.sequences.saver import SequenceQueueingStateSaver
from featurekit.sequences.specs import InputSpecs, as_batch_size, as_num_unroll
from featurekit.sequences.splitting import Splitter
from featurekit.tensor_info import TensorInfo

__all__ = ["batch_sequences_with_states"]


def batch_sequences_with_states(
    input_key: Any,
    input_sequences: Any,
    input_context: Any,
    input_length: Any,
    initial_states: Any,
    num_unroll: int,
    batch_size: int | None,
    num_threads: int = 3,
    capacity: int | None = 1000,
    allow_small_batch: bool = True,
    pad: bool = True,
    make_keys_unique: bool = False,
    make_keys_unique_seed: int | None = None,
    name: str | None = None,
) -> SequenceQueueingStateSaver:
    """A `SequenceQueueingStateSaver` for sequences of any length.

    In TensorFlow 1 this gave the batch itself; without a graph it gives the saver: `feed` it,
    and iterate over it.

    Args:
        input_key: `TensorInfo((), np.str_)`.
        input_sequences: A `TensorInfo` or empty `SparseTensor` for each sequence by name.
        input_context: The same for the values of whole examples.
        input_length: `TensorInfo((), np.int32)`; None if it is that of the sequences.
        initial_states: Arrays or `TensorInfo`s of the states by name.
        num_unroll: Steps of a segment.
        batch_size: Rows of a batch, or None where each `next_batch` says how many.
        num_threads: How many threads `feed` starts if it is not told.
        capacity: How many examples may be active, or None.
        allow_small_batch: Whether there are smaller batches at the end.
        pad: Extend sequences to a multiple of `num_unroll`, with 0, False or `b""`. The dense
            sequences of an example must have one length; without any, the largest of the
            sparse ones counts. False: all lengths must be multiples.
        make_keys_unique: Append a random number below 100,000,000 to each key, so that an
            example may come again while it is active.
        make_keys_unique_seed: Makes these numbers repeatable.
        name: Stands in the names of threads.

    Raises:
        InvalidTypeError: An argument has a wrong type.
        InvalidArgumentError: It has a wrong value, see `SequenceQueueingStateSaver`.

    Example:
        >>> import numpy as np
        >>> from featurekit import TensorInfo
        >>> saver = batch_sequences_with_states(
        ...     input_key=TensorInfo((), np.str_),
        ...     input_sequences={"x": TensorInfo((None,), np.int64)},
        ...     input_context={},
        ...     input_length=None,
        ...     initial_states={"last": np.int64(0)},
        ...     num_unroll=3,
        ...     batch_size=2,
        ... )
        >>> feeder = saver.feed([{"x": np.arange(1, 5)}, {"x": np.arange(2)}], num_threads=1)
        >>> for batch in saver:
        ...     batch.save_state("last", batch.sequences["x"][:, -1])
        ...     print(batch.sequences["x"].tolist(), batch.length, batch.state("last"))
        [[1, 2, 3], [0, 1, 0]] [3 2] [0 0]
        [[4, 0, 0]] [1] [3]

    Source: the documentation of tf.contrib.training.batch_sequences_with_states.
    """
    unroll = as_num_unroll(num_unroll)
    if input_length is None:
        if not pad:
            raise InvalidArgumentError(
                "None values not supported.",
                hint="give input_length, or pad=True to infer it",
            )
        input_length = TensorInfo((), np.int32)
    specs = InputSpecs.of(input_key, input_length, input_sequences, input_context, initial_states)
    return SequenceQueueingStateSaver._of(
        None if batch_size is None else as_batch_size(batch_size),
        Splitter(specs, unroll, pad=bool(pad)),
        capacity,
        allow_small_batch,
        name or "batch_sequences_with_states",
        num_threads=num_threads,
        unique_keys=UniqueKeys(make_keys_unique_seed) if make_keys_unique else None,
    )
