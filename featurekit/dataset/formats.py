"""One dataset in several file formats, beside each other in one folder."""

from __future__ import annotations

from featurekit.dataset.info import DatasetInfo
from featurekit.dataset.splits import SplitDict, SplitInfo
from featurekit.errors import DatasetInfoError, UnsupportedError
from featurekit.io.record_files import check_file_format

__all__ = ["choose_format", "split_in_format"]


def choose_format(info: DatasetInfo, file_format: str | None) -> None:
    """Have a dataset read from its files of one format.

    Args:
        info: The dataset as it is stored; its format and splits are set.
        file_format: The main format, or one of the alternative formats; None for the main one.

    Raises:
        DatasetInfoError: The dataset is not there in that format.
        InvalidArgumentError: There is no such format.
        UnsupportedError: The format cannot be read, or the names of its files are not known.
    """
    if file_format is None:
        return
    chosen = check_file_format(file_format)
    if chosen == info.file_format:
        return
    stored = [info.file_format, *info.alternative_file_formats]
    if chosen not in stored:
        raise DatasetInfoError(
            f"{info.full_name} is not stored as {chosen}, but as {', '.join(stored)}",
            file=info.data_dir,
            hint=f"leave file_format= out, or convert it: featurekit convert FOLDER --to {chosen}",
        )
    info.splits = SplitDict(split_in_format(split, chosen) for split in info.splits.values())
    info.alternative_file_formats = [name for name in stored if name != chosen]
    info.file_format = chosen


def split_in_format(split: SplitInfo, file_format: str) -> SplitInfo:
    """The same split in files of another format.

    Raises:
        UnsupportedError: The names of its files do not have their format in them.
    """
    template = split.filename_template
    if template is not None:
        if "{FILEFORMAT}" not in template.template:
            raise UnsupportedError(
                f"the files of the split {split.name!r} are called {template.template!r}, whatever "
                "their format",
                file=template.data_dir,
                hint="put {FILEFORMAT} into the file name template",
            )
        template = template.replace(suffix=file_format)
    return SplitInfo(split.name, split.shard_lengths, split.num_bytes, template)
