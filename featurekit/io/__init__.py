"""Bytes on disk: record files, and the messages in them.

The public names are imported when they are first used, so that `import featurekit.io`
costs nothing. A name has three places here: `_MODULES`, `__all__`, and the imports for
type checkers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from featurekit import lazy

if TYPE_CHECKING:
    from featurekit.io.conformance import Violation, check_example, check_sequence_example
    from featurekit.io.example import (
        BytesList,
        Example,
        Feature,
        FeatureList,
        FeatureLists,
        Features,
        FloatList,
        Int64List,
        SequenceExample,
        bytes_feature,
        example_to_dict,
        float_feature,
        int64_feature,
        make_example,
        make_sequence_example,
        sequence_example_to_dict,
        serialize,
    )
    from featurekit.io.json_example import (
        decode_json_example,
        encode_json_example,
    )
    from featurekit.io.parse import (
        parse_example,
        parse_sequence_example,
        parse_single_example,
        parse_single_sequence_example,
    )
    from featurekit.io.ragged import RaggedTensor
    from featurekit.io.sparse import SparseTensor
    from featurekit.io.specs import (
        FixedLenFeature,
        FixedLenSequenceFeature,
        RaggedFeature,
        SparseFeature,
        VarLenFeature,
    )
    from featurekit.io.tensor_proto import (
        parse_tensor,
        serialize_tensor,
    )
    from featurekit.io.tfrecord import TFRecordReader, TFRecordWriter

__all__ = [
    "BytesList",
    "Example",
    "Feature",
    "FeatureList",
    "FeatureLists",
    "Features",
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "FloatList",
    "Int64List",
    "RaggedFeature",
    "RaggedTensor",
    "SequenceExample",
    "SparseFeature",
    "SparseTensor",
    "TFRecordReader",
    "TFRecordWriter",
    "VarLenFeature",
    "Violation",
    "bytes_feature",
    "check_example",
    "check_sequence_example",
    "decode_json_example",
    "encode_json_example",
    "example_to_dict",
    "float_feature",
    "int64_feature",
    "make_example",
    "make_sequence_example",
    "parse_example",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
    "parse_tensor",
    "sequence_example_to_dict",
    "serialize",
    "serialize_tensor",
]

_MODULES = {
    "Violation": "featurekit.io.conformance",
    "check_example": "featurekit.io.conformance",
    "check_sequence_example": "featurekit.io.conformance",
    "BytesList": "featurekit.io.example",
    "Example": "featurekit.io.example",
    "Feature": "featurekit.io.example",
    "FeatureList": "featurekit.io.example",
    "FeatureLists": "featurekit.io.example",
    "Features": "featurekit.io.example",
    "FloatList": "featurekit.io.example",
    "Int64List": "featurekit.io.example",
    "SequenceExample": "featurekit.io.example",
    "bytes_feature": "featurekit.io.example",
    "example_to_dict": "featurekit.io.example",
    "float_feature": "featurekit.io.example",
    "int64_feature": "featurekit.io.example",
    "make_example": "featurekit.io.example",
    "make_sequence_example": "featurekit.io.example",
    "sequence_example_to_dict": "featurekit.io.example",
    "serialize": "featurekit.io.example",
    "RaggedTensor": "featurekit.io.ragged",
    "SparseTensor": "featurekit.io.sparse",
    "TFRecordReader": "featurekit.io.tfrecord",
    "TFRecordWriter": "featurekit.io.tfrecord",
    "decode_json_example": "featurekit.io.json_example",
    "encode_json_example": "featurekit.io.json_example",
    "parse_example": "featurekit.io.parse",
    "parse_sequence_example": "featurekit.io.parse",
    "parse_single_example": "featurekit.io.parse",
    "parse_single_sequence_example": "featurekit.io.parse",
    "FixedLenFeature": "featurekit.io.specs",
    "FixedLenSequenceFeature": "featurekit.io.specs",
    "RaggedFeature": "featurekit.io.specs",
    "SparseFeature": "featurekit.io.specs",
    "VarLenFeature": "featurekit.io.specs",
    "parse_tensor": "featurekit.io.tensor_proto",
    "serialize_tensor": "featurekit.io.tensor_proto",
}


__getattr__, __dir__ = lazy.attach(globals(), _MODULES)
