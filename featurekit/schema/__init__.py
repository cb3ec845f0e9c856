"""Schemas of record files: what is in them, and which features they fit.

The public names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from featurekit import lazy

if TYPE_CHECKING:
    from featurekit.schema.diffing import Diff, diff
    from featurekit.schema.drift import Thresholds
    from featurekit.schema.inference import Inferred, infer
    from featurekit.schema.inspection import Inspection, inspect
    from featurekit.schema.validate_files import FileRules
    from featurekit.schema.validation import Report, validate

__all__ = [
    "Diff",
    "FileRules",
    "Inferred",
    "Inspection",
    "Report",
    "Thresholds",
    "diff",
    "infer",
    "inspect",
    "validate",
]

_MODULES = {
    "Diff": "featurekit.schema.diffing",
    "Inferred": "featurekit.schema.inference",
    "Inspection": "featurekit.schema.inspection",
    "FileRules": "featurekit.schema.validate_files",
    "Report": "featurekit.schema.validation",
    "Thresholds": "featurekit.schema.drift",
    "diff": "featurekit.schema.diffing",
    "infer": "featurekit.schema.inference",
    "inspect": "featurekit.schema.inspection",
    "validate": "featurekit.schema.validation",
}

__getattr__, __dir__ = lazy.attach(globals(), _MODULES)
