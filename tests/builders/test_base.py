import dataclasses
import json
import os

import numpy as np
import pytest

import featurekit as fk
from featurekit.builders import registry
from featurekit.errors import (
    BuildError,
    DuplicateKeyError,
    EmptySplitError,
    EncodeError,
    FeatureKeyError,
    InvalidArgumentError,
    InvalidNameError,
    InvalidTypeError,
    SchemaError,
    UnknownNameError,
    UnsupportedError,
)


def numbers(count, start=0):
    for index in range(start, start + count):
        yield index, {"i": index}


class Toy(fk.GeneratorBasedBuilder, skip_registration=True):
    """Builds what the test says."""

    VERSION = fk.Version("1.0.0")
    splits = {"train": lambda: numbers(10)}
    said = {}

    def _info(self):
        features = fk.FeaturesDict({"i": np.int64})
        return fk.DatasetInfo(builder=self, **({"features": features} | self.said))

    def _split_generators(self, dl_manager):
        return {name: make() for name, make in self.splits.items()}

    def _generate_examples(self):
        raise NotImplementedError


def toy(folder, **attributes):
    """A builder whose class has other attributes."""
    attributes.setdefault("__module__", __name__)
    cls = type("Toy", (Toy,), attributes, skip_registration=True)
    return cls(data_dir=folder)


def built(folder, **attributes):
    builder = toy(folder, **attributes)
    builder.download_and_prepare(quiet=True)
    return builder


def failure(builder, error=BuildError, **options):
    """The text of the error of a build, which must leave nothing."""
    with pytest.raises(error) as caught:
        builder.download_and_prepare(quiet=True, **options)
    assert type(caught.value) is error
    parent = os.path.dirname(builder.data_dir)
    assert os.listdir(parent) == [] if os.path.exists(parent) else True
    return str(caught.value)


def values(builder, split="train"):
    return [int(example["i"]) for example in builder.as_data_source(split)]


# The hooks.


def test_a_dict_of_generators(tmp_path):
    builder = built(tmp_path, splits={"train": lambda: numbers(10), "test": lambda: numbers(3)})
    assert values(builder) == [6, 5, 4, 0, 8, 3, 1, 9, 7, 2]  # TFDS's order
    assert sorted(values(builder, "test")) == [0, 1, 2]
    assert list(builder.as_data_source()) == ["train", "test"]
    assert builder.data_dir == str(tmp_path / "toy/1.0.0")


def test_a_list_of_split_generators(tmp_path):
    class Toy2(Toy, skip_registration=True):
        def _split_generators(self, dl_manager):
            return [
                fk.SplitGenerator(fk.Split.TRAIN, {"count": 4}),
                fk.SplitGenerator(name="test", gen_kwargs={"count": 2, "start": 100}),
            ]

        def _generate_examples(self, count, start=0):
            return numbers(count, start)

    builder = Toy2(data_dir=tmp_path)
    builder.download_and_prepare(quiet=True)
    assert builder.name == "toy2"
    assert sorted(values(builder)) == [0, 1, 2, 3]
    assert sorted(values(builder, "test")) == [100, 101]


def test_a_generator_may_be_any_iterable(tmp_path):
    assert sorted(values(built(tmp_path, splits={"train": lambda: list(numbers(3))}))) == [0, 1, 2]


