"""check_builder: a builder run on a small folder of fake raw data."""

from __future__ import annotations

import collections
import os
import pathlib
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from featurekit.builders.base import GeneratorBasedBuilder
from featurekit.connector import FeatureConnector
from featurekit.dataset.info import DatasetInfo
from featurekit.dataset.load import builder_from_directory
from featurekit.errors import add_context, short_repr
from featurekit.testing.compare import assert_same
from featurekit.testing.infos import check_decoded

__all__ = ["FakeDownloads", "check_builder"]


class FakeDownloads:
    """A download manager that downloads nothing: everything is in a folder already.

    Args:
        folder: The folder of fake raw data.
        names: What downloads give, as paths below the folder: nested like the URLs that the
            builder asks for. By default every download gives the folder.
    """

    def __init__(self, folder: str | os.PathLike[str], names: Any = None) -> None:
        self._folder = pathlib.Path(folder)
        self._result = _map(lambda name: self._folder / name, "" if names is None else names)

    @property
    def manual_dir(self) -> pathlib.Path:
        """The folder."""
        return self._folder

    download_dir = manual_dir

    def download(self, urls: Any) -> Any:
        """The path, or nested paths, that stand for the downloads."""
        return self._result

    download_and_extract = download
    download_kaggle_data = download

    def extract(self, paths: Any) -> Any:
        """The same."""
        return self._result

    def iter_files(self, paths: Any) -> Iterator[str]:
        """All files of folders, in order."""
        for path in _leaves(paths):
            folder = pathlib.Path(path)
            found = sorted(folder.rglob("*")) if folder.is_dir() else [folder]
            yield from (str(file) for file in found if file.is_file())

    def iter_archive(self, path: Any) -> Iterator[tuple[str, Any]]:
        """Names and open files of a folder that stands for an archive."""
        root = pathlib.Path(path)
        for file in self.iter_files(root):
            with open(file, "rb") as opened:
                yield os.path.relpath(file, root), opened


def check_builder(
    builder_class: type[GeneratorBasedBuilder],
    raw_data: str | os.PathLike[str],
    *,
    splits: Mapping[str, int],
    downloads: Any = None,
    config: Any = None,
    version: Any = None,
    overlapping_splits: Collection[str] = (),
) -> DatasetInfo:
    """Run a builder on a folder of fake raw data, and hold what it makes against its words.

    The dataset is built twice, in folders of its own, and opened from its files alone. Every
    example that the generators give must fit the features, come back from disk as they say,
    and be in one split only; both builds must give the same bytes; keys must not depend on
    where the raw data lies.

    Args:
        builder_class: The builder.
        raw_data: A folder with a few small files, of the form of the real ones.
        splits: Number of examples that each split must have.
        downloads: What downloads give: paths below the folder, nested like the URLs that
            the builder asks for; by default the folder itself.
        config: As of the builder.
        version: As of the builder.
        overlapping_splits: Splits that may repeat examples of others.

    Returns:
        What the dataset's files say about it, for further checks.

    Raises:
        AssertionError: Something is not as it should be; says what.
        FeatureKitError: The builder fails.

    Source: what TFDS's DatasetBuilderTestCase checks of a builder.
    """
    with tempfile.TemporaryDirectory() as scratch:
        builders = [
            _builder(
                builder_class, os.path.join(scratch, name), raw_data, downloads, config, version
            )
            for name in ("first", "second")
        ]
        generated = _generate(builders[0], raw_data, splits)
        _check_overlap(generated, overlapping_splits)
        for builder in builders:
            builder.download_and_prepare(quiet=True)
        _check_same_files(*(pathlib.Path(builder.data_dir) for builder in builders))
        return _check_dataset(builders[0], generated)


def _builder(
    cls: type[GeneratorBasedBuilder],
    data_dir: str,
    raw_data: str | os.PathLike[str],
    downloads: Any,
    config: Any,
    version: Any,
) -> GeneratorBasedBuilder:
    builder = cls(data_dir=data_dir, config=config, version=version)
    manager = FakeDownloads(raw_data, downloads)
    builder._download_manager = lambda *_, **__: manager  # type: ignore[method-assign]
    return builder


