"""`featurekit build`: build a dataset."""

from __future__ import annotations

import click

from featurekit.builders.download_config import DownloadConfig
from featurekit.builders.loading import find_builder_class
from featurekit.cli.show import describe

__all__ = ["command"]


@click.command("build")
@click.argument("name_or_file")
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False),
    help="Folder of the datasets. [default: $FEATUREKIT_DATA_DIR, else $TFDS_DATA_DIR, else "
    "~/tensorflow_datasets]",
)
@click.option("--config", help="Config to build. [default: the builder's default config]")
@click.option(
    "--version", help="Version to build, such as 1.2.0 or 1.*.*. [default: the builder's VERSION]"
)
@click.option(
    "--num-hosts",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Hosts that will read at once: a split gets about 10 files a host, of 10 MB or more.",
)
@click.option(
    "--num-shards",
    type=click.IntRange(min=1),
    help="Files of each split, whatever its size.",
)
@click.option(
    "--num-processes",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Processes that encode examples; each runs the whole generator.",
)
@click.option(
    "--tfds-names",
    is_flag=True,
    default=None,
    help="Let the file find featurekit where it imports TFDS and TensorFlow. [default: where "
    "TFDS is not installed]",
)
@click.option(
    "--file-format",
    type=click.Choice(["tfrecord", "array_record", "parquet"]),
    help="Format of the files. [default: what the builder says, else tfrecord]",
)
@click.option(
    "--max-examples-per-split",
    type=click.IntRange(min=0),
    metavar="N",
    help="End each split after N examples, to try a builder out; 0 downloads only.",
)
@click.option(
    "--download-dir",
    type=click.Path(file_okay=False),
    help="Folder for downloads. [default: downloads, in the folder of the datasets]",
)
@click.option(
    "--manual-dir",
    type=click.Path(file_okay=False),
    help="Folder of files that were got by hand. [default: manual, in the folder of downloads]",
)
@click.option(
    "--register-checksums",
    is_flag=True,
    help="Record the checksums of downloads in checksums.tsv beside the file, and check none.",
)
@click.option("--overwrite", is_flag=True, help="Build again where the dataset is there.")
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
def command(
    name_or_file: str,
    data_dir: str | None,
    config: str | None,
    version: str | None,
    num_hosts: int,
    num_shards: int | None,
    num_processes: int,
    tfds_names: bool | None,
    file_format: str | None,
    max_examples_per_split: int | None,
    download_dir: str | None,
    manual_dir: str | None,
    register_checksums: bool,
    overwrite: bool,
    quiet: bool,
) -> None:
    """Build a dataset and show what it made.

    NAME_OR_FILE is the name of a dataset that featurekit ships (digits), the path of a Python
    file that defines a builder, or of a folder with such a file.

    \b
    Examples:
      featurekit build digits --data-dir data
      featurekit build pets/pets_dataset_builder.py --config small
    """  # noqa: D301  # click needs the backspace character
    cls = find_builder_class(name_or_file, tfds_names=tfds_names)
    builder = cls(data_dir=data_dir, config=config, version=version)
    if builder.is_prepared() and not overwrite:
        click.echo("The dataset is there already; build it again with --overwrite.\n", err=True)
    builder.download_and_prepare(
        num_shards=num_shards,
        num_hosts=num_hosts,
        num_processes=num_processes,
        download_dir=download_dir,
        download_config=DownloadConfig(
            manual_dir=manual_dir,
            max_examples_per_split=max_examples_per_split,
            register_checksums=register_checksums,
        ),
        overwrite=overwrite,
        file_format=file_format,
        quiet=quiet,
    )
    if builder.is_prepared():
        click.echo(describe(builder.info))
