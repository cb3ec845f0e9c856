"""mock_data: datasets with made-up examples, without their files."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any
from unittest import mock

import featurekit
from featurekit.builders import registry
from featurekit.builders.base import DatasetBuilder
from featurekit.connector import FeatureConnector
from featurekit.dataset import load
from featurekit.dataset.naming import DatasetReference
from featurekit.dataset.reading import ReadsExamples
from featurekit.dataset.records import Records
from featurekit.dataset.source import DataSource
from featurekit.errors import DatasetNotFoundError, add_context
from featurekit.testing.fake_values import check_count, fake_record

__all__ = ["mock_data"]


class FakeRecords(Records):
    """Serialized examples that are made up when they are asked for.

    Args:
        features: The features of the dataset.
        count: Number of examples.
        options: Of `fake_record`.
    """

    def __init__(self, features: FeatureConnector, count: int, options: dict[str, Any]) -> None:
        self._features = features
        self._count = count
        self._options = options

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> bytes:  # type: ignore[override]
        """The example at a position; it depends on the position and the features alone."""
        return fake_record(self._features, index, **self._options)

    def add_place(self, error: BaseException, position: int) -> None:
        """Say which example an error is about."""
        add_context(error, f"while reading made-up example {position}")


class FakeSource(DataSource):
    """The made-up examples of a split."""

    def __init__(self, records: FakeRecords, *args: Any, **options: Any) -> None:
        self._fakes = records
        super().__init__(*args, **options)

    def _open_records(self) -> Any:
        return self._fakes


@contextlib.contextmanager
def mock_data(
    num_examples: int = 1, num_sub_examples: int = 1, max_value: int | None = None
) -> Iterator[None]:
    """Within the block, datasets have made-up examples: `fk.load` needs none of their files.

    Features come from the dataset's folder where there is one, else from the code of its
    builder. Building does nothing. Every split, and every slice of one, has `num_examples`
    examples; example `i` is always the same. See `fake_examples` for what they look like.

    Args:
        num_examples: Number of examples of every split.
        num_sub_examples: Number of steps of a `Dataset`.
        max_value: Integers are below it; 255 by default.

    Raises:
        InvalidArgumentError: `num_examples` is negative.
        DatasetNotFoundError: A dataset that is loaded has neither a folder nor a builder.

    Example:
        >>> with mock_data(num_examples=3):
        ...     len(featurekit.load("digits", split="test"))
        3
    """
    check_count(num_examples)
    options = {"num_sub_examples": num_sub_examples, "max_value": max_value}

    def source(reader: ReadsExamples, split: Any = None, **reading: Any) -> Any:
        info = reader.info
        records = FakeRecords(info.features, num_examples, options)
        if split is None:
            return {
                name: FakeSource(records, info, name, **reading)
                for name in info.splits or ["train"]
            }
        return FakeSource(records, info, split, **reading)

    with contextlib.ExitStack() as stack:
        for target, name, replacement in (
            (ReadsExamples, "as_data_source", source),
            (DatasetBuilder, "download_and_prepare", lambda self, **_: None),
            (featurekit, "builder", _builder),
            (load, "builder", _builder),
        ):
            stack.enter_context(mock.patch.object(target, name, replacement))
        yield


_opened = load.builder


def _builder(name: str, *, data_dir: str | os.PathLike[str] | None = None, **options: Any) -> Any:
    """The dataset on disk, or else the builder that would make it."""
    try:
        return _opened(name, data_dir=data_dir, **options)
    except DatasetNotFoundError:
        reference = DatasetReference.parse(str(name))
        if not registry.is_known(reference.name):
            raise
    cls = registry.builder_class(reference.name)
    return cls(data_dir=data_dir, config=reference.config, version=reference.version)
