"""Differences between versions: every change named, its class, and the bump it requires."""

import json
import subprocess

import numpy as np
import pytest
from click.testing import CliRunner

import featurekit as fk
from featurekit.cli import main
from featurekit.connectors.opaque import Opaque
from featurekit.errors import BuildError, InvalidArgumentError, MissingFileError
from featurekit.schema import diff


def tensor(**changes):
    return fk.Tensor(**{"shape": (2,), "dtype": np.int64} | changes)


def label(*names):
    return fk.ClassLabel(names=names)


class Own(fk.FeatureConnector):
    def __init__(self, size=1):
        super().__init__()
        self.size = size

    def get_tensor_info(self):
        return fk.TensorInfo((), np.int64)

    def encode_example(self, value):
        return value

    def to_json_content(self):
        return {"size": self.size}


NOTHING, DOCS, SAME, MORE, BREAKS = (
    ("IDENTICAL", "NONE"),
    ("DOCUMENTATION", "PATCH"),
    ("COMPATIBLE", "PATCH"),
    ("COMPATIBLE", "MINOR"),
    ("BREAKING", "MAJOR"),
)

# What the feature `x` was and is, the changes, and what they mean.
PAIRS = {
    "nothing": (tensor(), tensor(), [], NOTHING),
    "nothing, of all kinds": (
        {"a": fk.Image(), "b": fk.Sequence({"c": fk.Text()}), "d": fk.Video(), "e": fk.Audio()},
        {"a": fk.Image(), "b": fk.Sequence({"c": fk.Text()}), "d": fk.Video(), "e": fk.Audio()},
        [],
        NOTHING,
    ),
    "description": (tensor(doc="a"), tensor(doc="b"), ["documentation"], DOCS),
    "value range": (
        tensor(doc=fk.Documentation("a", "0..1")),
        tensor(doc=fk.Documentation("a", "0 or 1")),
        ["documentation"],
        DOCS,
    ),
    "dtype": (tensor(), tensor(dtype=np.int32), ["dtype"], BREAKS),
    "dtype of an image": (fk.Image(), fk.Image(dtype=np.uint16), ["dtype"], BREAKS),
    "shape": (tensor(), tensor(shape=(3,)), ["shape"], BREAKS),
    "rank": (tensor(), tensor(shape=(1, 2)), ["shape"], BREAKS),
    "shape of an image": (fk.Image(), fk.Image(shape=(None, None, 1)), ["shape"], BREAKS),
    "shape of a video": (fk.Video(), fk.Video(shape=(5, None, None, 3)), ["shape"], BREAKS),
    "length of a sequence": (
        fk.Sequence(np.int64),
        fk.Sequence(np.int64, length=3),
        ["shape"],
        BREAKS,
    ),
    "encoding of an array": (tensor(), tensor(encoding="zlib"), ["encoding"], SAME),
    "encoding of float64": (
        tensor(dtype=np.float64),
        tensor(dtype=np.float64, encoding="bytes"),
        ["encoding"],
        BREAKS,
    ),
    "encoding of float64 to another": (
        tensor(dtype=np.float64, encoding="zlib"),
        tensor(dtype=np.float64, encoding="bytes"),
        ["encoding"],
        SAME,
    ),
    "png by name": (fk.Image(), fk.Image(encoding_format="png"), [], NOTHING),
    "png to jpeg": (fk.Image(), fk.Image(encoding_format="jpeg"), ["encoding"], BREAKS),
    "colormap": (
        fk.Image(shape=(None, None, 1)),
        fk.Image(shape=(None, None, 1), use_colormap=True),
        ["documentation"],
        DOCS,
    ),
    "optional": (tensor(), tensor(optional=True), ["optional"], BREAKS),
    "no more optional": (tensor(optional=True), tensor(), ["optional"], SAME),
    "bounds added": (tensor(), tensor(minimum=0), ["bounds"], SAME),
    "bounds removed": (tensor(maximum=9), tensor(), ["bounds"], MORE),
    "bounds widened": (tensor(maximum=9), tensor(maximum=10), ["bounds"], MORE),
    "bounds narrowed": (tensor(minimum=0), tensor(minimum=1), ["bounds"], SAME),
    "labels appended": (label("a", "b"), label("a", "b", "c"), ["labels-appended"], MORE),
    "label renamed": (label("a", "b"), label("a", "c"), ["labels-renamed"], BREAKS),
    "labels reordered": (label("a", "b"), label("b", "a"), ["labels-reordered"], BREAKS),
    "label inserted": (label("a", "b"), label("a", "c", "b"), ["labels-inserted"], BREAKS),
    "label removed": (label("a", "b", "c"), label("a", "c"), ["labels-removed"], BREAKS),
    "last label removed": (label("a", "b", "c"), label("a", "b"), ["labels-removed"], BREAKS),
    "labels replaced and reordered": (
        label("a", "b", "c"),
        label("b", "a", "d"),
        ["labels-inserted", "labels-removed", "labels-reordered"],
        BREAKS,
    ),
    "more classes without names": (
        fk.ClassLabel(num_classes=3),
        fk.ClassLabel(num_classes=4),
        ["labels-appended"],
        MORE,
    ),
    "fewer classes without names": (
        fk.ClassLabel(num_classes=3),
        fk.ClassLabel(num_classes=2),
        ["labels-removed"],
        BREAKS,
    ),
    "classes named": (fk.ClassLabel(num_classes=2), label("a", "b"), ["labels-named"], SAME),
    "names lost": (label("a", "b"), fk.ClassLabel(num_classes=2), ["labels-renamed"], BREAKS),
    "labels of an image": (
        fk.LabeledImage(labels=["a"], shape=(None, None, 1)),
        fk.LabeledImage(labels=["a", "b"], shape=(None, None, 1)),
        ["labels-appended"],
        MORE,
    ),
    "feature added": ({"a": np.int64}, {"a": np.int64, "b": np.int32}, ["feature-added"], MORE),
    "feature removed": (
        {"a": np.int64, "b": np.int32},
        {"a": np.int64},
        ["feature-removed"],
        BREAKS,
    ),
    "feature renamed": ({"a": np.int64}, {"b": np.int64}, ["feature-renamed"], BREAKS),
    "feature replaced": (
        {"a": np.int64},
        {"b": np.int32},
        ["feature-removed", "feature-added"],
        BREAKS,
    ),
    "feature added in a sequence": (
        fk.Sequence({"a": np.int64}),
        fk.Sequence({"a": np.int64, "b": fk.Text()}),
        ["feature-added"],
        MORE,
    ),
    "type": (fk.Text(), fk.ClassLabel(num_classes=2), ["type"], BREAKS),
    "number to dict": (np.int64, {"a": np.int64}, ["type"], BREAKS),
    "number to label": (fk.Scalar(np.int64), label("a"), ["type"], SAME),
    "label to number": (label("a"), fk.Scalar(np.int64), ["type"], BREAKS),
    "tensor to scalar": (tensor(shape=()), fk.Scalar(np.int64), ["type"], SAME),
    "text to bytes": (fk.Text(), tensor(shape=(), dtype=np.str_), ["type"], SAME),
    "sequence to dataset": (fk.Sequence(np.int64), fk.Dataset(np.int64), ["type"], BREAKS),
    "sequence to tensor": (fk.Sequence(np.int64), tensor(shape=(None,)), ["type"], SAME),
    "translation to dict": (
        fk.Translation(["de", "en"]),
        {"de": fk.Text(), "en": fk.Text()},
        ["type"],
        SAME,
    ),
    "language added": (
        fk.Translation(["de", "en"]),
        fk.Translation(["de", "en", "fr"]),
        ["feature-added"],
        MORE,
    ),
    "language allowed": (
        fk.TranslationVariableLanguages(languages=["de"]),
        fk.TranslationVariableLanguages(languages=["de", "en"]),
        ["languages"],
        MORE,
    ),
    "language no more allowed": (
        fk.TranslationVariableLanguages(languages=["de", "en"]),
        fk.TranslationVariableLanguages(languages=["de"]),
        ["languages"],
        BREAKS,
    ),
    "sample rate": (
        fk.Audio(sample_rate=8000),
        fk.Audio(sample_rate=16000),
        ["sample-rate"],
        BREAKS,
    ),
    "audio stored as files": (fk.Audio(), fk.Audio(lazy_decode=True), ["encoding"], SAME),
    "format of boxes": (
        fk.BBoxFeature(),
        fk.BBoxFeature(bbox_format="XYXY"),
        ["bbox-format"],
        BREAKS,
    ),
    "frames of a video": (
        fk.Video(),
        fk.Video(ffmpeg_extra_args=["-r", "5"]),
        ["frames"],
        BREAKS,
    ),
    "connector of an author": (Own(1), Own(2), ["argument"], BREAKS),
    "several": (
        {"a": label("x"), "b": tensor(doc="old"), "c": fk.Text()},
        {"a": label("x", "y"), "b": tensor(doc="new"), "c": fk.Text(), "d": fk.Text()},
        ["feature-added", "labels-appended", "documentation"],
        MORE,
    ),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_pairs_of_schemas(pair):
    old, new, kinds, (level, bump) = PAIRS[pair]
    found = diff(fk.FeaturesDict({"x": old}), fk.FeaturesDict({"x": new}))
    assert [change.kind for change in found.changes] == kinds
    assert (found.level.name, found.bump.name) == (level, bump)
    json.dumps(found.as_json(), default=list)


def test_there_are_enough_pairs():
    assert len(PAIRS) >= 40


def test_messages():
    old = {
        "objects": fk.Sequence({"label": label("a", "b"), "size": np.int32}),
        "shape": tensor(),
        "gone": fk.Text(),
    }
    new = {
        "objects": fk.Sequence({"label": label("a", "c"), "size": np.int64}),
        "shape": tensor(shape=(None, 3)),
        "image": fk.Image(),
    }
    found = diff(fk.FeaturesDict(old), fk.FeaturesDict(new))
    assert {(change.where, change.message) for change in found.changes} == {
        ("gone", "the feature was removed: Text of string []"),
        ("image", "a feature was added: Image of uint8 [None, None, 3]"),
        ("objects[].label", "classes were renamed: 'b' is 'c'"),
        ("objects[].size", "dtype was 'int32', and is 'int64'"),
        ("shape", "shape was [2], and is [None, 3]"),
    }


# Whole datasets.


def write(folder, version, train=4, **options):
    features = options.pop("features", fk.FeaturesDict({"x": np.int64, "y": label("a", "b")}))
    splits = {"train": [{"x": i, "y": 0} for i in range(train)], "test": [{"x": 9, "y": 1}]}
    splits |= options.pop("splits", {})
    splits = {name: rows for name, rows in splits.items() if rows}
    return fk.write_dataset(
        "pets", splits, features, folder, version=version, quiet=True, **options
    ).data_dir


OPTIONS = {
    "nothing": ({}, [], NOTHING),
    "description": ({"description": "new"}, [("documentation", "description")], DOCS),
    "license": ({"license": "MIT"}, [("documentation", "license")], DOCS),
    "citation": ({"citation": "@x"}, [("documentation", "citation")], DOCS),
    "examples": ({"train": 5}, [("example-count", "split train")], BREAKS),
    "split removed": ({"splits": {"test": []}}, [("split-removed", "split test")], BREAKS),
    "split added": (
        {"splits": {"more": [{"x": 1, "y": 1}]}},
        [("split-added", "split more")],
        MORE,
    ),
    "shards": (
        {"num_shards": 2, "splits": {"test": [{"x": 9, "y": 1}, {"x": 9, "y": 1}]}},
        [("shards", "split train"), ("example-count", "split test")],
        BREAKS,
    ),
    "supervised keys": (
        {"supervised_keys": ("x", "y")},
        [("supervised-keys", "supervised keys")],
        MORE,
    ),
    "order": ({"disable_shuffling": True}, [("order", "disable_shuffling")], BREAKS),
    "metadata": ({"metadata": {"mean": 1}}, [("metadata", "metadata['mean']")], MORE),
    "bytes": (
        {"splits": {"test": [{"x": 10**9, "y": 1}]}},
        [("num-bytes", "split test")],
        SAME,
    ),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_datasets(tmp_path, case):
    options, changes, (level, bump) = OPTIONS[case]
    found = diff(write(tmp_path / "old", "1.0.0"), write(tmp_path / "new", "1.0.0", **options))
    assert [(change.kind, change.where) for change in found.changes] == changes
    assert (found.level.name, found.bump.name) == (level, bump)


@pytest.mark.parametrize(
    ("options", "version", "required", "enough"),
    [
        ({}, "1.2.3", "1.2.3", True),
        ({"description": "new"}, "1.2.3", "1.2.4", False),
        ({"description": "new"}, "1.2.4", "1.2.4", True),
        ({"metadata": {"mean": 1}}, "1.2.4", "1.3.0", False),
        ({"metadata": {"mean": 1}}, "1.3.0", "1.3.0", True),
        ({"train": 5}, "1.9.9", "2.0.0", False),
        ({"train": 5}, "2.0.0", "2.0.0", True),
        ({"train": 5}, "3.1.0", "2.0.0", True),
        ({}, "1.0.0", "1.2.3", False),
    ],
)
def test_version(tmp_path, options, version, required, enough):
    old = write(tmp_path / "old", "1.2.3")
    found = diff(old, write(tmp_path / "new", version, **options))
    assert str(found.required_version) == required
    assert found.version_is_enough is enough


def test_features_state_no_version(tmp_path):
    folder = write(tmp_path, "1.0.0")
    found = diff(f"{folder}/features.json", folder)
    assert found.changes == ()
    assert found.required_version is None
    with pytest.raises(InvalidArgumentError, match=r"^a file of features states no version"):
        _ = found.version_is_enough


# Sources.

BUILDER = """\
import numpy as np
import featurekit as fk
from names import NAMES


class Pets(fk.GeneratorBasedBuilder, skip_registration=True):
    VERSION = fk.Version("{version}")

    def _info(self):
        return fk.DatasetInfo(builder=self, features=fk.FeaturesDict({{
            "x": np.int64, "y": fk.ClassLabel(names=NAMES)}}))

    def _split_generators(self, dl_manager):
        return {{"train": self._generate_examples()}}

    def _generate_examples(self):
        yield 0, {{"x": 0, "y": 0}}
"""


def write_builder(folder, version, names):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "names.py").write_text(f"NAMES = {names}\n")
    path = folder / "pets_dataset_builder.py"
    path.write_text(BUILDER.format(version=version))
    return path


def test_builder_files_of_one_name(tmp_path):
    old = write_builder(tmp_path / "a" / "pets", "1.0.0", ["a", "b"])
    new = write_builder(tmp_path / "b" / "pets", "1.0.1", ["a", "b", "c"])
    for sources in ((old, new), (old.parent, new.parent)):
        found = diff(*sources)
        assert [change.kind for change in found.changes] == ["labels-appended"]
        assert not found.version_is_enough
    # A builder that was not run has no splits to compare.
    found = diff(write(tmp_path, "1.0.0"), old)
    assert [change.kind for change in found.changes] == []


@pytest.fixture
def repository(tmp_path, monkeypatch):
    root = tmp_path / "repository"
    root.mkdir()
    monkeypatch.chdir(root)
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "x")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "x")
    git("init", "-q")
    return root


