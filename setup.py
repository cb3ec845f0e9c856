"""Builds the compiled kernels where there is a compiler; everything else is in pyproject.toml."""

from pathlib import Path

import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, setup

HERE = Path("featurekit/native")

kernels = cythonize(
    [
        Extension(
            f"featurekit.native.{source.stem}",
            [str(source)],
            include_dirs=[np.get_include(), str(HERE)],
            depends=[str(path) for ext in ("pxd", "h") for path in sorted(HERE.glob(f"*.{ext}"))],
            define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
            extra_compile_args=["-O3", "-g0"],
        )
        for source in sorted(HERE.glob("*.pyx"))
    ],
    compiler_directives={"language_level": 3, "cdivision": True},
)
for kernel in kernels:  # afterwards, since cythonize makes new ones and forgets this
    kernel.optional = True  # featurekit runs without: see featurekit/native/__init__.py

setup(ext_modules=kernels)
