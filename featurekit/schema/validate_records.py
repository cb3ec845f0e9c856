"""Whether records hold what the features say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from featurekit.connector import FeatureConnector
from featurekit.connectors.opaque import Opaque
from featurekit.dtypes import dtype_name
from featurekit.errors import FeatureKitError, ParseError, did_you_mean
from featurekit.io.columns import ColumnSpec, read_columns, read_example
from featurekit.layout import Layout, OpaqueInfo
from featurekit.proto.example_pb2 import Example
from featurekit.schema.elements import element_counts, element_indices
from featurekit.schema.feature_leaves import FeatureLeaf, feature_leaves
from featurekit.schema.validate_values import LeafChecker, Problem
from featurekit.tensor_info import TensorInfo, Tree

__all__ = ["RecordChecker", "RecordProblem"]

Entries = Mapping[str, Any]


class RecordProblem(NamedTuple):
    """One thing that is wrong with one record.

    Attributes:
        code: The code of the rule.
        message: What was expected and what was found.
        feature: Path of the feature, such as `objects[2].label`, or None.
    """

    code: str
    message: str
    feature: str | None


class RecordChecker:
    """Finds what is wrong with records, many at once.

    Sound records cost little more than reading them: a batch is decoded as a reader does,
    and only where something is wrong its records are looked at one by one.

    Args:
        features: What they should hold.
    """

    def __init__(self, features: FeatureConnector) -> None:
        self._layout = features.layout
        self._leaves = [LeafChecker(leaf) for leaf in feature_leaves(features)]
        self._parts = [_StoredPart(*part) for part in _parts(self._layout.infos)]
        self._narrow = [part for part in self._parts if part.is_narrow]
        self._known = frozenset(self._layout.keys)
        self._siblings = _siblings([leaf.leaf for leaf in self._leaves])
        self._open = tuple(part.key for part in self._parts if isinstance(part.info, OpaqueInfo))

    def problems(self, records: Sequence[bytes]) -> Iterator[tuple[int, RecordProblem]]:
        """What is wrong: the index of the record in `records`, and the problem."""
        if self._is_clean(records):
            return
        for index, record in enumerate(records):
            for problem in self._look(record):
                yield index, problem

    def _is_clean(self, records: Sequence[bytes]) -> bool:
        try:
            if any(True for part in self._narrow for _ in part.overflow(records)):
                return False
            stored = self._layout.deserialize_batch(records)
        except FeatureKitError:
            return False
        for keys in map(_keys, records):
            if not self._known.issuperset(keys) and any(True for _ in self._undeclared(keys)):
                return False
        if any(_are_uneven(group, stored) for group in self._siblings):
            return False
        return not any(True for leaf in self._leaves for _ in leaf.problems(stored))

    def _look(self, record: bytes) -> Iterator[RecordProblem]:
        """Everything that is wrong with one record."""
        try:
            entries = read_example(record)
        except ParseError as error:
            yield RecordProblem("FK301", error.message, None)
            return
        for key in self._undeclared(entries):
            text = f"entry {key!r} is not declared{did_you_mean(key, self._known)}"
            yield RecordProblem("FK305", text, key)
        stored: dict[str, Any] = {}
        broken: list[tuple[str, ...]] = []
        for part in self._parts:
            found = [*part.problems(record, entries)]
            yield from (RecordProblem(*problem, self._name(part.path)) for problem in found)
            if found:
                broken.append(part.path)
            else:
                _put(stored, part.path, part.layout.deserialize_batch([record]))

        def is_whole(leaf: FeatureLeaf) -> bool:
            return all(path[: len(leaf.keys)] != leaf.keys for path in broken)

        for leaf in self._leaves:
            if is_whole(leaf.leaf):
                yield from _of_leaf(leaf, stored)
        for group in self._siblings:
            if all(map(is_whole, group)) and _are_uneven(group, stored):
                yield RecordProblem("FK304", _uneven_text(group, stored), _sequence_name(group[0]))

    def _undeclared(self, keys: Any) -> Iterator[str]:
        for key in keys:
            if key not in self._known and not self._is_open(key):
                yield key

    def _is_open(self, key: str) -> bool:
        """Whether the entry belongs to a feature of which nothing is known."""
        return any(key == start or key.startswith(f"{start}/") for start in self._open)

    def _name(self, path: tuple[str, ...]) -> str:
        """The path of a stored part, as people write that of its feature."""
        for leaf in self._leaves:
            keys = leaf.leaf.keys
            if path[: len(keys)] == keys:
                return ".".join([leaf.leaf.name, *path[len(keys) :]])
        return ".".join(path)


def _of_leaf(leaf: LeafChecker, stored: Any) -> Iterator[RecordProblem]:
    for problem in leaf.problems(stored):
        yield RecordProblem(problem.code, problem.message, _place(leaf, problem, stored))


def _place(leaf: LeafChecker, problem: Problem, stored: Any) -> str:
    feature: FeatureLeaf = leaf.leaf
    if problem.element is None:
        return feature.name
    indices = element_indices(feature.find(stored), leaf.inner_rank, problem.element)
    return feature.name_at(indices[1:])  # without that of the record


def _keys(record: bytes) -> Any:
    return Example.FromString(record).features.feature


class _StoredPart:
    """One value of the layout, by itself: so that all that is wrong is found, not the first."""

    def __init__(self, path: tuple[str, ...], info: TensorInfo) -> None:
        self.path = path
        self.key = "/".join(path)
        self.info = info
        self.layout = Layout(_nest(path, info))
        dtype = info.dtype
        # Reading turns any number into a bool, and a large one into an infinite float16.
        self.is_narrow = dtype.kind == "b" or dtype == np.float16
        if self.is_narrow:
            lengths = f"{self.key}/ragged_row_lengths_"
            self._flat = [s for s in self.layout.specs if not s.key.startswith(lengths)]

    def overflow(self, records: Sequence[bytes]) -> Iterator[Any]:
        """Stored numbers that the dtype does not hold."""
        for column in read_columns(records, self._flat):
            if self.info.dtype.kind == "b":
                wrong = (column.values != 0) & (column.values != 1)
            else:
                wrong = np.isfinite(column.values) & (
                    np.abs(column.values) > np.finfo(np.float16).max
                )
            yield from column.values[wrong].tolist()

    def problems(self, record: bytes, entries: Entries) -> Iterator[tuple[str, str]]:
        """Code and text of what is wrong in a record."""
        try:
            for value in self.overflow([record]) if self.is_narrow else ():
                dtype = dtype_name(self.info.dtype)
                yield "FK306", f"stored value {value:g} does not fit {dtype}"
                return
            self.layout.deserialize(record)
        except FeatureKitError as error:
            yield self._code(entries), error.message

    def _code(self, entries: Entries) -> str:
        """What kind of fault it is that reading this part fails."""
        specs: Sequence[ColumnSpec] = self.layout.specs
        found = [(spec, entries[spec.key]) for spec in specs if entries.get(spec.key) is not None]
        if not found:
            return "FK302"
        if any(values.dtype != spec.kind.dtype for spec, values in found):
            return "FK303"
        if self.info.dtype.kind in "iu" and self.info.dtype != np.uint64:
            limits = np.iinfo(self.info.dtype)
            values = found[0][1]
            if values.size and (values.min() < limits.min or values.max() > limits.max):
                return "FK306"
        return "FK304"


def _parts(
    infos: Tree[TensorInfo], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], TensorInfo]]:
    if isinstance(infos, TensorInfo):
        yield path, infos
        return
    for key, info in infos.items():
        yield from _parts(info, (*path, key))


def _nest(path: tuple[str, ...], info: TensorInfo) -> Tree[TensorInfo]:
    tree: Tree[TensorInfo] = info
    for key in reversed(path):
        tree = {key: tree}
    return tree


def _put(tree: dict[str, Any], path: tuple[str, ...], read: Any) -> None:
    """Take one value of what was read over into a tree of all."""
    for key in path[:-1]:
        tree, read = tree.setdefault(key, {}), read[key]
    tree[path[-1]] = read[path[-1]]


# Sequences of dicts, which are stored as one list for each key.


def _siblings(leaves: Sequence[FeatureLeaf]) -> list[list[FeatureLeaf]]:
    """The features that are stored as lists of one sequence, where there are several."""
    groups: dict[Any, list[FeatureLeaf]] = {}
    for leaf in leaves:
        if None in leaf.path and not isinstance(leaf.connector, Opaque):
            groups.setdefault(leaf.path[: leaf.path.index(None)], []).append(leaf)
    return [group for group in groups.values() if len(group) > 1]


def _are_uneven(group: Sequence[FeatureLeaf], stored: Any) -> bool:
    """Whether the lists of one sequence have different numbers of elements in a record."""
    first, *others = (element_counts(leaf.find(stored)) for leaf in group)
    return any((lengths != first).any() for lengths in others)


def _uneven_text(group: Sequence[FeatureLeaf], stored: Any) -> str:
    shown = ", ".join(f"{element_counts(leaf.find(stored))[0]} ({leaf.name})" for leaf in group)
    return f"the lists of the sequence have different lengths: {shown}"


def _sequence_name(leaf: FeatureLeaf) -> str:
    return FeatureLeaf(leaf.path[: leaf.path.index(None) + 1], leaf.connector).name
