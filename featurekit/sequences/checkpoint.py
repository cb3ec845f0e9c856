"""A saver's examples, states and place in the input as plain values, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from featurekit.errors import InvalidArgumentError
from featurekit.sequences.arrays import gather
from featurekit.sequences.example import Example
from featurekit.sequences.inlet import Inlet
from featurekit.sequences.progress import Progress
from featurekit.sequences.segment_queue import Contents
from featurekit.sequences.specs import InputSpecs
from featurekit.sequences.states import StateRow
from featurekit.sequences.trees import map_leaves

__all__ = ["load", "save"]

_FORMAT = 1
_DATA = ("key", "count", "total_length", "sequences", "context", "segment", "rank")


def save(inlet: Inlet, *, fed: bool) -> dict[str, Any]:
    """What `SequenceQueueingStateSaver.state_dict` gives.

    Args:
        inlet: The way into the saver.
        fed: Whether a feeder is to go on, rather than the user's own calls of `enqueue`.
    """
    contents = inlet.barrier.contents()
    return {
        "format": _FORMAT,
        "declared": _declared(inlet),
        "examples": [_save_example(example) for example in contents.examples],
        "next_rank": contents.next_rank,
        "position": contents.progress.position,
        "ahead": contents.progress.ahead,
        "closed": inlet.barrier.closing and not fed,
        "unique_keys": inlet.unique_keys and inlet.unique_keys.get_state(),
    }


def load(inlet: Inlet, state: Mapping[str, Any]) -> None:
    """What `SequenceQueueingStateSaver.load_state_dict` does."""
    if state.get("format") != _FORMAT:
        raise InvalidArgumentError(
            f"expected the state of a saver in format {_FORMAT}, got {state.get('format')!r}",
            hint="give what state_dict() gave",
        )
    if state["declared"] != _declared(inlet):
        raise InvalidArgumentError(
            f"the state is of a saver declared with {state['declared']}, not {_declared(inlet)}"
        )
    examples = [_load_example(values, inlet.splitter.specs) for values in state["examples"]]
    progress = Progress(state["position"], state["ahead"])
    inlet.barrier.restore(Contents(examples, state["next_rank"], progress))
    if inlet.unique_keys is not None:
        inlet.unique_keys.set_state(state["unique_keys"])
    if state["closed"]:
        inlet.barrier.close()


def _declared(inlet: Inlet) -> dict[str, Any]:
    specs: InputSpecs = inlet.splitter.specs
    names = {"sequences": specs.sequences, "context": specs.context, "states": specs.states}
    return {
        "num_unroll": inlet.splitter.num_unroll,
        "make_keys_unique": inlet.unique_keys is not None,
        **{what: sorted(of) for what, of in names.items()},
    }


def _save_example(example: Example) -> dict[str, Any]:
    arrays, row = example.states
    # One row each, since an example may share its arrays with many others.
    states = {
        name: map_leaves(lambda array: gather(array, [row]), tree) for name, tree in arrays.items()
    }
    return {name: getattr(example, name) for name in _DATA} | {"states": states}


def _load_example(values: Mapping[str, Any], specs: InputSpecs) -> Example:
    states = {
        name: spec.saved(values["states"][name], 1, detach=True)
        for name, spec in specs.states.items()
    }
    data = {name: values[name] for name in _DATA}
    return Example(**data, states=StateRow(states, 0), admitted=True)
