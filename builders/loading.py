"""Finding a builder class: by name, or in a Python file or package folder."""

from __future__ import annotations

import importlib
import os
import pathlib
import sys
from types import ModuleType

from featurekit.builders import registry
from featurekit.builders.base import DatasetBuilder
from featurekit.errors import BuildError, MissingFileError

__all__ = ["find_builder_class", "import_file"]

_imported: set[str] = set()


def find_builder_class(name_or_path: str) -> type[DatasetBuilder]:
    """The builder class that a name or path means.

    Args:
        name_or_path: Name of a dataset that featurekit ships or that was imported; or the
            path of a Python file that defines one, or of a folder with such a file,
            `<folder>/<folder>_dataset_builder.py` as TFDS lays it out, or
            `<folder>/<folder>.py`.

    Raises:
        UnknownNameError: There is no builder of that name.
        MissingFileError: There is no such file.
        BuildError: The file defines no builder, or several.
    """
    path = pathlib.Path(name_or_path).expanduser()
    is_path = os.sep in name_or_path or path.suffix == ".py" or path.is_dir()
    if registry.is_known(name_or_path) or not is_path:
        return registry.builder_class(name_or_path)
    file = _file_in(path) if path.is_dir() else path
    if not file.is_file():
        raise MissingFileError("there is no such builder file", file=file)
    return _builder_in(import_file(file))


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


def import_file(file: pathlib.Path) -> ModuleType:
    """Import a Python file under its own name, inside its package where it has one.

    The file may import its neighbours, absolutely or relative to its package.

    Raises:
        BuildError: A module of that name was imported from elsewhere.
    """
    file = file.resolve()
    root, parts = file.parent, [file.stem]
    while (root / "__init__.py").is_file():
        parts.insert(0, root.name)
        root = root.parent
    name = ".".join(parts)
    if name in _imported and _file_of(sys.modules.get(name)) != file:
        sys.modules.pop(name, None)  # a file of the same name in another folder
    # Neighbours are found as they are for `python file.py`.
    for folder in (root, file.parent):
        if str(folder) in sys.path:
            sys.path.remove(str(folder))
        sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    module = importlib.import_module(name)
    if _file_of(module) != file:
        raise BuildError(
            f"{name!r} is the name of another module, {getattr(module, '__file__', 'built in')}",
            file=file,
            hint="rename the file",
        )
    _imported.add(name)
    return module


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
    raise BuildError(
        f"the file defines {f'several builders: {names}' if found else 'no builder'}",
        file=module.__file__,
        hint="define one subclass of featurekit.GeneratorBasedBuilder in it",
    )
