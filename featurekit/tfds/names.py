"""Which of TFDS's names scripts find in `featurekit.tfds`, and where they lie."""

from __future__ import annotations

from featurekit.tfds.modules import Library, Names

__all__ = ["TFDS"]

_CONLL = "featurekit.builders.conll"
_CONLLU = "featurekit.builders.conllu"
_DATASET = "featurekit.dataset"

_BUILDERS: Names = {
    "featurekit.builders.base": "DatasetBuilder GeneratorBasedBuilder",
    "featurekit.builders.beam_based": "BeamBasedBuilder",
    "featurekit.builders.config": "BuilderConfig",
    "featurekit.builders.shard_based": "ShardBasedBuilder",
}
_INFO: Names = {
    f"{_DATASET}.info": (
        "DatasetInfo MetadataDict Metadata=MetadataDict BeamMetadataDict=MetadataDict"
    ),
    f"{_DATASET}.identity": "DatasetIdentity",
}
_SPLITS: Names = {
    f"{_DATASET}.splits": "Split SplitDict SplitInfo SubSplitInfo",
    f"{_DATASET}.split_expressions": "ReadInstruction SplitArg=SplitLike",
    f"{_DATASET}.even_splits": "even_splits",
}
_VERSION: Names = {
    f"{_DATASET}.version": "Version",
    "featurekit.builders.blocked": "BlockedVersions",
    "featurekit.errors": "DatasetVariantBlockedError=BuildError",
}
_PATHS: Names = {"featurekit.tfds.paths": "Path as_path gcs_path tfds_path"}
_LAZY: Names = {"featurekit.tfds.lazy_imports": "lazy_imports"}

_TENSOR: Names = {"featurekit.connectors.tensor": "Tensor Encoding"}
_CONNECTOR: Names = {
    "featurekit.connector": "FeatureConnector Documentation",
    "featurekit.tensor_info": "TensorInfo",
}
_CONNECTORS: dict[str, Names] = {
    "audio_feature": {"featurekit.connectors.audio": "Audio"},
    "bounding_boxes": {"featurekit.connectors.bbox": "BBox BBoxFeature"},
    "class_label_feature": {"featurekit.connectors.class_label": "ClassLabel"},
    "dataset_feature": {"featurekit.connectors.dataset": "Dataset"},
    "feature": _CONNECTOR,
    "features_dict": {"featurekit.connectors.features_dict": "FeaturesDict"},
    "image_feature": {"featurekit.connectors.image": "Image"},
    "labeled_image": {"featurekit.connectors.labeled_image": "LabeledImage"},
    "scalar": {"featurekit.connectors.scalar": "Scalar"},
    "sequence_feature": {"featurekit.connectors.sequence": "Sequence"},
    "tensor_feature": _TENSOR,
    "text_feature": {"featurekit.connectors.text": "Text"},
    "translation_feature": {
        "featurekit.connectors.translation": "Translation TranslationVariableLanguages"
    },
    "video_feature": {"featurekit.connectors.video": "Video"},
}
_FEATURES: Names = {
    source: text for names in _CONNECTORS.values() for source, text in names.items()
}

_CONLL_BUILDERS: Names = {
    _CONLL: "ConllBuilderConfig ConllDatasetBuilder",
    _CONLLU: "ConllUBuilderConfig ConllUDatasetBuilder",
}
_CONLL_UTILS: Names = {
    "featurekit.builders.conll_features": (
        "CHUNK_TAGS CONLL_2002_SEPARATOR CONLL_2003_CONFIG CONLL_2003_ORDERED_FEATURES NER_TAGS "
        "POS_TAGS"
    )
}
_CONLLU_UTILS: Names = {
    "featurekit.builders.conllu_features": (
        "UNIVERSAL_DEPENDENCIES_FEATURES UPOS XTREME_POS_FEATURES get_universal_morphology_config"
    )
}

