"""Bytes on disk: record files, and the messages in them.

The public names are imported when they are first used, so that `import featurekit.io`
costs nothing. A name has three places here: `_MODULES`, `__all__`, and the imports for
type checkers.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from featurekit.io.tfrecord import TFRecordReader, TFRecordWriter

__all__ = [
    "TFRecordReader",
    "TFRecordWriter",
]

_MODULES = {
    "TFRecordReader": "featurekit.io.tfrecord",
    "TFRecordWriter": "featurekit.io.tfrecord",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULES[name]), name)
    globals()[name] = value  # found at once the next time
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
