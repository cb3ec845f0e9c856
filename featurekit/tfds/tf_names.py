"""Which of TensorFlow's names scripts find here, and where they lie."""

from __future__ import annotations

from featurekit.tfds.modules import Library, Names

__all__ = ["TENSORFLOW"]

_DTYPES = {
    "featurekit.tfds.tf_dtypes": (
        "DType as_dtype=as_dtype_of_tensorflow bool=bool_ string half double bfloat16 "
        "uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64 "
        "complex64 complex128"
    )
}
_ROOT: Names = {
    **_DTYPES,
    "numpy": "Tensor=ndarray",
    "featurekit.io.ragged": "RaggedTensor",
    "featurekit.io.sparse": "SparseTensor",
}
_COMPAT = {
    "featurekit.tfds.tf_functions": "as_bytes as_text as_str=as_text as_str_any=as_text path_to_str"
}

_MODULES: dict[str, Names] = {
    "": _ROOT,
    "dtypes": _DTYPES,
    "io": {
        "featurekit.io.parse": (
            "parse_example parse_single_example parse_sequence_example "
            "parse_single_sequence_example"
        ),
        "featurekit.io.json_example": "decode_json_example",
        "featurekit.io.tensor_proto": "parse_tensor serialize_tensor",
        "featurekit.io.specs": (
            "FixedLenFeature FixedLenSequenceFeature RaggedFeature SparseFeature VarLenFeature"
        ),
        "featurekit.tfds.tf_records": "TFRecordWriter",
    },
    "io.gfile": {
        "featurekit.tfds.gfile": (
            "GFile copy exists glob isdir join listdir makedirs mkdir remove rename rmtree stat "
            "walk"
        )
    },
    "train": {
        "featurekit.io.example": (
            "BytesList Example Feature FeatureList FeatureLists Features FloatList Int64List "
            "SequenceExample"
        )
    },
    "data": {"featurekit.tfds.tf_records": "TFRecordDataset"},
    "compat": _COMPAT,
    "errors": {
        "featurekit.errors": (
            "OutOfRangeError CancelledError NotFoundError=MissingFileError "
            "DataLossError=CorruptRecordError InvalidArgumentError"
        )
    },
}

TENSORFLOW = Library(
    title="featurekit's stand-in for TensorFlow",
    prefix="tf",
    modules=_MODULES,
    aliases={"compat.v1": "", "compat.v2": "", "python_io": "io"},
    instead={
        "constant": "give NumPy arrays",
        "convert_to_tensor": "give NumPy arrays",
        "image.decode_image": "give features.Image the bytes or the path of the picture",
        "image.decode_jpeg": "give features.Image the bytes or the path of the picture",
        "io.decode_image": "give features.Image the bytes or the path of the picture",
        "io.decode_jpeg": "give features.Image the bytes or the path of the picture",
        "io.decode_png": "give features.Image the bytes or the path of the picture",
        "io.read_file": "read it with tf.io.gfile.GFile(path, 'rb')",
        "data.Dataset": "read the data with Python; examples are NumPy",
        "function": "leave the decorator out: values are NumPy arrays",
    },
    otherwise="use NumPy in its place, or run the script with TFDS and TensorFlow installed",
)
