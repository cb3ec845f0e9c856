"""Builders for data in well-known forms, and writers that are no builders."""

import random
import textwrap

import numpy as np
import pytest
from PIL import Image as PilImage

import featurekit as fk
from featurekit.builders.adhoc import store_as_tfds_dataset
from featurekit.builders.conll import ConllDatasetBuilder
from featurekit.builders.conll_features import (
    CHUNK_TAGS,
    CONLL_2003_CONFIG,
    NER_TAGS,
    POS_TAGS,
)
from featurekit.builders.conllu import get_conllu_example, get_xtreme_pos_example
from featurekit.builders.conllu_features import (
    UNIVERSAL_DEPENDENCIES_FEATURES,
    UPOS,
    XTREME_POS_FEATURES,
    get_universal_morphology_config,
)
from featurekit.builders.download_config import DownloadConfig
from featurekit.builders.image_folder import ImageFolder
from featurekit.builders.sequential import SequentialWriter
from featurekit.builders.shard_based import ShardBasedBuilder
from featurekit.builders.translate_folder import TranslateFolder
from featurekit.dataset.identity import DatasetIdentity
from featurekit.errors import (
    BuildError,
    EmptySplitError,
    InvalidArgumentError,
    InvalidNameError,
    MissingFileError,
    SplitError,
    UnknownNameError,
    UnsupportedError,
)

# Pictures in folders.


@pytest.fixture
def pictures(tmp_path):
    for split, label, names in [
        ("train", "dog", ["b.png", "a.PNG", "notes.txt"]),
        ("train", "cat", ["c.jpeg", "d.jpg", "e.png"]),
        ("test", "eel", ["f.png"]),
    ]:
        folder = tmp_path / "root" / split / label
        folder.mkdir(parents=True)
        for name in names:
            if name.endswith("txt"):
                (folder / name).write_text("no picture")
            else:
                PilImage.new("RGB", (3, 2), (ord(name[0]), 0, 0)).save(folder / name)
    (tmp_path / "root" / "readme.md").write_text("no folder")
    return tmp_path / "root"


def test_image_folder_reads_pictures_in_tfds_order(pictures):
    builder = ImageFolder(pictures)
    assert builder.info.features["label"].names == ["cat", "dog", "eel"]
    assert {name: split.num_examples for name, split in builder.info.splits.items()} == {
        "test": 1,
        "train": 5,
    }
    expected = ["cat/c.jpeg", "cat/d.jpg", "cat/e.png", "dog/a.PNG", "dog/b.png"]
    random.Random("train").shuffle(expected)
    examples = list(builder.as_dataset("train"))
    names = [example["image/filename"].decode() for example in examples]
    assert names == [str(pictures / "train" / name) for name in expected]
    assert [int(example["label"]) for example in examples] == [
        ("cat", "dog").index(name[:3]) for name in expected
    ]
    [first] = builder.as_dataset("test")
    assert first["image"].tolist() == [[[ord("f"), 0, 0]] * 3] * 2


def test_image_folder_gives_pairs_batches_decoders_and_slices(pictures):
    builder = ImageFolder(pictures, shape=(None, None, 1))
    image, label = next(iter(builder.as_dataset("train", as_supervised=True)))
    assert image.shape == (2, 3, 1)
    assert label in (0, 1)
    assert builder.as_dataset("train", batch_size=-1)["image"].shape == (5, 2, 3, 1)
    source = builder.as_data_source("test", decoders={"image": fk.SkipDecoding()})
    assert source[0]["image"][:4] == b"\x89PNG"
    assert len(builder.as_data_source("train")[1:3]) == 2
    assert sorted(builder.as_data_source()) == ["test", "train"]
    assert repr(source) == "InPlaceSource(image_folder/1.0.0, split='test', num_examples=1)"


def test_image_folder_says_what_it_does_not_do(pictures, tmp_path):
    builder = ImageFolder(pictures)
    with pytest.raises(SplitError) as error:
        builder.as_dataset("train[:1]")
    assert str(error.value) == (
        "there is no split 'train[:1]'; did you mean 'train'?\n"
        "  hint: take a whole split, and slice it: builder.as_data_source('train')[:100]"
    )
    with pytest.raises(UnsupportedError, match="builds nothing"):
        builder.download_and_prepare()
    with pytest.raises(MissingFileError, match="there are no pictures"):
        ImageFolder(tmp_path / "nowhere")


# Sentences in files.


def sentences(folder, **files):
    folder.mkdir()
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return folder


def test_translate_folder_reads_lines(tmp_path):
    folder = sentences(
        tmp_path / "root",
        en__train__txt="cat\ndog\n",
        fr__train__txt="chat\nchien\n",
        en__test__txt="eel\n",
        fr__test__txt="anguille",
    )
    builder = TranslateFolder(folder)
    assert list(builder.info.features) == ["en", "fr"]
    assert list(builder.as_dataset("train")) == [
        {"en": b"cat", "fr": b"chat"},
        {"en": b"dog", "fr": b"chien"},
    ]
    assert len(builder.as_dataset("test")) == 1


