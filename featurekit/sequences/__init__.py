"""Long sequences in segments, batched, with their states: for truncated back-propagation.

    saver = fk.sequences.batch_sequences_with_states(...)
    saver.feed(fk.load("episodes", split="train"))
    for batch in saver:
        state = train(batch.sequences["x"], batch.state("h"))
        batch.save_state("h", state)

The public names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from featurekit import lazy

if TYPE_CHECKING:
    from featurekit.sequences.batch import NextQueuedSequenceBatch
    from featurekit.sequences.batching import batch_sequences_with_states
    from featurekit.sequences.rnn import static_state_saving_rnn
    from featurekit.sequences.saver import SequenceQueueingStateSaver

__all__ = [
    "NextQueuedSequenceBatch",
    "SequenceQueueingStateSaver",
    "batch_sequences_with_states",
    "static_state_saving_rnn",
]

_MODULES = {
    "NextQueuedSequenceBatch": "featurekit.sequences.batch",
    "SequenceQueueingStateSaver": "featurekit.sequences.saver",
    "batch_sequences_with_states": "featurekit.sequences.batching",
    "static_state_saving_rnn": "featurekit.sequences.rnn",
}

__getattr__, __dir__ = lazy.attach(globals(), _MODULES)
