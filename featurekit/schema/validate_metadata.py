"""Whether the metadata of a dataset can be read, and agrees with itself."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from featurekit.connector import FEATURES_FILE, FeatureConnector
from featurekit.connectors.opaque import Opaque
from featurekit.dataset import supervised
from featurekit.dataset.folders import INFO_FILE
from featurekit.dataset.info import DatasetInfo
from featurekit.dataset.info_json import METADATA_FILE, read_custom_metadata, read_info_file
from featurekit.dataset.version import Version
from featurekit.errors import (
    DatasetNotFoundError,
    FeatureKitError,
    SchemaError,
    did_you_mean,
    format_path,
)
from featurekit.registry import loading
from featurekit.schema.feature_leaves import FeatureLeaf, feature_leaves
from featurekit.schema.findings import Finding, Place
from featurekit.schema.text_lines import line_of_error, line_of_words

__all__ = ["Metadata", "check_metadata"]

_LABELS_SUFFIX = ".labels.txt"


@dataclasses.dataclass
class Metadata:
    """What the metadata of a dataset says, as far as it can be read.

    Attributes:
        folder: The folder of the version.
        info: What dataset_info.json says, or None.
        features: What features.json says, or None.
        findings: What is wrong.
    """

    folder: str
    info: DatasetInfo | None = None
    features: FeatureConnector | None = None
    findings: list[Finding] = dataclasses.field(default_factory=list)

    def finding(self, code: str, message: str, file: str = INFO_FILE, **place: Any) -> Finding:
        """A finding in one of the files; its line is that of what the message quotes."""
        path = os.path.join(self.folder, file)
        line = line_of_words(_text(path), message)
        return Finding(code, message, Place(path, line=line, **place))

    def report(self, code: str, message: str, file: str = INFO_FILE, **place: Any) -> None:
        """Add a finding in one of the files."""
        self.findings.append(self.finding(code, message, file, **place))

    def report_error(self, code: str, error: FeatureKitError, file: str) -> None:
        """Add the finding that an exception stands for."""
        path = os.path.join(self.folder, file)
        line = line_of_error(error) or line_of_words(_text(path), error.message)
        feature = format_path(error.path) or None
        self.findings.append(Finding(code, error.message, Place(path, line, feature=feature)))


def check_metadata(
    folder: str, *, features: FeatureConnector | None = None, trust: Iterable[str] = ()
) -> Metadata:
    """Read all metadata of a dataset, and see whether it agrees with itself.

    Args:
        folder: The folder of the version.
        features: The features, for a dataset too old to have a features.json.
        trust: Packages that connector classes named there may be imported from.
    """
    found = Metadata(folder)
    found.info = _read_info(found)
    if found.info is None:
        return found
    found.features = features or _read_features(found, trust)
    _check_version(found, found.info)
    _check_splits(found, found.info)
    try:
        read_custom_metadata(folder)
    except FeatureKitError as error:
        found.report_error("FK111", error, METADATA_FILE)
    if found.features is not None:
        leaves = feature_leaves(found.features)
        _check_supervised_keys(found, found.info, found.features)
        _check_labels(found, leaves)
        _check_classes(found, leaves)
    return found


def _read_info(found: Metadata) -> DatasetInfo | None:
    with loading((), INFO_FILE, log=False) as context:
        try:
            info = read_info_file(found.folder)
        except DatasetNotFoundError as error:
            found.findings.append(Finding("FK101", error.message, Place(found.folder)))
            return None
        except FeatureKitError as error:
            found.report_error("FK102", error, INFO_FILE)
            return None
    _report_unknown(found, context.unknown, INFO_FILE)
    return info


def _read_features(found: Metadata, trust: Iterable[str]) -> FeatureConnector | None:
    path = os.path.join(found.folder, FEATURES_FILE)
    if not os.path.isfile(path):
        # A build of no examples at all writes none.
        if found.info is not None and found.info.splits.total_num_examples:
            found.findings.append(Finding("FK103", f"there is no {FEATURES_FILE}", Place(path)))
        return None
    with loading(trust, FEATURES_FILE, log=False) as context:
        try:
            features = FeatureConnector.from_json(_load_json(path))
            features.layout  # noqa: B018  # whether it can be stored at all
        except FeatureKitError as error:
            found.report_error("FK104", error, FEATURES_FILE)
            return None
        except RecursionError:
            found.report("FK104", "the features are nested too deeply to be read", FEATURES_FILE)
            return None
    _report_unknown(found, context.unknown, FEATURES_FILE)
    if isinstance(features.get_tensor_info(), Mapping):
        return features
    found.report("FK104", "the features are no dict of features", FEATURES_FILE)
    return None


def _load_json(path: str) -> Any:
    try:
        with open(path, "rb") as file:
            return json.load(file)
    except (ValueError, RecursionError) as error:
        raise SchemaError(f"{FEATURES_FILE} is not JSON: {error}") from error


def _report_unknown(found: Metadata, fields: Iterable[str], file: str) -> None:
    if names := sorted(set(fields)):
        last = [name.rpartition(".")[2] for name in names]  # as the file has them
        found.report("FK105", f"unknown fields: {', '.join(map(repr, last))}", file)


def _check_version(found: Metadata, info: DatasetInfo) -> None:
    name = os.path.basename(os.path.abspath(found.folder))
    if Version.is_valid(name) and info.version != name:
        found.report(
            "FK107", f"the folder is called {name}, and the 'version' stated is {info.version}"
        )


def _check_splits(found: Metadata, info: DatasetInfo) -> None:
    if not info.splits:
        found.report("FK114", "the dataset has no 'splits'")
    for split in info.splits.values():
        if not split.num_examples:
            found.report("FK113", f"the split '{split.name}' has no examples", split=split.name)
        try:
            paths = split.filepaths
        except FeatureKitError as error:
            found.report("FK112", error.message, split=split.name)
            continue
        if len(set(paths)) < len(paths):
            found.report("FK112", "several shards have one name", split=split.name)


def _check_supervised_keys(found: Metadata, info: DatasetInfo, features: FeatureConnector) -> None:
    names: Any = features.get_tensor_info()
    if not isinstance(names, Mapping) or info.supervised_keys is None:
        return

    def check(name: str) -> None:
        if name not in names:
            text = f"supervisedKeys name {name!r}, and there is no such feature"
            found.report("FK108", text + did_you_mean(name, names))

    supervised.map_keys(check, info.supervised_keys)


def _check_classes(found: Metadata, leaves: Iterable[FeatureLeaf]) -> None:
    for leaf in leaves:
        if isinstance(leaf.connector, Opaque):
            found.report(
                "FK106",
                f"the class '{leaf.connector.class_name}' is neither known nor trusted",
                FEATURES_FILE,
                feature=leaf.name,
            )


def _check_labels(found: Metadata, leaves: Iterable[FeatureLeaf]) -> None:
    """Read the files of class names, one by one."""
    used = set()
    for leaf in leaves:
        # As TFDS has it: a sequence adds nothing, and no name may lead to another folder.
        name = "-".join(key.replace("/", ".") for key in leaf.keys)
        used.add(f"{name}{_LABELS_SUFFIX}")
        try:
            leaf.connector.load_metadata(found.folder, name)
        except (FeatureKitError, UnicodeError) as error:
            message = error.message if isinstance(error, FeatureKitError) else str(error)
            found.report("FK109", message, f"{name}{_LABELS_SUFFIX}", feature=leaf.name)
    for name in sorted(_label_files(found.folder) - used):
        found.report("FK110", "no feature has these class names", name)


def _label_files(folder: str) -> set[str]:
    return {name for name in os.listdir(folder) if name.endswith(_LABELS_SUFFIX)}


def _text(path: str) -> str:
    """The text of a file, for the search of a line; empty where there is none to be had."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
