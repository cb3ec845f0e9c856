"""DataSource: the decoded examples of a split, in any order."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, SupportsIndex, overload

import numpy as np

from featurekit.connector import FeatureConnector
from featurekit.dataset.batches import Batches
from featurekit.dataset.chunks import ExampleReader
from featurekit.dataset.info import DatasetInfo
from featurekit.dataset.iteration import ResumableIterator
from featurekit.dataset.order import Order, Part, Repeated, Shuffled, Span
from featurekit.dataset.prefetch import available_threads
from featurekit.dataset.records import SplitRecords
from featurekit.dataset.split_expressions import SplitLike
from featurekit.dataset.text import TextMode, with_text
from featurekit.decode import PartialDecoding, feature_names, select_features, with_decoders
from featurekit.errors import (
    InvalidArgumentError,
    InvalidTypeError,
    RecordIndexError,
    SplitError,
)
from featurekit.tensor_info import TensorInfo, Tree

__all__ = ["DataSource"]


class DataSource(Sequence[Any]):
    """The decoded examples of a split: a sequence that reads only what is asked for.

    Examples come in the order of the shard files. Slices, `take`, `skip` and lists of
    indices give another `DataSource` over the same files, and read nothing. It can be
    pickled, and used in processes that were forked.

    Args:
        info: The dataset.
        split: Name of a split, a slice such as `"train[:10%]"`, or a split expression.
        decoders: Decoders in place of the features' own, nested like the features, or a
            `PartialDecoding`; see `featurekit.decode`.
        text: `"bytes"` gives text as it is stored, `"str"` decodes it as UTF-8.
        columns: The features to read, such as `["image", "objects/label"]`; all by default.
            Others are neither looked for in the files nor decoded.

    Raises:
        SplitError: There is no such split.
        UnknownNameError: There is no such feature.

    Example:
        >>> ds = fk.load("digits", split="train")  # doctest: +SKIP
        >>> len(ds), ds[0]["label"], ds[-1]["image"].shape  # doctest: +SKIP
        (1797, np.int64(7), (8, 8, 1))
    """

    def __init__(
        self,
        info: DatasetInfo,
        split: SplitLike,
        *,
        decoders: Any = None,
        text: TextMode = "bytes",
        columns: Any = None,
    ) -> None:
        if info.features is None:
            raise SplitError(
                "the dataset's features are not known", file=info.data_dir, hint="pass features="
            )
        self._info = info
        self._split = split
        features = select_features(info.features, True if columns is None else columns)
        if isinstance(decoders, PartialDecoding):
            features, decoders = decoders.extract_features(features), decoders.decoders
        self._features = features
        self._decoded = with_text(with_decoders(features, decoders), text)
        self._reader = ExampleReader(self._open_records(), self._decoded)
        self._order: Order = Span(range(len(self._reader.records)), str(self._split))
        self._epoch = 0

    def _open_records(self) -> SplitRecords:
        return SplitRecords(
            self._info.splits[self._split].file_instructions, self._info.file_format
        )

    # What it is.

    @property
    def info(self) -> DatasetInfo:
        """The dataset."""
        return self._info

    @property
    def split(self) -> SplitLike:
        """The split, as it was asked for."""
        return self._split

    @property
    def features(self) -> FeatureConnector:
        """The features of an example: those of the dataset, or the chosen ones."""
        return self._features

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features' names as `columns=` takes them, such as `"objects/label"`."""
        return feature_names(self._features)

    @property
    def element_spec(self) -> Tree[TensorInfo]:
        """Shape and dtype of every value as it is read: nested dicts of `TensorInfo`."""
        return self._decoded.get_tensor_info()

    # Examples.

    def __len__(self) -> int:
        """Number of examples.

        Raises:
            TypeError: They are repeated for ever.
        """
        if self._order.size is None:
            raise TypeError("the examples are repeated for ever: they have no number")
        return self._order.size

    @overload
    def __getitem__(self, index: SupportsIndex) -> Any: ...
    @overload
    def __getitem__(self, index: slice | Sequence[int]) -> DataSource: ...
    def __getitem__(self, index: Any) -> Any:
        """One example; for a slice or a list of indices, a `DataSource` of those."""
        if isinstance(index, slice):
            return self._view(Part.of(self._order, self._range(index)))
        if isinstance(index, (list, tuple, np.ndarray, range)):
            return self._view(Part.of(self._order, [self._position(i) for i in index]))
        return self._reader.one(self._order.one(self._position(index), self._epoch))

    def __getitems__(self, indices: Iterable[int]) -> list[Any]:
        """Several examples at once; what PyTorch's DataLoader asks for."""
        positions = np.array([self._position(i) for i in indices], np.int64)
        return self._reader.several(self._order.at(positions, self._epoch))

    def __iter__(self) -> ResumableIterator:
        """All examples, in order; see `iterate`."""
        return self.iterate(threads=0)

    def iterate(self, *, threads: int | None = None) -> ResumableIterator:
        """All examples, in order; what lies in order in the files is read from front to back.

        Args:
            threads: Number of threads that decode ahead; none for 0, by default as many as
                there are CPUs, where anything needs decoding.

        Returns:
            An iterator that also has `state_dict` and `load_state_dict`, to go on from the
            same place in another process.
        """
        stream = functools.partial(self._reader.stream, self._order, self._threads(threads))
        return ResumableIterator(stream, self.order, self._epoch)

    def batches(
        self,
        size: int,
        *,
        drop_remainder: bool = False,
        ragged: str = "ragged",
        threads: int | None = None,
        ahead: int | None = None,
    ) -> Batches:
        """The examples in batches: a sequence of nested dicts of arrays `(size, ...)`.

        Args:
            size: Number of examples of a batch.
            drop_remainder: Whether to leave out a last batch that is smaller.
            ragged: What a batch holds where the examples' shapes vary: `"ragged"` gives a
                `RaggedTensor` (a list for pictures), `"pad"` an array filled up with zeros
                or `b""`, `"list"` a list of one value an example.
            threads: Number of threads that decode ahead; none for 0, by default as many as
                there are CPUs, where anything needs decoding.
            ahead: Number of batches that are in work or ready at most; by default one more
                than there are threads.

        Raises:
            InvalidArgumentError: A number makes no sense, or there is no such policy.
        """
        return Batches(
            self._reader,
            self._order,
            size,
            epoch=self._epoch,
            drop_remainder=drop_remainder,
            ragged=ragged,
            threads=self._threads(threads),
            ahead=ahead,
        )

    def _threads(self, threads: int | None) -> int:
        if threads is None:
            return 0 if self._decoded.is_plain else available_threads()
        if threads < 0:
            raise InvalidArgumentError(f"expected a number of threads from 0 on, got {threads}")
        return threads

    # Other orders.

    @property
    def order(self) -> str:
        """What is read and in which order, in words; equal for equal orders."""
        return repr(self._order)

    def take(self, count: int) -> DataSource:
        """The first `count` examples."""
        return self[:count]

    def skip(self, count: int) -> DataSource:
        """All but the first `count` examples."""
        return self[count:]

    def shuffle(self, seed: int) -> DataSource:
        """The examples in random order: another one for every seed and every epoch.

        The order is computed, not held in a buffer: it is drawn from all examples, starts at
        once, and is the same on every machine.

        Args:
            seed: Any integer.

        Raises:
            InvalidArgumentError: The seed is no integer, or the examples have no end.
        """
        return self._view(Shuffled(self._order, seed))

    def epoch(self, number: int) -> DataSource:
        """The same in another epoch: what is shuffled is shuffled anew.

        Args:
            number: From 0 on; 0 is what one has without.

        Raises:
            InvalidArgumentError: It is negative.
        """
        if number < 0:
            raise InvalidArgumentError(f"epochs are counted from 0 on, got {number}")
        view = self._view(self._order)
        view._epoch = int(number)
        return view

    def repeat(self, epochs: int | None = None) -> DataSource:
        """Several epochs one after the other, each shuffled anew; without end for None.

        Raises:
            InvalidArgumentError: The number is negative, or it has no end already.
        """
        return self._view(Repeated(self._order, epochs))

    def shard(self, index: int, count: int) -> DataSource:
        """One of `count` parts that have no example in common, and all of them together.

        Their numbers of examples differ by at most one. Of a shuffled source, the parts are
        of one order that all share: call it with the same seed everywhere.

        Args:
            index: Which part, from 0 on, such as the number of the host.
            count: Number of parts.

        Raises:
            InvalidArgumentError: There is no such part, or the examples have no end.
        """
        if not 0 <= index < count:
            raise InvalidArgumentError(f"there is no part {index} of {count}")
        if self._order.size is None:
            raise InvalidArgumentError(
                "what is repeated without end has no parts", hint="shard first, then repeat"
            )
        size = self._order.size
        return self[size * index // count : size * (index + 1) // count]

    # Where they lie.

    def at(self, ranges: Iterable[range]) -> Iterator[Any]:
        """The examples at some ranges of positions in the split, one range after the other."""
        parts = (self._view(Span(wanted, str(self._split))) for wanted in ranges)
        return itertools.chain.from_iterable(parts)

    @property
    def file_ranges(self) -> list[range]:
        """The positions in the split of the examples of each file."""
        return self._reader.records.file_ranges

    def locate(self, position: int) -> tuple[str, int]:
        """The file that holds an example of the split, and the example's number in it."""
        piece, number = self._reader.records.locate(position)
        return piece.filename, number

    def serialized(self) -> Iterator[bytes]:
        """The examples as they are stored: the bytes of tf.train.Examples."""
        return self._reader.serialized(self._order, self._epoch)

    def _range(self, index: slice) -> range:
        if self._order.size is not None:
            return range(self._order.size)[index]
        start, stop, step = index.start or 0, index.stop, index.step or 1
        if stop is None or min(start, stop) < 0 or step < 1:
            raise InvalidArgumentError(
                "of examples without end a slice needs a start and a stop from 0 on"
            )
        return range(start, stop, step)

    def _position(self, index: SupportsIndex) -> int:
        try:
            position = operator.index(index)
        except TypeError:
            raise InvalidTypeError(
                f"an example's index is an int, a slice or a list of ints, "
                f"not {type(index).__name__}"
            ) from None
        count = self._order.size
        if count is None and position >= 0:
            return position
        if count is None or not -count <= position < count:
            raise RecordIndexError(
                f"there is no example {position}: {self._split!r} has {count} examples"
            )
        return position + count if position < 0 else position

    def _view(self, order: Order) -> DataSource:
        view = object.__new__(type(self))
        view.__dict__.update(self.__dict__, _order=order)
        return view

    def __repr__(self) -> str:
        """What it holds, without reading anything."""
        return (
            f"DataSource({self._info.full_name}, split={str(self._split)!r}, "
            f"num_examples={self._order.size})"
        )
