"""mock_data: datasets without their files."""

import pickle

import numpy as np
import pytest

import featurekit as fk
from featurekit.errors import DatasetNotFoundError, EncodeError, InvalidArgumentError
from featurekit.testing import assert_same, fake_examples, mock_data


class MockedNumbers(fk.GeneratorBasedBuilder):
    """Numbers that nobody generates."""

    VERSION = fk.Version("1.0.0")
    BUILDER_CONFIGS = (fk.BuilderConfig(name="small"), fk.BuilderConfig(name="large"))

    def _info(self):
        return fk.DatasetInfo(
            builder=self, features=fk.FeaturesDict({"n": np.int64, "t": fk.Text()})
        )

    def _split_generators(self, dl_manager):
        raise AssertionError("nothing is built")

    def _generate_examples(self):
        raise AssertionError("nothing is built")


@pytest.fixture
def folder(tmp_path):
    """The metadata of a dataset, whose shards are gone."""
    path = fk.write_dataset(
        "kept_metadata",
        {"train": [{"x": n} for n in range(5)], "test": [{"x": 1}]},
        fk.FeaturesDict({"x": fk.ClassLabel(num_classes=10)}),
        tmp_path,
    ).data_dir
    for shard in (tmp_path / path).glob("*.tfrecord*"):
        shard.unlink()
    return tmp_path


def test_a_dataset_that_only_code_knows(tmp_path):
    with mock_data(num_examples=3):
        source = fk.load("mocked_numbers", split="train", data_dir=tmp_path)
        expected = fake_examples(fk.FeaturesDict({"n": np.int64, "t": fk.Text()}), 3)
        assert len(source) == 3
        assert_same(list(source), expected)
        assert_same(source[2], expected[2])
        assert_same(list(source[1:]), expected[1:])
        assert_same(list(source[[2, 0]]), [expected[2], expected[0]])
    assert list(tmp_path.iterdir()) == []


def test_every_split_and_slice_has_the_same_examples(tmp_path):
    with mock_data(num_examples=2):
        for split in ("train", "test", "train[:10%]", "any"):
            source = fk.load("mocked_numbers/large:1.0.0", split=split, data_dir=tmp_path)
            assert len(source) == 2
        assert fk.load("mocked_numbers", data_dir=tmp_path).keys() == {"train"}


def test_a_folder_counts_before_code(folder):
    with mock_data(num_examples=7):
        splits = fk.load("kept_metadata", data_dir=folder)
        assert {name: len(source) for name, source in splits.items()} == {"train": 7, "test": 7}
        assert all(0 <= example["x"] < 10 for example in splits["train"])
        source, info = fk.load("kept_metadata", split="train", data_dir=folder, with_info=True)
        assert info.splits["train"].num_examples == 5
        assert source.features == info.features


def test_options_of_reading_apply(tmp_path):
    with mock_data():
        source = fk.load("mocked_numbers", split="train", data_dir=tmp_path, text="str")
        assert isinstance(source[0]["t"], str)
        source = fk.load("mocked_numbers", split="train", data_dir=tmp_path, columns=["n"])
        assert source[0].keys() == {"n"}


def test_building_does_nothing(tmp_path):
    builder = MockedNumbers(data_dir=tmp_path)
    with mock_data(num_examples=2):
        builder.download_and_prepare()
        assert len(builder.as_data_source("train")) == 2
        assert len(fk.builder("mocked_numbers", data_dir=tmp_path).as_data_source("test")) == 2
    assert not builder.is_prepared()


def test_a_mocked_source_is_pickled(tmp_path):
    with mock_data(num_examples=2):
        source = fk.load("mocked_numbers", split="train", data_dir=tmp_path)
    assert_same(list(pickle.loads(pickle.dumps(source))), list(source))


def test_a_dataset_that_nobody_knows(tmp_path):
    with mock_data(), pytest.raises(DatasetNotFoundError):
        fk.load("no_such_dataset", split="train", data_dir=tmp_path)


def test_all_is_as_before_after_the_block(tmp_path):
    before = (fk.load, fk.builder, fk.GeneratorBasedBuilder.download_and_prepare)
    with pytest.raises(ZeroDivisionError), mock_data():
        raise ZeroDivisionError
    assert before == (fk.load, fk.builder, fk.GeneratorBasedBuilder.download_and_prepare)
    with pytest.raises(DatasetNotFoundError):
        fk.load("mocked_numbers", split="train", data_dir=tmp_path)


def test_a_negative_number_is_refused():
    with (
        pytest.raises(InvalidArgumentError, match="num_examples must be >= 0, got -1"),
        mock_data(-1),
    ):
        pass


def test_an_error_says_which_made_up_example_it_was(tmp_path):
    class Picky(fk.Tensor):
        def encode_example(self, value):
            return super().encode_example(value)

        def decode_example(self, stored):
            raise EncodeError("no")

    class PickyNumbers(MockedNumbers):
        def _info(self):
            return fk.DatasetInfo(
                builder=self, features=fk.FeaturesDict({"x": Picky(shape=(), dtype=np.int64)})
            )

    with mock_data(num_examples=2):
        source = fk.load("picky_numbers", split="train", data_dir=tmp_path)
        with pytest.raises(EncodeError) as caught:
            source[1]
    assert str(caught.value) == ("no\n  at: x (Picky)\n  while reading made-up example 1")
