"""DataSource: the decoded examples of a split, in any order."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from featurekit.connector import FeatureConnector
from featurekit.dataset.example_reader import ExampleReader
from featurekit.dataset.frameworks import SourceForFrameworks
from featurekit.dataset.info import DatasetInfo
from featurekit.dataset.order import Span
from featurekit.dataset.ordered import Ordered
from featurekit.dataset.records import SplitRecords
from featurekit.dataset.split_expressions import SplitLike
from featurekit.dataset.text import TextMode, with_text
from featurekit.decode import PartialDecoding, feature_names, select_features, with_decoders
from featurekit.errors import SplitError
from featurekit.tensor_info import TensorInfo, Tree

__all__ = ["DataSource"]


class DataSource(SourceForFrameworks, Ordered):
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
        records = self._open_records()
        super().__init__(ExampleReader(records, self._decoded), len(records), str(self._split))
        self._records = records

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

    def decoded_by(self, features: FeatureConnector) -> DataSource:
        """The same examples in the same order, decoded by other features.

        Args:
            features: Some of the source's features, or what decodes them in another way.
        """
        view = self._view(self._order)
        view._features = view._decoded = features
        view._reader = ExampleReader(self._records, features)
        return view

    @property
    def decoding_features(self) -> FeatureConnector:
        """The features as they are decoded: by the decoders, and to the text, that were chosen."""
        return self._decoded

    # Where they lie.

    def at(self, ranges: Iterable[range]) -> Iterator[Any]:
        """The examples at some ranges of positions in the split, one range after the other."""
        parts = (self._view(Span(wanted, str(self._split))) for wanted in ranges)
        return itertools.chain.from_iterable(parts)

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
        return ExampleReader(self._records, self._decoded).serialized(self._order, self._epoch)

    def __repr__(self) -> str:
        """What it holds, without reading anything."""
        return (
            f"DataSource({self._info.full_name}, split={str(self._split)!r}, "
            f"num_examples={self._order.size})"
        )
