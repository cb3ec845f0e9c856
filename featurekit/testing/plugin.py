"""The pytest plugin: fixtures for tests of code that builds or loads datasets.

It is loaded where featurekit is installed, and imports featurekit only for tests that use it.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator

import pytest

__all__ = ["featurekit_data_dir", "featurekit_mock_data"]


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
