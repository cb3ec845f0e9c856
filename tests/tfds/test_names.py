"""Every name that `featurekit.tfds` and the stand-in for TensorFlow offer is there."""

import importlib
import pickle

import numpy as np
import pytest

import featurekit as fk
import featurekit.tfds as tfds
import featurekit.tfds.tensorflow as tf
from featurekit.errors import MissingDependencyError, MissingFileError, NotOfferedError
from featurekit.tfds.names import TFDS
from featurekit.tfds.tf_names import TENSORFLOW

MODULES = [
    (library, root, name)
    for library, root in ((TFDS, "featurekit.tfds"), (TENSORFLOW, "featurekit.tfds.tensorflow"))
    for name in (*library.modules, *library.aliases)
]


@pytest.mark.parametrize(("library", "root", "name"), MODULES, ids=lambda item: str(item)[:40])
def test_every_name_is_there(library, root, name):
    module = importlib.import_module(f"{root}.{name}" if name else root)
    names = [n for text in library.modules.get(name, {}).values() for n in text.split()]
    for entry in names:
        getattr(module, entry.partition("=")[0])
    assert {entry.partition("=")[0] for entry in names} <= set(dir(module)) | {"__version__"}


def test_modules_are_the_same_under_each_name():
    assert tfds.public_api is tfds
    assert tfds.features is tfds.core.features
    assert tfds.features.Text is fk.Text
    assert tfds.core.features.text_feature.Text is fk.Text
    assert tf.compat.v1.io.gfile is tf.io.gfile
    assert repr(tfds.features) == "<module 'featurekit.tfds.core.features'>"


def test_dtypes_are_taken_wherever_one_is_expected():
    features = tfds.features.FeaturesDict({"a": tf.int32, "b": tf.string, "c": tf.bool})
    assert features.np_dtype == {"a": np.int32, "b": np.object_, "c": np.bool_}
    assert tfds.features.Tensor(shape=(), dtype=tf.dtypes.float16).np_dtype == np.float16
    assert tf.float32 == np.float32
    assert tf.float32 != tf.float64
    assert tf.float32 != "no dtype"
    assert {tf.int64: 1}[tf.dtypes.as_dtype(np.int64)] == 1
    assert (tf.uint8.max, tf.int8.min, tf.float32.size) == (255, -128, 4)
    assert tf.int8.is_integer
    assert tf.half.is_floating
    assert tf.string.as_numpy_dtype is np.object_
    assert (tf.float64.max, str(tf.string)) == (np.finfo(np.float64).max, "tf.string")


def test_files_are_read_as_tensorflow_reads_them(tmp_path):
    gfile = tf.io.gfile
    folder = str(tmp_path / "data")
    gfile.makedirs(gfile.join(folder, "b"))
    with gfile.GFile(gfile.join(folder, "b", "x.txt"), "w") as file:
        file.write("ä\r\nb\n")
    with gfile.GFile(f"{folder}/b/x.txt") as file:
        assert file.readlines() == ["ä\r\n", "b\n"]
    with gfile.GFile(f"{folder}/b/x.txt", "rb") as file:
        assert file.read() == "ä\r\nb\n".encode()
    gfile.copy(f"{folder}/b/x.txt", f"{folder}/a.txt")
    assert gfile.listdir(folder) == ["a.txt", "b"]
    assert list(gfile.walk(folder)) == [(folder, ["b"], ["a.txt"]), (f"{folder}/b", [], ["x.txt"])]
    assert gfile.glob(f"{folder}/*/*.txt") == [f"{folder}/b/x.txt"]
    assert gfile.glob([f"{folder}/a.txt", f"{folder}/c.txt"]) == [f"{folder}/a.txt"]
    assert gfile.stat(f"{folder}/a.txt").length == 6
    with pytest.raises(FileExistsError):
        gfile.copy(f"{folder}/b/x.txt", f"{folder}/a.txt")
    gfile.rename(f"{folder}/b/x.txt", f"{folder}/a.txt", overwrite=True)
    gfile.rmtree(f"{folder}/b")
    assert not gfile.exists(f"{folder}/b")
    gfile.remove(f"{folder}/a.txt")
    assert gfile.isdir(folder)
    for call in (gfile.GFile, gfile.listdir):
        with pytest.raises(MissingFileError, match="there is no such"):
            call(f"{folder}/nothing")
    assert list(gfile.walk(f"{folder}/nothing")) == []


def test_files_behind_urls_are_files_too():
    gfile = tf.io.gfile
    with gfile.GFile("memory://names/x.txt", "w") as file:
        file.write("hello")
    assert gfile.listdir("memory://names") == ["x.txt"]
    with gfile.GFile("memory://names/x.txt") as file:
        assert file.read() == "hello"


def test_records_are_read_and_written(tmp_path):
    path = tmp_path / "x.tfrecord"
    with tf.io.TFRecordWriter(str(path)) as writer:
        for data in (b"a", b"b", b"c"):
            writer.write(data)
    records = tf.data.TFRecordDataset([path])
    assert [record.numpy() for record in records] == [b"a", b"b", b"c"]
    assert list(records.take(2).as_numpy_iterator()) == [b"a", b"b"]
    assert len(list(records.take(-1))) == 3


def test_text_and_bytes_are_converted():
    assert (tf.compat.as_text(b"a"), tf.compat.as_bytes("a"), tf.compat.as_bytes(b"a")) == (
        *("a", b"a", b"a"),
    )
    with pytest.raises(TypeError, match="expected text or bytes, got 3"):
        tf.compat.as_text(3)


def test_packages_are_imported_when_they_are_used():
    assert tfds.core.lazy_imports.PIL_Image.__name__ == "PIL.Image"
    assert tfds.core.utils.lazy_imports_utils.tensorflow.string == tf.string
    with pytest.raises(MissingDependencyError) as error:
        tfds.core.lazy_imports.not_a_package  # noqa: B018
    assert error.value.hint == "pip install not_a_package"


def test_small_functions():
    assert tfds.core.utils.bool_utils.parse_bool("True")
    with pytest.raises(ValueError, match="neither true nor false"):
        tfds.core.utils.bool_utils.parse_bool("maybe")
    calls = []
    remembered = tfds.core.utils.memoize()(calls.append)
    remembered(1)
    remembered(1)
    assert calls == [1]


def test_names_that_are_not_offered_say_what_to_use():
    with pytest.raises(NotOfferedError) as error:
        tf.image.decode_jpeg  # noqa: B018
    assert str(error.value).startswith(
        "featurekit's stand-in for TensorFlow does not offer tf.image"
    )
    assert not hasattr(tfds, "benchmark")
    assert not hasattr(tfds, "_private")


def test_text_encoders_are_named_but_not_offered():
    config = tfds.deprecated.text.TextEncoderConfig()
    assert tfds.features.Text(encoder_config=config) == tfds.features.Text()
    with pytest.raises(NotImplementedError, match="TFDS's text encoders are not offered"):
        tfds.deprecated.text.TextEncoderConfig(vocab_size=100)
    config.encoder = object()
    with pytest.raises(NotImplementedError, match="text is stored as text"):
        tfds.features.Text(encoder_config=config)
    metadata = tfds.visualization.GraphVisualizerMetadataDict("edges", nodes="n")
    assert metadata == {"edgelist_feature_name": "edges", "nodes": "n"}


def test_modules_are_pickled_by_name():
    pandas = tfds.core.utils.lazy_imports_utils.pandas
    again = pickle.loads(pickle.dumps((tfds.features, pandas)))
    assert again[0] is tfds.features
    assert again[1].__name__ == "pandas"