@pytest.mark.parametrize(
    ("found", "error", "message"),
    [
        (None, InvalidTypeError, "_split_generators must return a dict of generators or a list of "
         "SplitGenerator, got None\n  hint: return {'train': self._generate_examples(...)}"),
        (["train"], InvalidTypeError, "_split_generators must return a dict of generators or a "
         "list of SplitGenerator, got ['train']\n"
         "  hint: return {'train': self._generate_examples(...)}"),
        ([fk.SplitGenerator("a")] * 2, BuildError, "_split_generators gives two splits called 'a'"),
        ({}, BuildError, "toy/1.0.0 has no splits\n  hint: give {'train': examples}"),
        ({"train": 5}, InvalidTypeError, "split 'train' is no iterable of (key, example), but int\n"
         "  hint: give {'train': self._generate_examples(...)}, which must yield"),
        ({"a/b": []}, InvalidNameError, "'a/b' is no split name\n  hint: use letters, digits, '_' "
         "and '-', at least one letter or digit"),
    ],
)  # fmt: skip
def test_bad_splits_are_refused(tmp_path, found, error, message):
    builder = toy(
        tmp_path,
        _split_generators=lambda self, dl_manager: found,
        _generate_examples=lambda self: numbers(1),
    )
    assert failure(builder, error) == message


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"i": 1}, "expected (key, example), got dict {'i': 1}"),
        ((1, {"i": 1}, 2), "expected (key, example), got tuple (1, {'i': 1}, 2)"),
        ([2, {"i": 1}], "expected (key, example), got list [2, {'i': 1}]"),
        (None, "expected (key, example), got NoneType None"),
    ],
)
def test_bad_items_are_refused(tmp_path, item, message):
    builder = toy(tmp_path, splits={"train": lambda: iter([("first", {"i": 0}), item])})
    assert failure(builder, InvalidTypeError) == (
        f"{message}\n"
        "  hint: _generate_examples must yield a unique key and a dict of values\n"
        "  while building toy:1.0.0, split train, after key 'first'"
    )


@pytest.mark.parametrize("info", [None, {"features": 1}])
def test_a_bad_info_is_refused(tmp_path, info):
    builder = toy(tmp_path, _info=lambda self: info)
    message = (
        f"_info must return a DatasetInfo, got {type(info).__name__}\n"
        "  hint: return featurekit.DatasetInfo(builder=self, ...)"
    )
    assert failure(builder, InvalidTypeError) == message
    with pytest.raises(InvalidTypeError, match="_info must return"):
        _ = builder.info


def test_features_must_be_stated(tmp_path):
    assert failure(toy(tmp_path, said={"features": None})) == (
        "toy/1.0.0 has no features\n  hint: give its DatasetInfo features=FeaturesDict({...})"
    )


def test_features_that_cannot_be_stored_are_refused(tmp_path):
    features = fk.FeaturesDict({"a": {"b": np.int64}, "a/b": np.int64})
    message = failure(toy(tmp_path, said={"features": features}), SchemaError)
    assert message.startswith("two features are stored under the key 'a/b'")


def test_unknown_file_formats_are_refused(tmp_path):
    assert failure(toy(tmp_path, said={"file_format": "parkett"}), InvalidArgumentError) == (
        "there is no file format 'parkett'; did you mean 'parquet'?"
    )
    assert failure(toy(tmp_path, said={"file_format": "riegeli"}), UnsupportedError) == (
        "files of the format 'riegeli' can be neither read nor written\n"
        "  hint: have TFDS write the dataset as one of tfrecord, array_record, parquet"
    )


@pytest.mark.parametrize("hook", ["_info", "_split_generators", "_generate_examples"])
def test_hooks_must_be_defined(tmp_path, hook):
    hooks = {name: getattr(Toy, name) for name in ("_info", "_split_generators",
                                                   "_generate_examples")}  # fmt: skip
    del hooks[hook]
    cls = type("Half", (fk.GeneratorBasedBuilder,), hooks)
    with pytest.raises(TypeError, match=hook):
        cls(data_dir=tmp_path)
    assert "half" not in registry._registered


# Errors of examples.


def test_an_example_that_does_not_fit_is_named(tmp_path):
    features = fk.FeaturesDict(
        {"objects": fk.Sequence({"label": fk.ClassLabel(names=["bird", "cat", "dog"])})}
    )

    def pets():
        yield "img_0041", {"objects": [{"label": "dog"}]}
        yield "img_0042", {"objects": [{"label": "cat"}, {"label": "bird"}, {"label": "caat"}]}

    builder = toy(tmp_path, name="pets", said={"features": features}, splits={"train": pets})
    message = failure(builder, EncodeError)
    assert message.splitlines()[0] == (
        "'caat' is not one of the 3 classes ('bird', 'cat', 'dog'); did you mean 'cat'?"
    )
    assert message.splitlines()[1] == "  at: objects[2].label (ClassLabel)"
    assert message.splitlines()[-1] == "  while building pets:1.0.0, split train, key 'img_0042'"


def test_a_missing_key_is_named(tmp_path):
    builder = toy(tmp_path, splits={"test": lambda: [(7, {})]})
    assert failure(builder, FeatureKeyError).endswith(
        "  while building toy:1.0.0, split test, key 7"
    )


