"""`featurekit info`: what a dataset on disk holds."""

from __future__ import annotations

import click

from featurekit.cli.show import describe
from featurekit.cli.versions import versions_option
from featurekit.dataset.info import DatasetInfo
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
@click.option(
    "--stats",
    is_flag=True,
    help="Show what the features hold: ranges, means, quantiles, commonest values. Reads all "
    "records the first time, and keeps the result in statistics.json beside the dataset.",
)
@click.option("--recompute", is_flag=True, help="With --stats: read all records again.")
@versions_option
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
def command(
    name_or_dir: str,
    data_dir: str | None,
    trust: tuple[str, ...],
    stats: bool,
    recompute: bool,
    quiet: bool,
) -> None:
    """Show the splits, sizes, shards and features of a dataset.

    NAME_OR_DIR is the folder of a dataset's version, or its name: name[/config][:version].
    """
    info = builder(name_or_dir, data_dir=data_dir, trust=trust).info
    click.echo(describe(info))
    if stats:
        click.echo(f"\n{_statistics(info, recompute, quiet)}")


def _statistics(info: DatasetInfo, recompute: bool, quiet: bool) -> str:
    # Imported here since they are not needed to describe a dataset.
    from featurekit.schema.dataset_statistics import (
        compute_statistics,
        read_or_compute_statistics,
        write_statistics,
    )
    from featurekit.schema.format_statistics import format_statistics

    find = compute_statistics if recompute else read_or_compute_statistics
    found = find(info, quiet=quiet)
    if info.data_dir is not None and found != info.statistics:
        try:
            write_statistics(found, info.data_dir)
        except OSError as error:
            click.echo(f"the statistics are not kept: {error}", err=True)
    return format_statistics(found)
