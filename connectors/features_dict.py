"""FeaturesDict: several named features."""

from __future__ import annotations

import functools
import html
import os
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import TYPE_CHECKING, Any, Self

from featurekit.connector import Documentation, FeatureConnector, decode_at, encode_at
from featurekit.connectors.tensor import Tensor
from featurekit.direct import direct_encoder
from featurekit.dtypes import as_dtype, dtype_name
from featurekit.errors import (
    EncodeTypeError,
    FeatureKeyError,
    InvalidNameError,
    InvalidTypeError,
    add_path,
    did_you_mean,
    short_repr,
)
from featurekit.feature_json import ProtoContent
from featurekit.nesting import stack, unstack
from featurekit.tensor_info import TensorInfo, Tree

if TYPE_CHECKING:
    from featurekit.native.direct_encoder import DirectEncoder

__all__ = ["FeaturesDict", "to_feature"]


class FeaturesDict(FeatureConnector, Mapping[str, FeatureConnector]):
    """Named features: the usual top level of an example, and nested dicts.

    Args:
        feature_dict: A connector for each name. A bare NumPy dtype stands for a `Tensor` of
            shape `()`, a dict for a `FeaturesDict`.
        doc: What the features mean together.

    Raises:
        InvalidTypeError: A value is none of these.

    Example:
        >>> import numpy as np
        >>> features = FeaturesDict({"id": np.int64, "name": np.str_})
        >>> features.deserialize_example(features.serialize_example({"id": 7, "name": "x"}))
        {'id': np.int64(7), 'name': b'x'}
    """

    tfds_name = "tensorflow_datasets.core.features.features_dict.FeaturesDict"

    def __init__(
        self, feature_dict: Mapping[str, Any], *, doc: Documentation | str | None = None
    ) -> None:
        super().__init__(doc=doc)
        if not isinstance(feature_dict, Mapping):
            raise InvalidTypeError(
                f"expected a dict of features, got {type(feature_dict).__name__}",
                hint="write FeaturesDict({'name': feature, ...})",
            )
        self._features = {}
        for key, value in feature_dict.items():
            try:
                self._features[_check_key(key)] = to_feature(value)
            except InvalidTypeError as error:
                add_path(error, str(key))
                raise

    # A mapping of its features.

    def __getitem__(self, key: str) -> FeatureConnector:
        """The feature of that name."""
        try:
            return self._features[key]
        except KeyError:
            raise FeatureKeyError(
                f"there is no feature {key!r}{did_you_mean(key, self._features)}"
            ) from None

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self._features)

    def __len__(self) -> int:
        """Number of features."""
        return len(self._features)

    def __contains__(self, key: object) -> bool:
        """Whether there is a feature of that name."""
        return key in self._features

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._features.keys()

    def values(self) -> ValuesView[FeatureConnector]:
        """The features."""
        return self._features.values()

    def items(self) -> ItemsView[str, FeatureConnector]:
        """Names and features."""
        return self._features.items()

    __eq__ = FeatureConnector.__eq__
    __hash__ = FeatureConnector.__hash__

    # What values look like.

    def get_tensor_info(self) -> Tree[TensorInfo]:
        """A dict of the features' infos."""
        return {key: feature.get_tensor_info() for key, feature in self._features.items()}

    def get_serialized_info(self) -> Tree[TensorInfo]:
        """A dict of the features' infos as stored."""
        return {key: feature.get_serialized_info() for key, feature in self._features.items()}

    # The features it is made of.

    def inner_features(self) -> Mapping[str | None, FeatureConnector]:
        """The features, by name; none where a subclass makes something else of the dict."""
        # Keys are None or str to those who ask, so this is another type of dict.
        return {key: f for key, f in self._features.items() if not self._decodes_itself}

    def with_inner_features(self, features: Mapping[str | None, FeatureConnector]) -> Self:
        """A copy with other features."""
        new = self._copy()
        new._features = {str(key): feature for key, feature in features.items()}
        return new

    # Values, stored and read.

    def encode_example(self, value: Any) -> Any:
        """Encode a dict that has exactly the features' names.

        Raises:
            EncodeTypeError: It is no dict.
            FeatureKeyError: A name is missing, or there is one too many.
            EncodeError: A value does not fit its feature; says which.
        """
        self._check_keys(value)
        return {key: encode_at(f, value[key], key) for key, f in self._features.items()}

    @functools.cached_property
    def _direct_encoder(self) -> DirectEncoder | None:
        own = (type(self).encode_example, type(self).get_serialized_info)
        if own != (FeaturesDict.encode_example, FeaturesDict.get_serialized_info):
            return None
        return direct_encoder({key: f.direct_spec() for key, f in self._features.items()})

    def _check_keys(self, value: Any) -> None:
        if not isinstance(value, Mapping):
            raise EncodeTypeError(
                f"expected a dict with {_names(self._features)}, "
                f"got {type(value).__name__} {short_repr(value)}",
                hint="give a value for every feature, by its name",
            )
        if value.keys() == self._features.keys():
            return
        extra = [key for key in value if key not in self._features]
        if missing := [key for key in self._features if key not in value]:
            and_has = f", and has {_names(extra)}, which is not declared" if extra else ""
            raise FeatureKeyError(
                f"the example lacks {_names(missing)}{and_has}",
                hint="yield every feature that is declared; one that may be missing needs "
                "optional=True, and None where it is",
            )
        raise FeatureKeyError(
            f"the example has {_names(extra)}, which the features do not declare"
            f"{did_you_mean(extra[0], self._features)}",
            hint="declare the feature, or leave the value out",
        )

    @functools.cached_property
    def is_plain(self) -> bool:
        """Whether no feature needs decoding."""
        return not self._decodes_itself and not self._decoding

    @functools.cached_property
    def _decoding(self) -> dict[str, FeatureConnector]:
        """The features whose values differ from what is stored."""
        return {key: feature for key, feature in self._features.items() if not feature.is_plain}

    def decode_example(self, stored: Any) -> Any:
        """Decode a dict of stored values."""
        decoded = dict(stored)
        for key, feature in self._decoding.items():
            decoded[key] = decode_at(feature, stored[key], key)
        return decoded

    def decode_batch_example(self, stored: Any) -> Any:
        """Decode the dicts of a sequence: a dict of sequences."""
        if self._decodes_itself:
            elements = [self.decode_example(item) for item in unstack(stored)]
            return stack(elements, self.get_tensor_info())
        return self._decode_parts("decode_batch_example", stored)

    def decode_ragged_example(self, stored: Any) -> Any:
        """The same for nested sequences."""
        if self._decodes_itself:
            return super().decode_ragged_example(stored)
        return self._decode_parts("decode_ragged_example", stored)

    def _decode_parts(self, method: str, stored: Any) -> Any:
        """Decode the sequence of each feature; an error says of which."""
        decoded = {}
        for key, feature in self._features.items():
            try:
                decoded[key] = getattr(feature, method)(stored[key])
            except Exception as error:
                add_path(error, key, type(feature).__name__)
                raise
        return decoded

    @property
    def _decodes_itself(self) -> bool:
        """Whether an author's subclass makes something else of the dict."""
        return type(self).decode_example is not FeaturesDict.decode_example

    # Metadata.

    def to_json_content(self) -> Any:
        """The JSON of all features."""
        features = {key: feature.to_feature_json() for key, feature in self._features.items()}
        return ProtoContent("featuresDict", features=features)

    @classmethod
    def from_json_content(cls, value: Any) -> Self:
        """Make a `FeaturesDict` from the JSON of its features."""
        features = value["features"] if isinstance(value, ProtoContent) else value
        return cls({key: _child_from_json(key, item) for key, item in features.items()})

    def save_metadata(
        self, data_dir: str | os.PathLike[str], feature_name: str | None = None
    ) -> None:
        """Write the files of all features."""
        for key, feature in self._features.items():
            feature.save_metadata(data_dir, _file_name(feature_name, key))

    def load_metadata(
        self, data_dir: str | os.PathLike[str], feature_name: str | None = None
    ) -> None:
        """Read the files of all features."""
        for key, feature in self._features.items():
            feature.load_metadata(data_dir, _file_name(feature_name, key))

    def repr_html(self, value: Any) -> str:
        """A table: a row for each feature, tables within it for dicts."""
        if not isinstance(value, Mapping):
            return super().repr_html(value)
        return table_html((key, html_of(f, value[key])) for key, f in self._features.items())

    def _identity(self) -> Any:
        return {key: feature._identity() for key, feature in self._features.items()}

    def __repr__(self) -> str:
        """TFDS's repr: one feature a line, sorted."""
        lines = [f"{type(self).__name__}({{"]
        for key in sorted(self._features):
            text = repr_inner(self._features[key]).replace("\n", "\n    ")
            lines.append(f"    {key!r}: {text},")
        return "\n".join([*lines, "})"])


