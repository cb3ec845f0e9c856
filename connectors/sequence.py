"""Sequence: any number of values of one feature."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from featurekit.connector import Documentation, FeatureConnector
from featurekit.connectors.features_dict import (
    FeaturesDict,
    html_of,
    repr_inner,
    table_html,
    to_feature,
)
from featurekit.errors import EncodeError, EncodeTypeError, InvalidArgumentError, short_repr
from featurekit.feature_json import ProtoContent
from featurekit.layout import OpaqueInfo, has_opaque
from featurekit.nesting import common_length
from featurekit.tensor_info import TensorInfo, Tree, map_tree

__all__ = ["Sequence"]

_HTML_ELEMENTS = 10  # shown at most


class Sequence(FeatureConnector):
    """A list of values of one feature; of dicts, read back as a dict of lists.

    Decodes to an array where the elements have one shape, to a `RaggedTensor` where lists
    of lists differ in length, and to a list where the elements themselves (images, encoded
    tensors) differ in shape.

    Args:
        feature: The elements' feature; a dtype or dict as in `FeaturesDict`.
        length: Number of elements, where it is always the same.
        doc: What the feature means.

    Example:
        >>> boxes = Sequence({"x": np.int64, "y": np.int64})
        >>> boxes.encode_example([{"x": 1, "y": 2}, {"x": 3, "y": 4}])["y"]
        [array(2), array(4)]
        >>> boxes.deserialize_example(boxes.serialize_example({"x": [1, 3], "y": [2, 4]}))
        {'x': array([1, 3]), 'y': array([2, 4])}
    """

    tfds_name = "tensorflow_datasets.core.features.sequence_feature.Sequence"
    decodes_elements = True

    def __init__(
        self,
        feature: Any,
        length: int | None = None,
        *,
        doc: Documentation | str | None = None,
    ) -> None:
        super().__init__(doc=doc)
        self._feature = to_feature(feature)
        integer = isinstance(length, (int, np.integer)) and not isinstance(length, bool)
        if length is not None and (not integer or length < 0):
            raise InvalidArgumentError(f"length must be an integer >= 0 or None, got {length!r}")
        self._length = None if length is None else int(length)

    @property
    def feature(self) -> FeatureConnector:
        """The elements' feature."""
        return self._feature

    @property
    def length(self) -> int | None:
        """Number of elements, or None where it varies."""
        return self._length

    def __getitem__(self, key: str) -> FeatureConnector:
        """One of the elements' features, where they are dicts."""
        return self._feature[key]  # type: ignore[index,no-any-return]

    def __contains__(self, key: object) -> bool:
        """Whether the elements have a feature of that name."""
        return key in self._feature  # type: ignore[operator]

    def __getattr__(self, name: str) -> Any:
        """Attributes of the elements' feature, such as `.names` of a ClassLabel."""
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._feature, name)

    def get_tensor_info(self) -> Tree[TensorInfo]:
        """The elements' info with one more leading dimension."""
        return map_tree(self._add_dimension, self._feature.get_tensor_info())

    def get_serialized_info(self) -> Tree[TensorInfo]:
        """The elements' stored info with one more leading dimension."""
        return map_tree(self._add_dimension, self._feature.get_serialized_info())

    def _add_dimension(self, info: TensorInfo) -> TensorInfo:
        if isinstance(info, OpaqueInfo):
            return info
        return info.replace(
            shape=(self._length, *info.shape),
            sequence_rank=info.sequence_rank + 1,
            may_be_absent=False,
        )

    def inner_features(self) -> Mapping[str | None, FeatureConnector]:
        """The elements' feature; none where a subclass makes something else of them."""
        return {} if self._decodes_itself else {None: self._feature}

    def with_inner_features(self, features: Mapping[str | None, FeatureConnector]) -> Self:
        """A copy with another feature for the elements."""
        new = self._copy()
        new._feature = features[None]
        return new

    @property
    def _decodes_itself(self) -> bool:
        return type(self).decode_example is not Sequence.decode_example

    def encode_example(self, value: Any) -> Any:
        """Encode a list of values, or of dicts, or a dict of lists.

        Raises:
            EncodeTypeError: It is no list, tuple or array.
            EncodeError: The number of elements is not the declared one, the lists of a
                dict have different lengths, or an element does not fit.
        """
        if isinstance(self._feature, FeaturesDict) and isinstance(value, Mapping):
            value = self._dicts(value)
        if not isinstance(value, (list, tuple, np.ndarray)) or not getattr(value, "ndim", 1):
            raise EncodeTypeError(
                f"expected a list, got {type(value).__name__} {short_repr(value)}",
                hint="give a list, a tuple or an array",
            )
        self._check_length(len(value))
        return self._transpose(self._feature.encode_batch_example(value))

    def _check_length(self, count: int) -> None:
        if self._length is not None and count != self._length:
            raise EncodeError(
                f"expected {self._length} elements, got {count}",
                hint="fix the value, or declare the Sequence without a length",
            )

    def _dicts(self, value: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Turn a dict of lists into the list of dicts it stands for."""
        self._feature._check_keys(value)  # type: ignore[attr-defined]
        lengths = {}
        for key, item in value.items():
            if isinstance(item, Mapping):
                value = {**value, key: self._inner_dicts(key, item)}
                lengths[key] = len(value[key])
            elif isinstance(item, (str, bytes)) or not hasattr(item, "__len__"):
                raise EncodeTypeError(
                    f"expected a list for {key!r}, got {type(item).__name__} {short_repr(item)}",
                    hint="give a list of dicts, or a dict of lists of one length",
                )
            else:
                lengths[key] = len(item)
        if len(set(lengths.values())) > 1:
            shown = " != ".join(f"{n} ({key})" for key, n in lengths.items())
            raise EncodeError(
                f"the lists have different lengths: {shown}",
                hint="every key needs a value for every element",
            )
        count = next(iter(lengths.values()), 0)
        return [{key: item[i] for key, item in value.items()} for i in range(count)]

    def _inner_dicts(self, key: str, item: Mapping[str, Any]) -> list[dict[str, Any]]:
        inner = self._feature[key]  # type: ignore[index]
        if isinstance(inner, Sequence):  # a dict of lists for each element, transposed
            inner = inner._feature
        if not isinstance(inner, FeaturesDict):
            raise EncodeTypeError(f"expected a list for {key!r}, got a dict")
        return Sequence(inner)._dicts(item)

    def _transpose(self, encoded: Any) -> Any:
        """A list of encoded elements; of nested dicts, nested dicts of lists."""

        def pick(infos: Tree[TensorInfo], items: Any) -> Any:
            if not isinstance(infos, Mapping):
                return items
            return {key: pick(info, [item[key] for item in items]) for key, info in infos.items()}

        infos = self._feature.get_serialized_info()
        if len(encoded) and _is_empty(infos):
            raise EncodeError(
                f"{len(encoded)} elements without features cannot be stored",
                hint="declare a feature for the elements",
            )
        return pick(infos, encoded)

    @functools.cached_property
    def is_plain(self) -> bool:
        """Whether the elements need no decoding, nor a look at their number."""
        own = type(self).decode_example is not Sequence.decode_example
        return self._feature.is_plain and not own and not self._holds_dicts

    @functools.cached_property
    def _holds_dicts(self) -> bool:
        """Whether several lists are stored, which must have one length."""
        infos = self._feature.get_serialized_info()
        return isinstance(infos, Mapping) and not has_opaque(infos)

    def decode_example(self, stored: Any) -> Any:
        """Decode all elements.

        Raises:
            DecodeError: The lists of a dict have different lengths, or an element is damaged.
        """
        if self._holds_dicts:
            common_length(stored, "elements")
        return self._feature.decode_batch_example(stored)

    def decode_batch_example(self, stored: Any) -> Any:
        """Decode the elements of a sequence of sequences."""
        return self._feature.decode_ragged_example(stored)

    def decode_ragged_example(self, stored: Any) -> Any:
        """The same, nested deeper."""
        return self._feature.decode_ragged_example(stored)

    def to_json_content(self) -> Any:
        """The JSON of the elements' feature, and the length."""
        return ProtoContent(
            "sequence",
            feature=self._feature.to_feature_json(),
            length=-1 if self._length is None else self._length,
        )

    @classmethod
    def from_json_content(cls, value: Any) -> Self:
        """Make a `Sequence` from the JSON of its elements' feature."""
        length = value.get("length")
        return cls(
            FeatureConnector.from_json(value["feature"]), length=None if length == -1 else length
        )

    def save_metadata(self, data_dir: str | os.PathLike[str], feature_name: str | None) -> None:
        """Write the files of the elements' feature; a sequence adds nothing to their names."""
        self._feature.save_metadata(data_dir, feature_name)

    def load_metadata(self, data_dir: str | os.PathLike[str], feature_name: str | None) -> None:
        """Read the files of the elements' feature."""
        self._feature.load_metadata(data_dir, feature_name)

    def repr_html(self, value: Any) -> str:
        """The first elements; of dicts, a table of the features' first elements."""
        if isinstance(value, Mapping):
            return table_html((key, self._at(key).repr_html(part)) for key, part in value.items())
        if not hasattr(value, "__getitem__"):
            return super().repr_html(value)
        shown = [html_of(self._feature, value[i]) for i in range(min(len(value), _HTML_ELEMENTS))]
        if len(value) > len(shown):
            shown.append(f"&hellip; {len(value)} in all")
        info = self._feature.get_tensor_info()
        is_scalar = isinstance(info, TensorInfo) and not info.shape
        return (", " if is_scalar else "<br>").join(shown) or "none"

    def _at(self, key: str) -> FeatureConnector:
        """The sequence of one of the features of the elements' dicts."""
        inner = self._feature
        if isinstance(inner, Sequence):
            return Sequence(inner._at(key), self._length)
        return Sequence(inner[key], self._length)  # type: ignore[index]

    def _identity(self) -> Any:
        return (self._length, self._feature._identity())

    def __repr__(self) -> str:
        """TFDS's repr; of a dict, without the word FeaturesDict."""
        inner = repr_inner(self._feature)
        if type(self._feature) is FeaturesDict:
            inner = inner.removeprefix("FeaturesDict(").removesuffix(")")
        return f"{type(self).__name__}({inner})"


def _is_empty(infos: Tree[TensorInfo]) -> bool:
    """Whether nothing is stored, so that nothing would tell how many elements there are."""
    return isinstance(infos, Mapping) and all(_is_empty(info) for info in infos.values())
