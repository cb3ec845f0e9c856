"""A stand-in for what dataset scripts use of TensorFlow: dtypes, `io.gfile` and a few more.

Names are TensorFlow's. Any other one fails with a message that says what to use.
"""

from __future__ import annotations

import sys

from featurekit.tfds.modules import make_modules
from featurekit.tfds.tf_names import TENSORFLOW

__getattr__ = make_modules(sys.modules[__name__], TENSORFLOW)


def __dir__() -> list[str]:
    return __getattr__.names()
