"""What a split string means: slices, sums and even parts of the splits of a dataset.

Expressions know no dataset. `resolve` turns them into ranges of examples, once the lengths
of the stored splits are known. Semantics are those of TFDS 4.9, except where TFDS returns
other examples than were asked for:

- A slice that ends before it starts is an error (TFDS: a negative number of examples).
- `train[:0shard]` is empty (TFDS: the whole split), and a bound before the first shard is
  cut there (TFDS: counted from the end a second time).
- A bound from the end that rounds to nothing stays at the end: `train[-1%:]` of 3 examples
  is empty, `train[:-1%]` all 3 (TFDS: the other way round).
"""

from __future__ import annotations

import abc
import dataclasses
import decimal
import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from featurekit.dataset.split_grammar import parse_spec
from featurekit.errors import InvalidTypeError, SplitError, did_you_mean, short_repr

__all__ = ["ReadInstruction", "SplitExpression", "SplitLengths", "SplitLike", "SplitRange"]

_UNITS = ("abs", "%", "shard")
_ROUNDINGS = ("closest", "pct1_dropremainder")


class SplitRange(NamedTuple):
    """The examples `start` to `stop` (not included) of a stored split."""

    split: str
    start: int
    stop: int


class SplitLengths(Protocol):
    """What must be known of a stored split to take slices of it."""

    @property
    def num_examples(self) -> int:
        """Number of examples."""

    @property
    def shard_lengths(self) -> Sequence[int]:
        """Number of examples in each shard."""


class SplitExpression(abc.ABC):
    """A choice of examples: a split, a slice of one, or a sum of these.

    `+` joins expressions and strings. Parts may overlap: what is chosen twice is read twice.
    """

    @staticmethod
    def from_spec(spec: SplitLike) -> SplitExpression:
        """The expression of a split string; an expression is returned as it is.

        Raises:
            SplitError: The string does not follow the grammar.
            UnsupportedError: It takes a slice of `all`.
            InvalidTypeError: `spec` is neither.

        Example:
            >>> ReadInstruction.from_spec("train[:50%] + test")
            ReadInstruction('train[:50%]', rounding='closest')+ReadInstruction('test')
        """
        if isinstance(spec, SplitExpression):
            return spec
        if not isinstance(spec, str):
            raise InvalidTypeError(
                f"a split must be text or a ReadInstruction, got {short_repr(spec)}",
                hint="write for example 'train' or 'train[:10%]+test'",
            )
        parts = parse_spec(spec)
        return _join(_All() if part.name == "all" else ReadInstruction(*part) for part in parts)

    @abc.abstractmethod
    def resolve(self, splits: Mapping[str, SplitLengths]) -> list[SplitRange]:
        """The ranges that it means, in order; some may be empty.

        Args:
            splits: The stored splits by name, in stored order.

        Raises:
            SplitError: A split does not exist, or is shorter than a bound, or a slice
                ends before it starts.
        """

    def __add__(self, other: SplitLike) -> SplitExpression:
        return _join([self, SplitExpression.from_spec(other)])

    def __radd__(self, other: SplitLike) -> SplitExpression:
        return _join([SplitExpression.from_spec(other), self])


SplitLike = str | SplitExpression


