"""Builders: from a generator of examples to a dataset on disk.

A builder says what the dataset is (`_info`), which splits it has (`_split_generators`) and
what is in them (`_generate_examples`)::

    class Pets(fk.GeneratorBasedBuilder):
        VERSION = fk.Version("1.0.0")

        def _info(self):
            return fk.DatasetInfo(builder=self, features=fk.FeaturesDict({
                "image": fk.Image(shape=(None, None, 3)),
                "label": fk.ClassLabel(names=["cat", "dog"]),
            }))

        def _split_generators(self, dl_manager):
            return {"train": self._generate_examples("pets/train")}

        def _generate_examples(self, folder):
            for path in sorted(pathlib.Path(folder).glob("*/*.jpg")):
                yield path.name, {"image": path, "label": path.parent.name}

    Pets(data_dir="data").download_and_prepare()

The hooks are those of TFDS, so that its builder scripts run.
"""

from __future__ import annotations

import abc
import functools
import inspect
import os
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from featurekit.builders import registry
from featurekit.builders.atomic import atomic_directory
from featurekit.builders.beam import BeamRun
from featurekit.builders.blocked import BlockedVersions
from featurekit.builders.builder_downloads import manager_of
from featurekit.builders.config import BuilderConfig, choose_config, choose_version, config_fields
from featurekit.builders.description import PackageFiles, read_package_files
from featurekit.builders.download import DownloadManager
from featurekit.builders.download_config import DownloadConfig, GenerateMode
from featurekit.builders.generation import write_splits
from featurekit.builders.options import BuildOptions
from featurekit.builders.sharding import ShardPolicy
from featurekit.dataset.folders import (
    INFO_FILE,
    dataset_dir,
    default_data_dir,
    write_default_config,
)
from featurekit.dataset.formats import choose_format
from featurekit.dataset.identity import DatasetIdentity
from featurekit.dataset.info import DatasetInfo
from featurekit.dataset.info_json import read_info, write_info
from featurekit.dataset.reading import ReadsExamples
from featurekit.dataset.splits import SplitDict
from featurekit.dataset.version import Version
from featurekit.errors import (
    BuildError,
    InvalidArgumentError,
    InvalidTypeError,
    UnsupportedError,
    short_repr,
)
from featurekit.io.record_files import check_file_format

__all__ = ["DatasetBuilder", "GeneratorBasedBuilder", "SplitGenerator"]


class SplitGenerator:
    """A split and the arguments of `_generate_examples` that make it.

    Args:
        name: Name of the split.
        gen_kwargs: Keyword arguments.
    """

    def __init__(self, name: str, gen_kwargs: Mapping[str, Any] | None = None) -> None:
        self.name = str(name)
        self.gen_kwargs = dict(gen_kwargs or {})


