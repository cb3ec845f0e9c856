"""`featurekit diff`: what has changed between two versions of a dataset."""

from __future__ import annotations

import sys

import click

from featurekit.errors import FeatureKitError
from featurekit.schema.changes import Level
from featurekit.schema.diffing import diff
from featurekit.schema.drift import Thresholds
from featurekit.schema.format_diff import DIFF_FORMATS, format_diff_text

__all__ = ["command"]

_FINE, _TOO_LOW, _FAILED = 0, 1, 2


@click.command("diff")
@click.argument("old")
@click.argument("new")
@click.option(
    "--check-version",
    is_flag=True,
    help="Fail where the version that NEW states is too low for the changes.",
)
@click.option("--fail-on-breaking", is_flag=True, help="Fail where a change breaks readers.")
@click.option("--drift", is_flag=True, help="Fail where values have moved; reads all records.")
@click.option(
    "--drift-thresholds",
    metavar="NAME=NUMBER,...",
    help="How far they may: label (share of a class), range, missing (share), size (mean). "
    "[default: label=0.1,range=0.1,missing=0.05,size=0.25]",
)
@click.option(
    "--trust",
    multiple=True,
    metavar="PACKAGE",
    help="Package that connector classes named in the datasets may be imported from.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(list(DIFF_FORMATS)),
    default="text",
    show_default=True,
    help="How changes are reported.",
)
def command(
    old: str,
    new: str,
    check_version: bool,
    fail_on_breaking: bool,
    drift: bool,
    drift_thresholds: str | None,
    trust: tuple[str, ...],
    form: str,
) -> None:
    """Show what has changed between two versions of a dataset, and the version it requires.

    OLD and NEW are folders of datasets' versions, features.json files, Python files of
    builders, or any of these in git: REVISION:PATH.

    Exits with 0, with 1 where a check fails that was asked for, with 2 where it could not look.

    \b
    Examples:
      featurekit diff data/pets/1.0.0 data/pets/1.1.0 --check-version
      featurekit diff HEAD~1:pets/pets_dataset_builder.py pets/pets_dataset_builder.py
    """  # noqa: D301  # click needs the backspace character
    context = click.get_current_context()
    try:
        looks = drift or drift_thresholds is not None
        thresholds = Thresholds.parse(drift_thresholds or "") if looks else None
        found = diff(old, new, trust=trust, drift=thresholds)
        fails = check_version and not found.version_is_enough
    except (FeatureKitError, OSError) as error:
        click.echo(f"{type(error).__name__}: {error}", err=True)
        context.exit(_FAILED)
    if form == "text":
        click.echo(format_diff_text(found, color=sys.stdout.isatty()), nl=False)
    else:
        click.echo(DIFF_FORMATS[form](found), nl=False)
    fails = fails or bool(found.drift)
    fails = fails or (fail_on_breaking and found.level is Level.BREAKING)
    context.exit(_TOO_LOW if fails else _FINE)
