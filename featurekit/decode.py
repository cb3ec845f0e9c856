"""Decoders: reading features in another way than their connectors do, or not decoding them.

    fk.load("pets", decoders={"image": fk.SkipDecoding()})

gives the pictures as the files they are stored as. A decoder of one's own::

    @fk.decode.make_decoder(output_shape=(None, None, 1))
    def first_channel(stored, feature):
        return feature.decode_example(stored)[..., :1]

    fk.load("pets", decoders={"image": first_channel()})
"""

from __future__ import annotations

import abc
import copy
import functools
import inspect
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from featurekit.connector import FeatureConnector
from featurekit.dtypes import as_dtype
from featurekit.errors import (
    FeatureKitError,
    InvalidArgumentError,
    InvalidTypeError,
    UnknownNameError,
    add_path,
    did_you_mean,
    short_repr,
)
from featurekit.nesting import map_nested, stack, unstack
from featurekit.selection import PartialDecoding, feature_names, select_features
from featurekit.tensor_info import Shape, TensorInfo, Tree, as_shape, map_tree

__all__ = [
    "DecodedFeature",
    "Decoder",
    "PartialDecoding",
    "SkipDecoding",
    "feature_names",
    "make_decoder",
    "select_features",
    "with_decoders",
]


class Decoder(abc.ABC):
    """Decodes one feature, in place of its connector.

    Subclasses define `decode_example`; `dtype` where values have another dtype than the
    feature says, `get_tensor_info` where they have another shape. Within a sequence it
    decodes one element after the other, unless `decode_batch_example` does so at once.
    """

    _feature: FeatureConnector | None = None

    @property
    def feature(self) -> FeatureConnector:
        """The connector of the feature.

        Raises:
            InvalidArgumentError: The decoder was not given to anything that reads.
        """
        if self._feature is None:
            raise InvalidArgumentError(
                "the decoder does not know its feature yet",
                hint="give it to what reads: fk.load(..., decoders={'image': decoder})",
            )
        return self._feature

    def setup(self, *, feature: FeatureConnector) -> None:
        """Learn which feature it is for; called before anything is decoded."""
        self._feature = feature

    @property
    def dtype(self) -> Tree[np.dtype[Any]]:
        """NumPy dtype of what `decode_example` gives; by default the feature's own."""
        return self.feature.dtype

    def get_tensor_info(self) -> Tree[TensorInfo]:
        """Shape and dtype of what `decode_example` gives; by default the feature's shape."""
        infos, dtype = self.feature.get_tensor_info(), self.dtype
        if dtype == self.feature.dtype:
            return infos
        shape = infos.shape if isinstance(infos, TensorInfo) else ()
        return TensorInfo(shape, dtype)

    @abc.abstractmethod
    def decode_example(self, stored: Any) -> Any:
        """Turn what is stored into the value.

        Args:
            stored: As `feature.decode_example` takes it: of the shape and dtype that
                `feature.get_serialized_info()` says.
        """

    def decode_batch_example(self, stored: Any) -> Any:
        """Decode the elements of a sequence: an array of stored values, one a row."""
        elements = []
        for index, item in enumerate(unstack(stored)):
            try:
                elements.append(None if item is None else self.decode_example(item))
            except Exception as error:
                add_path(error, index)
                raise
        return stack(elements, self.get_tensor_info())

    def decode_ragged_example(self, stored: Any) -> Any:
        """Decode the elements of nested sequences."""
        infos = self.feature.get_serialized_info()
        return map_nested(self.decode_batch_example, infos, stored)

    def __eq__(self, other: object) -> bool:
        """Whether both are of one class and have the same attributes."""
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        """Equal decoders hash alike."""
        return hash(type(self))

    def __repr__(self) -> str:
        """The class's name."""
        return f"{type(self).__name__}()"


