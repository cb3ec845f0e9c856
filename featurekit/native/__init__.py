"""The compiled kernels, optional at run time."""
