"""From feature specs to what is read, and what is made of it; worked out once for each."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from featurekit.errors import (
    FeatureKitError,
    InvalidArgumentError,
    InvalidTypeError,
    add_path,
    short_repr,
)
from featurekit.io.columns import Column, ColumnSpec, Kind, StepColumn
from featurekit.io.parse_dense import dense_reader, padded_reader
from featurekit.io.parse_ragged import ragged_reader, ragged_steps_reader
from featurekit.io.parse_sparse import sparse_reader, var_len_reader
from featurekit.io.parse_steps import dense_steps_reader, sparse_steps_reader
from featurekit.io.specs import (
    FeatureSpec,
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)

__all__ = ["Plan", "Reader", "context_plan", "example_plan", "lists_plan"]

C = TypeVar("C", Column, StepColumn)


class Reader(Protocol):
    """Makes one result of the columns that it asks for."""

    @property
    def columns(self) -> tuple[ColumnSpec, ...]:
        """What it reads."""

    def batch(self, columns: list[Any]) -> Any:
        """The result for all examples."""

    def single(self, columns: list[Any]) -> Any:
        """The result for the one example there is, without the batch dimension."""


Makers: TypeAlias = Mapping[type[Any], Callable[[str, Any], Reader]]


class Step(NamedTuple):
    """One result: its name, what makes it, and where in the plan its columns are."""

    name: str
    reader: Reader
    places: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Plan(Generic[C]):
    """What to read for some feature specs, and how to make the results.

    Attributes:
        columns: What to read, each key once.
        steps: The results, in the order of the specs.
        specs: The specs themselves; holding them keeps their identity, by which plans
            are found again.
    """

    columns: tuple[ColumnSpec, ...]
    steps: tuple[Step, ...]
    specs: tuple[FeatureSpec, ...]

    def results(self, columns: Sequence[C], *, single: bool) -> dict[str, Any]:
        """The results by name."""
        results = {}
        for name, reader, places in self.steps:
            make = reader.single if single else reader.batch
            results[name] = make([columns[place] for place in places])
        return results


def example_plan(features: Mapping[str, FeatureSpec]) -> Plan[Column]:
    """The plan for the features of Examples."""
    return _plan(features, _EXAMPLE)


def context_plan(features: Mapping[str, FeatureSpec]) -> Plan[Column]:
    """The plan for the context features of SequenceExamples."""
    return _plan(features, _CONTEXT)


def lists_plan(features: Mapping[str, FeatureSpec]) -> Plan[StepColumn]:
    """The plan for the feature lists of SequenceExamples."""
    return _plan(features, _LISTS)


_EXAMPLE: Makers = {
    FixedLenFeature: dense_reader,
    FixedLenSequenceFeature: padded_reader,
    VarLenFeature: var_len_reader,
    SparseFeature: sparse_reader,
    RaggedFeature: ragged_reader,
}
_CONTEXT: Makers = {
    FixedLenFeature: dense_reader,
    VarLenFeature: var_len_reader,
    RaggedFeature: ragged_reader,
}
_LISTS: Makers = {
    FixedLenSequenceFeature: dense_steps_reader,
    VarLenFeature: sparse_steps_reader,
    RaggedFeature: ragged_steps_reader,
}

_PLANS: dict[tuple[object, ...], Plan[Any]] = {}
_MOST_PLANS = 256


def _plan(features: Mapping[str, FeatureSpec], makers: Makers) -> Plan[Any]:
    if not isinstance(features, Mapping):
        raise InvalidTypeError(
            f"expected features as a mapping of keys to specs, got {short_repr(features)}"
        )
    # By identity: equality would take the defaults 0.0 and -0.0 for the same.
    key = (id(makers), *features, *map(id, features.values()))
    plan = _PLANS.get(key)
    if plan is None:
        plan = _make_plan(features, makers)
        if all(map(_is_constant, plan.specs)):
            if len(_PLANS) >= _MOST_PLANS:
                _PLANS.clear()
            _PLANS[key] = plan
    return plan


def _is_constant(spec: FeatureSpec) -> bool:
    default = getattr(spec, "default_value", None)
    return default is None or isinstance(default, (int, float, str, bytes))


def _make_plan(features: Mapping[str, FeatureSpec], makers: Makers) -> Plan[Any]:
    uses: dict[str, _Use] = {}
    steps = []
    for name, spec in features.items():
        if not isinstance(name, str):
            raise InvalidTypeError(f"expected feature keys as str, got {short_repr(name)}")
        try:
            reader = _maker(spec, makers)(name, spec)
            places = tuple(_place(uses, column, spec) for column in reader.columns)
        except FeatureKitError as error:
            add_path(error, name)
            raise
        steps.append(Step(name, reader, places))
    columns = tuple(use.column for use in uses.values())
    return Plan(columns, tuple(steps), tuple(features.values()))


def _maker(spec: object, makers: Makers) -> Callable[[str, Any], Reader]:
    maker = makers.get(type(spec))
    if maker is None:
        allowed = ", ".join(known.__name__ for known in makers)
        raise InvalidArgumentError(f"expected one of {allowed} here, got {short_repr(spec)}")
    if getattr(spec, "dtype", None) is None:
        raise InvalidArgumentError("dtype: expected int64, float32 or string, got None")
    return maker


class _Use(NamedTuple):
    """How a key is read: in what family of results, and in what dtype for the row splits."""

    place: int
    column: ColumnSpec
    family: str
    splits: Any


_FAMILIES = {
    FixedLenFeature: "dense",
    FixedLenSequenceFeature: "dense",
    VarLenFeature: "sparse",
    SparseFeature: "sparse",
    RaggedFeature: "ragged",
}


def _place(uses: dict[str, _Use], column: ColumnSpec, spec: FeatureSpec) -> int:
    """Where the column is among those to read; two specs may share it if they agree."""
    family, splits = _FAMILIES[type(spec)], getattr(spec, "row_splits_dtype", None)
    use = uses.setdefault(column.key, _Use(len(uses), column, family, splits))
    if use.family != family:
        raise InvalidArgumentError(
            f"key {column.key!r} is read both as {use.family} and as {family}",
            hint="parse twice, or read it one way and convert",
        )
    if use.column.kind != column.kind:
        raise InvalidArgumentError(
            f"key {column.key!r} is read both as {_name(use.column.kind)} and as "
            f"{_name(column.kind)}"
        )
    if use.splits != splits:
        raise InvalidArgumentError(
            f"key {column.key!r} is read with both {use.splits} and {splits} row splits"
        )
    return use.place


def _name(kind: Kind) -> str:
    return "string" if kind is Kind.BYTES else str(kind.dtype)
