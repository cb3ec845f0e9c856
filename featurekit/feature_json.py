"""The JSON forms of a feature: what `features.json` says, and what connectors see.

TFDS keeps features as JSON of its `Feature` protocol buffer: camelCase names, 64-bit
integers as text, defaults left out. Earlier releases wrote `{"type", "content"}`. Connectors
deal with neither: `to_json_content` gives, and `from_json_content` takes, a plain dict with
the constructor's own names and values. This module converts between the two.

Source: the messages of TFDS's feature.proto and the JSON mapping of protocol buffers.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import Any

from featurekit.errors import SchemaError, did_you_mean, short_repr
from featurekit.registry import note_unknown

__all__ = ["FeatureJson", "ProtoContent", "content_to_proto", "parse"]


class ProtoContent(dict[str, Any]):
    """Content that TFDS's `Feature` message has a field for.

    Args:
        field: JSON name of that field, such as `tensor`.
        values: The content, under the names that the connectors' constructors use.
    """

    def __init__(self, field: str, /, **values: Any) -> None:
        super().__init__(values)
        self.field = field


@dataclasses.dataclass(frozen=True)
class FeatureJson:
    """One feature as its JSON says.

    Attributes:
        class_name: Path of the connector's class.
        content: A `ProtoContent`, or the plain dict of a legacy or custom feature, or None.
        description: Of the feature, for people.
        value_range: The same.
    """

    class_name: str
    content: Any
    description: str = ""
    value_range: str = ""


# How each kind of value is written and read. A writer returns None to leave a value out.


def _write_shape(shape: Any) -> Any:
    dims = [str(-1 if dim is None else dim) for dim in shape]
    return {"dimensions": dims} if dims else {}


def _read_shape(value: Any) -> tuple[int | None, ...]:
    dims = [_read_int(dim) for dim in _list(_mapping(value, "shape").get("dimensions", []))]
    if any(dim < -1 for dim in dims):
        raise SchemaError(f"shape {dims} has a negative size", hint="-1 stands for an unknown size")
    return tuple(None if dim == -1 else dim for dim in dims)


def _read_int(value: Any) -> int:
    if isinstance(value, (int, str)) and not isinstance(value, bool):
        try:
            return int(value)
        except ValueError:
            pass
    raise SchemaError(f"expected an integer, got {short_repr(value)}")


def _read_str(value: Any) -> str:
    if not isinstance(value, str):
        raise SchemaError(f"expected text, got {short_repr(value)}")
    return value


def _read_bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise SchemaError(f"expected true or false, got {short_repr(value)}")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise SchemaError(f"expected a list, got {short_repr(value)}")
    return value


def _read_list(value: Any) -> list[str]:
    return [_read_str(item) for item in _list(value)]


def _write_label(label: Any) -> Any:
    return {"numClasses": str(label)} if label else {}


def _read_label(value: Any) -> int:
    return _read_int(_mapping(value, "label").get("numClasses", 0))


def _same(value: Any) -> Any:
    return value


def _read_features(value: Any) -> dict[str, Any]:
    return dict(_mapping(value, "features"))


@dataclasses.dataclass(frozen=True)
class _Field:
    """How one value of a message is written and read, and what its absence means."""

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]
    default: Any = None
    always: bool = False  # written even where it equals the default


_SHAPE = _Field(_write_shape, _read_shape, always=True)
_TEXT = _Field(_same, _read_str, "")
_FLAG = _Field(_same, _read_bool, False)
_TEXTS = _Field(list, _read_list, [])
_INT = _Field(str, _read_int, 0)
_OPTIONAL_INT = _Field(str, _read_int)
_FEATURE = _Field(_same, _same)

_MESSAGES: dict[str, tuple[str, dict[str, _Field]]] = {
    "jsonFeature": ("JsonFeature", {"json": _TEXT}),
    "featuresDict": ("FeaturesDict", {"features": _Field(_same, _read_features, {})}),
    "tensor": (
        "TensorFeature",
        {
            "shape": _SHAPE,
            "dtype": _TEXT,
            "encoding": _TEXT,
            "minimum": _OPTIONAL_INT,
            "maximum": _OPTIONAL_INT,
            "optional": _FLAG,
        },
    ),
    "classLabel": ("ClassLabel", {"num_classes": _INT}),
    "image": (
        "ImageFeature",
        {
            "shape": _SHAPE,
            "dtype": _TEXT,
            "encoding_format": _TEXT,
            "use_colormap": _FLAG,
            "label": _Field(_write_label, _read_label, always=True),
        },
    ),
    "video": (
        "VideoFeature",
        {
            "shape": _SHAPE,
            "dtype": _TEXT,
            "encoding_format": _TEXT,
            "use_colormap": _FLAG,
            "ffmpeg_extra_args": _TEXTS,
        },
    ),
    "audio": (
        "AudioFeature",
        {
            "shape": _SHAPE,
            "dtype": _TEXT,
            "file_format": _TEXT,
            "sample_rate": _INT,
            "encoding": _TEXT,
            "lazy_decode": _FLAG,
        },
    ),
    "boundingBox": ("BoundingBoxFeature", {"shape": _SHAPE, "dtype": _TEXT, "bbox_format": _TEXT}),
    "text": ("TextFeature", {}),
    "translation": (
        "TranslationFeature",
        {"languages": _TEXTS, "variable_languages_per_example": _FLAG},
    ),
    "sequence": ("Sequence", {"feature": _FEATURE, "length": _INT}),
}

_FIELD_OF_MESSAGE = {f"tensorflow_datasets.{name}": field for field, (name, _) in _MESSAGES.items()}


def message_name(content: Any) -> str:
    """The protocol buffer that TFDS keeps such content in; `''` for a custom connector's own."""
    if isinstance(content, ProtoContent):
        return f"tensorflow_datasets.{_MESSAGES[content.field][0]}"
    return ""


