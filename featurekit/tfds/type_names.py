"""Types that annotations in TFDS's scripts name."""

from __future__ import annotations

import os
from typing import Any, TypeAlias

__all__ = ["FeatureConnectorArg", "Json", "PathLike", "Tree", "TreeDict"]

FeatureConnectorArg: TypeAlias = Any
Json: TypeAlias = Any
PathLike: TypeAlias = str | os.PathLike[str]
Tree: TypeAlias = Any
TreeDict: TypeAlias = Any
