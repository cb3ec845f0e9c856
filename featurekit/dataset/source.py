"""DataSource: the decoded examples of a split, in any order."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, SupportsIndex, overload

import numpy as np

from featurekit.connector import FeatureConnector
from featurekit.dataset.info import DatasetInfo
from featurekit.dataset.records import SplitRecords
from featurekit.dataset.split_expressions import SplitLike
from featurekit.dataset.text import TextMode, text_converter
from featurekit.errors import InvalidTypeError, RecordIndexError, SplitError
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
        decoders: Decoders in place of the features' own, nested like the features.
        text: `"bytes"` gives text as it is stored, `"str"` decodes it as UTF-8.

    Raises:
        SplitError: There is no such split.

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
    ) -> None:
        if info.features is None:
            raise SplitError(
                "the dataset's features are not known", file=info.data_dir, hint="pass features="
            )
        self._info = info
        self._split = split
        self._decoders = decoders
        self._text = text
        self._convert = text_converter(text, info.features)
        self._records = SplitRecords(info.splits[split].file_instructions, info.file_format)
        self._indices: Sequence[int] = range(len(self._records))

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
        """The features of an example."""
        features: FeatureConnector = self._info.features
        return features

    @property
    def element_spec(self) -> Tree[TensorInfo]:
        """Shape and dtype of every value of an example: nested dicts of `TensorInfo`."""
        return self.features.get_tensor_info()

    # Examples.

    def __len__(self) -> int:
        """Number of examples."""
        return len(self._indices)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Any: ...
    @overload
    def __getitem__(self, index: slice | Sequence[int]) -> DataSource: ...
    def __getitem__(self, index: Any) -> Any:
        """One example; for a slice or a list of indices, a `DataSource` of those."""
        if isinstance(index, slice):
            return self._view(self._indices[index])
        if isinstance(index, (list, tuple, np.ndarray, range)):
            return self._view([self._indices[self._position(i)] for i in index])
        position = self._indices[self._position(index)]
        return self._decode(self._read(position), position)

    def __getitems__(self, indices: Iterable[int]) -> list[Any]:
        """Several examples; what PyTorch's DataLoader asks for."""
        return [self[i] for i in indices]

    def __iter__(self) -> Iterator[Any]:
        """All examples, in order; files are read from front to back."""
        for position, record in self._scan():
            yield self._decode(record, position)

    def take(self, count: int) -> DataSource:
        """The first `count` examples."""
        return self[:count]

    def skip(self, count: int) -> DataSource:
        """All but the first `count` examples."""
        return self[count:]

    def serialized(self) -> Iterator[bytes]:
        """The examples as they are stored: the bytes of tf.train.Examples."""
        return (record for _, record in self._scan())

    def _scan(self) -> Iterator[tuple[int, bytes]]:
        indices = self._indices
        if isinstance(indices, range) and indices.step == 1:
            yield from zip(indices, self._records.scan(indices.start, indices.stop), strict=True)
            return
        for position in indices:
            yield position, self._read(position)

    def _read(self, position: int) -> bytes:
        return self._records[position]

    def _decode(self, record: bytes, position: int) -> Any:
        try:
            example = self.features.deserialize_example(record, decoders=self._decoders)
            return example if self._convert is None else self._convert(example)
        except Exception as error:
            self._records.add_place(error, position)
            raise

    def _position(self, index: SupportsIndex) -> int:
        try:
            position = operator.index(index)
        except TypeError:
            raise InvalidTypeError(
                f"an example's index is an int, a slice or a list of ints, "
                f"not {type(index).__name__}"
            ) from None
        if not -len(self) <= position < len(self):
            raise RecordIndexError(
                f"there is no example {position}: {self._split!r} has {len(self)} examples"
            )
        return position + len(self) if position < 0 else position

    def _view(self, indices: Sequence[int]) -> DataSource:
        view = object.__new__(type(self))
        view.__dict__.update(self.__dict__, _indices=indices)
        return view

    def __getstate__(self) -> Mapping[str, Any]:
        """Pickle without the text converter, which is a function."""
        return self.__dict__ | {"_convert": None}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Restore what `__getstate__` left out."""
        self.__dict__.update(state)
        self._convert = text_converter(self._text, self.features)

    def __repr__(self) -> str:
        """What it holds, without reading anything."""
        return (
            f"DataSource({self._info.full_name}, split={str(self._split)!r}, "
            f"num_examples={len(self)})"
        )
