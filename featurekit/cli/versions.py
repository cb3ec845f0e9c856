"""`featurekit info --versions`: what is installed, for bug reports."""

from __future__ import annotations

import importlib.metadata
import platform
from typing import Any

import click

from featurekit.io.columns import native_active

__all__ = ["versions_option"]

_PACKAGES = (
    *("featurekit", "numpy", "protobuf", "pillow", "simplejpeg", "soundfile", "google-crc32c"),
    *("fsspec", "ml-dtypes", "av", "array-record", "pyarrow", "apache-beam", "torch"),
)


def versions() -> str:
    """The versions of Python, featurekit and what it uses, and whether the kernels are in use."""
    lines = {"python": f"{platform.python_version()} on {platform.platform()}"}
    for package in _PACKAGES:
        try:
            lines[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            lines[package] = "not installed"
    lines["kernels"] = "compiled" if native_active() else "not in use: slower, the same results"
    return "\n".join(f"{name + ':':15}{text}" for name, text in lines.items())


def _show(context: click.Context, parameter: click.Parameter, value: bool) -> Any:
    if value:
        click.echo(versions())
        context.exit()


versions_option = click.option(
    "--versions",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show,
    help="Show what is installed, and whether the compiled kernels are in use, and exit.",
)
