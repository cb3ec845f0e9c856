"""Packages that some scripts need, imported when they are first used, as TFDS gives them."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from featurekit.errors import MissingDependencyError

__all__ = ["LazyImports", "LazyModule", "lazy_imports"]

# Where TFDS's name is not the module's, and what to install where that has another name.
_MODULES = {
    "PIL_Image": "PIL.Image",
    "PIL_ImageDraw": "PIL.ImageDraw",
    "gcsfs_store": "gcsfs",
    "tensorflow": "featurekit.tfds.tensorflow",
}
_PACKAGES = {
    "PIL": "pillow",
    "apache_beam": "apache-beam",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "tree": "dm-tree",
}

# A submodule that its package does not import by itself, and that scripts use.
_SUBMODULES = {
    "scipy": ("scipy.io", "scipy.io.wavfile", "scipy.ndimage"),
    "skimage": ("skimage.color",),
}


class LazyImports:
    """Packages as attributes.

    Example:
        >>> lazy_imports.json.dumps([1])
        '[1]'
    """

    def __getattr__(self, name: str) -> ModuleType:
        """The package.

        Raises:
            MissingDependencyError: It is not installed; says what to install.
        """
        if name.startswith("__"):
            raise AttributeError(name)
        module = _MODULES.get(name, name)
        package = module.partition(".")[0]
        try:
            found = importlib.import_module(module)
            for submodule in _SUBMODULES.get(module, ()):
                importlib.import_module(submodule)
        except ImportError as error:
            raise MissingDependencyError(
                f"the script needs the package {package!r}, which cannot be imported: {error}",
                hint=f"pip install {_PACKAGES.get(package, package)}",
            ) from error
        return found

    def __dir__(self) -> list[str]:
        return sorted(_MODULES)


lazy_imports: Any = LazyImports()


class LazyModule(ModuleType):
    """A package that is imported when something of it is used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(getattr(lazy_imports, self.__name__), name)

    def __reduce__(self) -> Any:
        """Pickle by name: Beam pickles functions with the modules that they use."""
        return (LazyModule, (self.__name__,))


# The names of `tfds.core.utils.lazy_imports_utils`.
apache_beam = LazyModule("apache_beam")
array_record = LazyModule("array_record")
datasets = LazyModule("datasets")
huggingface_hub = LazyModule("huggingface_hub")
mlcroissant = LazyModule("mlcroissant")
pandas = LazyModule("pandas")
psutil = LazyModule("psutil")
pyarrow = LazyModule("pyarrow")
tensorflow = LazyModule("tensorflow")
tree = LazyModule("tree")
