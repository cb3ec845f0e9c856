"""Nothing is forgotten: every connector that ships has a suite."""

import importlib.util
import pathlib

import pytest

import featurekit as fk
from featurekit import connectors, registry
from featurekit.testing.base import SuiteBase

FOLDER = pathlib.Path(__file__).parent / "connectors"
BUILTIN = sorted(set(registry._BUILTIN.values()))


def suites_in(path):
    """The suites of a test file, which is imported once more under a name of its own."""
    spec = importlib.util.spec_from_file_location(f"completeness_of_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [
        item
        for item in vars(module).values()
        if isinstance(item, type) and issubclass(item, SuiteBase) and hasattr(item, "connector")
    ]


@pytest.fixture(scope="module")
def suites():
    return [suite for path in sorted(FOLDER.glob("test_*.py")) for suite in suites_in(path)]


@pytest.mark.parametrize("target", BUILTIN)
def test_every_connector_has_a_suite(target, suites):
    cls = registry.load_class(target)
    its_suites = [suite for suite in suites if type(suite.make()) is cls]
    assert any(suite.invalid and suite.tfds_json for suite in its_suites)


def test_every_file_of_a_connector_is_registered_or_opaque():
    folder = pathlib.Path(__file__).parents[1] / "connectors"
    files = {f"featurekit.connectors.{path.stem}" for path in folder.glob("[a-z]*.py")}
    registered = {target.partition(":")[0] for target in BUILTIN}
    assert files - registered == {"featurekit.connectors.opaque"}


@pytest.mark.parametrize("name", connectors.__all__)
def test_connectors_stand_in_their_package_and_at_the_top(name):
    assert getattr(connectors, name) is getattr(fk, name)


def test_the_package_of_the_connectors_names_all_of_them():
    classes = {target.partition(":")[2] for target in BUILTIN}
    assert classes == {*connectors.__all__} - {"BBox"}
