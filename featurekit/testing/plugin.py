"""The pytest plugin: fixtures for tests of code that builds or loads datasets, and more.

`pytest --featurekit data` has a test for each dataset below the folder `data`: that nothing
is wrong with it.

It is loaded where featurekit is installed, and imports featurekit only for tests that use it.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

__all__ = [
    "DatasetItem",
    "featurekit_data_dir",
    "featurekit_mock_data",
    "pytest_addoption",
    "pytest_collection_modifyitems",
]


@pytest.fixture
def featurekit_data_dir(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> pathlib.Path:
    """An empty folder that is the default data directory for the length of the test."""
    folder = tmp_path_factory.mktemp("featurekit_data")
    monkeypatch.setenv("FEATUREKIT_DATA_DIR", str(folder))
    return folder


@pytest.fixture
def featurekit_mock_data() -> Iterator[Callable[..., None]]:
    """Gives datasets made-up examples till the test ends, once called; see `mock_data`."""
    import contextlib

    from featurekit.testing.mock import mock_data

    with contextlib.ExitStack() as stack:
        yield lambda **options: stack.enter_context(mock_data(**options))


# Tests of datasets.


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("featurekit", "datasets")
    group.addoption(
        "--featurekit",
        action="append",
        default=[],
        metavar="DIR",
        help="validate the dataset in this folder, or each dataset below it; repeatable",
    )
    group.addoption(
        "--featurekit-sample",
        type=int,
        metavar="N",
        help="decode N records of each split; by default all",
    )


def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add a test for each dataset."""
    if folders := config.getoption("--featurekit"):
        from featurekit.schema.validation import dataset_folders

        for folder in folders:
            for version in dataset_folders(folder):
                items.append(DatasetItem.from_parent(session, name=version))


class DatasetItem(pytest.Item):
    """The test that nothing is wrong with one dataset."""

    def runtest(self) -> None:
        """Validate the dataset.

        Raises:
            InvalidDatasetError: Something is.
        """
        from featurekit.schema.validation import validate

        report = validate(self.name, sample=self.config.getoption("--featurekit-sample"))
        if not report.ok:
            raise InvalidDatasetError(report)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The findings, as `featurekit validate` shows them."""
        if isinstance(excinfo.value, InvalidDatasetError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[str, None, str]:
        """Where the test is, and its name."""
        return self.name, None, f"featurekit validate {self.name}"


class InvalidDatasetError(AssertionError):
    """Validation has found something."""

    def __init__(self, report: Any) -> None:
        super().__init__(report)
        self.report = report

    def __str__(self) -> str:
        from featurekit.schema.format_text import format_text

        return format_text(self.report)
