"""check_builder: a good builder passes, and each fault is told."""

import itertools
import json
import pathlib

import numpy as np
import pytest

import featurekit as fk
from featurekit.errors import EncodeError
from featurekit.testing import FakeDownloads, check_builder


class CheckedWords(fk.GeneratorBasedBuilder):
    """Words from text files, one a line."""

    VERSION = fk.Version("1.0.0")
    BUILDER_CONFIGS = (fk.BuilderConfig(name="plain"), fk.BuilderConfig(name="upper"))

    def _info(self):
        return fk.DatasetInfo(
            builder=self,
            description="Words.",
            features=fk.FeaturesDict(
                {"word": fk.Text(), "length": np.int32, "kind": fk.ClassLabel(names=["a", "b"])}
            ),
        )

    def _split_generators(self, dl_manager):
        folder = dl_manager.download_and_extract("https://example.org/words.zip")
        return {
            "train": self._generate_examples(folder / "train.txt"),
            "test": self._generate_examples(folder / "test.txt"),
        }

    def _generate_examples(self, path):
        for number, word in enumerate(path.read_text().split()):
            if self.config_name == "upper":
                word = word.upper()
            yield number, {"word": word, "length": len(word), "kind": word[0]}


SPLITS = {"train": 3, "test": 1}


@pytest.fixture
def raw(tmp_path):
    (tmp_path / "train.txt").write_text("apple bean almond")
    (tmp_path / "test.txt").write_text("beet")
    return tmp_path


def test_a_good_builder_passes(raw):
    info = check_builder(CheckedWords, raw, splits=SPLITS)
    assert info.full_name == "checked_words/plain/1.0.0"
    assert {name: split.num_examples for name, split in info.splits.items()} == SPLITS


def test_a_builder_that_fails_says_where(raw):
    with pytest.raises(EncodeError) as caught:
        check_builder(CheckedWords, raw, splits=SPLITS, config="upper")
    assert "at: kind (ClassLabel)" in str(caught.value)
    assert "while checking split 'train', key 0" in str(caught.value)


def test_downloads_are_nested_like_the_urls(raw):
    class CheckedNested(CheckedWords):
        def _split_generators(self, dl_manager):
            paths = dl_manager.download({"a": "https://example.org/a", "b": ["https://b.org"]})
            yield fk.SplitGenerator("train", {"path": paths["a"]})
            yield fk.SplitGenerator("test", {"path": paths["b"][0]})

    check_builder(
        CheckedNested, raw, splits=SPLITS, downloads={"a": "train.txt", "b": ["test.txt"]}
    )


# Builders with one fault each.


class NoDescription(CheckedWords):
    def _info(self):
        info = super()._info()
        return fk.DatasetInfo(builder=self, features=info.features)


class PathInKey(CheckedWords):
    def _generate_examples(self, path):
        for number, (_, example) in enumerate(super()._generate_examples(path)):
            yield f"{path}:{number}", example


class SameInBoth(CheckedWords):
    def _split_generators(self, dl_manager):
        return {
            name: self._generate_examples(dl_manager.manual_dir / "train.txt") for name in SPLITS
        }


_numbers = itertools.count()


class RandomValues(CheckedWords):
    def _generate_examples(self, path):
        for key, example in super()._generate_examples(path):
            yield key, example | {"length": next(_numbers)}


class OtherSplits(CheckedWords):
    def _split_generators(self, dl_manager):
        splits = super()._split_generators(dl_manager)
        return {"train": splits["train"], "validation": splits["test"]}


class WrongDtype(fk.Tensor):
    def decode_example(self, stored):
        return np.float64(stored)


class LyingFeature(CheckedWords):
    def _info(self):
        features = dict(super()._info().features) | {"length": WrongDtype(shape=(), dtype=np.int32)}
        return fk.DatasetInfo(builder=self, description="d", features=fk.FeaturesDict(features))


class Forgets(fk.Tensor):
    """A connector whose JSON loses an argument."""

    def __init__(self, *, add=0, **arguments):
        super().__init__(shape=(), dtype=np.int32)
        self.add = add

    def _identity(self):
        return self.add

    def to_json_content(self):
        return {}

    @classmethod
    def from_json_content(cls, value):
        return cls(**value)


class LosesArgument(CheckedWords):
    def _info(self):
        features = dict(super()._info().features) | {"length": Forgets(add=3)}
        return fk.DatasetInfo(builder=self, description="d", features=fk.FeaturesDict(features))


@pytest.mark.parametrize(
    ("builder", "message"),
    [
        (NoDescription, "the dataset has no description"),
        (
            PathInKey,
            "contains the folder of the raw data, so that the order of the examples depends",
        ),
        (SameInBoth, "splits 'train' and 'test' have an example in common"),
        (RandomValues, "is the generator random?"),
        (OtherSplits, "expected the splits ['test', 'train'], got ['train', 'validation']"),
        (LyingFeature, "the example['length']: expected TensorInfo(shape=(), dtype=int32), got"),
        (LosesArgument, "the features that are read from disk are not those of the code"),
    ],
)
def test_a_fault_is_told(builder, message, raw):
    splits = {"train": 3, "test": 3} if builder is SameInBoth else SPLITS
    with pytest.raises(AssertionError) as caught:
        check_builder(builder, raw, splits=splits)
    assert message in str(caught.value)


def test_splits_may_be_allowed_to_overlap(raw):
    splits = {"train": 3, "test": 3}
    check_builder(SameInBoth, raw, splits=splits, overlapping_splits=["test"])


def test_a_wrong_number_of_examples_is_told(raw):
    with pytest.raises(AssertionError) as caught:
        check_builder(CheckedWords, raw, splits={"train": 3, "test": 2})
    assert str(caught.value) == "expected 2 examples in split 'test', got 1"


# The fake download manager.


def test_fake_downloads(tmp_path):
    archive = tmp_path / "archive"
    (archive / "inner").mkdir(parents=True)
    (archive / "b.json").write_text(json.dumps([1]))
    (archive / "inner" / "a.txt").write_text("a")
    manager = FakeDownloads(tmp_path, {"x": "archive", "y": ("archive/b.json",)})
    got = manager.download_and_extract({"x": "https://x.org", "y": ("https://y.org",)})
    assert got == {"x": archive, "y": (archive / "b.json",)}
    assert manager.manual_dir == manager.download_dir == tmp_path
    assert [
        pathlib.Path(file).relative_to(tmp_path).as_posix() for file in manager.iter_files(got)
    ] == ["archive/b.json", "archive/inner/a.txt", "archive/b.json"]
    assert [(name, file.read()) for name, file in manager.iter_archive(archive)] == [
        ("b.json", b"[1]"),
        ("inner/a.txt", b"a"),
    ]
    assert FakeDownloads(tmp_path).download("https://x.org") == tmp_path