def content_to_proto(content: ProtoContent) -> dict[str, Any]:
    """The JSON of a content message."""
    result = {}
    for name, field in _MESSAGES[content.field][1].items():
        value = content.get(name)
        if value is not None and (field.always or value != field.default):
            result[_camel(name)] = field.write(value)
    return result


def content_from_proto(field: str, value: Any) -> ProtoContent:
    """The plain content of a message; what is absent has the message's default."""
    known = _MESSAGES[field][1]
    content = ProtoContent(field, **{name: item.default for name, item in known.items()})
    for key, item in _mapping(value, field).items():
        name = _snake(key)
        if name not in known:
            note_unknown([f"{field}.{key}"])
        elif item is not None:
            content[name] = known[name].read(item)
    return content


def to_feature_json(class_name: str, content: Any, description: str, value_range: str) -> Any:
    """One feature in the form of `features.json`."""
    result: dict[str, Any] = {"pythonClassName": class_name}
    if isinstance(content, ProtoContent):
        result[content.field] = content_to_proto(content)
    else:
        result["jsonFeature"] = {"json": json.dumps(content)}
    if description:
        result["description"] = description
    if value_range:
        result["valueRange"] = value_range
    return result


def parse(value: Any) -> FeatureJson:
    """Read one feature in any form that TFDS has written.

    Args:
        value: The parsed JSON: the `Feature` message's, or the legacy `{"type", "content"}`.

    Raises:
        SchemaError: It is neither.
    """
    value = _mapping(value, "a feature")
    return _parse_legacy(value) if "type" in value else _parse_proto(value)


def _parse_proto(value: Mapping[str, Any]) -> FeatureJson:
    plain, content = {}, None
    for key, item in value.items():
        camel = _camel(_snake(key))
        if camel in ("pythonClassName", "description", "valueRange"):
            plain[camel] = _read_str(item)
        elif camel not in _MESSAGES:
            note_unknown([key])
        elif content is not None:
            raise SchemaError(f"a feature has both {content.field!r} and {key!r}")
        else:
            content = content_from_proto(camel, item)
    return FeatureJson(
        plain.get("pythonClassName", ""),
        _custom(content),
        plain.get("description", ""),
        plain.get("valueRange", ""),
    )


def _custom(content: ProtoContent | None) -> Any:
    if content is None or content.field != "jsonFeature":
        return content
    return _loads(content["json"])


def _parse_legacy(value: Mapping[str, Any]) -> FeatureJson:
    class_name, content = _read_str(value["type"]), value.get("content")
    message = _read_str(value.get("proto_cls") or "")
    if message:
        field = _FIELD_OF_MESSAGE.get(message)
        if field is None:
            raise SchemaError(
                f"{message!r} is no content of a feature{did_you_mean(message, _FIELD_OF_MESSAGE)}"
            )
        content = content_from_proto(
            field, _loads(content) if isinstance(content, str) else content
        )
    return FeatureJson(class_name, _custom(content) if message else content)


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SchemaError(f"the JSON within a feature cannot be read: {error}") from error


def _mapping(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise SchemaError(f"expected an object for {what}, got {short_repr(value)}")
    return value


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(part.capitalize() for part in others)


def _snake(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name)
