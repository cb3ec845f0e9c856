"""Reads split strings such as `'train[10%:20%]+test'`.

    spec  := part ( space* '+' space* part )*
    part  := name | name '[' bound ':' bound ']' | name '[' integer 'shard' ']'
    bound := '' | '-'? number ( '%' | 'shard' )?            at least one of the two is not empty

The grammar is that of TFDS 4.9 (https://www.tensorflow.org/datasets/splits). A slice has one
unit: that of its first bound, else of its second, else single examples (`abs`). Only `%`
takes decimals; digits may be grouped by `_`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from featurekit.errors import SplitError, UnsupportedError, short_repr

__all__ = ["SplitPart", "parse_spec"]

_BOUND = r"-?[0-9._]+"
_UNIT = r"%|shard"
_PART = re.compile(
    rf"""
    (?P<name>[\w-]+)
    (?:\[(?:
        (?P<index>{_BOUND})(?P<index_unit>{_UNIT})?
      | (?:(?P<from>{_BOUND})(?P<from_unit>{_UNIT})?)? : (?:(?P<to>{_BOUND})(?P<to_unit>{_UNIT})?)?
    )\])?
    """,
    re.VERBOSE,
)


class SplitPart(NamedTuple):
    """One part of a sum: a split name and the bounds of a slice of it, None where open."""

    name: str
    from_: int | float | None = None
    to: int | float | None = None
    unit: str = "abs"


def parse_spec(spec: str) -> list[SplitPart]:
    """The parts that a split string adds up.

    Raises:
        SplitError: The string does not follow the grammar.
        UnsupportedError: It takes a slice of `all`.

    Example:
        >>> parse_spec("train[:10%] + test[2shard]")[1]
        SplitPart(name='test', from_=2, to=3, unit='shard')
    """
    return [_parse_part(part, spec) for part in re.split(r"\s*\+\s*", spec)]


def _parse_part(part: str, spec: str) -> SplitPart:
    match = _PART.fullmatch(part)
    if match is None or part.endswith("[:]"):
        raise _unreadable(part, spec)
    name = match["name"]
    if part != name and name == "all":
        raise UnsupportedError(
            f"'all' cannot be sliced, in {short_repr(spec)}",
            hint="add up slices of the splits, such as 'train[:10%]+test[:10%]'",
        )
    unit = match["index_unit"] or match["from_unit"] or match["to_unit"] or "abs"
    if match["index"] and unit != "shard":
        raise SplitError(
            f"{part!r} asks for a single element, which only shards can be",
            hint=f"take a slice, such as '{name}[:10]'",
        )
    try:
        index, from_, to = (_number(match[key], unit) for key in ("index", "from", "to"))
    except ValueError:  # a misplaced '_' or '.', or decimals without '%'
        raise _unreadable(part, spec) from None
    if index is not None:
        from_, to = index, (None if index == -1 else index + 1)
    return SplitPart(name, from_, to, unit)


def _number(text: str | None, unit: str) -> int | float | None:
    if text is None:
        return None
    return float(text) if unit == "%" else int(text)


def _unreadable(part: str, spec: str) -> SplitError:
    where = "" if part == spec else f" in {short_repr(spec)}"
    return SplitError(
        f"cannot read the split {short_repr(part)}{where}",
        hint="write 'name', 'name[from:to]' with bounds such as 10, -5, 25% or 2shard, "
        "'name[2shard]', or several of these joined by '+'",
    )