def git(*arguments):
    subprocess.run(["git", *arguments], check=True)


def commit(message):
    git("add", ".")
    git("commit", "-q", "-m", message)


def test_git_revisions(repository, monkeypatch):
    folder = write(repository / "data", "1.0.0")
    builder = write_builder(repository / "pets", "1.0.0", ["a", "b"])
    commit("old")
    write(
        repository / "data",
        "1.0.0",
        overwrite=True,
        features=fk.FeaturesDict({"x": np.int64, "y": label("a", "c")}),
    )
    write_builder(repository / "pets", "1.0.0", ["a", "b", "c"])
    commit("new")
    renamed, appended = ["labels-renamed"], ["labels-appended"]
    data = "data/pets/1.0.0"
    cases = [
        (f"HEAD~1:{data}", folder, renamed),
        (f"HEAD~1:{data}", f"HEAD:{data}/", renamed),
        (f"HEAD~1:{data}/features.json", f"{folder}/features.json", renamed),
        ("HEAD~1:pets/pets_dataset_builder.py", builder, appended),
        ("HEAD~1:pets", builder.parent, appended),
        ("HEAD:pets", builder.parent, []),
    ]
    for old, new, kinds in cases:
        assert [change.kind for change in diff(old, new).changes] == kinds
    monkeypatch.chdir(repository / "data")
    assert [c.kind for c in diff("HEAD~1:./pets/1.0.0", "pets/1.0.0").changes] == renamed
    assert [c.kind for c in diff(f"HEAD~1:{data}", "pets/1.0.0").changes] == renamed


