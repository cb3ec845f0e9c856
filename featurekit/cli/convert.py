"""`featurekit convert`: write a dataset's records in another file format."""

from __future__ import annotations

import click

from featurekit.builders.convert import convert_dataset
from featurekit.cli.show import describe

__all__ = ["command"]


@click.command("convert")
@click.argument("folder", type=click.Path(file_okay=False))
@click.option(
    "--to",
    "file_format",
    required=True,
    type=click.Choice(["tfrecord", "array_record", "parquet"]),
    help="Format to write.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False),
    help="Folder to make. [default: the new files join the old ones, as an alternative format]",
)
@click.option("--overwrite", is_flag=True, help="Replace what is at --out.")
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
def command(folder: str, file_format: str, out: str | None, overwrite: bool, quiet: bool) -> None:
    """Write the shards of a dataset in another file format, one for one.

    FOLDER is the folder of a dataset's version. The records are copied as they are, and with
    --out so are all other files: class names, licence, metadata.

    \b
    Examples:
      featurekit convert data/mnist/3.0.1 --to array_record
      featurekit convert data/mnist/3.0.1 --to parquet --out parquet/mnist/3.0.1
    """  # noqa: D301  # click needs the backspace character
    reader = convert_dataset(folder, file_format, out, overwrite=overwrite, quiet=quiet)
    click.echo(describe(reader.info))
