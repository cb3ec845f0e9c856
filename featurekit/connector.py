"""The base of all feature connectors: how one field of an example is stored and read.

A connector of one's own says what the value looks like and how it is stored::

    class Percent(FeatureConnector):
        def get_tensor_info(self):
            return TensorInfo((), np.float32)

        def get_serialized_info(self):
            return TensorInfo((), np.int64)

        def encode_example(self, value):
            return round(value * 100)

        def decode_example(self, stored):
            return np.float32(stored / 100)

        def to_json_content(self):
            return {}

It works wherever one of featurekit's own does: in a dict, in (nested) sequences, on disk.
One that stores several values subclasses `FeaturesDict`, one that adds rules to a stored
array subclasses `Tensor`.
"""

from __future__ import annotations

import abc
import copy
import dataclasses
import functools
import html
import json
import os
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from featurekit import feature_json, registry
from featurekit.direct import DirectSpec
from featurekit.dtypes import dtype_name
from featurekit.errors import (
    FeatureKitError,
    InvalidArgumentError,
    MissingFileError,
    SchemaError,
    add_location,
    add_path,
)
from featurekit.layout import Layout
from featurekit.nesting import map_nested, stack, unstack
from featurekit.tensor_info import TensorInfo, Tree, map_tree

if TYPE_CHECKING:
    from featurekit.native.direct_encoder import DirectEncoder

__all__ = ["Documentation", "FeatureConnector"]

FEATURES_FILE = "features.json"


@dataclasses.dataclass(frozen=True)
class Documentation:
    """What a feature means, for people.

    Attributes:
        desc: Description.
        value_range: The values it takes, in words.
    """

    desc: str = ""
    value_range: str = ""

    @classmethod
    def of(cls, doc: Documentation | str | None) -> Documentation:
        """Make a `Documentation` of what `doc=` takes."""
        if isinstance(doc, Documentation):
            return doc
        return cls(desc=doc or "")