class SkipDecoding(Decoder):
    r"""Gives what is stored: of a picture the bytes of its file, for example.

    Example:
        >>> import numpy as np
        >>> from featurekit.connectors.features_dict import FeaturesDict
        >>> from featurekit.connectors.image import Image
        >>> features = FeaturesDict({"image": Image()})
        >>> record = features.serialize_example({"image": np.zeros((2, 2, 3), np.uint8)})
        >>> features.deserialize_example(record, decoders={"image": SkipDecoding()})["image"][:4]
        b'\x89PNG'
    """

    @property
    def dtype(self) -> Tree[np.dtype[Any]]:
        """The stored dtype."""
        return map_tree(lambda info: info.dtype, self.get_tensor_info())

    def get_tensor_info(self) -> Tree[TensorInfo]:
        """The stored shape and dtype."""
        return self.feature.get_serialized_info()

    def decode_example(self, stored: Any) -> Any:
        """What is stored."""
        return stored

    def decode_batch_example(self, stored: Any) -> Any:
        """The same, of all elements."""
        return stored

    def decode_ragged_example(self, stored: Any) -> Any:
        """The same, of all elements."""
        return stored


DecoderFunction = Callable[..., Any]


class FunctionDecoder(Decoder):
    """A decoder that calls a function: what `make_decoder` makes."""

    def __init__(
        self,
        make: Callable[..., FunctionDecoder],
        function: DecoderFunction,
        dtype: Any,
        shape: Shape | None,
        arguments: tuple[tuple[Any, ...], dict[str, Any]],
    ) -> None:
        self._make = make
        self._function = function
        self._output_dtype = dtype
        self._output_shape = shape
        self._arguments = arguments

    @property
    def dtype(self) -> Tree[np.dtype[Any]]:
        """The dtype that `make_decoder` was told, or the feature's own."""
        return super().dtype if self._output_dtype is None else self._output_dtype

    def get_tensor_info(self) -> Tree[TensorInfo]:
        """The shape and dtype that `make_decoder` was told, or the feature's own."""
        if self._output_shape is None:
            return super().get_tensor_info()
        return TensorInfo(self._output_shape, self.dtype)

    def decode_example(self, stored: Any) -> Any:
        """Call the function."""
        positional, named = self._arguments
        return self._function(stored, self.feature, *positional, **named)

    def __reduce__(self) -> Any:
        """Pickle by the name of the function, which the decorator has replaced."""
        return (_make_again, (self._make, self._arguments), {"_feature": self._feature})

    def __repr__(self) -> str:
        """The function's name."""
        return f"{self._function.__name__}()"


def _make_again(make: Callable[..., FunctionDecoder], arguments: Any) -> FunctionDecoder:
    positional, named = arguments
    return make(*positional, **named)


def make_decoder(
    output_dtype: Any = None, output_shape: Shape | None = None
) -> Callable[[DecoderFunction], Callable[..., FunctionDecoder]]:
    """Make a decoder of a function, as a decorator.

    The function is called with what is stored and the feature's connector, and with the
    arguments that the decoder is made with.

    Args:
        output_dtype: Dtype of what it returns, where the feature has another one.
        output_shape: Its shape, where the feature has another one.

    Raises:
        InvalidTypeError: It is used without parentheses, or the dtype is none.

    Example:
        >>> @make_decoder(output_dtype=np.float32)
        ... def scaled(stored, feature, by=255):
        ...     return np.float32(feature.decode_example(stored) / by)
        >>> scaled(by=2)
        scaled()
    """
    if inspect.isfunction(output_dtype):
        raise InvalidTypeError(
            "make_decoder was given a function as the dtype", hint="write @make_decoder()"
        )
    dtype = None if output_dtype is None else as_dtype(output_dtype)
    shape = None if output_shape is None else as_shape(output_shape)

    def decorate(function: DecoderFunction) -> Callable[..., FunctionDecoder]:
        @functools.wraps(function)
        def make(*positional: Any, **named: Any) -> FunctionDecoder:
            return FunctionDecoder(make, function, dtype, shape, (positional, named))

        return make

    return decorate


