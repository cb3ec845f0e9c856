"""Letting a script import TFDS and TensorFlow, and find featurekit in their place.

A TFDS script says `import tensorflow_datasets as tfds`. To run it unchanged, its modules get
an `__import__` of their own: there, `tensorflow_datasets` is `featurekit.tfds`, and
`tensorflow` a small stand-in. No entry of `sys.modules` has these names, so any other
library of the process that looks for TensorFlow finds what is installed, or nothing.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import pathlib
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from featurekit.errors import FeatureKitError

__all__ = ["STANDS_FOR", "ScriptNames", "tfds_folder", "tfds_is_installed"]

_TFDS = "tensorflow_datasets"
STANDS_FOR = {_TFDS: "featurekit.tfds", "tensorflow": "featurekit.tfds.tensorflow"}

# What modules of TFDS's own source tree are called here; no library is called so.
_TREE = "tfds_scripts"

# Modules that were loaded for scripts.
_own: set[str] = set()

# Packages that scripts use beside TFDS, which brings them.
_WITH_TFDS = {"absl", "etils", "six"}


def tfds_is_installed() -> bool:
    """Whether `import tensorflow_datasets` finds the real one."""
    return importlib.util.find_spec(_TFDS) is not None


def tfds_folder(file: pathlib.Path | None = None) -> pathlib.Path | None:
    """The folder of TFDS's sources: the one that a file lies in, else the installed one."""
    for folder in file.parents if file is not None else ():
        if folder.name == _TFDS and (folder / "__init__.py").is_file():
            return folder
    spec = importlib.util.find_spec(_TFDS)  # which does not import it
    return pathlib.Path(spec.origin).parent if spec is not None and spec.origin else None


class ScriptNames(importlib.abc.MetaPathFinder):
    """Loads the modules of one script, and says what their imports find.

    Args:
        file: The script.
        folders: Where its own modules are found: beside it, and where its package lies.
    """

    stands_for: Mapping[str, str] = STANDS_FOR

    def __init__(self, file: pathlib.Path, folders: Sequence[pathlib.Path]) -> None:
        self._folders = [str(folder) for folder in folders]
        self._tree = tfds_folder(file)

    # Loading the script's modules.

    def in_tree(self, file: pathlib.Path) -> bool:
        """Whether a file belongs to the sources of TFDS."""
        return self._tree is not None and file.is_relative_to(self._tree)

    def load_from_tree(self, file: pathlib.Path) -> types.ModuleType:
        """Load a file of TFDS's sources, without the packages around it, which need TFDS."""
        assert self._tree is not None  # in_tree was asked
        name = ".".join((_TREE, *file.relative_to(self._tree).with_suffix("").parts))
        if name in sys.modules and sys.modules[name].__file__ == str(file):
            return sys.modules[name]
        spec = importlib.util.spec_from_file_location(
            name, file, loader=_Loader(self, name, str(file))
        )
        assert spec is not None
        assert spec.loader is not None  # it was given
        _make_packages(name)
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        return module

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Load the script's own modules, and only them, in this way."""
        sys.meta_path.insert(0, self)
        try:
            yield
        finally:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find one of the script's own modules; a part of Python's import protocol."""
        parent = fullname.rpartition(".")[0]
        if parent and parent not in _own:
            return None
        where = list(path or ()) if parent else self._folders
        spec = importlib.machinery.PathFinder.find_spec(fullname, where, target)
        if spec is None or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            return None
        _own.add(fullname)
        spec.loader = _Loader(self, fullname, spec.loader.path)
        return spec

    # What they import.

    def import_(
        self,
        name: str,
        globals: dict[str, Any] | None = None,
        locals: dict[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        """The `__import__` of the script's modules."""
        if level == 0 and name.partition(".")[0] in self.stands_for:
            return self._import_stand_in(name, globals or {}, fromlist or ())
        with self.active():
            try:
                return builtins.__import__(name, globals, locals, fromlist or (), level)
            except ModuleNotFoundError as error:
                if error.name in _WITH_TFDS:
                    error.add_note("  hint: pip install 'featurekit[tfds]'")
                raise

    def _import_stand_in(self, name: str, importer: dict[str, Any], names: Sequence[str]) -> Any:
        if not names:
            self._find(name, importer)  # it must be there
            return importlib.import_module(self.stands_for[name.partition(".")[0]])
        if "*" in names:
            names = dir(self._find(name, importer))
        found = {wanted: self._find(f"{name}.{wanted}", importer) for wanted in names}
        return types.SimpleNamespace(__name__=name, **found)

    def _find(self, name: str, importer: dict[str, Any]) -> Any:
        """What stands for a dotted name.

        Raises:
            ImportError: Nothing does; says what to use.
        """
        top, *parts = name.split(".")
        try:
            return functools.reduce(getattr, parts, importlib.import_module(self.stands_for[top]))
        except FeatureKitError as error:
            if top == _TFDS:
                for count in (len(parts), len(parts) - 1):  # a module, or a name in one
                    module = self._module_of_tfds(parts[:count], importer)
                    if module is not None:
                        return functools.reduce(getattr, parts[count:], module)
            raise ImportError(f"{error}{_place(importer)}") from error

    def _module_of_tfds(self, parts: list[str], importer: dict[str, Any]) -> Any:
        """A module of TFDS's datasets: beside the script that imports it, or in TFDS's tree."""
        if not parts or parts[0] == "core":
            return None
        script = pathlib.Path(importer.get("__file__", ""))
        beside = script.with_name(f"{parts[-1]}.py")
        if script.name and beside.is_file() and not self.in_tree(beside):
            package = importer.get("__package__")
            with self.active():
                return importlib.import_module(f"{package}.{parts[-1]}" if package else parts[-1])
        for file in (beside, self._tree and self._tree.joinpath(*parts).with_suffix(".py")):
            if file and file.is_file() and self.in_tree(file):
                return self.load_from_tree(file)
        return None


def _make_packages(name: str) -> None:
    """Let a module be imported by its name, as pickle does: it needs packages around it."""
    *packages, _ = name.split(".")
    for count in range(1, len(packages) + 1):
        package = types.ModuleType(".".join(packages[:count]))
        package.__path__ = []
        sys.modules.setdefault(package.__name__, package)


class _Loader(importlib.machinery.SourceFileLoader):
    """Runs a file whose imports are those that `ScriptNames` says."""

    def __init__(self, names: ScriptNames, fullname: str, path: str) -> None:
        super().__init__(fullname, path)
        self._names = names

    def exec_module(self, module: types.ModuleType) -> None:
        """Run the file; functions defined in it keep its `__import__`."""
        own = {**vars(builtins), "__import__": self._names.import_}
        module.__dict__["__builtins__"] = own
        super().exec_module(module)


def _place(importer: dict[str, Any]) -> str:
    file = importer.get("__file__")
    return f"\n  at: {file}" if file else ""
