"""Makes features from the neutral descriptions in `tests/data/tfds`; see the README there."""

import pathlib
import tempfile

import ml_dtypes
import numpy as np

import featurekit as fk
from featurekit.dtypes import as_dtype

DTYPES = {
    "string": np.str_,
    "object": np.object_,
    "bytes": np.bytes_,
    "bfloat16": ml_dtypes.bfloat16,
}


def dtype(name):
    """A dtype as a builder would write it."""
    name = name.removeprefix("tf:")
    return DTYPES[name] if name in DTYPES else np.dtype(name).type


def dtypes(names):
    """NumPy dtypes by their names, nested like the features."""
    if isinstance(names, dict):
        return {key: dtypes(name) for key, name in names.items()}
    return as_dtype(names)


def feature(schema):
    """The feature that a schema describes; arguments that it leaves out are the defaults."""
    with tempfile.TemporaryDirectory() as folder:
        return _feature(schema, pathlib.Path(folder))


def _feature(schema, folder):
    arguments = {
        name: _argument(name, value, folder) for name, value in schema.items() if name != "kind"
    }
    if schema["kind"] == "dtype":
        return fk.FeaturesDict({"x": arguments["dtype"]})["x"]
    if schema["kind"] == "dict":
        return fk.FeaturesDict({"x": arguments["features"]})["x"]
    first = [
        arguments.pop(name) for name in ("features", "feature", "languages") if name in arguments
    ]
    return getattr(fk, schema["kind"])(*first, **arguments)


def _argument(name, value, folder):
    if name == "dtype":
        return dtype(value)
    if name == "feature":
        return _feature(value, folder)
    if name == "features":
        return {key: _feature(item, folder) for key, item in value.items()}
    if name == "shape":
        return tuple(value)
    if name == "doc" and isinstance(value, dict):
        return fk.Documentation(**value)
    if isinstance(value, dict) and "file_lines" in value:
        path = folder / "names.txt"
        path.write_text("\n".join(value["file_lines"]), encoding="utf-8")
        return path
    return value
