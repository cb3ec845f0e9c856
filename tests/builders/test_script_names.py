"""TFDS scripts, run unchanged where TFDS is not installed."""

import importlib.util
import sys
import textwrap

import pytest

import featurekit as fk
from featurekit.builders.loading import find_builder_class, import_file
from featurekit.errors import NotOfferedError

SCRIPT = '''
    """A dataset."""

    import tensorflow_datasets as tfds
    from tensorflow_datasets.core.utils.lazy_imports_utils import tensorflow as tf

    class Builder(tfds.core.GeneratorBasedBuilder):
        VERSION = tfds.core.Version("1.0.0")
        RELEASE_NOTES = {"1.0.0": "Initial release."}

        def _info(self):
            return self.dataset_info_from_configs(
                features=tfds.features.FeaturesDict({
                    "text": tfds.features.Text(),
                    "number": tf.int32,
                    "label": tfds.features.ClassLabel(names=["no", "yes"]),
                }),
                supervised_keys=("text", "label"),
            )

        def _split_generators(self, dl_manager):
            from tensorflow_datasets.public_api import Split
            return {Split.TRAIN: self._generate_examples("FOLDER")}

        def _generate_examples(self, folder):
            for path in sorted(tf.io.gfile.glob(f"{folder}/*.txt")):
                with tf.io.gfile.GFile(path) as file:
                    text = file.read()
                yield path, {"text": text, "number": len(text), "label": "yes"}
'''


def write(folder, script=SCRIPT, **files):
    folder.mkdir(exist_ok=True)
    (folder / "__init__.py").write_text("")
    path = folder / f"{folder.name}_dataset_builder.py"
    path.write_text(textwrap.dedent(script).replace("FOLDER", str(folder)))
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(textwrap.dedent(text))
    return path


def test_a_script_runs_unchanged(tmp_path):
    path = write(tmp_path / "texts", a__txt="one", b__txt="three")
    builder = find_builder_class(str(path), tfds_names=True)(data_dir=tmp_path)
    builder.download_and_prepare()
    assert builder.name == "texts"
    numbers = {e["text"]: int(e["number"]) for e in builder.as_dataset("train")}
    assert numbers == {b"one": 3, b"three": 5}
    pairs = list(builder.as_dataset("train", as_supervised=True))
    assert sorted(text for text, _ in pairs) == [b"one", b"three"]
    assert builder.info.release_notes == {"1.0.0": "Initial release."}


def test_one_changed_line_is_enough_as_well(tmp_path):
    script = SCRIPT.replace("tensorflow_datasets", "featurekit.tfds")
    path = write(tmp_path / "texts_here", script, a__txt="one")
    builder = find_builder_class(str(path), tfds_names=False)(data_dir=tmp_path)
    builder.download_and_prepare()
    assert [e["text"] for e in builder.as_data_source("train")] == [b"one"]


def test_other_libraries_find_no_tensorflow(tmp_path, monkeypatch):
    library = tmp_path / "site"
    library.mkdir()
    (library / "probing_library.py").write_text(
        "import importlib.util\n"
        "try:\n    import tensorflow as tf\nexcept ImportError:\n    tf = None\n"
        "fake = tf is not None and 'featurekit' in str(tf)\n"
        "spec = importlib.util.find_spec('tensorflow')\n"
    )
    monkeypatch.syspath_prepend(library)
    installed = importlib.util.find_spec("tensorflow")
    before = {name for name in sys.modules if name.startswith("tensorflow")}
    script = "import probing_library\nimport tensorflow as tf\nlibrary = probing_library\n"
    module = import_file(write(tmp_path / "probes", script), tfds_names=True)
    assert module.tf.string.name == "string"
    assert not module.library.fake
    assert (module.library.spec is None) == (installed is None)
    if installed is None:
        assert {name for name in sys.modules if name.startswith("tensorflow")} == before