class AuthorsError(Exception):
    pass


def test_an_error_of_the_generator_keeps_its_type(tmp_path):
    def broken():
        yield from numbers(3)
        raise AuthorsError("row 4 is bad")

    with pytest.raises(AuthorsError) as caught:
        built(tmp_path, splits={"train": broken})
    assert caught.value.args == ("row 4 is bad",)
    assert caught.value.__notes__ == ["  while building toy:1.0.0, split train, after key 2"]
    assert os.listdir(tmp_path / "toy") == []


def test_an_error_of_an_authors_connector_keeps_its_type(tmp_path):
    class Odd(fk.Scalar):
        def encode_example(self, value):
            if value % 2 == 0:
                raise AuthorsError("even")
            return super().encode_example(value)

    features = fk.FeaturesDict({"i": Odd(np.int64)})
    with pytest.raises(AuthorsError) as caught:
        built(tmp_path, said={"features": features}, splits={"train": lambda: numbers(3, 1)})
    assert caught.value.__notes__ == [
        "  at: i (Odd)",
        "  while building toy:1.0.0, split train, key 2",
    ]


def test_an_example_of_more_than_2_gib_is_refused_before_it_is_written(tmp_path, monkeypatch):
    monkeypatch.setenv("FEATUREKIT_NATIVE", "0")
    monkeypatch.setattr("featurekit.io.columns._loaded", written_by_protobuf)
    monkeypatch.setattr("featurekit.io.message_size.MAX_MESSAGE_BYTES", 10_000)
    features = fk.FeaturesDict({"small": np.int64, "video": fk.Tensor(shape=(), dtype=np.object_)})

    def videos():
        for index in range(3):
            yield index, {"small": index, "video": bytes(9_900 + 100 * index)}

    builder = toy(tmp_path, said={"features": features}, splits={"train": videos})
    assert failure(builder, EncodeError) == (
        "the example would take 10038 bytes, more than the 10000 that one message may have; "
        "its biggest feature is 'video' with 10006 bytes\n"
        "  hint: store it as several examples, or encode the feature (an image or video format, "
        "fewer values)\n"
        "  while building toy:1.0.0, split train, key 1"
    )


def written_by_protobuf():
    from featurekit.io import columns_protobuf

    return columns_protobuf, False


# Keys.


def duplicated(first, second):
    for index in range(20):
        key = {5: first, 9: second}.get(index, f"key {index}")
        yield key, {"i": index}


@pytest.mark.parametrize(
    ("first", "second", "hint"),
    [
        (5, 5, ""),
        (5, "5", r"; keys are compared as text, and '\' is the same as '/'"),
        (b"a", "a", r"; keys are compared as text, and '\' is the same as '/'"),
        ("dir/a", r"dir\a", r"; keys are compared as text, and '\' is the same as '/'"),
    ],
)
def test_duplicate_keys(tmp_path, first, second, hint):
    builder = toy(tmp_path, splits={"train": lambda: duplicated(first, second)})
    assert failure(builder, DuplicateKeyError) == (
        f"two examples of split 'train' have the same key: {first!r} at position 5 and "
        f"{second!r} at position 9\n"
        "  hint: yield a key that is unique in the split, or build with ignore_duplicates=True"
        f"{hint}\n"
        "  while building toy:1.0.0, split train\n"
        f"  key {first!r} has the example {{'i': np.int64(5)}}\n"
        f"  key {second!r} has the example {{'i': np.int64(9)}}"
    )


def test_duplicate_keys_without_shuffling(tmp_path):
    builder = toy(
        tmp_path,
        said={"disable_shuffling": True},
        splits={"train": lambda: [(key, {"i": key}) for key in (3, 1, 3)]},
    )
    assert failure(builder, DuplicateKeyError).startswith(
        "two examples of split 'train' have the same key: 3 at position 0 and 3 at position 2\n"
    )


def test_the_first_of_duplicates_is_kept_on_request(tmp_path):
    for number, options in enumerate([{"ignore_duplicates": True}, {"download_config": Config()}]):
        builder = toy(tmp_path / str(number), splits={"train": lambda: duplicated(5, 5)})
        builder.download_and_prepare(quiet=True, **options)
        assert sorted(values(builder)) == [index for index in range(20) if index != 9]