_DOWNLOAD: Names = {
    "featurekit.builders.download": "DownloadManager",
    "featurekit.builders.download_config": "DownloadConfig GenerateMode",
    "featurekit.builders.extract": "ExtractMethod iter_archive",
    "featurekit.builders.resource": "Resource",
    "featurekit.errors": "DownloadError",
}
_DECODE: Names = {"featurekit.decode": "Decoder PartialDecoding SkipDecoding make_decoder"}
_BEAM: Names = {"featurekit.tfds.beam_source": "ReadFromTFDS"}
_NAMING: Names = {
    f"{_DATASET}.naming": "DatasetReference camelcase_to_snakecase=camel_to_snake",
    f"{_DATASET}.file_template": "ShardedFileTemplate",
}
_UTILS: Names = {
    **_VERSION,
    **_PATHS,
    "featurekit.tfds.utilities": "disable_progress_bar ffmpeg_run memoize",
}
_LOADING: Names = {
    "featurekit.tfds.loading": "builder builder_cls data_source list_builders load",
    f"{_DATASET}.load": "builder_from_directory",
    f"{_DATASET}.multi_dir": "builder_from_directories",
}

_MODULES: dict[str, Names] = {
    "": {
        **_LOADING,
        "featurekit": "__version__",
        "featurekit.builders.download_config": "GenerateMode",
        "featurekit.builders.image_folder": "ImageFolder",
        "featurekit.builders.translate_folder": "TranslateFolder",
        "featurekit.tfds.conversion": "as_dataframe as_numpy",
        "featurekit.tfds.utilities": "disable_progress_bar",
        f"{_DATASET}.even_splits": "even_splits",
        f"{_DATASET}.read_config": "ReadConfig",
        f"{_DATASET}.splits": "Split",
    },
    "deprecated": {},
    "deprecated.text": {"featurekit.tfds.old_names": "TextEncoderConfig"},
    "visualization": {"featurekit.tfds.old_names": "GraphVisualizerMetadataDict"},
    "testing": {
        "featurekit.testing.mock": "mock_data",
        "featurekit.tfds.expectations": (
            "FeatureExpectationItem FeatureExpectationsTestCase RaggedConstant SubTestCase "
            "TestCase TestValue make_tmp_dir rm_tmp_dir test_main tmp_dir"
        ),
    },
    "typing": {
        "featurekit.tfds.type_names": "FeatureConnectorArg Json PathLike Tree TreeDict",
        f"{_DATASET}.split_expressions": "SplitArg=SplitLike",
    },
    "core": {
        **_BUILDERS,
        **_INFO,
        **_LAZY,
        **_PATHS,
        f"{_DATASET}.file_template": "ShardedFileTemplate",
        f"{_DATASET}.split_expressions": "ReadInstruction",
        f"{_DATASET}.splits": "Split SplitDict SplitInfo SubSplitInfo",
        f"{_DATASET}.version": "Version",
        "featurekit.builders.base": "DatasetBuilder GeneratorBasedBuilder SplitGenerator",
        "featurekit.builders.sequential": "SequentialWriter",
        "featurekit.errors": "DatasetNotFoundError",
    },
    "core.beam_utils": _BEAM,
    "core.dataset_builder": _BUILDERS,
    "core.dataset_builders": {
        **_CONLL_BUILDERS,
        "featurekit.builders.adhoc": "store_as_tfds_dataset",
    },
    "core.dataset_builders.conll": {**_CONLL_BUILDERS, **_CONLL_UTILS, **_CONLLU_UTILS},
    "core.dataset_builders.conll.conll_dataset_builder": {_CONLL: _CONLL_BUILDERS[_CONLL]},
    "core.dataset_builders.conll.conll_dataset_builder_utils": _CONLL_UTILS,
    "core.dataset_builders.conll.conllu_dataset_builder": {
        _CONLLU: f"{_CONLL_BUILDERS[_CONLLU]} get_conllu_example get_xtreme_pos_example"
    },
    "core.dataset_builders.conll.conllu_dataset_builder_utils": _CONLLU_UTILS,
    "core.dataset_info": _INFO,
    "core.dataset_utils": {"featurekit.tfds.conversion": "as_numpy"},
    "core.decode": _DECODE,
    "core.download": _DOWNLOAD,
    "core.download.download_manager": _DOWNLOAD,
    "core.download.extractor": {"featurekit.builders.extract": "iter_archive iter_tar iter_zip"},
    "core.download.resource": {
        "featurekit.builders.extract": "ExtractMethod",
        "featurekit.builders.resource": "Resource",
    },
    "core.features": _FEATURES,
    **{f"core.features.{name}": names for name, names in _CONNECTORS.items()},
    "core.folder_dataset": {
        "featurekit.builders.image_folder": "ImageFolder",
        "featurekit.builders.translate_folder": "TranslateFolder",
        "featurekit.builders.metadata": "write_metadata",
    },
    "core.lazy_imports_lib": _LAZY,
    "core.load": _LOADING,
    "core.naming": _NAMING,
    "core.read_only_builder": _LOADING,
    "core.split_builder": {"featurekit.builders.base": "SplitGeneratorLegacy=SplitGenerator"},
    "core.splits": _SPLITS,
    "core.utils": _UTILS,
    "core.utils.bool_utils": {"featurekit.tfds.utilities": "parse_bool"},
    "core.utils.image_utils": {"featurekit.tfds.utilities": "ffmpeg_run"},
    "core.utils.lazy_imports_utils": {
        "featurekit.tfds.lazy_imports": (
            "apache_beam array_record datasets huggingface_hub mlcroissant pandas psutil pyarrow "
            "tensorflow tree"
        )
    },
    "core.utils.read_config": {f"{_DATASET}.read_config": "ReadConfig"},
    "core.utils.resource_utils": {"featurekit.tfds.paths": "tfds_path"},
    "core.utils.version": _VERSION,
}

