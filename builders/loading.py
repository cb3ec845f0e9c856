"""Finding a builder class: by name, or in a Python file or package folder."""

from __future__ import annotations

import contextlib
import importlib
import os
import pathlib
import sys
from types import ModuleType

from featurekit.builders import registry
from featurekit.builders.base import DatasetBuilder
from featurekit.builders.script_names import ScriptNames, tfds_is_installed
from featurekit.errors import BuildError, MissingFileError

__all__ = ["find_builder_class", "import_file"]

_imported: set[str] = set()


def find_builder_class(
    name_or_path: str, *, tfds_names: bool | None = None
) -> type[DatasetBuilder]:
    """The builder class that a name or path means.

    Args:
        name_or_path: Name of a dataset that featurekit ships or that was imported; or the
            path of a Python file that defines one, or of a folder with such a file,
            `<folder>/<folder>_dataset_builder.py` as TFDS lays it out, or
            `<folder>/<folder>.py`.
        tfds_names: Whether the file finds featurekit where it imports TFDS and TensorFlow;
            by default it does where TFDS is not installed.

    Raises:
        UnknownNameError: There is no builder of that name.
        MissingFileError: There is no such file.
        BuildError: The file defines no builder, or several.
        ImportError: It imports what is not there; says what to use.
    """
    path = pathlib.Path(name_or_path).expanduser()
    is_path = os.sep in name_or_path or path.suffix == ".py" or path.is_dir()
    if registry.is_known(name_or_path) or not is_path:
        return registry.builder_class(name_or_path)
    file = _file_in(path) if path.is_dir() else path
    if not file.is_file():
        raise MissingFileError("there is no such builder file", file=file)
    return _builder_in(import_file(file, tfds_names=tfds_names))


def _file_in(folder: pathlib.Path) -> pathlib.Path:
    name = folder.resolve().name
    candidates = [folder / f"{name}_dataset_builder.py", folder / f"{name}.py"]
    candidates += sorted(folder.glob("*_dataset_builder.py"))
    for file in candidates:
        if file.is_file():
            return file
    raise MissingFileError(
        f"the folder has no builder: neither {candidates[0].name} nor {candidates[1].name}",
        file=folder,
        hint="give the path of the Python file",
    )


def import_file(file: pathlib.Path, *, tfds_names: bool | None = None) -> ModuleType:
    """Import a Python file under its own name, inside its package where it has one.

    The file may import its neighbours, absolutely or relative to its package.

    Args:
        file: The file.
        tfds_names: As for `find_builder_class`.

    Raises:
        BuildError: A module of that name was imported from elsewhere.
    """
    file = file.resolve()
    root, parts = file.parent, [file.stem]
    while (root / "__init__.py").is_file():
        parts.insert(0, root.name)
        root = root.parent
    names = None
    if tfds_names or (tfds_names is None and not tfds_is_installed()):
        names = ScriptNames(file, (root, file.parent))
        if names.in_tree(file):
            return names.load_from_tree(file)
    _forget_others(parts, root)
    # Neighbours are found as they are for `python file.py`.
    for folder in (root, file.parent):
        if str(folder) in sys.path:
            sys.path.remove(str(folder))
        sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    name = ".".join(parts)
    _imported.update(".".join(parts[: i + 1]) for i in range(len(parts)))
    with names.active() if names else contextlib.nullcontext():
        module = importlib.import_module(name)
    if _file_of(module) != file:
        raise BuildError(
            f"{name!r} is the name of another module, {getattr(module, '__file__', 'built in')}",
            file=file,
            hint="rename the file",
        )
    return module


def _forget_others(parts: list[str], root: pathlib.Path) -> None:
    """Forget modules of these names that were imported from files in other folders."""
    for count in range(1, len(parts) + 1):
        name = ".".join(parts[:count])
        path = root.joinpath(*parts[:count])
        known = _file_of(sys.modules.get(name))
        if name in _imported and known not in (path / "__init__.py", path.with_suffix(".py")):
            for module in [m for m in sys.modules if m == name or m.startswith(f"{name}.")]:
                del sys.modules[module]


def _file_of(module: ModuleType | None) -> pathlib.Path | None:
    path = getattr(module, "__file__", None)
    return None if path is None else pathlib.Path(path).resolve()


def _builder_in(module: ModuleType) -> type[DatasetBuilder]:
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, DatasetBuilder)
        and value.__module__ == module.__name__
        and not value.__abstractmethods__
    ]
    if len(found) == 1:
        return found[0]
    names = ", ".join(cls.__name__ for cls in found)
    hint = "define one subclass of featurekit.GeneratorBasedBuilder in it"
    if not found and "tensorflow_datasets" in sys.modules:
        hint = "if its builder is one of TFDS, give tfds_names=True (--tfds-names)"
    raise BuildError(
        f"the file defines {f'several builders: {names}' if found else 'no builder'}",
        file=module.__file__,
        hint=hint,
    )