def to_feature(value: Any) -> FeatureConnector:
    """Make a connector of what may stand for one.

    Raises:
        InvalidTypeError: It is no connector, NumPy dtype or dict of these.
    """
    if isinstance(value, FeatureConnector):
        return value
    if isinstance(value, Mapping):
        return FeaturesDict(value)
    if isinstance(value, type) and issubclass(value, FeatureConnector):
        raise InvalidTypeError(
            f"expected a connector, got the class {value.__name__}",
            hint=f"write {value.__name__}(...)",
        )
    # By identity, since np.dtype("int64") == int.
    python = any(value is type_ for type_ in (int, float, str, bool, bytes))
    if python or isinstance(value, (str, list)):
        raise InvalidTypeError(
            f"expected a connector or a NumPy dtype, got {short_repr(value)}",
            hint="use np.int64, np.float32, np.bool_, np.str_, or Text()",
        )
    try:
        return Tensor(shape=(), dtype=as_dtype(value))
    except InvalidTypeError:
        raise InvalidTypeError(
            f"expected a connector, a NumPy dtype or a dict, got {short_repr(value)}",
            hint="use a connector such as Text(), or a dtype such as np.int64",
        ) from None


def repr_inner(feature: FeatureConnector) -> str:
    """A feature within another's repr: a plain scalar by its dtype alone."""
    if type(feature) is Tensor and feature.shape == () and not feature.doc.desc:
        return dtype_name(feature.get_tensor_info().dtype)
    return repr(feature)


