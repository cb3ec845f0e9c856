"""TranslateFolder: sentences in text files, one file a language."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Sequence
from typing import Any

from featurekit.builders.in_place import InPlaceBuilder
from featurekit.connector import FeatureConnector
from featurekit.connectors.features_dict import FeaturesDict
from featurekit.connectors.text import Text
from featurekit.errors import BuildError, InvalidNameError, MissingFileError

__all__ = ["TranslateFolder"]


class TranslateFolder(InPlaceBuilder):
    """A dataset of the sentences in `<folder>/<language>.<split>.txt`, one a line.

    An example has the sentence of each language; line n of one file is the translation of
    line n of the others.

    Args:
        root_dir: The folder.

    Raises:
        MissingFileError: There are no files.
        InvalidNameError: A file is not called so.
        BuildError: The files of a split have different numbers of lines.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for language, word in ("en", "cat"), ("fr", "chat"):
        ...         path = pathlib.Path(folder, f"{language}.train.txt")
        ...         _ = path.write_text(word + chr(10))
        ...     list(TranslateFolder(folder).as_dataset("train"))
        [{'en': b'cat', 'fr': b'chat'}]
    """

    name = "translate_folder"
    _description = "Sentences in several languages."

    def __init__(self, root_dir: str | os.PathLike[str]) -> None:
        self._found = _read_files(pathlib.Path(root_dir).expanduser())

    def _features(self) -> FeatureConnector:
        languages = sorted({name for split in self._found.values() for name in split})
        return FeaturesDict({language: Text() for language in languages})

    def _splits(self) -> dict[str, Sequence[Any]]:
        return {split: _pair(split, lines) for split, lines in self._found.items()}


def _read_files(folder: pathlib.Path) -> dict[str, dict[str, list[str]]]:
    paths = sorted(folder.iterdir()) if folder.is_dir() else []
    found: dict[str, dict[str, list[str]]] = {}
    for path in paths:
        parts = path.name.split(".")
        if len(parts) != 3:
            raise InvalidNameError(
                f"{path.name!r} is not called <language>.<split>.txt",
                file=folder,
                hint="move what does not belong to the dataset elsewhere",
            )
        language, split, _ = parts
        lines = path.read_text(encoding="utf-8").splitlines()
        found.setdefault(split, {})[language] = lines
    if not found:
        raise MissingFileError(
            "there are no text files", file=folder, hint="call them <language>.<split>.txt"
        )
    for split, texts in found.items():
        _check_counts(split, texts, folder)
    return found


def _check_counts(split: str, texts: dict[str, list[str]], folder: pathlib.Path) -> None:
    counts = {language: len(lines) for language, lines in texts.items()}
    if len(set(counts.values())) > 1:
        shown = ", ".join(f"{count} of {language}" for language, count in sorted(counts.items()))
        raise BuildError(
            f"split {split!r} has different numbers of lines: {shown}",
            file=folder,
            hint="every file of a split must have a line for each example",
        )


def _pair(split: str, texts: dict[str, list[str]]) -> list[dict[str, bytes]]:
    rows = zip(*texts.values(), strict=True)
    return [dict(zip(texts, (line.encode() for line in row), strict=True)) for row in rows]