@pytest.mark.parametrize(
    ("files", "kind", "message"),
    [
        ({"en__txt": ""}, InvalidNameError, "'en.txt' is not called"),
        ({}, MissingFileError, "there are no text files"),
        (
            {"en__train__txt": "a\nb", "fr__train__txt": "a"},
            BuildError,
            "split 'train' has different numbers of lines: 2 of en, 1 of fr",
        ),
    ],
)
def test_translate_folder_refuses_other_folders(tmp_path, files, kind, message):
    with pytest.raises(kind, match=message):
        TranslateFolder(sentences(tmp_path / "root", **files))


# CoNLL.


class Tagged(ConllDatasetBuilder, skip_registration=True):
    VERSION = "1.0.0"
    BUILDER_CONFIGS = [CONLL_2003_CONFIG]
    text = ""

    def _info(self):
        return self.create_dataset_info(description="Tagged words.")

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples([self.file, str(self.file)])}


def tagged(tmp_path, text):
    Tagged.file = tmp_path / "words.txt"
    Tagged.file.write_text(textwrap.dedent(text))
    return Tagged(data_dir=tmp_path)


def test_conll_sentences_are_examples(tmp_path):
    builder = tagged(
        tmp_path,
        """\
        -DOCSTART- -X- -X- O

        EU NNP B-NP B-ORG
        rejects VBZ B-VP O

        . . O O
        """,
    )
    found = list(builder._generate_examples(Tagged.file))
    assert found == [
        (
            0,
            {
                "tokens": ["EU", "rejects"],
                "pos": ["NNP", "VBZ"],
                "chunks": ["B-NP", "B-VP"],
                "ner": ["B-ORG", "O"],
            },
        ),
        (1, {"tokens": ["."], "pos": ["."], "chunks": ["O"], "ner": ["O"]}),
    ]
    builder.download_and_prepare(quiet=True)
    assert len(builder.as_data_source("train")) == 4
    assert builder.info.config_name == "conll2003"


def test_conll_lines_of_another_length_are_refused(tmp_path):
    builder = tagged(tmp_path, "EU NNP\n")
    with pytest.raises(BuildError, match="line 1 has 2 columns, expected 4: tokens, pos") as error:
        builder.download_and_prepare(quiet=True)
    assert error.value.file == str(Tagged.file)


def test_conll_tags_are_numbered_as_tfds_does():
    assert (len(POS_TAGS), POS_TAGS.index("NNP"), POS_TAGS.index("``")) == (47, 22, 9)
    assert CHUNK_TAGS[:4] == ("O", "B-ADJP", "I-ADJP", "B-ADVP")
    assert tuple(NER_TAGS) == (
        *("O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC", "B-MISC", "I-MISC"),
    )
    assert (len(UPOS), UPOS[-1]) == (18, "_")


def test_configs_name_what_they_lack(tmp_path):
    class NoConfig(Tagged, skip_registration=True):
        BUILDER_CONFIGS = []

    with pytest.raises(InvalidArgumentError, match="NoConfig has no config"):
        NoConfig(data_dir=tmp_path).info  # noqa: B018


class Sentence(list):
    """A sentence as the package conllu parses it."""

    metadata = {"sent_id": "s-1"}


WORDS = Sentence(
    [
        {"form": "cats", "lemma": "cat", "upos": "NOUN", "feats": {"Number": "Plur"}},
        {"form": "_", "lemma": "_", "upos": "_", "feats": None},
    ]
)


def test_conllu_sentences_are_examples():
    names = {"idx": 0, "tokens": 0, "lemmas": 0, "upos": 0, "feats": 0, "text": 0}
    assert get_conllu_example(WORDS, 7, names) == {
        "idx": "s-1",
        "tokens": ["cats", "_"],
        "lemmas": ["cat", "_"],
        "upos": ["NOUN", "_"],
        "feats": ["{'Number': 'Plur'}", "None"],
        "text": "cats _",
    }
    assert get_xtreme_pos_example(WORDS, 7, XTREME_POS_FEATURES) == {
        "tokens": ["cats"],
        "upos": ["NOUN"],
    }
    config = get_universal_morphology_config("en", UNIVERSAL_DEPENDENCIES_FEATURES)
    assert (config.name, config.language, len(config.features_dict)) == ("en", "en", 11)


# Without generators of splits.


def info_of(folder, name="log"):
    identity = DatasetIdentity(name=name, version=fk.Version("1.0.0"), data_dir=str(folder))
    return fk.DatasetInfo(builder=identity, features=fk.FeaturesDict({"i": np.int64}))


