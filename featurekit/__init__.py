"""TensorFlow Datasets' connectors, builders and files, without TensorFlow.

    import featurekit as fk

    examples = fk.load("digits", split="train")
    examples[0]["image"]

The public names are imported when they are first used: `import featurekit` costs little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from featurekit import lazy

if TYPE_CHECKING:
    from featurekit import (
        builders,
        connectors,
        decode,
        errors,
        io,
        schema,
        sequences,
        testing,
        tfds,
    )
    from featurekit.builders.base import GeneratorBasedBuilder, SplitGenerator
    from featurekit.builders.beam_based import BeamBasedBuilder
    from featurekit.builders.config import BuilderConfig
    from featurekit.builders.download import DownloadManager
    from featurekit.builders.metadata import write_metadata
    from featurekit.builders.sharding import ShardPolicy
    from featurekit.builders.write import write_dataset
    from featurekit.connector import Documentation, FeatureConnector
    from featurekit.connectors.audio import Audio
    from featurekit.connectors.bbox import BBox, BBoxFeature
    from featurekit.connectors.class_label import ClassLabel
    from featurekit.connectors.dataset import Dataset
    from featurekit.connectors.features_dict import FeaturesDict
    from featurekit.connectors.image import Image
    from featurekit.connectors.image_codecs.reduced import ReducedImage
    from featurekit.connectors.labeled_image import LabeledImage
    from featurekit.connectors.scalar import Scalar
    from featurekit.connectors.sequence import Sequence
    from featurekit.connectors.tensor import Tensor
    from featurekit.connectors.text import Text
    from featurekit.connectors.translation import Translation, TranslationVariableLanguages
    from featurekit.connectors.video import Video
    from featurekit.dataset.adapters.pandas import as_dataframe
    from featurekit.dataset.episodes import Episodes, episodes
    from featurekit.dataset.even_splits import even_splits, split_for_process
    from featurekit.dataset.info import DatasetInfo, MetadataDict
    from featurekit.dataset.load import builder, builder_from_directory, load
    from featurekit.dataset.source import DataSource
    from featurekit.dataset.split_expressions import ReadInstruction
    from featurekit.dataset.splits import Split
    from featurekit.dataset.version import Version
    from featurekit.decode import PartialDecoding, SkipDecoding
    from featurekit.feature_table import FeatureTable
    from featurekit.tensor_info import TensorInfo

__version__ = "0.1.0"

__all__ = [
    "Audio",
    "BBox",
    "BBoxFeature",
    "BeamBasedBuilder",
    "BuilderConfig",
    "ClassLabel",
    "DataSource",
    "Dataset",
    "DatasetInfo",
    "Documentation",
    "DownloadManager",
    "Episodes",
    "FeatureConnector",
    "FeatureTable",
    "FeaturesDict",
    "GeneratorBasedBuilder",
    "Image",
    "LabeledImage",
    "MetadataDict",
    "PartialDecoding",
    "ReadInstruction",
    "ReducedImage",
    "Scalar",
    "Sequence",
    "ShardPolicy",
    "SkipDecoding",
    "Split",
    "SplitGenerator",
    "Tensor",
    "TensorInfo",
    "Text",
    "Translation",
    "TranslationVariableLanguages",
    "Version",
    "Video",
    "__version__",
    "as_dataframe",
    "builder",
    "builder_from_directory",
    "builders",
    "connectors",
    "decode",
    "episodes",
    "errors",
    "even_splits",
    "io",
    "load",
    "schema",
    "sequences",
    "split_for_process",
    "testing",
    "tfds",
    "write_dataset",
    "write_metadata",
]

_MODULES = {
    "Audio": "featurekit.connectors.audio",
    "BBox": "featurekit.connectors.bbox",
    "BBoxFeature": "featurekit.connectors.bbox",
    "BeamBasedBuilder": "featurekit.builders.beam_based",
    "BuilderConfig": "featurekit.builders.config",
    "ClassLabel": "featurekit.connectors.class_label",
    "DataSource": "featurekit.dataset.source",
    "Dataset": "featurekit.connectors.dataset",
    "DatasetInfo": "featurekit.dataset.info",
    "Documentation": "featurekit.connector",
    "DownloadManager": "featurekit.builders.download",
    "Episodes": "featurekit.dataset.episodes",
    "FeatureConnector": "featurekit.connector",
    "FeatureTable": "featurekit.feature_table",
    "FeaturesDict": "featurekit.connectors.features_dict",
    "GeneratorBasedBuilder": "featurekit.builders.base",
    "Image": "featurekit.connectors.image",
    "LabeledImage": "featurekit.connectors.labeled_image",
    "MetadataDict": "featurekit.dataset.info",
    "PartialDecoding": "featurekit.decode",
    "ReadInstruction": "featurekit.dataset.split_expressions",
    "ReducedImage": "featurekit.connectors.image_codecs.reduced",
    "Scalar": "featurekit.connectors.scalar",
    "Sequence": "featurekit.connectors.sequence",
    "ShardPolicy": "featurekit.builders.sharding",
    "SkipDecoding": "featurekit.decode",
    "Split": "featurekit.dataset.splits",
    "SplitGenerator": "featurekit.builders.base",
    "Tensor": "featurekit.connectors.tensor",
    "TensorInfo": "featurekit.tensor_info",
    "Text": "featurekit.connectors.text",
    "Translation": "featurekit.connectors.translation",
    "TranslationVariableLanguages": "featurekit.connectors.translation",
    "Version": "featurekit.dataset.version",
    "Video": "featurekit.connectors.video",
    "as_dataframe": "featurekit.dataset.adapters.pandas",
    "builder": "featurekit.dataset.load",
    "builder_from_directory": "featurekit.dataset.load",
    "builders": "featurekit.builders",
    "connectors": "featurekit.connectors",
    "decode": "featurekit.decode",
    "episodes": "featurekit.dataset.episodes",
    "errors": "featurekit.errors",
    "even_splits": "featurekit.dataset.even_splits",
    "io": "featurekit.io",
    "load": "featurekit.dataset.load",
    "schema": "featurekit.schema",
    "sequences": "featurekit.sequences",
    "split_for_process": "featurekit.dataset.even_splits",
    "testing": "featurekit.testing",
    "tfds": "featurekit.tfds",
    "write_dataset": "featurekit.builders.write",
    "write_metadata": "featurekit.builders.metadata",
}

__getattr__, __dir__ = lazy.attach(globals(), _MODULES)
