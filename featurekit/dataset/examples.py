"""Examples: what `as_dataset` gives, in TFDS's order and with its values.

Differences from a `DataSource`: files are interleaved as TFDS interleaves them, a missing
optional value is what TensorFlow's path of TFDS gives for it, and it is only iterated.
"""

from __future__ import annotations

import functools
import itertools
import os
import random
from collections.abc import Iterable, Iterator
from typing import Any

from featurekit.dataset import supervised
from featurekit.dataset.batching import padded
from featurekit.dataset.interleave import interleaved_ranges
from featurekit.dataset.missing import filler
from featurekit.dataset.read_config import ReadConfig
from featurekit.dataset.source import DataSource
from featurekit.errors import InvalidArgumentError, NotOfferedError

__all__ = ["Examples"]


class Examples(Iterable[Any]):
    """The decoded examples of a split, as TFDS's `as_dataset` orders and fills them.

    They can be iterated any number of times. Values are NumPy arrays and scalars.

    Args:
        source: The examples.
        read_config: The order.
        shuffle_files: Whether to read the files in a random order.
        as_supervised: Whether to give `(input, target)` in place of dicts.

    Raises:
        InvalidArgumentError: The dataset has no supervised keys, or its order is fixed.

    Example:
        >>> ds = fk.tfds.load("digits", split="train")  # doctest: +SKIP
        >>> for example in ds.take(2):  # doctest: +SKIP
        ...     print(example["label"])
    """

    def __init__(
        self,
        source: DataSource,
        read_config: ReadConfig | None = None,
        *,
        shuffle_files: bool = False,
        as_supervised: bool = False,
    ) -> None:
        self._source = source
        self._config = read_config or ReadConfig()
        self._shuffle = shuffle_files
        self._keys = source.info.supervised_keys if as_supervised else None
        self._span: tuple[int, int | None] = (0, None)
        if as_supervised and self._keys is None:
            raise InvalidArgumentError(
                f"{source.info.full_name} has no supervised keys",
                hint="leave as_supervised out, and take what you need of each example",
            )
        self._check_order()

    def _check_order(self) -> None:
        cycle = self._config.interleave_cycle_length
        reordered = self._shuffle or cycle not in (None, 1)
        if self._source.info.disable_shuffling and reordered and self._config.enable_ordering_guard:
            raise InvalidArgumentError(
                f"the examples of {self._source.info.full_name} have an order, which shuffling "
                "files or interleaving them would change",
                hint="give ReadConfig(enable_ordering_guard=False) if it does not matter",
            )

    @property
    def element_spec(self) -> Any:
        """Shape and dtype of every value: nested dicts and tuples of `TensorInfo`."""
        spec = self._source.element_spec
        return spec if self._keys is None else _pick(spec, self._keys)

    def __len__(self) -> int:
        """Number of examples.

        Raises:
            TypeError: They are repeated for ever.
        """
        start, stop = self._span
        if self._config.repeat_filenames and stop is None:
            raise TypeError("the examples are repeated for ever: they have no number")
        total = len(self._source) if stop is None else stop
        if not self._config.repeat_filenames:
            total = min(total, len(self._source))
        return max(total - start, 0)

    def cardinality(self) -> int:
        """Number of examples; -1 where they are repeated for ever."""
        return -1 if self._config.repeat_filenames and self._span[1] is None else len(self)

    def __iter__(self) -> Iterator[Any]:
        examples = self._all()
        if self._config.repeat_filenames:
            examples = itertools.chain.from_iterable(self._all() for _ in itertools.count())
        return itertools.islice(examples, *self._span)

    def as_numpy_iterator(self) -> Iterator[Any]:
        """The examples; the same as iterating, under tf.data's name."""
        return iter(self)

    def take(self, count: int) -> Examples:
        """The first `count` examples; all for -1."""
        start, stop = self._span
        if count < 0:
            return self
        return self._spanning(start, start + count if stop is None else min(stop, start + count))

    def skip(self, count: int) -> Examples:
        """All but the first `count` examples."""
        return self._spanning(self._span[0] + count, self._span[1])

    def _spanning(self, start: int, stop: int | None) -> Examples:
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, _span=(start, stop))
        return other

    def batch(self, batch_size: int, drop_remainder: bool = False) -> Iterator[Any]:
        """Examples joined along a new first axis; padded with zeros where shapes differ.

        Raises:
            UnsupportedError: Values are ragged, or steps of a `Dataset`, and cannot be padded.
        """
        if batch_size < 1:
            raise InvalidArgumentError(f"batch_size must be 1 or more, got {batch_size}")
        rest = iter(self)
        while chunk := list(itertools.islice(rest, batch_size)):
            if len(chunk) == batch_size or not drop_remainder:
                yield padded(chunk, self.element_spec)

    padded_batch = batch

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotOfferedError(
            f"examples have no {name!r}: they are iterated, and that is all",
            hint="write a generator over them, or open the dataset with featurekit.load",
        )

    def __repr__(self) -> str:
        """What it holds, without reading anything."""
        return f"Examples({self._source!r})"

    # One pass.

    def _all(self) -> Iterator[Any]:
        ranges = list(self._ranges())
        positions = itertools.chain.from_iterable(ranges)
        fill = filler(self._source.element_spec)
        for position, example in zip(positions, self._source.at(ranges), strict=True):
            if fill is not None:
                example = fill(example)
            if self._config.add_tfds_id:
                example["tfds_id"] = self._id(position)
            if self._keys is not None:
                example = _pick(example, self._keys)
            yield example

    def _ranges(self) -> Iterable[range]:
        files = self._source.file_ranges
        if self._shuffle:
            random.Random(self._config.shuffle_seed).shuffle(files)
        cycle = self._config.interleave_cycle_length
        if cycle is None:
            cycle = 1 if self._source.info.disable_shuffling else 16
        if len(files) == 1 or cycle == 1:
            return files
        return interleaved_ranges(files, cycle, self._config.interleave_block_length or 16)

    def _id(self, position: int) -> bytes:
        path, index = self._source.locate(position)
        if len(self._folders) > 1:
            path = os.path.relpath(path, os.path.commonpath(self._folders))
        else:
            path = os.path.basename(path)
        return f"{path}__{index}".encode()

    @functools.cached_property
    def _folders(self) -> set[str]:
        starts = (files.start for files in self._source.file_ranges)
        return {os.path.dirname(self._source.locate(start)[0]) for start in starts}


def _pick(values: Any, keys: Any) -> Any:
    """Values in the form of supervised keys."""
    return supervised.map_keys(values.__getitem__, keys)
