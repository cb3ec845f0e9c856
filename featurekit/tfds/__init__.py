"""TFDS's own names, for its users and its builder scripts.

    import featurekit.tfds as tfds

    ds = tfds.load("digits", split="train")
    for example in ds.take(2):
        print(example["label"])

stands for `import tensorflow_datasets as tfds`: the same builders, features and files, and
NumPy values in place of tensors. Modules below it, such as `tfds.core.utils`, can be imported
under the names that TFDS gives them. A name that is not offered says what to use.
"""

from __future__ import annotations

import sys

from featurekit.tfds.modules import make_modules
from featurekit.tfds.names import TFDS

__getattr__ = make_modules(sys.modules[__name__], TFDS)


def __dir__() -> list[str]:
    return __getattr__.names()
