"""What pytest must know before it looks for tests and doctests."""

import importlib.util

# Without compiled kernels, the module that calls them cannot be imported, nor is it used.
collect_ignore = (
    []
    if importlib.util.find_spec("featurekit.native.columns")
    else ["featurekit/io/columns_native.py"]
)
