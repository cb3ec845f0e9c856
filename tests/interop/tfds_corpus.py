"""Counts how many of the builder scripts that ship with TFDS run here unchanged.

    python tests/interop/tfds_corpus.py record corpus.json     # where TFDS is installed
    python tests/interop/tfds_corpus.py compare corpus.json    # needs TFDS's files only

The first writes down what TFDS says of each of its datasets that can be constructed offline:
features.json, the files of class names, texts, versions. The second imports the same scripts
with featurekit in TFDS's place, and says where it says something else.
"""

import collections
import importlib.util
import inspect
import json
import pathlib
import sys
import tempfile
import warnings

MAX_CONFIGS = 3


def tree():
    """The folder of TFDS's sources; TFDS is not imported."""
    return pathlib.Path(importlib.util.find_spec("tensorflow_datasets").origin).parent


def described(builder):
    """What a builder says of its dataset, as far as it goes to disk."""
    info = builder.info
    with tempfile.TemporaryDirectory() as folder:
        info.features.save_config(folder)
        files = {file.name: file.read_text() for file in pathlib.Path(folder).iterdir()}
    files["features.json"] = json.loads(files["features.json"])
    return {
        "files": files,
        "name": builder.name,
        "version": str(builder.version),
        "config": builder.builder_config and builder.builder_config.name,
        "description": info.description,
        "citation": info.citation,
        "homepage": info.homepage,
        "disable_shuffling": bool(info.disable_shuffling),
        "supervised_keys": _plain(info.supervised_keys),
    }


def _plain(keys):
    if isinstance(keys, (tuple, list)):
        return [_plain(key) for key in keys]
    return {name: _plain(key) for name, key in keys.items()} if hasattr(keys, "items") else keys


def record():
    """What TFDS says; for each dataset its file and class, and its first configs."""
    import tensorflow_datasets as tfds

    found = {}
    for name in tfds.list_builders(with_community_datasets=False):
        try:
            cls = tfds.builder_cls(name)
            configs = [config.name for config in cls.BUILDER_CONFIGS][:MAX_CONFIGS] or [None]
            entry = {
                "file": str(pathlib.Path(inspect.getfile(cls)).relative_to(tree())),
                "class": cls.__name__,
                "configs": [
                    described(cls(data_dir="/nonexistent", **({"config": c} if c else {})))
                    for c in configs
                ],
            }
        except Exception as error:  # it needs the network, or a package
            print(f"left out: {name}: {type(error).__name__}", file=sys.stderr)
            continue
        found[name] = entry
    return found


def compare(name, entry):
    """What differs for one dataset; None where nothing does."""
    from featurekit.builders.loading import import_file

    try:
        cls = getattr(import_file(tree() / entry["file"], tfds_names=True), entry["class"])
    except Exception as error:
        return f"import: {type(error).__name__}: {error}"
    for expected in entry["configs"]:
        try:
            got = described(cls(data_dir="/nonexistent", config=expected["config"]))
        except Exception as error:
            return f"construct: {type(error).__name__}: {error}"
        for field, value in expected.items():
            if got[field] != value:
                return f"{field}: expected {value!r:.200}, got {got[field]!r:.200}"
    return None


def main(command, path):
    """Run a command; exits with 1 where scripts differ."""
    warnings.simplefilter("ignore")
    if command == "record":
        pathlib.Path(path).write_text(json.dumps(record(), indent=1, sort_keys=True))
        return 0
    corpus = json.loads(pathlib.Path(path).read_text())
    differences = {name: compare(name, entry) for name, entry in corpus.items()}
    found = {name: text for name, text in differences.items() if text is not None}
    print(json.dumps({"total": len(corpus), "different": found}, indent=1))
    reasons = collections.Counter(text.partition(":")[0] for text in found.values())
    print(
        f"{len(corpus) - len(found)} of {len(corpus)} are the same; {dict(reasons)}",
        file=sys.stderr,
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