def test_unknown_sources(repository):
    with pytest.raises(MissingFileError, match=r"^there is no such folder or file"):
        diff("nowhere", "nowhere")
    with pytest.raises(InvalidArgumentError) as caught:
        diff("HEAD~7:data", "nowhere")
    assert "git does not give 'HEAD~7:data': fatal:" in str(caught.value)
    (repository / "empty").mkdir()
    with pytest.raises(MissingFileError, match=r"^the folder has no builder"):
        diff("empty", "empty")


def test_builder_that_ends_the_process(tmp_path):
    path = tmp_path / "pets.py"
    path.write_text("import os\nos._exit(3)\n")
    with pytest.raises(BuildError, match=r"^importing the builder ended the process"):
        diff(path, path)


# The command.


def run(*arguments):
    result = CliRunner().invoke(main, ["diff", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a", "1.0.0")
    features = fk.FeaturesDict({"x": np.int32, "y": label("a", "b"), "z": np.int64})
    rows = [{"x": 1, "y": 0, "z": 0}]
    splits = {"train": rows * 4, "test": rows}
    write(tmp_path / "b", "1.1.0", features=features, splits=splits, description="More.")
    old, new = "a/pets/1.0.0", "b/pets/1.1.0"
    result = run(old, new)
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0:2] == ["breaking:", "  x: dtype was 'int64', and is 'int32' (MAJOR)"]
    assert lines[3:5] == ["compatible:", "  z: a feature was added: Tensor of int64 [] (MINOR)"]
    assert lines[-4:] == [
        "documentation only:",
        "  description: was '', and is 'More.' (PATCH)",
        "",
        "breaking, requires MAJOR: 1.0.0 -> 2.0.0 or higher; 1.1.0 is too low",
    ]
    assert run(old, new, "--check-version").exit_code == 1
    assert run(old, new, "--fail-on-breaking").exit_code == 1
    assert run(old, old, "--check-version", "--fail-on-breaking").exit_code == 0
    assert run(old, old).output == "identical: 1.0.0 -> 1.0.0 or higher; 1.0.0 is enough\n"
    assert run(old, "nowhere").exit_code == 2
    assert run(f"{old}/features.json", old, "--check-version").exit_code == 2
    value = json.loads(run(old, new, "--format", "json").output)
    assert value["level"] == "breaking"
    assert value["required_version"] == "2.0.0"
    assert value["changes"][0]["kind"] == "feature-added"
    github = run(old, new, "--format", "github").output.splitlines()
    assert github[1] == (
        "::warning title=breaking change::x: dtype was 'int64', and is 'int32' (MAJOR)"
    )


def test_classes_of_one_name_are_told_apart_by_their_modules():
    def custom(module):
        return Opaque(class_name=f"{module}.Celsius", content={})

    old, new = (fk.FeaturesDict({"t": custom(module)}) for module in ("mine", "yours"))
    (change,) = fk.schema.diff(old, new).changes
    assert change.message == "was mine.Celsius, and is yours.Celsius"
