"""`featurekit infer`: the features that read some record files."""

from __future__ import annotations

import click

from featurekit.schema.inference import infer

__all__ = ["command"]


@click.command("infer")
@click.argument("files", nargs=-1, required=True, type=click.Path())
@click.option(
    "--format",
    "form",
    type=click.Choice(["python", "json"]),
    default="python",
    show_default=True,
    help="Feature specs for fk.io.parse_example as Python, or the text of a features.json.",
)
@click.option(
    "--records", type=click.IntRange(min=1), help="Look only at the first N records of each file."
)
def command(files: tuple[str, ...], form: str, records: int | None) -> None:
    """Print the feature specs that parse the Examples in some TFRecord FILES.

    All records looked at fit what is printed.

    \b
    Examples:
      featurekit infer train-*.tfrecord > specs.py
      featurekit infer train-*.tfrecord --format json > features.json
    """  # noqa: D301  # click needs the backspace character
    found = infer(files, records=records)
    click.echo(found.to_python() if form == "python" else found.to_json(), nl=form == "json")