class DatasetBuilder(ReadsExamples):
    """A dataset's name, configs, versions and place, and how it gets built.

    Args:
        data_dir: Folder of the datasets; by default `$FEATUREKIT_DATA_DIR`,
            `$TFDS_DATA_DIR` or `~/tensorflow_datasets`.
        config: Name of a config, or a `BuilderConfig`.
        version: A version, or a pattern such as `1.*.*`.
        file_format: `tfrecord`, `array_record` or `parquet`; by default what `_info` says, and
            for a dataset that is there, the format it has.

    Raises:
        InvalidArgumentError: The class states no `VERSION`, or there is no such format.
        UnknownNameError: There is no such config or version.
    """

    # What a subclass states; the names are TFDS's.
    name: ClassVar[str]
    VERSION: ClassVar[Version | str | None] = None
    SUPPORTED_VERSIONS: ClassVar[Sequence[Version | str]] = ()
    RELEASE_NOTES: ClassVar[Mapping[str, str]] = {}
    BUILDER_CONFIGS: ClassVar[Sequence[BuilderConfig]] = ()
    DEFAULT_BUILDER_CONFIG_NAME: ClassVar[str | None] = None
    BLOCKED_VERSIONS: ClassVar[BlockedVersions | None] = None
    MANUAL_DOWNLOAD_INSTRUCTIONS: ClassVar[str | None] = None

    def __init_subclass__(cls, *, skip_registration: bool = False, **kwargs: Any) -> None:
        """Name the dataset, and let it be found by that name."""
        super().__init_subclass__(**kwargs)
        if "name" not in vars(cls):
            cls.name = registry.builder_name(cls)
        if not skip_registration and not inspect.isabstract(cls):
            registry.register(cls)

    def __init__(
        self,
        *,
        data_dir: str | os.PathLike[str] | None = None,
        config: str | BuilderConfig | None = None,
        version: str | Version | None = None,
        file_format: str | None = None,
    ) -> None:
        self._file_format = None if file_format is None else check_file_format(file_format)
        self._builder_config = choose_config(
            self.BUILDER_CONFIGS, config, self.DEFAULT_BUILDER_CONFIG_NAME
        )
        self._version = choose_version(version, *self._versions())
        self._data_dir_root = default_data_dir(data_dir)
        self._data_dir = dataset_dir(
            self._data_dir_root, self.name, self.config_name, self._version
        )
        self._known_info: DatasetInfo | None = None
        self._downloads: DownloadManager | None = None

    def _versions(self) -> tuple[Version, list[Version]]:
        """The version that the code builds, and those that it can also read."""
        config = self._builder_config
        canonical = (config and config.version) or self.VERSION
        if canonical is None:
            raise InvalidArgumentError(
                f"the builder {type(self).__name__} has no VERSION",
                hint='state VERSION = featurekit.Version("1.0.0") in the class',
            )
        supported = (config and config.supported_versions) or self.SUPPORTED_VERSIONS
        return Version(canonical), [Version(version) for version in supported]

    # What it is.

    @property
    def builder_config(self) -> Any:
        """The config, or None where the dataset has none."""
        return self._builder_config

    @property
    def config_name(self) -> str | None:
        """Name of the config, or None."""
        return self._builder_config.name if self._builder_config else None

    @property
    def version(self) -> Version:
        """The version."""
        return self._version

    @property
    def data_dir(self) -> str:
        """The folder of the version, where the dataset is or will be."""
        return self._data_dir

    @property
    def data_dir_root(self) -> str:
        """The folder of all datasets."""
        return self._data_dir_root

    @property
    def data_path(self) -> pathlib.Path:
        """The same folder, as a path."""
        return pathlib.Path(self._data_dir)

    @property
    def identity(self) -> DatasetIdentity:
        """Name, config, version and folder."""
        config = self._builder_config
        return DatasetIdentity(
            name=self.name,
            version=self._version,
            release_notes=dict((config and config.release_notes) or self.RELEASE_NOTES),
            module_name=type(self).__module__,
            data_dir=self._data_dir,
            **config_fields(config),
        )

    @property
    def info(self) -> DatasetInfo:
        """What the dataset is; its splits are known once it is built."""
        if self._known_info is None:
            info = self._stated_info()
            if self.is_prepared():
                stored = read_info(self._data_dir, features=info.features)
                choose_format(stored, self._file_format)
                info.complete(stored)
            self._known_info = info
        return self._known_info

    def _stated_info(self) -> DatasetInfo:
        """What the code says about the dataset."""
        info = self._info()
        if not isinstance(info, DatasetInfo):
            raise InvalidTypeError(
                f"_info must return a DatasetInfo, got {type(info).__name__}",
                hint="return featurekit.DatasetInfo(builder=self, ...)",
            )
        if self._file_format is not None:
            info.file_format = self._file_format
        return info

    @classmethod
    def get_metadata(cls) -> PackageFiles:
        """What the files beside the builder's module say: description, citation, tags."""
        return read_package_files(cls)

    def dataset_info_from_configs(self, **fields: Any) -> DatasetInfo:
        """A `DatasetInfo` with the description and citation of the files beside the module.

        Args:
            **fields: As `DatasetInfo` takes them; `README.md` and `CITATIONS.bib` win.
        """
        files = self.get_metadata()
        stated = {"description": files.description, "citation": files.citation}
        return DatasetInfo(
            builder=self, **fields | {name: text for name, text in stated.items() if text}
        )

    @abc.abstractmethod
    def _info(self) -> DatasetInfo:
        """What the dataset is: a `DatasetInfo(builder=self, ...)`."""

    # How it gets built.

    def is_prepared(self) -> bool:
        """Whether the dataset is on disk."""
        return os.path.isfile(os.path.join(self._data_dir, INFO_FILE))

    def download_and_prepare(
        self,
        *,
        num_shards: int | None = None,
        num_hosts: int = 1,
        policy: ShardPolicy | None = None,
        num_processes: int = 1,
        ignore_duplicates: bool = False,
        download_dir: str | os.PathLike[str] | None = None,
        download_config: Any = None,
        overwrite: bool = False,
        file_format: str | None = None,
        quiet: bool = False,
    ) -> None:
        """Build the dataset, unless it is there.

        Files appear in their final place only when all is written; a build that fails or is
        killed leaves nothing that reads as a dataset.

        Args:
            num_shards: Number of files of each split; by default the policy decides.
            num_hosts: Number of hosts that will read at once, for the 10 x hosts rule.
            policy: How many files a split gets, in place of `num_shards` and `num_hosts`.
            num_processes: Number of processes that encode examples. Each runs the whole
                generator, which must yield the same keys in the same order every time; more
                processes help where encoding takes most of the time.
            ignore_duplicates: Keep the first of the examples that have the same key.
            download_dir: Folder for downloads; by default `downloads` in the folder of the
                datasets.
            download_config: A `DownloadConfig`, or an object with some of its attributes.
            overwrite: Whether to build again where the dataset is there.
            file_format: `tfrecord`, `array_record` or `parquet`, in place of the builder's.
            quiet: Whether to show no progress.

        Raises:
            BuildError: The dataset cannot be built: a key is there twice, a split is empty,
                the version is an old one, another process is building it, or a worker was
                killed.
            DownloadError: A file cannot be downloaded, or is not the one that is recorded.
            EncodeError: An example does not fit the features; says which.
            WriteError: The disk is full.
        """
        config = DownloadConfig.of(download_config)
        if config.download_mode is GenerateMode.UPDATE_DATASET_INFO:
            self._update_info()
            return
        overwrite = overwrite or config.download_mode.overwrite_dataset
        if file_format is not None:
            self._file_format, self._known_info = check_file_format(file_format), None
        if self.is_prepared() and not overwrite:
            if self._file_format is not None:
                choose_format(self.info, self._file_format)  # refuses one that is not there
            return
        self._check_buildable()
        downloads = self._downloads = manager_of(self, download_dir, config, quiet=quiet)
        if config.max_examples_per_split == 0:
            self._only_download()
            return
        options = BuildOptions.of(
            config,
            policy=policy,
            num_shards=num_shards,
            num_hosts=num_hosts,
            num_processes=num_processes,
            ignore_duplicates=ignore_duplicates,
            quiet=quiet,
        )
        # The hooks see the same one: some complete it, with class names that the data tell.
        info = self._known_info = self._stated_info()
        try:
            with atomic_directory(self._data_dir, overwrite=overwrite) as folder:
                info.splits = self._write_splits(str(folder), info, options)
                info.download_size = downloads.downloaded_size
                write_info(info, str(folder))
            if self.config_name and self.BUILDER_CONFIGS:
                self._write_default_config()
        finally:
            self._known_info = None

    def _update_info(self) -> None:
        """Write what the code says about the dataset anew; its examples stay as they are."""
        if not self.is_prepared():
            raise BuildError("there is no dataset to update", file=self._data_dir, hint="build it")
        info, stored = self._stated_info(), read_info(self._data_dir)
        info.complete(stored)
        info.features = stored.features  # those that the examples have
        write_info(info, self._data_dir)
        self._known_info = None

    def _check_buildable(self) -> None:
        """Refuse a version that the code only reads: it makes the current one."""
        canonical, supported = self._versions()
        if self.BLOCKED_VERSIONS is not None:
            self.BLOCKED_VERSIONS.check(self._version, self.config_name, self.name)
        if self._version not in (canonical, max([canonical, *supported])):
            raise BuildError(
                f"version {self._version} of {self.name!r} can be read, but not built",
                hint=f"build version {canonical}",
            )

    def _write_default_config(self) -> None:
        default = choose_config(self.BUILDER_CONFIGS, None, self.DEFAULT_BUILDER_CONFIG_NAME)
        if default is not None:
            write_default_config(self._data_dir_root, self.name, default.name)

    @abc.abstractmethod
    def _write_splits(self, folder: str, info: DatasetInfo, options: BuildOptions) -> SplitDict:
        """Write the shards of all splits to a folder."""

    def _only_download(self) -> None:
        """Download and extract what the dataset is made of."""
        raise UnsupportedError(f"{type(self).__name__} cannot download without building")

    def _download_manager(self) -> Any:
        """What the hooks get to download files with: that of the build, if there is one."""
        if self._downloads is None:
            self._downloads = manager_of(self, None, DownloadConfig(), quiet=True)
        return self._downloads

    def __repr__(self) -> str:
        """Name and folder."""
        return f"{type(self).__name__}({self.identity.full_name}, {self._data_dir!r})"


