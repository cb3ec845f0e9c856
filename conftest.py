"""What pytest must know before it looks for tests and doctests."""

import importlib.util

collect_ignore = ["tests/helpers"]

if not importlib.util.find_spec("featurekit.native.columns"):
    # Without compiled kernels, the module that calls them cannot be imported, nor is it used.
    collect_ignore.append("featurekit/io/columns_native.py")