class Config:
    """The part of TFDS's DownloadConfig that counts here."""

    ignore_duplicates = True
    num_shards = 2


def test_composed_characters_are_other_keys(tmp_path):
    keys = ["\xe9", "e\u0301", np.int64(3), np.str_("4")]
    builder = built(tmp_path, splits={"train": lambda: [(k, {"i": 1}) for k in keys]})
    assert len(builder.as_data_source("train")) == 4


@pytest.mark.parametrize("key", [None, 1.5, (1, 2)])
def test_keys_of_other_types_are_refused(tmp_path, key):
    builder = toy(tmp_path, splits={"train": lambda: [(key, {"i": 1})]})
    assert failure(builder, InvalidTypeError) == (
        f"a key must be bytes, str or int, got {key!r} of type {type(key).__name__}\n"
        "  hint: yield (key, example) with a key that is unique in the split, such as a file name\n"
        "  while building toy:1.0.0, split train"
    )


def test_keys_that_are_no_text_are_refused(tmp_path):
    builder = toy(tmp_path, splits={"train": lambda: [("\ud800", {"i": 1})]})
    assert failure(builder, InvalidArgumentError) == (
        r"key '\ud800' is not text that UTF-8 can hold: surrogates not allowed" + "\n"
        "  hint: use os.fsencode(path) for a file name that is not UTF-8\n"
        "  while building toy:1.0.0, split train"
    )


# Order and shards.


@pytest.mark.parametrize("said", [{"disable_shuffling": True}, {"nondeterministic_order": True}])
def test_the_order_of_generation_can_be_kept(tmp_path, said):
    builder = built(tmp_path, said=said)
    assert values(builder) == list(range(10))
    info = fk.builder_from_directory(builder.data_dir).info
    assert all(getattr(info, name) for name in said)


def test_text_keys_keep_the_order_of_generation(tmp_path):
    builder = built(
        tmp_path,
        said={"disable_shuffling": True},
        splits={"train": lambda: [(key, {"i": i}) for i, key in enumerate("zyxa")]},
    )
    assert values(builder) == [0, 1, 2, 3]


def test_an_empty_split_is_refused(tmp_path):
    builder = toy(tmp_path, splits={"train": lambda: numbers(3), "test": lambda: iter([])})
    assert failure(builder, EmptySplitError) == (
        "split 'test' has no examples\n"
        "  hint: check that its generator yields (key, example), or leave the split out\n"
        "  while building toy:1.0.0, split test"
    )


def test_more_shards_than_examples_are_refused(tmp_path):
    assert failure(toy(tmp_path), BuildError, num_shards=11) == (
        "11 shards were asked for, but there are only 10 examples\n"
        "  hint: ask for at most num_shards=10, or leave the number out\n"
        "  while building toy:1.0.0, split train"
    )


@pytest.mark.parametrize(
    ("options", "lengths"),
    [
        ({}, [10]),
        ({"num_shards": 4}, [2, 3, 3, 2]),
        ({"download_config": Config()}, [5, 5]),
        ({"download_config": Config(), "num_shards": 1}, [10]),
        ({"policy": fk.ShardPolicy(min_shard_bytes=100)}, [3, 4, 3]),
        ({"policy": fk.ShardPolicy(min_shard_bytes=1)}, [1] * 10),
    ],
)
def test_number_of_shards(tmp_path, options, lengths):
    builder = toy(tmp_path)
    builder.download_and_prepare(quiet=True, **options)
    assert builder.info.splits["train"].shard_lengths == lengths
    assert len(set(values(builder))) == 10


# What is on disk.


