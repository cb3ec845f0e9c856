"""The package as it is installed: every folder is in it, under one name."""

import pathlib
import subprocess
import sys
import tomllib

import pytest

ROOT = pathlib.Path(__file__).parents[1]
SETUP = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]

# Folders at the top, and what they are called once installed.
TOP = {"featurekit": "featurekit"} | {
    name: f"featurekit.{name}" for name in ("builders", "connectors")
}


def folders():
    """Every folder that is a package, by the name it is imported under."""
    found = {}
    for top, name in TOP.items():
        for path in sorted((ROOT / top).rglob("__init__.py")):
            parts = path.parent.relative_to(ROOT / top).parts
            found[".".join((name, *parts))] = path.parent.relative_to(ROOT).as_posix()
    return found


def test_the_list_of_packages_is_complete():
    assert sorted(SETUP["packages"]) == sorted(folders())


def test_folders_outside_of_featurekit_are_mapped():
    mapped = {name: path for name, path in folders().items() if name.replace(".", "/") != path}
    assert SETUP["package-dir"] == mapped


@pytest.mark.parametrize("name", ["connectors", "builders"])
def test_the_links_lead_to_the_folders(name):
    link = ROOT / "featurekit" / name
    assert link.is_symlink()
    assert link.readlink() == pathlib.Path("..") / name


@pytest.mark.parametrize("name", ["connectors", "builders", "connectors.text"])
def test_the_bare_names_cannot_be_imported(name):
    done = subprocess.run(
        [sys.executable, "-c", f"import {name}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    top = name.partition(".")[0]
    assert done.stderr.strip().splitlines()[-1] == (
        f"ImportError: import featurekit.{top}: the bare name makes a second copy of every class"
    )


def test_code_imports_the_folders_under_their_full_names():
    wrong = [
        f"{path.relative_to(ROOT)}:{number}"
        for top in ("featurekit", "builders", "connectors", "tests")
        for path in sorted((ROOT / top).rglob("*.py"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if line.lstrip().startswith(("from connectors", "from builders", "import connectors"))
    ]
    assert wrong == []
