"""What the files beside a builder's module say of its dataset, as TFDS lays them out.

`README.md` is the description, `CITATIONS.bib` the citation, `TAGS.txt` has a tag a line.
"""

from __future__ import annotations

import inspect
import pathlib
from typing import Any, NamedTuple

__all__ = ["PackageFiles", "read_package_files"]


class PackageFiles(NamedTuple):
    """The texts of those files.

    Attributes:
        description: Text of `README.md`, or None.
        citation: Text of `CITATIONS.bib`, or None.
        tags: Tags of `TAGS.txt`; what follows a `#` is a comment.
    """

    description: str | None = None
    citation: str | None = None
    tags: tuple[str, ...] = ()


def read_package_files(cls: type[Any]) -> PackageFiles:
    """Read the files beside the module that defines a class; there may be none."""
    try:
        folder = pathlib.Path(inspect.getfile(cls)).parent
    except (TypeError, OSError):
        return PackageFiles()  # a notebook cell has no file
    tags = (_read(folder / "TAGS.txt") or "").splitlines()
    return PackageFiles(
        description=_read(folder / "README.md"),
        citation=_read(folder / "CITATIONS.bib"),
        tags=tuple(tag for line in tags if (tag := line.partition("#")[0].strip())),
    )


def _read(file: pathlib.Path) -> str | None:
    return file.read_text(encoding="utf-8") if file.is_file() else None