def test_modules_beside_the_script_have_the_names_too(tmp_path):
    helper = """
        import tensorflow_datasets.public_api as tfds
        FEATURES = tfds.features.FeaturesDict({"x": tfds.features.Scalar("int64")})
    """
    script = """
        from helped import helper
        from helped.helper import FEATURES
        from . import helper as same
    """
    path = write(tmp_path / "helped", script, helper__py=helper)
    module = import_file(path, tfds_names=True)
    assert module.helper is module.same
    assert isinstance(module.FEATURES, fk.FeaturesDict)


def test_modules_of_tfds_are_found_beside_the_script(tmp_path):
    script = """
        from tensorflow_datasets.translate import wmt_copied
        from tensorflow_datasets.translate.wmt_copied import NAME
        value = (wmt_copied.NAME, NAME, wmt_copied.tfds.Split.TRAIN)
    """
    helper = "import tensorflow_datasets.public_api as tfds\nNAME = 'wmt'\n"
    path = write(tmp_path / "copied", script, wmt_copied__py=helper)
    assert import_file(path, tfds_names=True).value == ("wmt", "wmt", "train")


def test_scripts_in_the_sources_of_tfds_find_their_neighbours_there(tmp_path):
    tree = tmp_path / "tensorflow_datasets"
    (tree / "ranking").mkdir(parents=True)
    (tree / "__init__.py").write_text("raise ImportError('the packages are not imported')")
    (tree / "ranking" / "__init__.py").write_text("raise ImportError('nor is this one')")
    (tree / "ranking" / "parser.py").write_text("VALUE = 7\n")
    (tree / "ranking" / "names.txt").write_text("a\nb\n")
    script = tree / "ranking" / "web.py"
    script.write_text(
        "import tensorflow_datasets.public_api as tfds\n"
        "from tensorflow_datasets.ranking import parser\n"
        "from tensorflow_datasets.ranking.parser import VALUE\n"
        "label = tfds.features.ClassLabel(names_file=tfds.core.tfds_path('ranking/names.txt'))\n"
    )
    module = import_file(script, tfds_names=True)
    assert module.VALUE == module.parser.VALUE == 7
    assert module.label.names == ["a", "b"]
    assert import_file(script, tfds_names=True) is module


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "from tensorflow_datasets.datasets.imagenet2012 import imagenet_common",
            "featurekit.tfds does not offer tfds.datasets\n"
            "  hint: copy this module of TFDS's datasets beside the script, or install TFDS",
        ),
        (
            "from tensorflow_datasets.core.transform import apply_fn",
            "featurekit.tfds does not offer tfds.core.transform\n"
            "  hint: run the script with TFDS installed, or use the names of featurekit itself",
        ),
        (
            "import tensorflow.keras",
            "featurekit's stand-in for TensorFlow does not offer tf.keras\n"
            "  hint: use NumPy in its place, or run the script with TFDS and TensorFlow installed",
        ),
        (
            "from tensorflow_datasets import laod",
            "featurekit.tfds does not offer tfds.laod; did you mean 'load'?\n"
            "  hint: run the script with TFDS installed, or use the names of featurekit itself",
        ),
    ],
)
def test_what_is_not_offered_is_named(tmp_path, line, message):
    path = write(tmp_path / "wants", line + "\n")
    if importlib.util.find_spec("tensorflow_datasets"):
        pytest.skip("TFDS is installed, and has these modules")
    with pytest.raises(ImportError) as error:
        import_file(path, tfds_names=True)
    assert str(error.value) == f"{message}\n  at: {path}"


def test_names_used_later_are_named_as_well():
    with pytest.raises(NotOfferedError) as error:
        fk.tfds.benchmark  # noqa: B018
    assert str(error.value) == (
        "featurekit.tfds does not offer tfds.benchmark\n  hint: time the loop that reads it"
    )


def test_packages_that_come_with_tfds_have_a_hint(tmp_path):
    path = write(tmp_path / "needs_six", "import six_is_not_here\n")
    with pytest.raises(ModuleNotFoundError) as error:
        import_file(path, tfds_names=True)
    assert not hasattr(error.value, "__notes__")  # it is none of them


def test_a_star_takes_all_that_is_offered(tmp_path):
    path = write(tmp_path / "star", "from tensorflow_datasets.core.features import *\n")
    assert import_file(path, tfds_names=True).ClassLabel is fk.ClassLabel
