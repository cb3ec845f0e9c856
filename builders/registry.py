"""The builder classes of this process, by the name of their dataset."""

from __future__ import annotations

import importlib
import inspect
from typing import TYPE_CHECKING, Any

from featurekit.dataset.naming import camel_to_snake
from featurekit.errors import UnknownNameError, did_you_mean

if TYPE_CHECKING:
    from featurekit.builders.base import DatasetBuilder

__all__ = ["builder_class", "builder_name", "catalog", "is_known", "names", "register"]

_CATALOG = "featurekit.builders.catalog"

# Datasets that featurekit ships, and the modules that build them.
_SHIPPED = {"digits": "digits"}

_registered: dict[str, type[DatasetBuilder]] = {}


def register(cls: type[DatasetBuilder]) -> None:
    """Let a builder be found by its name; the last class of a name counts."""
    _registered[cls.name] = cls


def catalog() -> list[str]:
    """Names of the datasets that featurekit ships a builder for."""
    return sorted(_SHIPPED)


def names() -> list[str]:
    """Names of all builders: those of this process, and those that featurekit ships."""
    return sorted({*_registered, *_SHIPPED})


def is_known(name: str) -> bool:
    """Whether there is a builder of that name."""
    return name in _registered or name in _SHIPPED


def builder_class(name: str) -> type[DatasetBuilder]:
    """The builder class of a dataset: one of this process, or one that featurekit ships.

    Raises:
        UnknownNameError: There is none; the closest names are listed.
    """
    if name not in _registered and name in _SHIPPED:
        importlib.import_module(f"{_CATALOG}.{_SHIPPED[name]}")
    try:
        return _registered[name]
    except KeyError:
        raise UnknownNameError(
            f"there is no builder {name!r}{did_you_mean(name, names())}",
            hint="give the path of the Python file that defines it, or import it first",
        ) from None


def builder_name(cls: type[Any]) -> str:
    """The name of the dataset that a class builds.

    It is the class's name in snake case. A class called `Builder` is named by its module:
    `pets_dataset_builder` builds `pets`, and another module what its package is called.
    """
    if cls.__name__ != "Builder":
        return camel_to_snake(cls.__name__)
    module = _module_name(cls)
    *packages, last = module.split(".")
    if last.endswith("_dataset_builder"):
        return last.removesuffix("_dataset_builder")
    return packages[-1] if packages else last


def _module_name(cls: type[Any]) -> str:
    """The module of a class; of a script, the name of its file."""
    if cls.__module__ != "__main__":
        return cls.__module__
    try:
        return inspect.getmodulename(inspect.getfile(cls)) or "builder"
    except (TypeError, OSError):
        return "builder"  # a notebook cell has no file