def html_of(feature: FeatureConnector, value: Any) -> str:
    """One value as HTML; a dash where it is missing."""
    return "&ndash;" if value is None else feature.repr_html(value)


def table_html(rows: Iterable[tuple[str, str]]) -> str:
    """A table of names and values, which are HTML already."""
    cells = (f"<tr><th>{html.escape(name)}</th><td>{value}</td></tr>" for name, value in rows)
    return f"<table>{''.join(cells)}</table>"


def _check_key(key: Any) -> str:
    if not isinstance(key, str):
        raise InvalidTypeError(f"a feature's name must be str, got {short_repr(key)}")
    try:
        key.encode()
    except UnicodeError:
        raise InvalidNameError(
            f"a feature's name must be UTF-8, got {short_repr(key)}",
            hint="decode it with its own encoding first",
        ) from None
    return key


def _child_from_json(key: str, value: Any) -> FeatureConnector:
    try:
        return FeatureConnector.from_json(value)
    except Exception as error:
        add_path(error, key)
        raise


def _file_name(feature_name: str | None, key: str) -> str:
    """Name of a nested feature's files: keys joined by `-`, a `/` in a key as `.`."""
    name = key.replace("/", ".")
    return f"{feature_name}-{name}" if feature_name else name


def _names(keys: Any) -> str:
    shown = ", ".join(repr(key) for key in list(keys)[:10])
    return f"{shown}, ..." if len(keys) > 10 else shown
