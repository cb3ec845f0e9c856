"""`featurekit inspect`: what is in a record file."""

from __future__ import annotations

import json

import click

from featurekit.schema.inspection import inspect

__all__ = ["command"]


@click.command("inspect")
@click.argument("file", type=click.Path())
@click.option("--records", type=click.IntRange(min=1), help="Look only at the first N records.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(file: str, records: int | None, as_json: bool) -> None:
    """Show what is in a TFRecord FILE: records, keys, kinds, lengths, values.

    Pictures, sound, text, JSON, serialized tensors and nested Examples are recognised. Damaged
    places are passed over and reported.

    \b
    Examples:
      featurekit inspect train.tfrecord
      featurekit inspect train.tfrecord.gz --records 1000 --json
    """  # noqa: D301  # click needs the backspace character
    found = inspect(file, records=records)
    click.echo(json.dumps(found.to_json(), indent=2) if as_json else str(found))