def numbers(folder, split="train"):
    reader = fk.builder_from_directory(folder)
    return [int(example["i"]) for example in reader.as_data_source(split)]


def items(*numbers):
    return [{"i": number} for number in numbers]


def test_a_sequential_writer_keeps_the_order(tmp_path):
    writer = SequentialWriter(info_of(tmp_path), 2)
    writer.initialize_splits(["train", "test"])
    writer.add_examples({"train": items(3, 1, 2), "test": items(9)})
    assert numbers(tmp_path) == [3, 1]  # complete shards can be read already
    writer.add_examples({"train": items(0)})
    assert numbers(tmp_path) == [3, 1, 2, 0]
    writer.close_all()
    assert numbers(tmp_path, "test") == [9]
    splits = fk.builder_from_directory(tmp_path).info.splits
    assert splits["train"].filenames == ["log-train.tfrecord-00000", "log-train.tfrecord-00001"]


def test_a_sequential_writer_adds_to_what_is_there(tmp_path):
    with SequentialWriter(info_of(tmp_path), 2) as writer:
        writer.initialize_splits(["train"])
        writer.add_examples({"train": items(1)})
    with SequentialWriter(info_of(tmp_path), 2, overwrite=False) as writer:
        writer.initialize_splits(["train"], fail_if_exists=False)
        writer.add_examples({"train": items(2, 3, 4)})
    assert numbers(tmp_path) == [1, 2, 3, 4]
    with SequentialWriter(info_of(tmp_path), 9) as writer:
        assert list(tmp_path.iterdir()) == [tmp_path / "features.json"]
        writer.initialize_splits(["train"])
        writer.add_examples({"train": items(7)})
    assert numbers(tmp_path) == [7]


def test_a_sequential_writer_refuses_what_makes_no_sense(tmp_path):
    writer = SequentialWriter(info_of(tmp_path), 2)
    writer.initialize_splits(["train"])
    with pytest.raises(BuildError, match="'train' exists already"):
        writer.initialize_splits(["train"])
    with pytest.raises(UnknownNameError, match="there is no split 'tran'; did you mean 'train'"):
        writer.add_examples({"tran": items(1)})
    writer.close_splits(["train"])
    with pytest.raises(BuildError, match="'train' is closed"):
        writer.add_examples({"train": items(1)})
    with pytest.raises(BuildError, match="the folder has the dataset 'log', not 'other'"):
        SequentialWriter(info_of(tmp_path, "other"), 2, overwrite=False)
    with pytest.raises(InvalidArgumentError, match="1 or more"):
        SequentialWriter(info_of(tmp_path), 0)
    with pytest.raises(UnsupportedError, match="neither read nor written"):
        SequentialWriter(info_of(tmp_path), 1, file_format="riegeli")


class Sharded(ShardBasedBuilder, skip_registration=True):
    VERSION = "1.0.0"
    shards = {"train": ([3, 1], [2])}

    def _info(self):
        return fk.DatasetInfo(builder=self, features=fk.FeaturesDict({"i": np.int64}))

    def _shard_iterators_per_split(self, dl_manager):
        def make(numbers):
            return lambda: ((number, {"i": number}) for number in numbers)

        return {name: [make(shard) for shard in shards] for name, shards in self.shards.items()}


def test_a_shard_based_builder_keeps_order_and_shards(tmp_path):
    builder = Sharded(data_dir=tmp_path)
    builder.download_and_prepare()
    assert builder.info.splits["train"].shard_lengths == [2, 1]
    assert numbers(builder.data_dir) == [3, 1, 2]
    assert builder.info.splits["train"].filenames[1] == "sharded-train.tfrecord-00001-of-00002"


def test_a_shard_based_builder_refuses_an_empty_split(tmp_path):
    class Empty(Sharded, skip_registration=True):
        shards = {"train": ([],)}

    with pytest.raises(EmptySplitError, match="'train' has no examples"):
        Empty(data_dir=tmp_path).download_and_prepare()
    assert not (tmp_path / "empty" / "1.0.0").exists()


def test_examples_at_hand_are_stored_under_tfds_names(tmp_path):
    reader = store_as_tfds_dataset(
        name="squares",
        version=fk.Version("1.2.0"),
        features=fk.FeaturesDict({"i": np.int64}),
        split_datasets={"train": [("a", {"i": 1}), ("b", {"i": 4})]},
        config="small",
        data_dir=tmp_path,
        description="Squares.",
        release_notes={"1.2.0": "New."},
        download_config=DownloadConfig(num_shards=2),
    )
    assert reader.info.full_name == "squares/small/1.2.0"
    assert reader.info.splits["train"].num_shards == 2
    assert reader.info.release_notes == {"1.2.0": "New."}
    assert sorted(e["i"] for e in reader.as_dataset("train")) == [1, 4]