class FeatureConnector(abc.ABC):
    """How one field of an example is stored, and how it comes back as NumPy.

    Subclasses define `get_tensor_info` and `encode_example`; `get_serialized_info` and
    `decode_example` where the stored value is not the value itself; `to_json_content` and
    `from_json_content` where the constructor has arguments.

    Args:
        doc: What the feature means: text, or a `Documentation`.
    """

    # The class's name in features.json, where TFDS has the same connector.
    tfds_name: ClassVar[str | None] = None

    _doc: Documentation = Documentation()

    def __init__(self, *, doc: Documentation | str | None = None) -> None:
        self._doc = Documentation.of(doc)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Let features.json name the class."""
        super().__init_subclass__(**kwargs)
        registry.register(cls)

    # What the value looks like.

    @abc.abstractmethod
    def get_tensor_info(self) -> Tree[TensorInfo]:
        """Shape and dtype of the decoded value: a `TensorInfo`, or nested dicts of them."""

    def get_serialized_info(self) -> Tree[TensorInfo]:
        """Shape and dtype of what `encode_example` returns; by default as decoded."""
        return self.get_tensor_info()

    @property
    def shape(self) -> Tree[tuple[int | None, ...]]:
        """Shape of the decoded value, or nested dicts of shapes."""
        return map_tree(lambda info: info.shape, self.get_tensor_info())

    @property
    def dtype(self) -> Tree[np.dtype[Any]]:
        """NumPy dtype of the decoded value, or nested dicts of dtypes."""
        return map_tree(lambda info: info.dtype, self.get_tensor_info())

    @property
    def np_dtype(self) -> Tree[np.dtype[Any]]:
        """The same as `dtype`; TFDS's name for it."""
        return self.dtype

    @property
    def doc(self) -> Documentation:
        """What the feature means, for people."""
        return self._doc

    # The features it is made of.

    # Whether a decoder for it is one for its elements (of `Sequence`).
    decodes_elements: ClassVar[bool] = False

    def inner_features(self) -> Mapping[str | None, FeatureConnector]:
        """The features that a value is made of, by name; a sequence's element has None for one.

        Empty where a value is one whole, as most are, or where a subclass makes one of it.
        """
        return {}

    def with_inner_features(self, features: Mapping[str | None, FeatureConnector]) -> Self:
        """A copy of it, made of other features than `inner_features`; they may be fewer."""
        raise InvalidArgumentError(f"{type(self).__name__} is not made of other features")

    def _copy(self) -> Self:
        """A copy without what is remembered of the features it is made of."""
        new = copy.copy(self)
        for name in list(vars(new)):
            if isinstance(getattr(type(self), name, None), functools.cached_property):
                del vars(new)[name]
        return new

    # One value, to what is stored and back.

    @abc.abstractmethod
    def encode_example(self, value: Any) -> Any:
        """Turn a value as a generator yields it into what is stored.

        Raises:
            EncodeError: The value does not fit the feature.
        """

    def decode_example(self, stored: Any) -> Any:
        """Turn what is stored into the value, as NumPy; by default it is the value.

        Raises:
            DecodeError: The stored value is not what it should be.
        """
        return stored

    def decode_example_np(self, stored: Any) -> Any:
        """The same as `decode_example`; TFDS's name for it."""
        return self.decode_example(stored)

    @property
    def is_plain(self) -> bool:
        """Whether values are what is stored, so that decoding changes nothing."""
        return type(self).decode_example is FeatureConnector.decode_example

    # Values within sequences. Subclasses override these where all at once is faster.

    def encode_batch_example(self, values: Any) -> Any:
        """Encode the elements of a sequence: a list or array of values."""
        return [encode_at(self, value, index) for index, value in enumerate(values)]

    def decode_batch_example(self, stored: Any) -> Any:
        """Decode the elements of a sequence: an array of stored values, one a row.

        Returns:
            An array where all elements have one shape, else a list of them.
        """
        if self.is_plain:
            return stored
        elements = [decode_at(self, item, i) for i, item in enumerate(unstack(stored))]
        return stack(elements, self.get_tensor_info())

    def decode_ragged_example(self, stored: Any) -> Any:
        """Decode the elements of nested sequences.

        Args:
            stored: A `RaggedTensor` of stored values, or nested dicts of them; an array
                where all lists of a level have one declared length.
        """
        if self.is_plain:
            return stored
        return map_nested(self.decode_batch_example, self.get_serialized_info(), stored)

    # Whole examples, to the bytes of a tf.train.Example and back.

    @functools.cached_property
    def layout(self) -> Layout:
        """Where the stored values lie in a tf.train.Example."""
        return Layout(self.get_serialized_info())

    def serialize_example(self, example: Any) -> bytes:
        """Encode an example and write it as the bytes of a tf.train.Example.

        Raises:
            EncodeError: A value does not fit its feature; says which.
        """
        encoder = self._direct_encoder
        record = None if encoder is None else encoder.encode(example)
        return self.layout.serialize(self.encode_example(example)) if record is None else record

    def direct_spec(self) -> DirectSpec | None:
        """What the feature takes, where `encode_example` does no more than check it."""
        return None

    @functools.cached_property
    def _direct_encoder(self) -> DirectEncoder | None:
        """What does `encode_example` and `layout.serialize` in one step, where it can."""
        return None

    def deserialize_example(self, record: bytes, *, decoders: Any = None) -> Any:
        """Read an example from the bytes of a tf.train.Example.

        Args:
            record: The serialized tf.train.Example.
            decoders: Decoders in place of the features' own, nested like the features, or a
                `PartialDecoding`; see `featurekit.decode`. For many records, call
                `featurekit.decode.with_decoders` once.

        Returns:
            The example: nested dicts of NumPy arrays and scalars; text is `bytes`.

        Raises:
            ParseError: The bytes are no tf.train.Example.
            DecodeError: It does not hold what the features say.
        """
        if decoders is not None:
            from featurekit.decode import with_decoders  # which is built on this module

            return with_decoders(self, decoders).deserialize_example(record)
        stored = self.layout.deserialize(record)
        return None if stored is None else self.decode_example(stored)

    def deserialize_example_np(self, record: bytes, *, decoders: Any = None) -> Any:
        """The same as `deserialize_example`; TFDS's name for it."""
        return self.deserialize_example(record, decoders=decoders)

    def deserialize_each(self, records: Sequence[bytes]) -> list[Any]:
        """Read several examples: the same as `deserialize_example` for each, and faster.

        Raises:
            ParseError: As in `deserialize_example`.
            DecodeError: The same.
        """
        stored = self.layout.deserialize_each(records)
        if self.is_plain:
            return stored
        return [None if item is None else self.decode_example(item) for item in stored]

    def deserialize_batch(self, records: Sequence[bytes]) -> Any:
        """Read several examples, joined along a new first axis.

        Returns:
            Nested dicts of arrays `(batch, ...)`; a `RaggedTensor` where lengths vary, a
            masked array where optional values are missing, a list where the values
            themselves (images) differ in shape.

        Raises:
            ParseError: As in `deserialize_example`.
            DecodeError: The same.
        """
        return self.decode_batch_example(self.layout.deserialize_batch(records))

    # Metadata.

    def to_json_content(self) -> Any:
        """What `from_json_content` needs to make an equal connector; JSON values only.

        Returns:
            A dict, which features.json keeps as it is.
        """
        return {}

    @classmethod
    def from_json_content(cls, value: Any) -> Self:
        """Make a connector from what `to_json_content` gave."""
        return cls(**value)

    def to_json(self) -> dict[str, Any]:
        """The feature as TFDS's `to_json` gives it: `{"type", "content", "proto_cls"}`."""
        content = self.to_json_content()
        proto = isinstance(content, feature_json.ProtoContent)
        return {
            "type": registry.class_path(type(self)),
            "content": feature_json.content_to_proto(content) if proto else content,
            "proto_cls": feature_json.message_name(content),
        }

    def to_feature_json(self) -> dict[str, Any]:
        """The feature in the form of features.json."""
        json_: dict[str, Any] = feature_json.to_feature_json(
            registry.class_path(type(self)),
            self.to_json_content(),
            self.doc.desc,
            self.doc.value_range,
        )
        return json_

    @classmethod
    def from_json(cls, value: Mapping[str, Any], *, trust: Iterable[str] = ()) -> FeatureConnector:
        """Make a connector from its JSON, in any form that TFDS has written.

        Args:
            value: The parsed JSON of a feature.
            trust: Packages that connector classes named in the JSON may be imported from.

        Returns:
            The connector; an opaque one, which gives the stored values, where its class is
            neither known nor trusted.

        Raises:
            SchemaError: The JSON does not describe a feature.
        """
        trust = registry.check_trust(trust)
        if not trust and registry.is_loading():
            return connector_from_json(value)
        return _load(value, trust, "the JSON of the features")

    def save_metadata(self, data_dir: str | os.PathLike[str], feature_name: str | None) -> None:
        """Write what features.json does not hold, such as class names, in files of its own."""

    def load_metadata(self, data_dir: str | os.PathLike[str], feature_name: str | None) -> None:
        """Read what `save_metadata` wrote."""

    def save_config(self, root_dir: str | os.PathLike[str]) -> None:
        """Write features.json and the files beside it, as TFDS does."""
        text = json.dumps(self.to_feature_json(), indent=4, sort_keys=True)
        (pathlib.Path(root_dir) / FEATURES_FILE).write_text(text, encoding="utf-8")
        self.save_metadata(root_dir, None)

    @classmethod
    def from_config(
        cls, root_dir: str | os.PathLike[str], *, trust: Iterable[str] = ()
    ) -> FeatureConnector:
        """Read features.json and the files beside it.

        Raises:
            MissingFileError: There is no features.json.
            SchemaError: It does not describe features.
        """
        path = pathlib.Path(root_dir) / FEATURES_FILE
        try:
            value = json.loads(path.read_bytes())
        except FileNotFoundError:
            raise MissingFileError(
                f"there is no {FEATURES_FILE}",
                file=path,
                hint="a dataset this old has its features only in its code: pass features=",
            ) from None
        except (ValueError, RecursionError) as error:
            raise SchemaError(f"{FEATURES_FILE} is not JSON: {error}", file=path) from error
        except OSError as error:
            raise SchemaError(
                f"{FEATURES_FILE} cannot be read: {error.strerror}", file=path
            ) from error
        try:
            connector = _load(value, trust, str(path))
        except FeatureKitError as error:
            add_location(error, file=path)
            raise
        connector.load_metadata(root_dir, None)
        return connector

    # For people and containers.

    def __eq__(self, other: object) -> bool:
        """Whether both have one class and the same arguments."""
        return type(self) is type(other) and self._identity() == other._identity()

    def __hash__(self) -> int:
        """Equal connectors hash alike."""
        return hash((type(self), repr(self)))

    def _identity(self) -> Any:
        return self.to_feature_json()

    def __repr__(self) -> str:
        """TFDS's repr: `Class(shape=(...), dtype=...)`."""
        info = self.get_tensor_info()
        if not isinstance(info, TensorInfo):
            return f"{type(self).__name__}({self.shape})"
        parts = [f"shape={info.shape}", f"dtype={dtype_name(info.dtype)}", *self._repr_extras()]
        return f"{type(self).__name__}({', '.join(parts)})"

    def _repr_extras(self) -> list[str]:
        return [f"description={self.doc.desc}"] if self.doc.desc else []

    def repr_html(self, value: Any) -> str:
        """One decoded value as HTML, escaped."""
        if isinstance(value, np.ndarray) and value.ndim:
            return html.escape(f"array of shape {value.shape}, {value.dtype}")
        return html.escape(str(value))


