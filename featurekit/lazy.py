"""Public names that are imported when they are first used, so that a package costs nothing."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["attach"]


def attach(
    namespace: dict[str, Any], modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the `__getattr__` and `__dir__` of a package that imports its names on demand.

    Args:
        namespace: The package's `globals()`.
        modules: The module that has each name; `package.name` itself for a submodule.

    Returns:
        The two functions.
    """
    package = namespace["__name__"]

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(modules[name])
        value = module if modules[name] == f"{package}.{name}" else getattr(module, name)
        namespace[name] = value  # found at once the next time
        return value

    return get, lambda: sorted({*namespace, *modules})
