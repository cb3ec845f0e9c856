"""Modules whose names lie elsewhere, and which say what to use for a name they do not offer.

TFDS spreads its names over a hundred modules, and scripts import them from there. Such a
module is made here from a table: a `NamedModule` imports a name when it is first used.
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import sys
import types
from collections.abc import Mapping
from typing import Any

from featurekit.errors import NotOfferedError

__all__ = ["Library", "NamedModule", "Names", "Offer", "make_modules"]

# For each module that has names, those names, with blanks between; "new=old" renames.
Names = Mapping[str, str]


@dataclasses.dataclass(frozen=True)
class Library:
    """A library whose names we offer.

    Attributes:
        title: How messages call what we offer.
        prefix: How scripts call it, such as `tfds`.
        modules: The names of each of its modules.
        aliases: Modules that are the same as another one.
        instead: What to use in place of names that are not offered.
        otherwise: What to do about any other name.
    """

    title: str
    prefix: str
    modules: Mapping[str, Names]
    aliases: Mapping[str, str]
    instead: Mapping[str, str]
    otherwise: str

    def refusal(self, name: str, offered: list[str]) -> NotOfferedError:
        """The error for a name that is not offered, such as `core.benchmark`."""
        close = difflib.get_close_matches(name.rpartition(".")[2], offered, n=1, cutoff=0.75)
        suggestion = f"; did you mean {close[0]!r}?" if close else ""
        return NotOfferedError(
            f"{self.title} does not offer {self.prefix}.{name}{suggestion}",
            hint=self.instead.get(name, self.otherwise),
        )


class NamedModule(types.ModuleType):
    """A module made from a table; its names are imported when they are first used."""

    def __init__(self, path: str, library: Library, name: str) -> None:
        super().__init__(path, f"Names of {library.prefix}.{name}, found elsewhere.")
        self.__path__: list[str] = []  # a package: it has modules of its own
        self._offer = Offer(self, library, name)

    def __getattr__(self, name: str) -> Any:
        return self._offer(name)

    def __dir__(self) -> list[str]:
        return self._offer.names()

    def __reduce__(self) -> Any:
        """Pickle by name: Beam pickles functions with the modules that they use."""
        return (importlib.import_module, (self.__name__,))


class Offer:
    """The `__getattr__` of a module of a library."""

    def __init__(self, module: types.ModuleType, library: Library, name: str) -> None:
        self._module = module
        self._library = library
        self._name = name
        self._sources = dict(_sources(library.modules.get(name, {})))

    def names(self) -> list[str]:
        """The names that the module offers."""
        return sorted(n for n in {*vars(self._module), *self._sources} if n[:1] != "_")

    def __call__(self, name: str) -> Any:
        """The value of a name.

        Raises:
            NotOfferedError: There is none; says what to use.
        """
        if name not in self._sources:
            if name[:1] == "_":  # Python asks for such names, people do not
                raise AttributeError(f"module {self._module.__name__!r} has no {name}")
            full = f"{self._name}.{name}" if self._name else name
            raise self._library.refusal(full, self.names())
        source, old = self._sources[name]
        value = getattr(importlib.import_module(source), old)
        setattr(self._module, name, value)  # found at once the next time
        return value


def _sources(names: Names) -> list[tuple[str, tuple[str, str]]]:
    pairs = []
    for source, text in names.items():
        for entry in text.split():
            new, _, old = entry.partition("=")
            pairs.append((new, (source, old or new)))
    return pairs


def make_modules(root: types.ModuleType, library: Library) -> Offer:
    """Make all modules of a library below a module, so that they can be imported.

    Args:
        root: The module for the library itself.
        library: What it offers.

    Returns:
        What gives the names of `root` itself: its `__getattr__`.
    """
    made: dict[str, types.ModuleType] = {"": root}
    for name in sorted({*library.modules, *library.aliases}):
        if name:
            _make(name, root, library, made)
    return Offer(root, library, "")


def _make(
    name: str, root: types.ModuleType, library: Library, made: dict[str, types.ModuleType]
) -> types.ModuleType:
    if name in made:
        return made[name]
    path = f"{root.__name__}.{name}"
    if name in library.aliases:
        module = _make(library.aliases[name], root, library, made)
    else:
        module = NamedModule(path, library, name)
    made[name] = sys.modules[path] = module
    parent, _, last = name.rpartition(".")
    setattr(_make(parent, root, library, made), last, module)
    return module
