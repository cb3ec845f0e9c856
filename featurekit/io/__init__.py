"""Bytes on disk: TFRecord files and the tf.train.Example messages inside them.

The public names are imported when first used, so that `import featurekit` stays cheap.
"""

from __future__ import annotations

import importlib
from typing import Any

_PUBLIC = {
    "featurekit.io.example": (
        "BytesList",
        "Example",
        "Feature",
        "FeatureList",
        "FeatureLists",
        "Features",
        "FloatList",
        "Int64List",
        "SequenceExample",
        "bytes_feature",
        "example_to_dict",
        "float_feature",
        "int64_feature",
        "make_example",
        "make_sequence_example",
        "sequence_example_to_dict",
        "serialize",
    ),
    "featurekit.io.ragged": ("RaggedTensor",),
    "featurekit.io.sparse": ("SparseTensor",),
}
_MODULE_OF = {name: module for module, names in _PUBLIC.items() for name in names}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})