def _generate(
    builder: GeneratorBasedBuilder, raw_data: str | os.PathLike[str], splits: Mapping[str, int]
) -> dict[str, list[bytes]]:
    """The serialized examples of every split, each held against the features."""
    info = builder.info
    _require(info.name == builder.name, f"the info is called {info.name!r}, not {builder.name!r}")
    _require(bool(info.description), "the dataset has no description")
    generators = builder._generators()
    _require(
        generators.keys() == splits.keys(),
        f"expected the splits {sorted(splits)}, got {sorted(generators)}",
    )
    features: FeatureConnector = info.features
    result = {}
    for split, examples in generators.items():
        records = [_record(features, split, key, example, raw_data) for key, example in examples]
        _require(
            len(records) == splits[split],
            f"expected {splits[split]} examples in split {split!r}, got {len(records)}",
        )
        result[split] = records
    return result


def _record(
    features: FeatureConnector,
    split: str,
    key: Any,
    example: Any,
    raw_data: str | os.PathLike[str],
) -> bytes:
    folder = os.fspath(raw_data)
    _require(
        folder not in str(key),
        f"the key {short_repr(key)} contains the folder of the raw data, so that the order of the "
        "examples depends on it; use the path below the folder",
    )
    try:
        record = features.serialize_example(example)
        check_decoded(
            features.deserialize_example(record), features.get_tensor_info(), "the example"
        )
    except Exception as error:
        add_context(error, f"while checking split {split!r}, key {short_repr(key)}")
        raise
    return record


def _check_overlap(generated: Mapping[str, Sequence[bytes]], allowed: Collection[str]) -> None:
    seen: dict[bytes, str] = {}
    for split, records in generated.items():
        if split in allowed:
            continue
        for record in records:
            other = seen.setdefault(record, split)
            _require(
                other == split,
                f"splits {other!r} and {split!r} have an example in common; name one of them in "
                "overlapping_splits= where that is right",
            )


def _check_same_files(first: pathlib.Path, second: pathlib.Path) -> None:
    names = [sorted(path.name for path in folder.iterdir()) for folder in (first, second)]
    _require(names[0] == names[1], f"two builds gave the files {names[0]} and {names[1]}")
    for name in names[0]:
        same = (first / name).read_bytes() == (second / name).read_bytes()
        _require(same, f"two builds gave different bytes of {name}; is the generator random?")


def _check_dataset(
    builder: GeneratorBasedBuilder, generated: Mapping[str, Sequence[bytes]]
) -> DatasetInfo:
    """Hold the files, opened without the code, against what was generated."""
    reader = builder_from_directory(builder.data_dir)
    _require(
        reader.info.features == builder.info.features,
        "the features that are read from disk are not those of the code: "
        f"{reader.info.features!r} and {builder.info.features!r}",
    )
    features: FeatureConnector = builder.info.features
    for split, records in generated.items():
        source = reader.as_data_source(split)
        written = list(source.serialized())
        _require(
            collections.Counter(written) == collections.Counter(records),
            f"split {split!r} on disk has other examples than the generator gave",
        )
        for record, example in zip(written, source, strict=True):
            assert_same(features.deserialize_example(record), example)
    return reader.info


def _require(holds: bool, text: str) -> None:
    if not holds:
        raise AssertionError(text)


def _map(function: Any, tree: Any) -> Any:
    if isinstance(tree, Mapping):
        return {key: _map(function, value) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)(_map(function, value) for value in tree)
    return function(tree)


def _leaves(tree: Any) -> Iterator[Any]:
    if isinstance(tree, Mapping):
        tree = list(tree.values())
    if isinstance(tree, (list, tuple)):
        for value in tree:
            yield from _leaves(value)
    else:
        yield tree
