"""featurekit, TensorFlow and TFDS in one process, imported in any order."""

import importlib.util
import itertools
import subprocess
import sys

import pytest

CODE = {
    "tensorflow": "import tensorflow as tf; tf.train.Example()",
    "tensorflow_datasets": "import tensorflow_datasets as tfds; tfds.features.Text()",
    "featurekit": "from featurekit.io import make_example, serialize; make_example({'a': 1})",
}
CHECK = """
import tensorflow as tf
from featurekit.io import Example, make_example, serialize

data = serialize(make_example({"a": 1, "b": [0.5], "c": "text"}))
theirs = tf.train.Example.FromString(data)
assert theirs.features.feature["c"].bytes_list.value == [b"text"]
assert Example.FromString(theirs.SerializeToString(deterministic=True)).SerializeToString(
    deterministic=True
) == data
"""


@pytest.mark.parametrize("order", list(itertools.permutations(CODE)), ids="-".join)
def test_all_orders_work(order):
    for module in order:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    code = "\n".join([*(CODE[module] for module in order), CHECK])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
