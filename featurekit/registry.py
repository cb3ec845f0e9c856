"""Which class a name in `features.json` stands for.

TFDS writes the Python path of every connector's class into `features.json`. Names resolve
to, in this order: a class of this process (defining a subclass of `FeatureConnector`
registers it), one of ours under the name that TFDS gives it, a class that an installed
package offers as an entry point of the group `featurekit.connectors` (the entry's name is
the name in the file), and last the class itself, imported from a package that the caller
named in `trust`. Nothing else is ever imported: a dataset's files cannot choose code to run.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import importlib
import logging
from collections.abc import Iterable, Iterator
from typing import Any

from featurekit.errors import InvalidTypeError, SchemaError, short_repr

__all__ = [
    "LoadContext",
    "check_trust",
    "class_path",
    "load_class",
    "loading",
    "register",
    "resolve",
]

ENTRY_POINT_GROUP = "featurekit.connectors"

_TFDS = "tensorflow_datasets.core.features"

# TFDS's names for the connectors it has, and where ours are.
_BUILTIN = {
    f"{_TFDS}.audio_feature.Audio": "featurekit.connectors.audio:Audio",
    f"{_TFDS}.bounding_boxes.BBoxFeature": "featurekit.connectors.bbox:BBoxFeature",
    f"{_TFDS}.class_label_feature.ClassLabel": "featurekit.connectors.class_label:ClassLabel",
    f"{_TFDS}.dataset_feature.Dataset": "featurekit.connectors.dataset:Dataset",
    f"{_TFDS}.feature.Tensor": "featurekit.connectors.tensor:Tensor",
    f"{_TFDS}.features_dict.FeaturesDict": "featurekit.connectors.features_dict:FeaturesDict",
    f"{_TFDS}.image_feature.Image": "featurekit.connectors.image:Image",
    f"{_TFDS}.labeled_image.LabeledImage": "featurekit.connectors.labeled_image:LabeledImage",
    f"{_TFDS}.scalar.Scalar": "featurekit.connectors.scalar:Scalar",
    f"{_TFDS}.sequence_feature.Sequence": "featurekit.connectors.sequence:Sequence",
    f"{_TFDS}.tensor_feature.Tensor": "featurekit.connectors.tensor:Tensor",
    f"{_TFDS}.text_feature.Text": "featurekit.connectors.text:Text",
    f"{_TFDS}.translation_feature.Translation": "featurekit.connectors.translation:Translation",
    f"{_TFDS}.translation_feature.TranslationVariableLanguages": (
        "featurekit.connectors.translation:TranslationVariableLanguages"
    ),
    f"{_TFDS}.video_feature.Video": "featurekit.connectors.video:Video",
}

_registered: dict[str, type[Any]] = {}


def class_path(cls: type[Any]) -> str:
    """The name of a connector's class in `features.json`: TFDS's, or the Python path."""
    own = vars(cls).get("tfds_name")
    return own if own else f"{cls.__module__}.{cls.__qualname__}"


def register(cls: type[Any], name: str | None = None) -> None:
    """Let a name in `features.json` stand for a class; the last one registered counts."""
    _registered[name or class_path(cls)] = cls


def load_class(target: str) -> type[Any]:
    """Import `module:Class`."""
    module, _, attribute = target.partition(":")
    found: type[Any] = getattr(importlib.import_module(module), attribute)
    return found


def resolve(name: str) -> type[Any] | None:
    """The class for a name in `features.json`, or None where it is not known or not trusted.

    Raises:
        SchemaError: The name is no class path, or a trusted package has no such class.
    """
    if "." not in name:
        raise SchemaError(
            f"{name!r} is not the path of a connector class",
            hint="pythonClassName must be 'package.module.Class'",
        )
    if name in _registered:
        return _registered[name]
    if name in _BUILTIN:
        return load_class(_BUILTIN[name])
    if name.startswith(f"{_TFDS}."):
        raise SchemaError(
            f"TFDS has no connector {name!r}",
            hint="the file was written by a newer TFDS, or is damaged",
        )
    return _from_entry_point(name) or _from_trusted_package(name)


def _from_entry_point(name: str) -> type[Any] | None:
    import importlib.metadata  # costs a tenth of what NumPy does

    for entry in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP, name=name):
        found: type[Any] = entry.load()
        return found
    return None


def _from_trusted_package(name: str) -> type[Any] | None:
    if not any(name.startswith(f"{package}.") for package in _context.get().trust):
        return None
    module, _, attribute = name.rpartition(".")
    try:
        return load_class(f"{module}:{attribute}")
    except (ImportError, AttributeError) as error:
        raise SchemaError(
            f"cannot import the connector {name!r}: {error}",
            hint="install the package that defines it, or add its folder to PYTHONPATH; without "
            "trust= the feature gives the stored values",
        ) from error


# One loading of metadata: whom it trusts, and what it did not understand.


@dataclasses.dataclass
class LoadContext:
    """What one reading of `features.json` may import, and what it found unknown."""

    trust: tuple[str, ...] = ()
    unknown: list[str] = dataclasses.field(default_factory=list)


_OUTSIDE = LoadContext()
_context: contextvars.ContextVar[LoadContext] = contextvars.ContextVar(
    "featurekit_loading", default=_OUTSIDE
)


def check_trust(trust: Iterable[str]) -> tuple[str, ...]:
    """The packages to trust, as a tuple.

    Raises:
        InvalidTypeError: They are no list of names.
    """
    if isinstance(trust, Iterable) and not isinstance(trust, str):
        names = tuple(trust)
        if all(isinstance(name, str) for name in names):
            return names
    raise InvalidTypeError(
        f"trust must be a list of packages, got {short_repr(trust)}",
        hint="write for example trust=['my_package']",
    )


@contextlib.contextmanager
def loading(trust: Iterable[str], what: str, *, log: bool = True) -> Iterator[LoadContext]:
    """Read metadata trusting some packages; unknown JSON fields are logged once, at the end.

    Args:
        trust: Packages that connector classes may be imported from.
        what: What is read, for the log.
        log: Whether to log; without, `unknown` of the context has the fields.
    """
    context = LoadContext(check_trust(trust))
    token = _context.set(context)
    try:
        yield context
    finally:
        _context.reset(token)
        if log:
            log_unknown(context.unknown, what)


def note_unknown(fields: Iterable[str]) -> None:
    """Remember JSON fields that this version does not know, for the log line."""
    if is_loading():
        _context.get().unknown.extend(fields)


def log_unknown(fields: Iterable[str], what: str) -> None:
    """Log, once and in one line, JSON fields that are ignored."""
    if names := sorted(set(fields)):
        logging.getLogger("featurekit").warning(
            "%s has fields that this version does not know, ignored: %s", what, ", ".join(names)
        )


def is_loading() -> bool:
    """Whether a `loading` block is open, so that nested features belong to it."""
    return _context.get() is not _OUTSIDE