def test_everything_that_is_said_is_kept(tmp_path):
    license_text = "Use it\n  freely."
    builder = built(
        tmp_path,
        RELEASE_NOTES={"1.0.0": "First."},
        said={
            "description": """
            Numbers.

              Indented.
            """,
            "features": fk.FeaturesDict({"i": np.int64, "parity": fk.ClassLabel(num_classes=2)}),
            "supervised_keys": ("i", "parity"),
            "homepage": "https://example.org",
            "citation": " @misc{toy} ",
            "license": license_text,
            "metadata": fk.MetadataDict(origin={"pages": [1, 2]}),
        },
        splits={"train": lambda: [(i, {"i": i, "parity": i % 2}) for i in range(4)]},
    )
    for info in (builder.info, fk.builder_from_directory(builder.data_dir).info):
        assert info.description == "Numbers.\n\n  Indented."
        assert info.supervised_keys == ("i", "parity")
        assert info.homepage == "https://example.org"
        assert info.citation == "@misc{toy}"
        assert info.license == license_text
        assert info.metadata == {"origin": {"pages": [1, 2]}}
        assert info.release_notes == {"1.0.0": "First."}
        assert info.module_name == __name__
        assert info.splits["train"].num_examples == 4
        assert info.full_name == "toy/1.0.0"
    files = sorted(os.listdir(builder.data_dir))
    assert files == [
        "LICENSE",
        "dataset_info.json",
        "features.json",
        "metadata.json",
        "toy-train.tfrecord-00000-of-00001",
    ]
    folder = tmp_path / "toy/1.0.0"
    assert (folder / "LICENSE").read_text() == license_text
    assert json.loads((folder / "metadata.json").read_text()) == {"origin": {"pages": [1, 2]}}
    assert sorted(os.listdir(tmp_path / "toy")) == ["1.0.0"]


def test_what_the_code_leaves_out_is_read_from_disk(tmp_path):
    said = {
        "description": "Numbers.",
        "homepage": "https://example.org",
        "license": "MIT",
        "citation": "@misc{a}",
        "supervised_keys": ("i", "i"),
        "metadata": {"a": 1},
    }
    built(tmp_path, said=said)
    info = toy(tmp_path, said={"description": "Other words."}).info
    assert info.description == "Other words."
    assert {name: getattr(info, name) for name in said if name != "description"} == {
        name: value for name, value in said.items() if name != "description"
    }
    assert info.splits["train"].num_examples == 10


def test_a_dataset_that_is_there_is_not_built_again(tmp_path):
    builder = built(tmp_path)
    again = toy(tmp_path, splits={"train": lambda: numbers(3)})
    assert again.is_prepared()
    again.download_and_prepare()
    assert len(again.as_data_source("train")) == 10
    again.download_and_prepare(overwrite=True)
    assert len(again.as_data_source("train")) == 3
    assert repr(builder) == f"Toy(toy/1.0.0, {builder.data_dir!r})"


def test_a_failed_build_keeps_the_dataset_that_was_there(tmp_path):
    builder = built(tmp_path)
    again = toy(tmp_path, splits={"train": lambda: [("a", {"i": "x"})]})
    with pytest.raises(EncodeError):
        again.download_and_prepare(overwrite=True)
    assert len(values(builder)) == 10


def test_info_is_known_before_the_build(tmp_path):
    info = toy(tmp_path, said={"description": "Soon."}).info
    assert (info.description, dict(info.splits)) == ("Soon.", {})
    assert os.listdir(tmp_path) == []


# Configs.


@dataclasses.dataclass(eq=False)
class LanguageConfig(fk.BuilderConfig):
    language: str = "en"


class Texts(fk.GeneratorBasedBuilder, skip_registration=True):
    VERSION = fk.Version("1.0.0")
    RELEASE_NOTES = {"1.0.0": "First."}
    BUILDER_CONFIGS = [
        LanguageConfig("english", description="In English.", tags=["en"]),
        LanguageConfig("german", version="2.0.0", language="de", release_notes={"2.0.0": "Neu."}),
    ]

    def _info(self):
        return fk.DatasetInfo(builder=self, features=fk.FeaturesDict({"text": fk.Text()}))

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples()}

    def _generate_examples(self):
        yield 0, {"text": f"in {self.builder_config.language}"}


@pytest.mark.parametrize(
    ("config", "full_name", "text"),
    [
        (None, "texts/english/1.0.0", b"in en"),
        ("", "texts/english/1.0.0", b"in en"),
        ("german", "texts/german/2.0.0", b"in de"),
        (LanguageConfig("mine", language="xx"), "texts/mine/1.0.0", b"in xx"),
        (Texts.BUILDER_CONFIGS[1], "texts/german/2.0.0", b"in de"),
    ],
)
def test_configs(tmp_path, config, full_name, text):
    builder = Texts(data_dir=tmp_path, config=config)
    builder.download_and_prepare(quiet=True)
    assert builder.info.full_name == full_name
    assert builder.data_dir == str(tmp_path / full_name)
    reader = fk.builder_from_directory(builder.data_dir)
    assert reader.info.config_name == builder.config_name == full_name.split("/")[1]
    assert reader.as_data_source("train")[0]["text"] == text
    default = json.loads((tmp_path / "texts/.config/metadata.json").read_text())
    assert default == {"default_config_name": "english"}


