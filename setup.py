"""Builds the compiled kernels where there is a compiler; everything else is in pyproject.toml."""

from pathlib import Path

import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, setup

HERE = Path("featurekit/native")

extensions = [
    Extension(
        f"featurekit.native.{source.stem}",
        [str(source)],
        include_dirs=[np.get_include(), str(HERE)],
        depends=[str(path) for pattern in ("*.pxd", "*.h") for path in sorted(HERE.glob(pattern))],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
        extra_compile_args=["-O3", "-g0"],
        optional=True,  # featurekit runs without: see featurekit/io/columns.py
    )
    for source in sorted(HERE.glob("*.pyx"))
]

setup(
    ext_modules=cythonize(extensions, compiler_directives={"language_level": 3, "cdivision": True})
)
