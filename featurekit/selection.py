"""Choosing some of the features of an example, before any of it is read.

The choice is a smaller connector with the same places in the record: only the entries of
the chosen features are looked for, and only they are decoded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from featurekit.connector import FeatureConnector
from featurekit.dtypes import as_dtype, dtype_name
from featurekit.errors import (
    InvalidArgumentError,
    InvalidTypeError,
    UnknownNameError,
    add_path,
    did_you_mean,
    short_repr,
)
from featurekit.tensor_info import Shape, TensorInfo

__all__ = ["PartialDecoding", "feature_names", "select_features"]


def select_features(features: FeatureConnector, columns: Any) -> FeatureConnector:
    """The same features without those that were not chosen.

    Args:
        features: A dict of features, or sequences of one.
        columns: What to keep:

            - names, in a list, tuple or set; `"a/b"` is the feature `b` within `a`, and so
              for dicts in sequences;
            - a dict from names to True, to False (leave it out), or to what to keep of that
              feature, in any of these forms;
            - a NumPy dtype or a connector, which must be what the feature is, with a shape
              that is compatible; of a dict or sequence it keeps the features it has;
            - True, for all.

    Returns:
        The smaller connector: names in the order they were chosen in; of a set, in their own.

    Raises:
        UnknownNameError: There is no such feature.
        InvalidTypeError: `columns` is none of these, or a feature is of another class.
        InvalidArgumentError: A feature has another dtype or shape; what was asked for cannot
            be taken apart; or nothing was chosen.

    Example:
        >>> import numpy as np
        >>> from featurekit.connectors.features_dict import FeaturesDict
        >>> features = FeaturesDict({"id": np.int64, "box": {"x": np.int64, "y": np.int64}})
        >>> select_features(features, ["box/x"])
        FeaturesDict({
            'box': FeaturesDict({
                'x': int64,
            }),
        })
    """
    if columns is True:
        return features
    if isinstance(columns, FeatureConnector):
        return _select_like(features, columns)
    if isinstance(columns, (Mapping, list, tuple, set, frozenset)):
        return _select_names(features, columns)
    if isinstance(columns, (str, bool)) or columns is None:
        raise InvalidTypeError(
            f"expected names of features, got {short_repr(columns)}",
            hint=f"give a list: [{columns!r}]" if isinstance(columns, str) else "give a list",
        )
    return _checked(features, TensorInfo((), as_dtype(columns)))


def feature_names(features: FeatureConnector) -> tuple[str, ...]:
    """The names of all features that can be chosen one by one, such as `"objects/label"`.

    Example:
        >>> import numpy as np
        >>> from featurekit.connectors.features_dict import FeaturesDict
        >>> feature_names(FeaturesDict({"id": np.int64, "box": {"x": np.int64, "y": np.int64}}))
        ('id', 'box/x', 'box/y')
    """
    names: list[str] = []
    for key, feature in features.inner_features().items():
        inner = feature_names(feature)
        if key is None:
            names += inner
        else:
            names += [f"{key}/{name}" for name in inner] or [key]
    return tuple(names)


class PartialDecoding:
    """Reads only some of the features: given as `decoders=`, as in TFDS.

    Args:
        features: What to read; see `select_features`.
        decoders: Decoders for these.

    Example:
        >>> fk.load("digits", decoders=fk.PartialDecoding(["label"]))  # doctest: +SKIP
    """

    def __init__(self, features: Any, decoders: Any = None) -> None:
        self.features = features
        self.decoders = decoders

    def extract_features(self, features: FeatureConnector) -> FeatureConnector:
        """The features that are read, of those there are; see `select_features`."""
        return select_features(features, self.features)

    def __repr__(self) -> str:
        """What was asked for."""
        decoders = "" if self.decoders is None else f", decoders={self.decoders!r}"
        return f"PartialDecoding({self.features!r}{decoders})"


def _select_names(feature: FeatureConnector, columns: Any) -> FeatureConnector:
    """Keep features by their names within `feature`."""
    inner = feature.inner_features()
    if None in inner:
        return feature.with_inner_features({None: _select_names(inner[None], columns)})
    if not inner:
        raise InvalidArgumentError(
            f"{type(feature).__name__} cannot be taken apart, to choose {short_repr(columns)}",
            hint="choose all of it, by its own name",
        )
    chosen: dict[str, Any] = {}
    for name, wanted in _as_mapping(columns).items():
        key, rest = _find(feature, name)
        if wanted is not False:
            chosen[key] = _merge(key, chosen.get(key), {rest: wanted} if rest else wanted)
    if not chosen:
        raise InvalidArgumentError("no feature is chosen", hint="name at least one")
    order = inner if isinstance(columns, (set, frozenset)) else chosen
    return feature.with_inner_features(
        {key: _select_at(key, inner[key], chosen[key]) for key in order if key in chosen}
    )


def _select_at(key: str | None, feature: FeatureConnector, wanted: Any) -> FeatureConnector:
    try:
        return select_features(feature, wanted)
    except Exception as error:
        if key is not None:
            add_path(error, key)
        raise


def _as_mapping(columns: Any) -> Mapping[str, Any]:
    return columns if isinstance(columns, Mapping) else dict.fromkeys(columns, True)


def _find(feature: FeatureConnector, name: Any) -> tuple[str, str]:
    """The name within `feature` that `name` begins with, and what is left of it."""
    if not isinstance(name, str):
        raise InvalidTypeError(f"the name of a feature is str, got {short_repr(name)}")
    keys = [key for key in feature.inner_features() if key is not None]
    if name in keys:
        return name, ""
    key = max((key for key in keys if name.startswith(f"{key}/")), key=len, default=None)
    if key is None:
        raise UnknownNameError(
            f"there is no feature {name!r}{did_you_mean(name, feature_names(feature))}"
        )
    return key, name[len(key) + 1 :]


def _merge(key: str, first: Any, second: Any) -> Any:
    """What is wanted of one feature by two names."""
    if first is None or second is True:
        return second
    if first is True:
        return first
    parts = (Mapping, list, tuple, set, frozenset)
    if not isinstance(first, parts) or not isinstance(second, parts):
        raise InvalidArgumentError(f"feature {key!r} is chosen twice, in two ways")
    return {**_as_mapping(first), **_as_mapping(second)}


def _select_like(feature: FeatureConnector, expected: FeatureConnector) -> FeatureConnector:
    """Keep what `expected` has, which must be of the same classes, dtypes and shapes."""
    if not isinstance(feature, type(expected)):
        raise InvalidTypeError(
            f"expected a {type(expected).__name__}, the feature is {_shown(feature)}",
            hint="ask for what the dataset has: see `featurekit info`",
        )
    inner, wanted = feature.inner_features(), expected.inner_features()
    if not inner or not wanted:
        return _checked(feature, expected.get_tensor_info())
    for key in wanted:
        if key is not None:
            _find(feature, key)
    return feature.with_inner_features(
        {key: _select_at(key, inner[key], item) for key, item in wanted.items()}
    )


def _checked(feature: FeatureConnector, expected: Any) -> FeatureConnector:
    """The feature, if its values have the dtype and a shape that fits."""
    info = feature.get_tensor_info()
    if isinstance(info, TensorInfo) and isinstance(expected, TensorInfo):
        fits = info.dtype == expected.dtype and _compatible(info.shape, expected.shape)
    else:
        fits = info == expected
    if not fits:
        wanted = (
            f"shape {expected.shape} and dtype {dtype_name(expected.dtype)}"
            if isinstance(expected, TensorInfo)
            else str(expected)
        )
        raise InvalidArgumentError(
            f"expected {wanted}, the feature is {_shown(feature)}",
            hint="ask for what the dataset has: see `featurekit info`",
        )
    return feature


def _compatible(first: Shape, second: Shape) -> bool:
    return len(first) == len(second) and all(
        a is None or b is None or a == b for a, b in zip(first, second, strict=True)
    )


def _shown(feature: FeatureConnector) -> str:
    """A feature in one line."""
    return (
        f"{type(feature).__name__} with {', '.join(feature_names(feature))}"
        if (feature_names(feature))
        else repr(feature)
    )
