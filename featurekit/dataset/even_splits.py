"""Cutting a split into even parts, for cross-validation and for several processes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from featurekit.dataset.split_expressions import (
    SplitExpression,
    SplitLengths,
    SplitLike,
    SplitRange,
)
from featurekit.errors import InvalidArgumentError

__all__ = ["even_splits", "split_for_process"]


@dataclasses.dataclass(frozen=True)
class _EvenSplit(SplitExpression):
    """Part `index` of `count` even parts; each range of the split is cut on its own."""

    split: SplitLike
    index: int
    count: int
    drop_remainder: bool

    def resolve(self, splits: Mapping[str, SplitLengths]) -> list[SplitRange]:
        whole = SplitExpression.from_spec(self.split).resolve(splits)
        return [SplitRange(name, *self._part(start, stop)) for name, start, stop in whole]

    def _part(self, start: int, stop: int) -> tuple[int, int]:
        size, remainder = divmod(stop - start, self.count)
        longer = 0 if self.drop_remainder else remainder  # the first parts have one more
        begin, end = (start + i * size + min(i, longer) for i in (self.index, self.index + 1))
        return begin, end


def even_splits(split: SplitLike, n: int, *, drop_remainder: bool = False) -> list[SplitExpression]:
    """`n` parts of a split that differ by one example at most and cover it.

    Each term of a sum is cut on its own, so that every part has its share of each.

    Args:
        split: A split string or expression, such as another even part.
        n: Number of parts.
        drop_remainder: Make all parts equally long, and leave the rest out.

    Raises:
        InvalidArgumentError: `n` is not positive.
        SplitError: `split` cannot be read.

    Example:
        >>> even_splits("train", 3)[0] + "test"
        _EvenSplit(split='train', index=0, count=3, drop_remainder=False)+ReadInstruction('test')
    """
    if n < 1:
        raise InvalidArgumentError(f"a split can be cut into 1 or more parts, not {n}")
    SplitExpression.from_spec(split)  # a spelling mistake should show here, not when it is read
    return [_EvenSplit(split, index, n, drop_remainder) for index in range(n)]


def split_for_process(
    split: SplitLike, *, process_index: int, process_count: int, drop_remainder: bool = False
) -> SplitExpression:
    """The part of a split that is for one of several processes or hosts.

    Args:
        split: A split string or expression.
        process_index: Which process, from 0.
        process_count: How many there are.
        drop_remainder: Give all of them the same number of examples.

    Raises:
        InvalidArgumentError: There is no such process.
        SplitError: `split` cannot be read.

    Example:
        >>> split_for_process("train", process_index=1, process_count=4)
        _EvenSplit(split='train', index=1, count=4, drop_remainder=False)
    """
    if not 0 <= process_index < process_count:
        raise InvalidArgumentError(
            f"process_index must be from 0 to process_count - 1 = {process_count - 1}, "
            f"got {process_index}"
        )
    return even_splits(split, process_count, drop_remainder=drop_remainder)[process_index]
