"""Settings of validation in a project: the table `[tool.featurekit.validate]`.

[tool.featurekit.validate]
ignore = ["FK405"]
sample = 1000
baseline = "data/known.json"
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable
from typing import Any

from featurekit.errors import InvalidArgumentError, did_you_mean, short_repr

__all__ = ["find_settings", "read_settings"]

_FILE = "pyproject.toml"


def find_settings(folder: str) -> str | None:
    """The nearest pyproject.toml of a folder and those above it, or None."""
    folder = os.path.abspath(folder)
    while True:
        path = os.path.join(folder, _FILE)
        if os.path.isfile(path):
            return path
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def read_settings(path: str) -> dict[str, Any]:
    """The settings in a pyproject.toml, by the names of the command's options.

    Returns:
        The settings that are there; empty without such a table. The path of a baseline is
        relative to the file.

    Raises:
        InvalidArgumentError: The file is no TOML, or a setting is unknown or makes no sense.
    """
    try:
        with open(path, "rb") as file:
            tool = tomllib.load(file).get("tool", {})
    except ValueError as error:
        raise InvalidArgumentError(f"the file is no TOML: {error}", file=path) from error
    table = tool.get("featurekit", {}).get("validate", {})
    for name, value in table.items():
        if name not in _SETTINGS:
            raise InvalidArgumentError(
                f"there is no setting {name!r}{did_you_mean(name, _SETTINGS)}", file=path
            )
        if not _SETTINGS[name](value):
            raise InvalidArgumentError(
                f"the setting {name!r} cannot be {short_repr(value)}", file=path
            )
    if "baseline" in table:
        table["baseline"] = os.path.join(os.path.dirname(path), table["baseline"])
    return dict(table)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


_SETTINGS: dict[str, Callable[[Any], bool]] = {
    "select": _is_texts,
    "ignore": _is_texts,
    "sample": _is_count,
    "leakage": _is_flag,
    "leakage-features": _is_texts,
    "drift": _is_flag,
    "drift-thresholds": _is_text,
    "baseline": _is_text,
    "trust": _is_texts,
}
