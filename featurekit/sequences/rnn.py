"""static_state_saving_rnn: a cell run over the steps of a segment, with its state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from featurekit.errors import InvalidArgumentError
from featurekit.sequences.arrays import is_array, select, to_library_of, zeros_like
from featurekit.sequences.batch import NextQueuedSequenceBatch
from featurekit.sequences.trees import leaves, map_leaves

__all__ = ["static_state_saving_rnn"]

Cell = Callable[[Any, Any], tuple[Any, Any]]


def static_state_saving_rnn(
    cell: Cell,
    inputs: Any,
    state_saver: NextQueuedSequenceBatch,
    state_name: str | Sequence[str],
    sequence_length: Any = None,
    *,
    detach: bool = True,
) -> tuple[list[Any], Any]:
    """Run a cell over a segment, from the state that was saved, and save the new state.

    Beyond the length of a row, its outputs are 0 and its state stays as it is.

    Args:
        cell: Called as `cell(input, state)` with `(b, ...)` arrays for each step; gives
            `(output, new state)`. Arrays of NumPy, PyTorch or JAX, or trees of them.
        inputs: The steps: an array `(b, num_unroll, ...)`, or a list of arrays `(b, ...)`.
        state_saver: The batch.
        state_name: Name of the state; a tuple of names makes a tuple of states.
        sequence_length: Number of steps of each row that are data, `(b,)` integers; by
            default `state_saver.length`.
        detach: See `NextQueuedSequenceBatch.save_state`.

    Returns:
        The outputs, one a step; and the last state, which is not detached.

    Raises:
        InvalidArgumentError: There are no steps, or the cell's state has another structure,
            shape or dtype than the saved one.
        UnknownNameError: There is no state of that name.

    Example:
        >>> import numpy as np
        >>> from featurekit import TensorInfo
        >>> from featurekit.sequences import SequenceQueueingStateSaver
        >>> saver = SequenceQueueingStateSaver(
        ...     1, 3, TensorInfo((), np.int32), TensorInfo((), np.str_),
        ...     {"x": TensorInfo((None,), np.int64)}, {}, {"sum": np.int64(0)},
        ... )
        >>> saver.enqueue(key="a", length=2, sequences={"x": [5, 6, 7]})
        >>> batch = saver.next_batch()
        >>> def cell(x, total):
        ...     return total + x, total + x
        >>> outputs, state = static_state_saving_rnn(cell, batch.sequences["x"], batch, "sum")
        >>> [output.tolist() for output in outputs], state.tolist()
        ([[5], [11], [0]], [11])

    Source: the documentation of tf.nn.static_state_saving_rnn (TensorFlow 1).
    """
    steps = _steps(inputs)
    names = (state_name,) if isinstance(state_name, str) else tuple(state_name)
    reference = next(leaves(steps[0]))
    states = tuple(
        map_leaves(lambda array: to_library_of(reference, array), state_saver.state(name))
        for name in names
    )
    state: Any = states[0] if isinstance(state_name, str) else states
    lengths = np.asarray(state_saver.length if sequence_length is None else sequence_length)
    outputs = []
    for number, step in enumerate(steps):
        output, new = cell(step, state)
        is_data = number < lengths
        if not is_data.all():
            output, new = _masked(is_data, output, new, state)
        outputs.append(output)
        state = new
    for name, value in zip(names, [state] if isinstance(state_name, str) else state, strict=True):
        state_saver.save_state(name, value, detach=detach)
    return outputs, state


def _steps(inputs: Any) -> list[Any]:
    steps = [inputs[:, i] for i in range(inputs.shape[1])] if is_array(inputs) else list(inputs)
    if not steps:
        raise InvalidArgumentError("inputs must have one step at least")
    return steps


def _masked(is_data: np.ndarray[Any, Any], output: Any, new: Any, old: Any) -> tuple[Any, Any]:
    """The output and the state where rows have ended: zeros, and the state before."""
    return (
        map_leaves(lambda array: select(is_data, array, zeros_like(array)), output),
        map_leaves(lambda after, before: select(is_data, after, before), new, old),
    )