def test_what_a_config_says_is_kept(tmp_path):
    for config in ("english", "german"):
        Texts(data_dir=tmp_path, config=config).download_and_prepare(quiet=True)
    names = ("english", "german")
    english, german = (fk.builder(f"texts/{name}", data_dir=tmp_path).info for name in names)
    assert (english.config_description, english.config_tags) == ("In English.", ["en"])
    assert english.release_notes == {"1.0.0": "First."}
    assert german.release_notes == {"2.0.0": "Neu."}
    assert fk.builder("texts", data_dir=tmp_path).info.config_name == "english"


def test_the_default_config_can_be_named(tmp_path):
    cls = type("Texts", (Texts,), {"DEFAULT_BUILDER_CONFIG_NAME": "german"}, skip_registration=True)
    assert cls(data_dir=tmp_path).config_name == "german"
    cls(data_dir=tmp_path, config="english").download_and_prepare(quiet=True)
    default = json.loads((tmp_path / "texts/.config/metadata.json").read_text())
    assert default == {"default_config_name": "german"}


def test_configs_of_one_name_are_told_apart_by_version(tmp_path):
    configs = [LanguageConfig("a", version=v, language=v) for v in ("1.0.0", "2.0.0")]
    cls = type("Texts", (Texts,), {"BUILDER_CONFIGS": configs}, skip_registration=True)
    assert cls(data_dir=tmp_path, config="a:2.0.0").info.full_name == "texts/a/2.0.0"
    assert cls(data_dir=tmp_path).info.full_name == "texts/a/1.0.0"
    cls.BUILDER_CONFIGS = [LanguageConfig("a"), LanguageConfig("a")]
    with pytest.raises(InvalidArgumentError, match="there are two configs called 'a:None'"):
        cls(data_dir=tmp_path)


@pytest.mark.parametrize(
    ("config", "error", "message"),
    [
        ("englsh", UnknownNameError, "there is no config 'englsh'; did you mean 'english'?"),
        ("a/b", UnknownNameError, "there is no config 'a/b'; there are 'english', 'german'"),
        (LanguageConfig("english"), InvalidArgumentError,
         "the config 'english' exists already, and this is another one\n"
         "  hint: give the name alone, or another name to your own config"),
        (LanguageConfig("../up"), InvalidNameError,
         "'../up' is no config name\n  hint: use letters, digits and '_', '+', '-', '.', with no "
         "dot at the beginning"),
    ],
)  # fmt: skip
def test_bad_configs_are_refused(tmp_path, config, error, message):
    with pytest.raises(error) as caught:
        Texts(data_dir=tmp_path, config=config)
    assert str(caught.value) == message


def test_a_dataset_without_configs_has_none(tmp_path):
    with pytest.raises(UnknownNameError) as caught:
        Toy(data_dir=tmp_path, config="small")
    assert str(caught.value) == ("there is no config 'small'\n  hint: this dataset has no configs")
    builder = built(tmp_path)
    assert (builder.builder_config, builder.config_name) == (None, None)
    own = Toy(data_dir=tmp_path, config=fk.BuilderConfig("own"))
    own.download_and_prepare(quiet=True)
    assert own.info.full_name == "toy/own/1.0.0"


def test_a_config_can_be_copied_with_changes():
    german = LanguageConfig.replace(Texts.BUILDER_CONFIGS[1], name="swiss")
    assert (german.name, german.language, str(german.version)) == ("swiss", "de", "2.0.0")


# Versions.


class Old(Toy, skip_registration=True):
    VERSION = fk.Version("2.1.0")
    SUPPORTED_VERSIONS = [fk.Version("3.0.0"), "2.0.0", "1.0.0"]