@dataclasses.dataclass(frozen=True, repr=False)
class ReadInstruction(SplitExpression):
    """A split, or a slice of one.

    Args:
        split_name: Name of the split.
        from_: Where the slice begins, or None for the beginning. Negative bounds count
            from the end.
        to: Where it ends (not included), or None for the end.
        unit: `'abs'` (single examples), `'%'` (percent of the split, decimals allowed) or
            `'shard'` (files; bounds beyond the last are cut, as in a Python slice).
        rounding: How percents become examples: `'closest'`, half to even, so that
            neighbouring slices share a border; or `'pct1_dropremainder'`, where one percent
            is `num_examples // 100` examples and slices of one width have one length.

    Raises:
        SplitError: The unit or rounding is unknown, a bound is a fraction where it must be
            whole, or is beyond 100%.
        InvalidTypeError: The name is no text or a bound no number.

    Example:
        >>> ReadInstruction("train", to=5) + "test[-10%:]"
        ReadInstruction('train[:5]')+ReadInstruction('test[-10%:]', rounding='closest')
    """

    split_name: str
    from_: int | float | None = None
    to: int | float | None = None
    unit: str = "abs"
    rounding: str = "closest"

    def __post_init__(self) -> None:
        if not isinstance(self.split_name, str):
            raise InvalidTypeError(f"a split name must be text, got {short_repr(self.split_name)}")
        _check_choice("unit", self.unit, _UNITS)
        _check_choice("rounding", self.rounding, _ROUNDINGS)
        fractions = self.unit == "%" and self.rounding == "closest"
        for name in ("from_", "to"):
            bound = _check_bound(name, getattr(self, name), fractions=fractions)
            if self.unit == "%" and not -100 <= (bound or 0) <= 100:
                raise SplitError(f"a percentage must be in [-100, 100], got {name}={bound}")
            object.__setattr__(self, name, bound)

    @property
    def spec(self) -> str:
        """The string that means this slice, except for its rounding.

        >>> ReadInstruction("train", -2, unit="shard").spec
        'train[-2shard:]'
        """
        if self.from_ is None and self.to is None:
            return self.split_name
        unit = "" if self.unit == "abs" else self.unit
        bounds = (self.from_, self.to)
        texts = ("" if bound is None else f"{_number_text(bound)}{unit}" for bound in bounds)
        return f"{self.split_name}[{':'.join(texts)}]"

    def __repr__(self) -> str:
        rounding = f", rounding={self.rounding!r}" if self.unit == "%" else ""
        return f"{type(self).__name__}({self.spec!r}{rounding})"

    def resolve(self, splits: Mapping[str, SplitLengths]) -> list[SplitRange]:
        """See `SplitExpression.resolve`; it is one range."""
        if self.split_name not in splits:
            raise _unknown_split(self.split_name, list(splits))
        start, stop = self._range(splits[self.split_name])
        if start > stop:
            raise SplitError(
                f"{self.spec!r} begins at example {start} and ends before it, at {stop}",
                hint="put the smaller bound first",
            )
        return [SplitRange(self.split_name, start, stop)]

    def _range(self, split: SplitLengths) -> tuple[int, int]:
        """The first example, and the one after the last."""
        if self.unit == "shard":
            lengths = split.shard_lengths
            first, last, _ = slice(self.from_, self.to).indices(len(lengths))
            return sum(lengths[:first]), sum(lengths[:last])
        length = split.num_examples
        start = 0 if self.from_ is None else self._position(self.from_, length)
        stop = length if self.to is None else self._position(self.to, length)
        if not (0 <= start <= length and 0 <= stop <= length):
            raise SplitError(
                f"{self.spec!r} is out of range: the split has {length} examples",
                hint="cut at percentages where the length is not known, such as 'train[:80%]'",
            )
        return start, stop

    def _position(self, bound: float, length: int) -> int:
        """The example at a bound. A bound from the end stays one when it rounds to 0."""
        offset = self._percent_to_examples(bound, length) if self.unit == "%" else int(bound)
        return length + offset if bound < 0 else offset

    def _percent_to_examples(self, percent: float, length: int) -> int:
        if self.rounding == "closest":
            return round(percent * length / 100)  # half to even, as TFDS does
        if length < 100:
            raise SplitError(
                f"one percent of {length} examples is none with rounding={self.rounding!r}, "
                f"in {self.spec!r}",
                hint="use rounding='closest'",
            )
        return int(percent) * (length // 100)


@dataclasses.dataclass(frozen=True, repr=False)
class _Sum(SplitExpression):
    """Several expressions, one after another."""

    parts: tuple[SplitExpression, ...]

    def __repr__(self) -> str:
        return "+".join(map(repr, self.parts))

    def resolve(self, splits: Mapping[str, SplitLengths]) -> list[SplitRange]:
        return [found for part in self.parts for found in part.resolve(splits)]


@dataclasses.dataclass(frozen=True)
class _All(SplitExpression):
    """Every split of the dataset, in stored order."""

    def resolve(self, splits: Mapping[str, SplitLengths]) -> list[SplitRange]:
        return [SplitRange(name, 0, split.num_examples) for name, split in splits.items()]


def _join(parts: Iterable[SplitExpression]) -> SplitExpression:
    """One expression of several; sums are flattened, so that long ones do not nest."""
    flat: list[SplitExpression] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, _Sum) else [part])
    return flat[0] if len(flat) == 1 else _Sum(tuple(flat))


def _check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    if value not in choices:
        known = ", ".join(map(repr, choices))
        raise SplitError(f"{name} must be one of {known}, got {short_repr(value)}")


def _check_bound(name: str, bound: Any, *, fractions: bool) -> int | float | None:
    """The bound as a plain number: an int where it is whole, NumPy's turned into Python's."""
    if bound is None or isinstance(bound, numbers.Integral):
        return None if bound is None else int(bound)
    if not isinstance(bound, numbers.Real):
        raise InvalidTypeError(f"{name} must be a number, got {short_repr(bound)}")
    number = float(bound)
    if number.is_integer():
        return int(number)
    if not fractions or not math.isfinite(number):
        raise SplitError(
            f"{name} must be a whole number, got {number}",
            hint="only unit='%' with rounding='closest' takes fractions",
        )
    return number


def _unknown_split(name: str, known: Sequence[str]) -> SplitError:
    if not known:
        return SplitError(
            f"there is no split {name!r}: the dataset has no splits",
            hint="call download_and_prepare() first, where this is a builder that has not run",
        )
    if len(known) <= 10:
        return SplitError(f"there is no split {name!r}; there are {', '.join(map(repr, known))}")
    return SplitError(f"there is no split {name!r}{did_you_mean(name, known)}")


def _number_text(number: float) -> str:
    """A number as the grammar takes it: all its digits, and no exponent."""
    return format(decimal.Decimal(repr(number)), "f")