_ALIASES = {
    "public_api": "",
    "beam": "core.beam_utils",
    "dataset_builders": "core.dataset_builders",
    "decode": "core.decode",
    "download": "core.download",
    "features": "core.features",
    "folder_dataset": "core.folder_dataset",
}

# The folders of the datasets that ship with TFDS; scripts import modules of each other.
_DATASET_FOLDERS = (
    "audio d4rl datasets graphs image image_classification nearest_neighbors object_detection "
    "proto question_answering ranking recommendation rl_unplugged rlds robomimic robotics "
    "structured summarization text text_simplification time_series translate video "
    "vision_language"
)

TFDS = Library(
    title="featurekit.tfds",
    prefix="tfds",
    modules=_MODULES,
    aliases=_ALIASES,
    instead={
        **dict.fromkeys(
            _DATASET_FOLDERS.split(),
            "copy this module of TFDS's datasets beside the script, or install TFDS",
        ),
        "benchmark": "time the loop that reads it",
        "show_examples": "show the arrays with matplotlib, or tfds.as_dataframe(ds.take(4))",
        "visualization.show_examples": "show the arrays with matplotlib",
        "show_statistics": "compute them with NumPy or pandas: tfds.as_dataframe(ds)",
        "dataset_collection": "load the datasets of the collection one by one",
        "list_dataset_collections": "load the datasets of the collection one by one",
        "is_dataset_on_gcs": "copy the dataset's folder from gs://tfds-data/datasets",
        "deprecated.text.TextEncoder": "use features.Text, and encode text when reading",
        "features.TextEncoder": "use features.Text, and encode text when reading",
        "transform": "transform examples in _generate_examples, or when reading",
        "enable_progress_bar": "a terminal shows bars by itself",
        "split_for_jax_process": "use featurekit.split_for_process",
        "core.add_data_dir": "give data_dir=, or set FEATUREKIT_DATA_DIR",
    },
    otherwise="run the script with TFDS installed, or use the names of featurekit itself",
)
