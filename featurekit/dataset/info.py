"""DatasetInfo: what a dataset is, how it may be used, and what it holds."""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from featurekit.connector import FeatureConnector
from featurekit.dataset import supervised
from featurekit.dataset.splits import SplitDict
from featurekit.dataset.storage import is_file, read_text
from featurekit.dataset.version import Version
from featurekit.errors import DatasetInfoError, InvalidArgumentError, InvalidTypeError

if TYPE_CHECKING:
    from featurekit.dataset.identity import DatasetIdentity

__all__ = ["STATISTICS_FILE", "DatasetInfo", "MetadataDict", "format_size"]

STATISTICS_FILE = "statistics.json"

_CATALOG = "https://www.tensorflow.org/datasets/catalog"


class MetadataDict(dict[str, Any]):
    """Any JSON values that belong to a dataset; kept in metadata.json beside it."""


class HasIdentity(Protocol):
    """A builder, as far as `DatasetInfo` needs one."""

    @property
    def identity(self) -> DatasetIdentity: ...


class DatasetInfo:
    """What a dataset is, how it may be used, and what it holds.

    Builders make one in `_info`; readers get one from a dataset's folder.

    Args:
        builder: The builder, or an identity; says what the dataset is called.
        identity: The same without a builder.
        description: Of the dataset; indentation and outer blank lines are dropped.
        features: A `FeaturesDict`, or a `Sequence` of dicts.
        supervised_keys: Names of input and target, such as `("image", "label")`.
        disable_shuffling: Whether examples keep the order in which they are generated.
        nondeterministic_order: Whether that order may change between builds.
        homepage: URL.
        citation: BibTeX.
        license: Name or text of the license.
        redistribution_info: `{"license": ...}`, TFDS's older way to give the license.
        metadata: JSON values that belong to the dataset.
        splits: The splits, where they are known.
        download_size: Bytes downloaded for the build; 0 where unknown.
        file_format: `tfrecord`, `array_record` or `parquet`.
        alternative_file_formats: Further formats in the same folder.

    Raises:
        InvalidTypeError: The features are no connector of whole examples.
        InvalidArgumentError: The supervised keys are no tuple of names.
    """

    def __init__(
        self,
        *,
        builder: HasIdentity | None = None,
        identity: DatasetIdentity | None = None,
        description: str | None = None,
        features: FeatureConnector | None = None,
        supervised_keys: Any = None,
        disable_shuffling: bool = False,
        nondeterministic_order: bool = False,
        homepage: str | None = None,
        citation: str | None = None,
        license: str | None = None,  # TFDS's name
        redistribution_info: Mapping[str, str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        splits: SplitDict | None = None,
        download_size: int = 0,
        file_format: str = "tfrecord",
        alternative_file_formats: Iterable[str] = (),
    ) -> None:
        if identity is None:
            if builder is None:
                raise InvalidArgumentError("a DatasetInfo needs builder= or identity=")
            identity = builder.identity
        self._identity = identity
        self._homepage = homepage or ""
        self.description = _dedent(description)
        self.features = _check_features(features)
        self.supervised_keys = supervised.check(supervised_keys)
        self.disable_shuffling = disable_shuffling
        self.nondeterministic_order = nondeterministic_order
        self.citation = _dedent(citation)
        self.license = _dedent(license or (redistribution_info or {}).get("license")) or None
        self.metadata: Mapping[str, Any] = {} if metadata is None else metadata
        self.splits = SplitDict() if splits is None else splits
        self.download_size = download_size
        self.file_format = file_format
        self.alternative_file_formats = list(alternative_file_formats)

    # What it is called.

    @property
    def identity(self) -> DatasetIdentity:
        """Name, config, version and where the dataset lies."""
        return self._identity

    @property
    def name(self) -> str:
        """Name of the dataset."""
        return self._identity.name

    @property
    def version(self) -> Version:
        """Version of the dataset."""
        return self._identity.version

    @property
    def full_name(self) -> str:
        """`name/version`, or `name/config/version`."""
        return self._identity.full_name

    @property
    def config_name(self) -> str | None:
        """Name of the config, or None."""
        return self._identity.config_name

    @property
    def config_description(self) -> str | None:
        """Description of the config, or None."""
        return self._identity.config_description

    @property
    def config_tags(self) -> list[str]:
        """Tags of the config."""
        return list(self._identity.config_tags)

    @property
    def module_name(self) -> str:
        """Python module of the builder that made the dataset."""
        return self._identity.module_name

    @property
    def release_notes(self) -> dict[str, str]:
        """What changed, by version."""
        return dict(self._identity.release_notes)

    @property
    def data_dir(self) -> str | None:
        """The folder of the version."""
        return self._identity.data_dir

    # What it holds.

    @property
    def homepage(self) -> str:
        """URL; where none was given, the page of that name in TFDS's catalog, as TFDS has it."""
        return self._homepage or f"{_CATALOG}/{self.name}"

    @property
    def stated_homepage(self) -> str:
        """URL as given, or `''`."""
        return self._homepage

    @property
    def dataset_size(self) -> int:
        """Bytes of all serialized examples."""
        return self.splits.total_num_bytes

    @property
    def statistics(self) -> Mapping[str, Any]:
        """What `featurekit info --stats` has written beside the dataset; empty without.

        Raises:
            DatasetInfoError: The file is no JSON object.
        """
        path = os.path.join(self.data_dir or "", STATISTICS_FILE)
        if self.data_dir is None or not is_file(path):
            return {}
        try:
            value = json.loads(read_text(path))
        except (ValueError, RecursionError) as error:
            raise DatasetInfoError(
                f"{STATISTICS_FILE} is not JSON: {error}", file=path, hint="remove the file"
            ) from error
        if not isinstance(value, Mapping):
            raise DatasetInfoError(f"{STATISTICS_FILE} holds no object", file=path)
        return value

    @property
    def redistribution_info(self) -> dict[str, str]:
        """`{"license": ...}`; TFDS's older way to say the license."""
        return {"license": self.license} if self.license else {}

    def complete(self, stored: DatasetInfo) -> None:
        """Take what only the files tell, and what is not stated here, from what they say.

        Args:
            stored: The same dataset as its files describe it.
        """
        for field in ("splits", "file_format", "alternative_file_formats", "download_size"):
            setattr(self, field, getattr(stored, field))
        stated = ("features", "description", "citation", "license", "metadata", "supervised_keys")
        for field in (*stated, "_homepage"):
            if not getattr(self, field):
                setattr(self, field, getattr(stored, field))

    def __repr__(self) -> str:
        """Everything, one entry a line."""
        entries = {
            "name": repr(self.name),
            "full_name": repr(self.full_name),
            "description": f'"""\n{self.description}\n"""',
            "config_description": _quoted(self.config_description),
            "config_tags": ", ".join(self.config_tags),
            "homepage": repr(self.homepage),
            "data_dir": repr(self.data_dir),
            "file_format": self.file_format,
            "download_size": format_size(self.download_size),
            "dataset_size": format_size(self.dataset_size),
            "features": repr(self.features),
            "supervised_keys": repr(self.supervised_keys),
            "disable_shuffling": repr(self.disable_shuffling),
            "nondeterministic_order": repr(self.nondeterministic_order),
            "splits": _splits_repr(self.splits),
            "citation": f'"""{self.citation}"""',
            "license": repr(self.license) if self.license else "",
        }
        optional = ("config_description", "config_tags", "license")
        lines = [
            textwrap.indent(f"{name}={text},", "    ", predicate=lambda line: True)
            for name, text in entries.items()
            if text or name not in optional
        ]
        return "\n".join(["DatasetInfo(", *lines, ")"])


def format_size(num_bytes: int) -> str:
    """Bytes for people, as TFDS writes them.

    >>> format_size(2232), format_size(0)
    ('2.18 KiB', 'Unknown size')
    """
    if not num_bytes:
        return "Unknown size"
    size, unit = float(num_bytes), "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{num_bytes} bytes" if unit == "bytes" else f"{size:.2f} {unit}"


def _check_features(features: Any) -> Any:
    if features is None:
        return None
    if isinstance(features, FeatureConnector) and isinstance(features.get_tensor_info(), Mapping):
        return features
    raise InvalidTypeError(
        f"features must be a connector of whole examples, got {type(features).__name__}",
        hint="write FeaturesDict({'name': feature, ...})",
    )


def _dedent(text: str | os.PathLike[str] | None) -> str:
    """Drop common indentation and outer blank lines; a path gives its file's text."""
    if isinstance(text, os.PathLike):
        with open(text, encoding="utf-8") as file:
            text = file.read()
    return textwrap.dedent(text or "").strip()


def _quoted(text: str | None) -> str:
    return f'"""\n{text}\n"""' if text else ""


def _splits_repr(splits: SplitDict) -> str:
    lines = [f"    {name!r}: {splits[name]!r}," for name in sorted(splits)]
    return "\n".join(["{", *lines, "}"])
