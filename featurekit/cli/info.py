"""`featurekit info`: what a dataset on disk holds."""

from __future__ import annotations

import click

from featurekit.cli.show import describe
from featurekit.dataset.load import builder

__all__ = ["command"]


@click.command("info")
@click.argument("name_or_dir")
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False),
    help="Folder of the datasets, where a name is given. [default: $FEATUREKIT_DATA_DIR, else "
    "$TFDS_DATA_DIR, else ~/tensorflow_datasets]",
)
@click.option(
    "--trust",
    multiple=True,
    metavar="PACKAGE",
    help="Package that connector classes named in the dataset may be imported from.",
)
def command(name_or_dir: str, data_dir: str | None, trust: tuple[str, ...]) -> None:
    """Show the splits, sizes, shards and features of a dataset.

    NAME_OR_DIR is the folder of a dataset's version, or its name: name[/config][:version].
    """
    click.echo(describe(builder(name_or_dir, data_dir=data_dir, trust=trust).info))