@pytest.mark.parametrize(
    ("version", "chosen"),
    [
        (None, "2.1.0"),
        ("2.0.0", "2.0.0"),
        (fk.Version("1.0.0"), "1.0.0"),
        ("2.*.*", "2.1.0"),
        ("*.0.0", "3.0.0"),
        ("1.*.*", "1.0.0"),
        ("experimental_latest", "3.0.0"),
    ],
)
def test_versions(tmp_path, version, chosen):
    builder = Old(data_dir=tmp_path, version=version)
    assert str(builder.version) == str(builder.info.version) == chosen
    assert builder.data_dir == str(tmp_path / "old" / chosen)


@pytest.mark.parametrize(
    ("version", "error", "message"),
    [
        ("4.0.0", UnknownNameError, "there is no version 4.0.0; there are 2.1.0, 3.0.0, 2.0.0, "
         "1.0.0"),
        ("2.2.*", UnknownNameError, "there is no version 2.2.*; there are 2.1.0, 3.0.0, 2.0.0, "
         "1.0.0"),
        ("2.1", InvalidNameError, "'2.1' is no version pattern\n  hint: write x.y.z, each a whole "
         "number or '*', such as '1.*.*'"),
    ],
)  # fmt: skip
def test_bad_versions_are_refused(tmp_path, version, error, message):
    with pytest.raises(error) as caught:
        Old(data_dir=tmp_path, version=version)
    assert str(caught.value) == message


def test_old_versions_are_read_but_not_built(tmp_path):
    assert failure(Old(data_dir=tmp_path, version="2.0.0")) == (
        "version 2.0.0 of 'old' can be read, but not built\n  hint: build version 2.1.0"
    )
    Old(data_dir=tmp_path, version="3.0.0").download_and_prepare(quiet=True)
    type("Old", (Toy,), {"VERSION": "2.0.0"}, skip_registration=True)(
        data_dir=tmp_path
    ).download_and_prepare(quiet=True)
    assert len(values(Old(data_dir=tmp_path, version="2.0.0"))) == 10


def test_a_version_must_be_stated(tmp_path):
    with pytest.raises(InvalidArgumentError) as caught:
        toy(tmp_path, VERSION=None)
    assert str(caught.value) == (
        "the builder Toy has no VERSION\n"
        '  hint: state VERSION = featurekit.Version("1.0.0") in the class'
    )


# Names and places.


@pytest.mark.parametrize(
    ("class_name", "module", "name"),
    [
        ("MyData", "m", "my_data"),
        ("Cifar10", "m", "cifar10"),
        ("Builder", "pkg.pets_dataset_builder", "pets"),
        ("Builder", "pkg.pets.anything", "pets"),
        ("Builder", "pets", "pets"),
    ],
)
def test_the_class_names_the_dataset(class_name, module, name):
    cls = type(class_name, (Toy,), {"__module__": module}, skip_registration=True)
    assert cls.name == name


def test_the_class_may_state_another_name(tmp_path):
    assert built(tmp_path, name="other_name").data_dir == str(tmp_path / "other_name/1.0.0")
    with pytest.raises(InvalidNameError):
        toy(tmp_path, name="../up")


@pytest.mark.parametrize(
    ("variables", "used"),
    [
        ({"FEATUREKIT_DATA_DIR": "a", "TFDS_DATA_DIR": "b"}, "a"),
        ({"TFDS_DATA_DIR": "b"}, "b"),
        ({}, "home/tensorflow_datasets"),
    ],
)
def test_the_default_folder(tmp_path, monkeypatch, variables, used):
    for name in ("FEATUREKIT_DATA_DIR", "TFDS_DATA_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name, folder in variables.items():
        monkeypatch.setenv(name, str(tmp_path / folder))
    Toy().download_and_prepare(quiet=True)
    assert (tmp_path / used / "toy/1.0.0/dataset_info.json").exists()


def test_classes_are_found_by_name():
    class FoundByName(Toy):
        pass

    assert registry.builder_class("found_by_name") is FoundByName
    del registry._registered["found_by_name"]
    with pytest.raises(UnknownNameError) as caught:
        registry.builder_class("digit")
    assert str(caught.value).splitlines()[0] == (
        "there is no builder 'digit'; did you mean 'digits'?"
    )
    assert registry.builder_class("digits").__name__ == "Digits"