class DecodedFeature(FeatureConnector):
    """A feature that a decoder reads. It is stored, and described in JSON, as without.

    Args:
        feature: The feature.
        decoder: The decoder; a copy of it is set up.
    """

    def __init__(self, feature: FeatureConnector, decoder: Decoder) -> None:
        super().__init__(doc=feature.doc)
        self._feature = feature
        self._decoder = copy.copy(decoder)  # one may be given for several features
        self._decoder.setup(feature=feature)

    def get_tensor_info(self) -> Tree[TensorInfo]:
        """What the decoder says."""
        return self._decoder.get_tensor_info()

    def get_serialized_info(self) -> Tree[TensorInfo]:
        """As the feature stores it."""
        return self._feature.get_serialized_info()

    def encode_example(self, value: Any) -> Any:
        """As the feature does."""
        return self._feature.encode_example(value)

    def decode_example(self, stored: Any) -> Any:
        """As the decoder does."""
        return self._call(self._decoder.decode_example, stored)

    def decode_batch_example(self, stored: Any) -> Any:
        """As the decoder does."""
        return self._call(self._decoder.decode_batch_example, stored)

    def decode_ragged_example(self, stored: Any) -> Any:
        """As the decoder does."""
        return self._call(self._decoder.decode_ragged_example, stored)

    def _call(self, decode: Callable[[Any], Any], stored: Any) -> Any:
        try:
            return decode(stored)
        except FeatureKitError as error:
            error.connector = error.connector or type(self._feature).__name__
            raise

    def to_feature_json(self) -> dict[str, Any]:
        """The feature's."""
        return self._feature.to_feature_json()

    def save_metadata(self, data_dir: str | os.PathLike[str], feature_name: str | None) -> None:
        """As the feature does."""
        self._feature.save_metadata(data_dir, feature_name)

    def _identity(self) -> Any:
        return (self._feature._identity(), self._decoder)

    def __repr__(self) -> str:
        """The decoder and the feature."""
        return f"{type(self).__name__}({self._feature!r}, {self._decoder!r})"


def with_decoders(features: FeatureConnector, decoders: Any) -> FeatureConnector:
    """The same features, some of them read by decoders.

    A decoder for a sequence decodes its elements; one for a `Dataset` gets all of its steps.

    Args:
        features: The features of an example.
        decoders: A `Decoder`, nested dicts of them by name, a `PartialDecoding`, or None.

    Raises:
        UnknownNameError: There is no feature of that name.
        InvalidTypeError: A decoder is none.
        InvalidArgumentError: Decoders are for what lies within a feature that has nothing.
    """
    if decoders is None:
        return features
    if isinstance(decoders, PartialDecoding):
        return with_decoders(decoders.extract_features(features), decoders.decoders)
    if isinstance(decoders, Mapping):
        return _decode_each(features, decoders) if decoders else features
    if not isinstance(decoders, Decoder):
        raise InvalidTypeError(
            f"expected a decoder, got {short_repr(decoders)}",
            hint="give fk.SkipDecoding(), or what fk.decode.make_decoder makes, called",
        )
    if features.decodes_elements:
        element = features.inner_features()[None]
        return features.with_inner_features({None: with_decoders(element, decoders)})
    return DecodedFeature(features, decoders)


def _decode_each(feature: FeatureConnector, decoders: Mapping[str, Any]) -> FeatureConnector:
    inner = dict(feature.inner_features())
    if None in inner:
        return feature.with_inner_features({None: _decode_each(inner[None], decoders)})
    if not inner:
        raise InvalidArgumentError(
            f"{type(feature).__name__} cannot be taken apart, for decoders of "
            f"{', '.join(map(repr, decoders))}",
            hint="give one decoder for all of it",
        )
    for key, decoder in decoders.items():
        if key not in inner:
            raise UnknownNameError(f"there is no feature {key!r}{did_you_mean(key, _keys(inner))}")
        try:
            inner[key] = with_decoders(inner[key], decoder)
        except Exception as error:
            add_path(error, key)
            raise
    return feature.with_inner_features(inner)


def _keys(inner: Mapping[str | None, FeatureConnector]) -> list[str]:
    return [key for key in inner if key is not None]
