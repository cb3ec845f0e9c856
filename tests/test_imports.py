"""What an import costs: no heavy package before it is needed."""

import subprocess
import sys

import pytest

HEAVY = (
    *("PIL", "simplejpeg", "soundfile", "av", "pyarrow", "pandas", "scipy", "awkward"),
    *("fsspec", "click", "tqdm", "array_record", "apache_beam", "tensorflow", "torch", "jax"),
    *("ml_dtypes", "pytest", "hypothesis", "unittest", "multiprocessing", "importlib.metadata"),
)


def modules_after(code):
    """The modules that are loaded after running some code in a process of its own."""
    script = f"{code}\nimport sys; print('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_import_featurekit_loads_almost_nothing():
    before, after = modules_after("pass"), modules_after("import featurekit")
    assert {name for name in after - before if name.startswith("featurekit")} == {
        "featurekit",
        "featurekit.lazy",
    }
    assert not {"numpy", "google.protobuf"} & after


@pytest.mark.parametrize(
    "name",
    [
        *("FeaturesDict", "Tensor", "Text", "ClassLabel", "Sequence", "Dataset", "Translation"),
        *("BBoxFeature", "Image", "LabeledImage", "Video", "Audio", "FeatureConnector"),
        *("GeneratorBasedBuilder", "DataSource", "load", "Version", "Split", "testing", "io"),
    ],
)
def test_a_public_name_loads_nothing_heavy(name):
    after = modules_after(f"import featurekit; featurekit.{name}")
    assert set(HEAVY) & after == set()


ROUND_TRIP = """
import numpy as np
import featurekit as fk
features = fk.FeaturesDict({
    "id": np.int64,
    "text": fk.Text(),
    "label": fk.ClassLabel(names=["a", "b"]),
    "boxes": fk.Sequence({"box": fk.BBoxFeature(), "score": np.float32}),
    "packed": fk.Tensor(shape=(None, 2), dtype=np.uint8, encoding="zlib"),
})
record = features.serialize_example({
    "id": 1, "text": "x", "label": "b", "boxes": [{"box": (0, 0, 1, 1), "score": 0.5}],
    "packed": [[1, 2]],
})
assert features.deserialize_example(record)["label"] == 1
assert fk.FeatureConnector.from_json(features.to_json()) is not None
"""

DATASET = """
import numpy as np, tempfile
import featurekit as fk
class Numbers(fk.GeneratorBasedBuilder):
    '''Numbers.'''
    VERSION = fk.Version("1.0.0")
    def _info(self):
        return fk.DatasetInfo(builder=self, features=fk.FeaturesDict({"n": np.int64}))
    def _split_generators(self, manager):
        return {"train": self._generate_examples()}
    def _generate_examples(self):
        for n in range(10):
            yield n, {"n": n}
with tempfile.TemporaryDirectory() as folder:
    Numbers(data_dir=folder).download_and_prepare()
    source = fk.load("numbers", split="train", data_dir=folder)
    assert sorted(example["n"] for example in source) == list(range(10))
"""


@pytest.mark.parametrize("code", [ROUND_TRIP, DATASET], ids=["round trip", "dataset"])
def test_simple_features_need_no_codec(code):
    after = modules_after(code)
    codecs = {"PIL", "simplejpeg", "soundfile", "av", "pyarrow", "tensorflow", "ml_dtypes"}
    assert codecs & after == set()
