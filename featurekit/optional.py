"""Packages that only some uses need."""

from __future__ import annotations

import importlib
from types import ModuleType

from featurekit.errors import MissingDependencyError

__all__ = ["import_optional"]


def import_optional(module: str, *, extra: str, purpose: str) -> ModuleType:
    """The module, imported now.

    Args:
        module: Its full name, such as `scipy.sparse`.
        extra: The extra of featurekit that installs it.
        purpose: What it is for, as the subject of the message.

    Raises:
        MissingDependencyError: It is not installed.

    Example:
        >>> import_optional("json", extra="none", purpose="JSON").dumps([1])
        '[1]'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingDependencyError(
            f"{purpose} needs the package {package!r}, which cannot be imported: {error}",
            hint=f"pip install 'featurekit[{extra}]'",
        ) from error
