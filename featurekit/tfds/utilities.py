"""Small functions of `tfds.core.utils` that scripts use."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Callable, Sequence
from typing import Any

from featurekit.errors import InvalidArgumentError, MissingDependencyError

__all__ = ["disable_progress_bar", "ffmpeg_run", "memoize", "parse_bool"]


def parse_bool(value: bool | int | str) -> bool:
    """A truth value from a bool, a number, or the text of one.

    Raises:
        InvalidArgumentError: The text is none of `true`, `false`, `1`, `0`.

    >>> parse_bool(" True"), parse_bool("0"), parse_bool(2)
    (True, False, True)
    """
    if not isinstance(value, str):
        return bool(value)
    known = {"true": True, "1": True, "false": False, "0": False}
    try:
        return known[value.strip().lower()]
    except KeyError:
        raise InvalidArgumentError(f"{value!r} is neither true nor false") from None


def memoize() -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: a function is called once for the same arguments."""
    return functools.cache


def ffmpeg_run(args: Sequence[str], stdin_bytes_input: bytes | None = None) -> bytes:
    """Run the program `ffmpeg`, and give what it wrote to its standard output.

    Args:
        args: Its arguments.
        stdin_bytes_input: What it reads from its standard input.

    Raises:
        MissingDependencyError: It is not installed.
        InvalidArgumentError: It failed; says what it said.
    """
    try:
        done = subprocess.run(
            ["ffmpeg", *args], input=stdin_bytes_input, capture_output=True, check=False
        )
    except FileNotFoundError:
        raise MissingDependencyError(
            "the program 'ffmpeg' is not installed", hint="install ffmpeg with your system's tools"
        ) from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise InvalidArgumentError(f"ffmpeg failed: {said[-500:]}")
    return done.stdout


def disable_progress_bar() -> None:
    """Nothing: bars are only shown on a terminal, and not with `quiet=True`."""
