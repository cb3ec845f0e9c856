"""Reads what TFDS's datasets in `tests/data/tfds` should give; see the README there."""

import base64
import functools
import io
import json
import pathlib

import numpy as np

import featurekit as fk
from featurekit.io.ragged import RaggedTensor

ROOT = pathlib.Path(__file__).parent.parent / "data" / "tfds"

# What stands for an exception of TFDS: its class name and text.
TfdsError = type("TfdsError", (tuple,), {})


class Expected:
    """What one dataset should give."""

    def __init__(self, entry):
        self.entry = entry
        self.name = entry["name"]
        self.topic = entry["topic"]
        path = ROOT / entry["expected"]
        self.json = json.loads(path.read_text(encoding="utf-8"))
        self.topic_dir = path.parent
        self.folder = path.parent / self.json["dataset"]["path"]

    @functools.cached_property
    def arrays(self):
        path = ROOT / self.entry["npz"] if self.entry["npz"] else None
        return dict(np.load(path)) if path else {}

    def value(self, node):
        return _value(node, self.arrays, self.topic_dir)

    def inputs(self, split):
        """`(key, example)` as they were given, in the order of generation."""
        rows = self.json["inputs"][split]
        return [(self.value(row["key"]), self.value(row["example"])) for row in rows]

    def examples(self, split):
        """What TensorFlow reads, in the order of the shards; what was given where it cannot."""
        nodes = self.json["examples"][split]
        if isinstance(nodes, dict):
            inputs = self.inputs(split)
            written = self.json["written"][split]["input_index"]
            # A sound file that was given as a path: the samples in it, by another decoder.
            samples = self.json.get("soundfile_values_by_id", {}).get(split)
            if samples:
                return [inputs[i][1] | {"a": self.value(samples[i])} for i in written]
            return [inputs[index][1] for index in written]
        examples = [self.value(node) for node in nodes]
        order = self.json.get("read_order", {}).get(split, {})
        if not isinstance(order.get("default"), list):
            return examples
        by_id = dict(zip(order["default"], examples, strict=True))
        return [by_id[name] for name in order["sequential"]]

    def tensorflow_reads(self, split):
        return not isinstance(self.json["examples"][split], dict)


def datasets(*topics):
    """The datasets of some topics, or of all, that are in the folder."""
    index = json.loads((ROOT / "index.json").read_text())["datasets"]
    return [
        Expected(entry)
        for entry in index
        if (not topics or entry["topic"] in topics) and (ROOT / entry["expected"]).exists()
    ]


def table(name):
    """One table of behaviour."""
    return json.loads((ROOT / "tables" / f"{name}.json").read_text(encoding="utf-8"))


def value(node):
    """The value of a node of a table."""
    return _value(node, {}, ROOT)


def _bytes(item, arrays):
    return arrays[item["npz"]].tobytes() if isinstance(item, dict) else base64.b64decode(item)


def _value(node, arrays, folder):
    def inner(item):
        return _value(item, arrays, folder)

    kind = node["t"]
    if kind == "dict":
        return {key: inner(item) for key, item in node["v"].items()}
    if kind in ("list", "dataset"):
        return [inner(item) for item in node["v"]]
    if kind == "tuple":
        return tuple(map(inner, node["v"]))
    if kind == "nd":
        return _array(node, arrays)
    if kind == "ragged":
        return _ragged(node, arrays)
    if kind == "float":
        return float(np.frombuffer(bytes.fromhex(node["hex"]), "<f8")[0])
    if kind == "bytes":
        return _bytes(node["b64"], arrays)
    if kind == "none":
        return None
    if kind == "bbox":
        return fk.BBox(*map(inner, node["v"]))
    if kind == "file":
        return str(folder / node["path"])
    if kind == "fileobj":
        return io.BytesIO((folder / node["path"]).read_bytes())
    if kind == "complex":
        return complex(node["v"])
    if kind == "special":
        return node
    if kind == "error":
        return TfdsError((node["cls"], node["msg"]))
    return node["v"]


def _array(node, arrays):
    shape, dtype = tuple(node["shape"]), node["dtype"]
    if dtype == "string":
        items = node["b64"]
        if isinstance(items, dict):
            items = [items]
        flat = np.empty(len(items), object)
        flat[:] = [_bytes(item, arrays) for item in items]
        return flat.reshape(shape) if shape else flat[0]
    numpy_dtype = np.dtype("uint16" if dtype == "bfloat16" else dtype)
    if "npz" in node:
        array = arrays[node["npz"]]
    else:
        stored = np.frombuffer(bytes.fromhex(node["hex"]), numpy_dtype.newbyteorder("<"))
        array = stored.astype(numpy_dtype)
    if dtype == "bfloat16":
        import ml_dtypes

        array = array.view(ml_dtypes.bfloat16)
    return array.reshape(shape)


def _ragged(node, arrays):
    values = _array(node["flat"], arrays)
    for lengths in reversed(node["row_lengths"]):
        values = RaggedTensor.from_row_lengths(values, lengths)
    return values


def difference(expected, got, path=""):
    """Where two decoded values differ, to the last bit; None where they are the same."""
    if isinstance(expected, dict):
        if not isinstance(got, dict) or expected.keys() != got.keys():
            return f"{path}: expected keys {sorted(expected)}, got {got!r:.200}"
        pairs = ((difference(expected[k], got[k], f"{path}.{k}")) for k in expected)
        return next(filter(None, pairs), None)
    if isinstance(expected, RaggedTensor):
        same = isinstance(got, RaggedTensor) and expected.to_list() == got.to_list()
        same = same and expected.flat_values.dtype == got.flat_values.dtype
        return None if same else f"{path}: expected {expected!r:.200}, got {got!r:.200}"
    if isinstance(expected, (np.ndarray, np.generic)):
        return _array_difference(expected, got, path)
    if not isinstance(expected, (str, bytes)) and hasattr(expected, "__getitem__"):
        if not hasattr(got, "__len__") or len(expected) != len(got):
            return f"{path}: expected {len(expected)} elements, got {got!r:.200}"
        pairs = (
            difference(e, g, f"{path}[{i}]")
            for i, (e, g) in enumerate(zip(expected, got, strict=True))
        )
        return next(filter(None, pairs), None)
    same = type(expected) is type(got) and (expected == got or expected != expected)
    return None if same else f"{path}: expected {expected!r:.200}, got {got!r:.200}"


def _array_difference(expected, got, path):
    if not isinstance(got, (np.ndarray, np.generic)):
        return f"{path}: expected an array of {expected.dtype}, got {got!r:.200}"
    if expected.dtype != got.dtype or expected.shape != got.shape:
        return f"{path}: expected {expected.dtype} {expected.shape}, got {got.dtype} {got.shape}"
    if expected.dtype == object:
        same = expected.tolist() == got.tolist()
    else:
        same = expected.tobytes() == got.tobytes()
    return None if same else f"{path}: expected {expected!r:.200}, got {got!r:.200}"


def as_input(value):
    """A decoded value in the plain form that inputs have: lists, numbers, bytes."""
    if isinstance(value, dict):
        return {key: as_input(item) for key, item in value.items()}
    if isinstance(value, RaggedTensor):
        return value.to_list()
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bytes, int, float, type(None))):
        return value
    return [as_input(item) for item in value]
