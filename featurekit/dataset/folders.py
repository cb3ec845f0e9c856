"""Where datasets are on disk: `<data_dir>/<name>[/<config>]/<version>`.

The layout, the file that names the default config, and the choice of a version are TFDS's.
"""

from __future__ import annotations

import json
import os

from featurekit.dataset.naming import (
    DatasetReference,
    check_config_name,
    check_dataset_name,
    is_dataset_name,
)
from featurekit.dataset.storage import is_file, list_folders, read_text, write_text
from featurekit.dataset.version import Version
from featurekit.errors import (
    DatasetInfoError,
    DatasetNotFoundError,
    InvalidTypeError,
    did_you_mean,
    short_repr,
)

__all__ = [
    "INFO_FILE",
    "dataset_dir",
    "default_data_dir",
    "find_dataset",
    "list_configs",
    "list_datasets",
    "list_versions",
    "read_default_config",
    "write_default_config",
]

INFO_FILE = "dataset_info.json"
_VARIABLES = ("FEATUREKIT_DATA_DIR", "TFDS_DATA_DIR")
_FALLBACK = "~/tensorflow_datasets"


def default_data_dir(data_dir: str | os.PathLike[str] | None = None) -> str:
    """The folder that holds the datasets.

    It is the argument, else the environment variable FEATUREKIT_DATA_DIR, else
    TFDS_DATA_DIR, else `~/tensorflow_datasets`, so that TFDS's datasets are seen.

    >>> default_data_dir("/data")
    '/data'
    """
    set_ones = (os.environ[name] for name in _VARIABLES if os.environ.get(name))
    chosen = next(set_ones, _FALLBACK) if data_dir is None else data_dir
    if not isinstance(chosen, (str, os.PathLike)):
        raise InvalidTypeError(
            f"data_dir must be a path, got {short_repr(chosen)}",
            hint="give the folder that holds the datasets",
        )
    return os.path.expanduser(os.fspath(chosen))


def dataset_dir(
    data_dir: str | os.PathLike[str], name: str, config: str | None, version: str | Version
) -> str:
    """The folder of one version of a dataset.

    Raises:
        InvalidNameError: A name breaks the rules, so that it could lead elsewhere.

    Example:
        >>> dataset_dir("/data", "glue", "cola", "2.0.0")
        '/data/glue/cola/2.0.0'
    """
    return os.path.join(_config_dir(os.fspath(data_dir), name, config), str(Version(version)))


def list_datasets(data_dir: str) -> list[str]:
    """Names of the datasets in `data_dir`: its folders that hold a version or a config."""
    names = filter(is_dataset_name, list_folders(data_dir))
    return [
        name
        for name in names
        if list_versions(os.path.join(data_dir, name)) or list_configs(data_dir, name)
    ]


def list_configs(data_dir: str, name: str) -> list[str]:
    """Names of the configs of a dataset that have a finished version."""
    folder = _config_dir(data_dir, name, None)
    configs = (found for found in list_folders(folder) if not Version.is_valid(found))
    return [config for config in configs if list_versions(os.path.join(folder, config))]


def list_versions(folder: str) -> list[Version]:
    """The finished versions in the folder of a dataset or config, oldest first.

    A version is finished once its folder has a `dataset_info.json`, which is written last.
    """
    versions = (Version(name) for name in list_folders(folder) if Version.is_valid(name))
    return sorted(v for v in versions if is_file(os.path.join(folder, str(v), INFO_FILE)))


def read_default_config(data_dir: str, name: str) -> str | None:
    """The config that a dataset's bare name means, or None where none is recorded.

    Raises:
        DatasetInfoError: `.config/metadata.json` is damaged.
        InvalidNameError: The config is not called as configs may be.
    """
    path = _config_file(data_dir, name)
    if not is_file(path):
        return None
    try:
        content = json.loads(read_text(path))
        config = content.get("default_config_name")
    except (ValueError, AttributeError, RecursionError):
        raise DatasetInfoError("the file is no JSON object", file=path) from None
    if config is None:
        return None
    if not isinstance(config, str):
        raise DatasetInfoError(
            f"default_config_name must be text, got {short_repr(config)}", file=path
        )
    return check_config_name(config)


def write_default_config(data_dir: str, name: str, config: str) -> None:
    """Record which config a dataset's bare name means, in `.config/metadata.json`.

    Raises:
        InvalidNameError: A name breaks the rules.
    """
    content = {"default_config_name": check_config_name(config)}
    write_text(_config_file(data_dir, name), json.dumps(content))


def find_dataset(
    reference: str | DatasetReference, data_dir: str | os.PathLike[str] | None = None
) -> str:
    """The folder of the dataset that `reference` asks for.

    Without a config it is the recorded default one, if any; without a version, or with
    `*` in it, the highest that matches.

    Args:
        reference: `name[/config][:version]`, or what `DatasetReference.parse` makes of it.
        data_dir: See `default_data_dir`.

    Raises:
        DatasetNotFoundError: There is none; the text lists what there is.
        InvalidNameError: The reference cannot be read.
    """
    if isinstance(reference, str):
        reference = DatasetReference.parse(reference)
    root = default_data_dir(data_dir)
    name = reference.name
    if reference.namespace is not None:
        raise DatasetNotFoundError(
            f"there is no namespace {reference.namespace!r} for the dataset {name!r}",
            hint="leave it out, and give the folder that it stands for as data_dir=",
        )
    config = reference.config or read_default_config(root, name)
    folder = _config_dir(root, name, config)
    versions = list_versions(folder)
    wanted = reference.version or "*.*.*"
    matching = [version for version in versions if version.match(wanted)]
    if matching:
        return os.path.join(folder, str(matching[-1]))
    if versions:
        known = ", ".join(map(str, versions))
        raise DatasetNotFoundError(
            f"the dataset {_full_name(name, config)!r} has no version {wanted}; it has {known}",
            file=folder,
        )
    raise _not_found(root, name, config)


def _not_found(root: str, name: str, config: str | None) -> DatasetNotFoundError:
    """Say which part of the name leads nowhere."""
    folder = _config_dir(root, name, config)
    unfinished = [found for found in list_folders(folder) if Version.is_valid(found)]
    configs = list_configs(root, name)
    if unfinished:
        return DatasetNotFoundError(
            f"the dataset {_full_name(name, config)!r} has no finished version",
            hint=f"{unfinished[-1]} has no {INFO_FILE}: build it again",
            file=folder,
        )
    if configs and config is None:
        return DatasetNotFoundError(
            f"the dataset {name!r} has no default config",
            hint="ask for one of " + ", ".join(repr(f"{name}/{config}") for config in configs),
            file=folder,
        )
    if configs or list_versions(_config_dir(root, name, None)):
        known = did_you_mean(config, configs) or "; it has no configs"
        what = f"the dataset {name!r} has no config {config!r}{known}"
        return DatasetNotFoundError(what, file=_config_dir(root, name, None))
    return DatasetNotFoundError(
        f"there is no dataset {name!r}{did_you_mean(name, list_datasets(root))}",
        hint="build it first, or give the folder of your datasets as data_dir=",
        file=root,
    )


def _config_dir(data_dir: str, name: str, config: str | None) -> str:
    folder = os.path.join(data_dir, check_dataset_name(name))
    return folder if config is None else os.path.join(folder, check_config_name(config))


def _config_file(data_dir: str, name: str) -> str:
    return os.path.join(_config_dir(data_dir, name, None), ".config", "metadata.json")


def _full_name(name: str, config: str | None) -> str:
    return name if config is None else f"{name}/{config}"
