"""The documentation names every public name, and its site lists every page."""

import pathlib
import re

import pytest

import featurekit as fk

ROOT = pathlib.Path(__file__).parent.parent
DOCS = ROOT / "docs"

PACKAGES = {
    "featurekit": fk,
    "featurekit.io": fk.io,
    "featurekit.errors": fk.errors,
    "featurekit.schema": fk.schema,
    "featurekit.sequences": fk.sequences,
}


def documented():
    """The names that the reference pages show."""
    text = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "reference").glob("*.md"))
    return set(re.findall(r"^::: (\S+)$", text, re.M))


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_has_its_place(package):
    names = {f"{package}.{name}" for name in PACKAGES[package].__all__ if name != "__version__"}
    modules = {
        name
        for name in names
        if name.removeprefix("featurekit.") in fk._MODULES
        and fk._MODULES[name.removeprefix("featurekit.")] == name
    }
    assert names - modules - documented() == set()


def test_the_reference_names_only_what_exists():
    for name in documented():
        package, _, attribute = name.rpartition(".")
        assert attribute in PACKAGES[package].__all__, name


def test_the_site_lists_every_page():
    listed = set(re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.M))
    assert listed == {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")}