# Calling a connector, saying where in the example it is.


def encode_at(connector: FeatureConnector, value: Any, part: str | int) -> Any:
    """Encode one part of an example; an error says which part."""
    try:
        return connector.encode_example(value)
    except Exception as error:
        add_path(error, part, type(connector).__name__)
        raise


def decode_at(connector: FeatureConnector, stored: Any, part: str | int) -> Any:
    """Decode one part of an example, None where it is missing; an error says which part."""
    if stored is None:
        return None
    try:
        return connector.decode_example(stored)
    except Exception as error:
        add_path(error, part, type(connector).__name__)
        raise


def _load(value: Any, trust: Iterable[str], what: str) -> FeatureConnector:
    """Make a connector from the JSON of all features; `what` names it in the log."""
    with registry.loading(trust, what):
        try:
            return connector_from_json(value)
        except RecursionError:
            raise SchemaError("the features are nested too deeply to be read") from None


def connector_from_json(value: Mapping[str, Any]) -> FeatureConnector:
    """Make a connector from JSON, within a `registry.loading` block."""
    parsed = feature_json.parse(value)
    cls = registry.resolve(parsed.class_name)
    if cls is None:
        connector = registry.load_class("featurekit.connectors.opaque:Opaque")(
            class_name=parsed.class_name, content=parsed.content
        )
    else:
        connector = _from_content(cls, parsed)
    # The two texts lie outside of the content, so no constructor sees them.
    connector._doc = Documentation(parsed.description, parsed.value_range)
    return connector  # type: ignore[no-any-return]


def _from_content(cls: type[Any], parsed: feature_json.FeatureJson) -> Any:
    if parsed.content is None:
        raise SchemaError(
            f"a feature of class {parsed.class_name!r} has no content",
            hint="the file is damaged, or of a newer TFDS",
        )
    try:
        return cls.from_json_content(parsed.content)
    except FeatureKitError:
        raise
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise SchemaError(
            f"the content of a {parsed.class_name} does not fit it: "
            f"{type(error).__name__}: {error}",
            hint="features.json is damaged, or of another version of the class",
        ) from error
