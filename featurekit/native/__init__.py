"""The compiled kernels, optional at run time.

They are built where there is a C compiler (GCC or Clang, a little-endian machine). What
they do, the rest of the package does too, with the same results, only slower. That is
said once, on the "featurekit" logger at level INFO: it is nothing to warn about, and a
program that makes errors of warnings shall run on every machine. The environment variable
`FEATUREKIT_NATIVE=0` keeps them from being used.
"""

from __future__ import annotations

import functools
import importlib
import logging
import os
from types import ModuleType

__all__ = ["kernel"]

_LOGGER = logging.getLogger("featurekit")


def kernel(name: str) -> ModuleType | None:
    """The compiled module `featurekit.native.<name>`; None where there is none, or not wanted.

    >>> kernel("no_such_kernel") is None
    True
    """
    return None if os.environ.get("FEATUREKIT_NATIVE") == "0" else _load(name)


@functools.cache
def _load(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(f"featurekit.native.{name}")
    except ModuleNotFoundError:
        _say_slower("they were not built")
    except (ImportError, ValueError) as error:  # ValueError: built for another NumPy
        _say_slower(str(error))
    return None


@functools.cache
def _say_slower(reason: str) -> None:
    _LOGGER.info("running slower, without the compiled kernels: %s", reason)
