"""DataSource: the decoded examples of a split, in any order."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, SupportsIndex, overload

import numpy as np

from featurekit.connector import FeatureConnector
from featurekit.dataset.info import DatasetInfo
from featurekit.dataset.records import SplitRecords
from featurekit.dataset.split_expressions import SplitLike
from featurekit.dataset.text import TextMode, with_text
from featurekit.decode import PartialDecoding, feature_names, select_features, with_decoders
from featurekit.errors import InvalidTypeError, RecordIndexError, SplitError
from featurekit.tensor_info import TensorInfo, Tree

__all__ = ["DataSource"]

# Records are decoded together in chunks of up to this many, and about this many bytes.
_CHUNK_RECORDS = 128
_CHUNK_BYTES = 1 << 18


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
        self._records = self._open_records()
        self._indices: Sequence[int] = range(len(self._records))

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
        for chunk in _chunks(self._scan()):
            yield from self._decode_chunk(chunk)

    def take(self, count: int) -> DataSource:
        """The first `count` examples."""
        return self[:count]

    def skip(self, count: int) -> DataSource:
        """All but the first `count` examples."""
        return self[count:]

    def at(self, ranges: Iterable[range]) -> Iterator[Any]:
        """The examples at some ranges of positions in the split, one range after the other."""
        records = (
            item
            for wanted in ranges
            for item in zip(wanted, self._records.scan(wanted.start, wanted.stop), strict=True)
        )
        for chunk in _chunks(records):
            yield from self._decode_chunk(chunk)

    @property
    def file_ranges(self) -> list[range]:
        """The positions in the split of the examples of each file."""
        return self._records.file_ranges

    def locate(self, position: int) -> tuple[str, int]:
        """The file that holds an example of the split, and the example's number in it."""
        piece, number = self._records.locate(position)
        return piece.filename, number

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

    def _decode_chunk(self, chunk: list[tuple[int, bytes]]) -> Iterator[Any]:
        """Decode several records at once; where one fails, those before it come first."""
        try:
            examples = self._decoded.deserialize_each([record for _, record in chunk])
        except Exception:  # one by one, this says which it is
            yield from (self._decode(record, position) for position, record in chunk)
            return
        yield from examples

    def _decode(self, record: bytes, position: int) -> Any:
        try:
            return self._decoded.deserialize_example(record)
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

    def __repr__(self) -> str:
        """What it holds, without reading anything."""
        return (
            f"DataSource({self._info.full_name}, split={str(self._split)!r}, "
            f"num_examples={len(self)})"
        )


def _chunks(items: Iterator[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    """Group records; the first group is small, so that the first example comes at once."""
    chunk: list[tuple[int, bytes]] = []
    size, limit = 0, 1
    try:
        for item in items:
            chunk.append(item)
            size += len(item[1])
            if len(chunk) >= limit or size >= _CHUNK_BYTES:
                yield chunk
                chunk, size, limit = [], 0, min(2 * limit, _CHUNK_RECORDS)
    except Exception:
        yield chunk  # what came before the fault
        raise
    yield chunk
