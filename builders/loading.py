"""Finding a builder class: by name, or in a Python file or package folder."""

from __future__ import annotations

import importlib
import importlib.util
import os
import pathlib
import sys
from types import ModuleType

from featurekit.builders import registry
from featurekit.builders.base import DatasetBuilder
from featurekit.errors import BuildError, MissingFileError

__all__ = ["find_builder_class"]


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
    if path.suffix != ".py" and not path.is_dir() and os.sep not in name_or_path:
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
    """
    file = file.resolve()
    root, parts = file.parent, [file.stem]
    while (root / "__init__.py").is_file():
        parts.insert(0, root.name)
        root = root.parent
    name = ".".join(parts)
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None) == str(file):
        return loaded
    # Neighbours are found as they are for `python file.py`; workers find the module, too.
    for folder in (root, file.parent):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise BuildError("this is no Python file", file=file)
    module = importlib.util.module_from_spec(spec)
    if len(parts) > 1:
        importlib.import_module(".".join(parts[:-1]))
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


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
