"""Examples as datasets and parse functions give them, as a saver takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from featurekit.errors import InvalidTypeError, UnknownNameError, did_you_mean, short_repr
from featurekit.sequences.specs import InputSpecs

__all__ = ["ItemReader"]

_FIELDS = frozenset({"key", "length", "sequences", "context", "initial_states"})


class ItemReader(NamedTuple):
    """Finds the declared values in what an input gives.

    An item is one of

    * a dict of the arguments of `enqueue`, `sequences` among them;
    * a pair of dicts, context and sequences: `fk.io.parse_single_sequence_example`'s result;
    * a dict of features: an example of a `DataSource`. A name such as `steps/reward` is that
      of a value inside of another; the steps of a `Dataset` feature are read one by one.

    Args:
        specs: The declared inputs.
        key: Name of the feature that holds the key; None numbers the examples.
        length: Name of the feature that holds the length; None takes all steps.
    """

    specs: InputSpecs
    key: str | None = None
    length: str | None = None

    def read(self, index: int, item: Any) -> dict[str, Any]:
        """The arguments of `enqueue` for one item.

        Args:
            index: Its place in the input, from 0; the key where there is no other.
            item: The item.

        Raises:
            UnknownNameError: A declared value is not there.
            InvalidTypeError: The item is none of the above.
        """
        if isinstance(item, Mapping) and "sequences" in item and item.keys() <= _FIELDS:
            return {"key": str(index), **item}
        if isinstance(item, Mapping):
            context = sequences = _Finder(item)
        elif isinstance(item, tuple) and len(item) == 2 and isinstance(item[1], Mapping):
            context, sequences = _Finder(item[0]), _Finder(item[1])
        else:
            raise InvalidTypeError(
                f"expected an example as a dict, or a pair of dicts, got {short_repr(item)}",
                hint="see SequenceQueueingStateSaver.feed",
            )
        return {
            "key": str(index) if self.key is None else context.find(self.key),
            "length": None if self.length is None else context.find(self.length),
            "sequences": {name: sequences.find(name) for name in self.specs.sequences},
            "context": {name: context.find(name) for name in self.specs.context},
        }


class _Finder:
    """Finds values in nested dicts and steps; decodes each step once."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._steps: dict[int, list[Any]] = {}

    def find(self, name: str) -> Any:
        return self._root[name] if name in self._root else self._walk(self._root, name)

    def _walk(self, value: Any, name: str) -> Any:
        if isinstance(value, Mapping):
            first, _, rest = name.partition("/")
            if first not in value:
                known = did_you_mean(first, value)
                raise UnknownNameError(f"the example has no value {first!r}{known}")
            return self._walk(value[first], rest) if rest else self._whole(value[first])
        if _is_steps(value):
            return [self._walk(step, name) for step in self._listed(value)]
        raise UnknownNameError(f"the example has no value {name!r}: {short_repr(value)} has none")

    def _whole(self, value: Any) -> Any:
        return self._listed(value) if _is_steps(value) else value

    def _listed(self, steps: Sequence[Any]) -> list[Any]:
        if id(steps) not in self._steps:
            self._steps[id(steps)] = list(steps)
        return self._steps[id(steps)]


def _is_steps(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))
