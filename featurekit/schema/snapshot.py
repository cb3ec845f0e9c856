"""What a version of a dataset is, as plain values that can be compared and sent.

Connectors are written out as nodes: so that versions can be compared whose connectors' code
is not, or no longer, there, and so that a builder's file can be imported in another process.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from featurekit import registry
from featurekit.connector import FeatureConnector
from featurekit.connectors.class_label import ClassLabel
from featurekit.connectors.labeled_image import LabeledImage
from featurekit.connectors.opaque import Opaque
from featurekit.connectors.video import Video
from featurekit.dataset.info import DatasetInfo
from featurekit.dtypes import dtype_name
from featurekit.tensor_info import Shape, TensorInfo

__all__ = ["ELEMENT", "FeatureNode", "Snapshot", "SplitSnapshot"]

ELEMENT = "[]"
"""The name of a sequence's element among the node's children."""

# What the children of a node say as well.
_OF_CHILDREN = ("feature", "features")


@dataclasses.dataclass(frozen=True)
class FeatureNode:
    """A feature.

    Attributes:
        class_path: The class's name in features.json.
        arguments: What its JSON says of it, without the features that it is made of.
        names: Names of the classes, where it has any.
        shape: Shape of a value, where it is one array.
        dtype: The same of its dtype.
        description: Its documentation.
        value_range: The same.
        children: The features that it is made of, by name; `ELEMENT` for that of a sequence.
    """

    class_path: str
    arguments: Mapping[str, Any]
    names: tuple[str, ...] | None
    shape: Shape | None
    dtype: str | None
    description: str
    value_range: str
    children: Mapping[str, FeatureNode]

    @classmethod
    def of(cls, feature: FeatureConnector) -> FeatureNode:
        """The node of a connector."""
        info = feature.get_tensor_info()
        if isinstance(feature, Opaque):
            path, single = feature.class_name, None
        else:
            path = registry.class_path(type(feature))
            single = info if isinstance(info, TensorInfo) else None
        content = feature.to_json_content()
        arguments = dict(content) if isinstance(content, Mapping) else {"content": content}
        inner = {} if isinstance(feature, Video) else feature.inner_features()
        return cls(
            class_path=path,
            arguments={k: v for k, v in arguments.items() if k not in _OF_CHILDREN},
            names=_names(feature),
            shape=single.shape if single else None,
            dtype=dtype_name(single.dtype) if single else None,
            description=feature.doc.desc,
            value_range=feature.doc.value_range,
            children={ELEMENT if k is None else k: cls.of(f) for k, f in inner.items()},
        )

    @property
    def class_name(self) -> str:
        """The class, without its module."""
        return self.class_path.rpartition(".")[2]

    @property
    def text(self) -> str:
        """The feature in a few words, for messages."""
        if self.dtype is None:
            return self.class_name
        return f"{self.class_name} of {self.dtype} {list(self.shape or ())}"

    def without_texts(self) -> FeatureNode:
        """The same without documentation."""
        children = {name: child.without_texts() for name, child in self.children.items()}
        return dataclasses.replace(self, description="", value_range="", children=children)


def _names(feature: FeatureConnector) -> tuple[str, ...] | None:
    """The names of classes; none where they are only numbered."""
    if not isinstance(feature, (ClassLabel, LabeledImage)) or not feature.num_classes:
        return None
    names = tuple(feature.names or ())
    return None if names == tuple(map(str, range(len(names)))) else names


@dataclasses.dataclass(frozen=True)
class SplitSnapshot:
    """A split.

    Attributes:
        shard_lengths: Number of examples of each shard.
        num_bytes: Bytes of all examples.
        template: How the files are called.
    """

    shard_lengths: tuple[int, ...]
    num_bytes: int
    template: str

    @property
    def num_examples(self) -> int:
        """Number of examples."""
        return sum(self.shard_lengths)


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """A version of a dataset, as far as its source tells.

    Attributes:
        source: Where it comes from, for people.
        features: The features, where they are known.
        version: The version; None where the source is a file of features.
        fields: What dataset_info.json says besides; empty where there is none.
        splits: The splits; None where the dataset is not built.
        folder: The folder of the version, where it is there as such.
    """

    source: str
    features: FeatureNode | None
    version: str | None = None
    fields: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    splits: Mapping[str, SplitSnapshot] | None = None
    folder: str | None = None

    @classmethod
    def of_info(cls, source: str, info: DatasetInfo, *, is_built: bool) -> Snapshot:
        """The snapshot of a dataset, or of a builder's that was not run."""
        return cls(
            source=source,
            features=None if info.features is None else FeatureNode.of(info.features),
            version=str(info.version),
            fields={
                "name": info.name,
                "config": info.config_name,
                "description": info.description,
                "citation": info.citation,
                "homepage": info.stated_homepage,
                "license": info.license,
                "release notes": info.release_notes,
                "config description": info.config_description,
                "config tags": info.config_tags,
                "supervised keys": info.supervised_keys,
                "metadata": _plain(info.metadata),
                "disable_shuffling": info.disable_shuffling,
                "nondeterministic_order": info.nondeterministic_order,
                **({"file format": info.file_format} if is_built else {}),
            },
            splits=_splits(info) if is_built else None,
            folder=info.data_dir if is_built else None,
        )


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


def _splits(info: DatasetInfo) -> dict[str, SplitSnapshot]:
    return {
        name: SplitSnapshot(
            tuple(split.shard_lengths),
            split.num_bytes,
            split.filename_template.template if split.filename_template else "",
        )
        for name, split in info.splits.items()
    }
