"""Paths as reports have them: relative to the working directory where they lie in it."""

from __future__ import annotations

import os

__all__ = ["relative_path"]


def relative_path(path: str) -> str:
    """The path relative to the working directory, with `/`; as it is where that is outside.

    >>> relative_path(os.path.join(os.getcwd(), "data", "a.json"))
    'data/a.json'
    """
    full, here = os.path.abspath(path), os.getcwd()
    inside = os.path.commonpath([full, here]) == here
    return (os.path.relpath(full, here) if inside else full).replace(os.sep, "/")