class GeneratorBasedBuilder(DatasetBuilder, skip_registration=True):
    """A builder whose examples come from generators.

    Subclasses state `VERSION` and define `_info`, `_split_generators` and
    `_generate_examples`.
    """

    @abc.abstractmethod
    def _split_generators(self, dl_manager: Any) -> Mapping[str, Any] | Sequence[SplitGenerator]:
        """The splits: a dict of generators by name, or a list of `SplitGenerator`."""

    @abc.abstractmethod
    def _generate_examples(self, *args: Any, **kwargs: Any) -> Iterable[tuple[Any, Any]]:
        """Yield `(key, example)`: a key that is unique in its split, and a dict of values."""

    def _write_splits(self, folder: str, info: DatasetInfo, options: BuildOptions) -> SplitDict:
        pipeline = BeamRun(folder, options.beam_runner, options.beam_options)
        splits = pipeline.run(info, self._generators(pipeline))
        return write_splits(folder, info, splits, options)

    def _only_download(self) -> None:
        self._generators()

    def _generators(self, pipeline: BeamRun | None = None) -> dict[str, Any]:
        pipeline = pipeline or BeamRun(self._data_dir)
        found = pipeline.call(self._split_generators, self._download_manager())
        if isinstance(found, Mapping):
            return {str(name): examples for name, examples in found.items()}
        splits = list(found) if isinstance(found, Iterable) else [found]
        if not all(isinstance(split, SplitGenerator) for split in splits):
            raise InvalidTypeError(
                "_split_generators must return a dict of generators or a list of SplitGenerator, "
                f"got {short_repr(found)}",
                hint="return {'train': self._generate_examples(...)}",
            )
        generators = {}
        for split in splits:
            if split.name in generators:
                raise BuildError(f"_split_generators gives two splits called {split.name!r}")
            make = functools.partial(self._generate_examples, **split.gen_kwargs)
            generators[split.name] = pipeline.call(make)
        return generators
