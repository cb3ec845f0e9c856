"""`featurekit validate`: everything that is wrong with datasets, for people and for CI."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from featurekit.connector import FeatureConnector
from featurekit.dataset.folders import INFO_FILE
from featurekit.errors import FeatureKitError
from featurekit.schema.baseline import apply_baseline, write_baseline
from featurekit.schema.drift import Thresholds
from featurekit.schema.feature_files import read_features
from featurekit.schema.format_text import format_text
from featurekit.schema.formats import FORMATS
from featurekit.schema.inference import infer
from featurekit.schema.settings import find_settings, read_settings
from featurekit.schema.validate_files import FileRules
from featurekit.schema.validation import Report, validate

__all__ = ["command"]

_CLEAN, _FOUND, _FAILED = 0, 1, 2


@click.command("validate")
@click.argument("targets", nargs=-1, required=True, type=click.Path())
@click.option(
    "--sample",
    type=click.IntRange(min=0),
    metavar="N",
    help="Decode N records of each split, evenly spread; 0 for none. Checksums are checked of all "
    "records. [default: all]",
)
@click.option("--leakage", is_flag=True, default=None, help="Look for examples in two splits.")
@click.option(
    "--leakage-feature",
    "leakage_features",
    multiple=True,
    metavar="NAME",
    help="Feature that makes two examples the same. Repeatable. [default: all]",
)
@click.option(
    "--drift", is_flag=True, default=None, help="Compare the values of the splits; see diff."
)
@click.option(
    "--drift-thresholds",
    metavar="NAME=NUMBER,...",
    help="How far apart they may be. [default: label=0.1,range=0.1,missing=0.05,size=0.25]",
)
@click.option(
    "--select",
    multiple=True,
    metavar="CODES",
    help="Look for these only: FK2,FK401. [default: all]",
)
@click.option("--ignore", multiple=True, metavar="CODES", help="Leave these out.")
@click.option("--baseline", type=click.Path(dir_okay=False), help="File of known findings.")
@click.option(
    "--write-baseline",
    type=click.Path(dir_okay=False, writable=True),
    help="Make all findings known: write them to this file.",
)
@click.option(
    "--datasets-of-files",
    is_flag=True,
    help="TARGETS are files: look at the datasets that they belong to, and at no other ones.",
)
@click.option(
    "--features",
    metavar="FILE|infer",
    help="What record files hold: a features.json, the folder of one, or infer for what the files "
    "tell. [default: their records only have to agree]",
)
@click.option(
    "--message",
    type=click.Choice(["auto", "example", "sequence_example"]),
    default="auto",
    show_default=True,
    help="What records of record files are.",
)
@click.option("--no-absent", is_flag=True, help="In record files, every record has every key.")
@click.option("--no-empty", is_flag=True, help="In record files, feature lists have steps.")
@click.option("--equal-frames", is_flag=True, help="Feature lists of a record have as many steps.")
@click.option("--equal-sizes", is_flag=True, help="Steps of a feature list have as many values.")
@click.option(
    "--trust",
    multiple=True,
    metavar="PACKAGE",
    help="Package that connector classes named in the datasets may be imported from.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="How findings are reported.",
)
@click.option("--output", type=click.Path(dir_okay=False), help="File to write the report to.")
@click.option("--num-processes", type=click.IntRange(min=1), help="[default: one a processor]")
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
@click.option("--no-config", is_flag=True, help="Do not read settings from pyproject.toml.")
def command(targets: tuple[str, ...], **options: Any) -> None:
    """Find everything that is wrong with datasets or record files.

    TARGETS are folders of datasets' versions, folders that hold such folders, or TFRecord
    files. Settings may stand in the table [tool.featurekit.validate] of the nearest
    pyproject.toml; docs/validation.md lists all codes.

    Exits with 0 where nothing is wrong, 1 where something is, 2 where it could not look.

    \b
    Examples:
      featurekit validate data/pets/1.0.0
      featurekit validate data --sample 1000 --leakage --format github
      featurekit validate logs/*.tfrecord --features infer
    """  # noqa: D301  # click needs the backspace character
    context = click.get_current_context()
    try:
        report = _run(targets, options)
        _write(report, options)
    except (FeatureKitError, OSError) as error:
        click.echo(f"{type(error).__name__}: {error}", err=True)
        context.exit(_FAILED)
    context.exit(_CLEAN if report.ok else _FOUND)


def _run(targets: tuple[str, ...], options: dict[str, Any]) -> Report:
    settings = {} if options["no_config"] else _settings()
    if options["datasets_of_files"]:
        targets = tuple(sorted(filter(None, {_dataset_of(target) for target in targets})))
    report = validate(
        *targets,
        features=_features(options["features"], targets),
        sample=_first(options["sample"], settings.get("sample")),
        leakage=bool(_first(options["leakage"], settings.get("leakage"))),
        leakage_features=options["leakage_features"] or settings.get("leakage-features", ()),
        drift=_thresholds(options, settings),
        file_rules=FileRules(
            options["message"],
            absent=not options["no_absent"],
            empty=not options["no_empty"],
            equal_frames=options["equal_frames"],
            equal_sizes=options["equal_sizes"],
        ),
        select=_codes(options["select"]) or settings.get("select", ()),
        ignore=_codes(options["ignore"]) or settings.get("ignore", ()),
        trust=options["trust"] or settings.get("trust", ()),
        num_processes=options["num_processes"],
        quiet=options["quiet"],
    )
    if options["write_baseline"]:
        write_baseline(report, options["write_baseline"])
        report.findings, report.known = [], report.findings
    elif baseline := _first(options["baseline"], settings.get("baseline")):
        apply_baseline(report, baseline)
    return report


def _dataset_of(path: str) -> str | None:
    """The folder of the dataset that a file belongs to, which may lie deeper; None without."""
    folder = os.path.dirname(os.path.abspath(path))
    while not os.path.isfile(os.path.join(folder, INFO_FILE)):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return os.path.relpath(folder)


def _thresholds(options: dict[str, Any], settings: dict[str, Any]) -> Thresholds | None:
    text = _first(options["drift_thresholds"], settings.get("drift-thresholds"))
    if text is None and not _first(options["drift"], settings.get("drift")):
        return None
    return Thresholds.parse(text or "")


def _settings() -> dict[str, Any]:
    path = find_settings(os.getcwd())
    return read_settings(path) if path else {}


def _features(choice: str | None, targets: tuple[str, ...]) -> FeatureConnector | None:
    if choice is None:
        return None
    if choice == "infer":
        return infer([target for target in targets if not os.path.isdir(target)]).features
    return read_features(choice)


def _write(report: Report, options: dict[str, Any]) -> None:
    form, output = options["form"], options["output"]
    if output is not None:
        with open(output, "w", encoding="utf-8") as file:
            file.write(FORMATS[form](report))
    elif form == "text":
        click.echo(format_text(report, color=sys.stdout.isatty()), nl=False)
    else:
        click.echo(FORMATS[form](report), nl=False)


def _codes(texts: tuple[str, ...]) -> list[str]:
    return [code for text in texts for code in text.replace(",", " ").split()]


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)
