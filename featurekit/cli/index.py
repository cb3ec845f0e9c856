"""`featurekit index`: look through record files ahead of the first random access."""

from __future__ import annotations

import click

from featurekit.dataset.index_files import INDEX_SUFFIX, index_path, write_index
from featurekit.dataset.load import builder
from featurekit.dataset.shards import check_count
from featurekit.errors import InvalidArgumentError
from featurekit.io.files import open_file
from featurekit.io.index import scan

__all__ = ["command"]


@click.command("index")
@click.argument("name_or_dir")
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False),
    help="Folder of the datasets, where a name is given. [default: $FEATUREKIT_DATA_DIR, else "
    "$TFDS_DATA_DIR, else ~/tensorflow_datasets]",
)
@click.option("--split", help="Index the files of this split only. [default: all splits]")
@click.option(
    "--cache",
    is_flag=True,
    help="Write to the cache ($FEATUREKIT_CACHE_DIR, else ~/.cache/featurekit), not beside the "
    "files.",
)
def command(name_or_dir: str, data_dir: str | None, split: str | None, cache: bool) -> None:
    """Write an index file for each shard of a dataset, so that random access starts at once.

    NAME_OR_DIR is the folder of a dataset's version, or its name: name[/config][:version].
    Index files are small: 4 bytes a record. One that no longer fits its shard is not used.
    """
    info = builder(name_or_dir, data_dir=data_dir).info
    if info.file_format != "tfrecord":
        raise InvalidArgumentError(
            f"files of the format {info.file_format!r} have an index already",
            hint="there is nothing to do: random access is fast as it is",
        )
    splits = info.splits.values() if split is None else [info.splits[split]]
    pieces = {piece.filename: piece for part in splits for piece in part.file_instructions}
    records = 0
    for path, piece in pieces.items():
        file = open_file(path)
        index = scan(file)
        check_count(path, piece.examples_in_shard, len(index))
        write_index(_place(path, cache), file, index)
        records += len(index)
    click.echo(f"{info.full_name}: indexed {records} records in {len(pieces)} files")


def _place(path: str, cache: bool) -> str:
    if not cache:
        return path + INDEX_SUFFIX
    place = index_path(path)
    if place is None:
        raise InvalidArgumentError(
            "the cache is switched off: FEATUREKIT_CACHE_DIR is empty",
            hint="unset it, or leave --cache out",
        )
    return place
