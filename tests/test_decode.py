"""Reading only some features, and reading them by decoders."""

import pickle

import golden
import numpy as np
import pytest

import featurekit as fk
from featurekit.decode import DecodedFeature, Decoder, make_decoder, with_decoders
from featurekit.errors import (
    DecodeError,
    InvalidArgumentError,
    InvalidTypeError,
    UnknownNameError,
)
from featurekit.io.columns import write_example
from featurekit.io.ragged import RaggedTensor
from featurekit.tensor_info import TensorInfo

(DECODING,) = golden.datasets("decoding")


class Counted(fk.FeatureConnector):
    """Stores text as bytes, and notes what it decodes."""

    decoded = []

    def get_tensor_info(self):
        return TensorInfo((), np.object_)

    def encode_example(self, value):
        return value.encode()

    def decode_example(self, stored):
        self.decoded.append(stored)
        return stored.upper()


class Reversed(Decoder):
    """Decodes as the feature does, back to front."""

    def decode_example(self, stored):
        return self.feature.decode_example(stored)[::-1]


@make_decoder(output_dtype=np.float32)
def scaled(stored, feature, by=1):
    return np.float32(feature.decode_example(stored) / by)


@pytest.fixture
def counted():
    Counted.decoded.clear()
    return fk.FeaturesDict({
        "a": Counted(),
        "n/x": Counted(),
        "n": {"b": Counted(), "c": np.int64},
        "s": fk.Sequence({"d": Counted(), "e": fk.Sequence(np.int32)}),
        "steps": fk.Dataset({"f": Counted(), "g": np.float32}),
    })  # fmt: skip


@pytest.fixture
def record(counted):
    return counted.serialize_example({
        "a": "a",
        "n/x": "x",
        "n": {"b": "b", "c": 3},
        "s": [{"d": "d0", "e": [1]}, {"d": "d1", "e": [2, 3]}],
        "steps": [{"f": "f0", "g": 0.5}, {"f": "f1", "g": 1.5}],
    })  # fmt: skip


def source(**options):
    return fk.builder_from_directory(DECODING.folder).as_data_source("train", **options)


# What TFDS reads of the same dataset.


def test_skip_decoding_gives_what_tfds_gives():
    skip = fk.SkipDecoding()
    examples = source(decoders={"im": skip, "s": {"im": skip}})
    wanted = [DECODING.value(node) for node in DECODING.json["skip_decoding"]["examples"]]
    for want, got in zip(wanted, examples, strict=True):
        assert golden.difference(want, got) is None
    assert examples.element_spec["im"] == TensorInfo((), np.object_)
    assert examples.element_spec["s"]["im"] == TensorInfo((None,), np.object_)
    assert examples.element_spec["v"] == TensorInfo((None,), np.int32)


@pytest.mark.parametrize("case", DECODING.json["partial_decoding"], ids=lambda c: c["features"])
@pytest.mark.parametrize("given", ["columns", "decoders"])
def test_partial_decoding_gives_what_tfds_gives(case, given):
    asked = eval(case["features"], {"np": np})
    options = {given: fk.PartialDecoding(asked) if given == "decoders" else asked}
    if asked == {"ds": {"q": True}}:  # of which TFDS takes nothing, or all
        assert [[step.keys() for step in e["ds"]] for e in source(**options)][2] == [{"q"}]
        return
    if not isinstance(case["examples"], list):
        with pytest.raises(ValueError, match="there is no feature 'nope'"):
            source(**options)
        return
    wanted = [DECODING.value(node) for node in case["examples"]]
    for want, got in zip(wanted, source(**options), strict=True):
        assert golden.difference(want, got) is None


# Choosing features.


NAMES = ("a", "n/x", "n/b", "n/c", "s/d", "s/e", "steps/f", "steps/g")


def test_names(counted):
    assert fk.decode.feature_names(counted) == NAMES
    assert fk.decode.feature_names(fk.Text()) == ()
    assert source().feature_names == ("ds/q", "ds/w", "id", "im", "n/a", "n/b", "s/im", "s/k",
                                      "t", "v")  # fmt: skip
    assert source(columns=["n", "id"]).feature_names == ("n/a", "n/b", "id")


@pytest.mark.parametrize(
    ("columns", "keys", "decoded"),
    [
        (["a"], ["a"], [b"a"]),
        (("n/c",), ["n/c"], []),
        ({"n/x", "a"}, ["a", "n/x"], [b"a", b"x"]),
        (["n/x"], ["n/x"], [b"x"]),
        (["n/b", "n/c"], ["n/b", "n/c"], [b"b"]),
        (["n/b", "n"], ["n/b", "n/c"], [b"b"]),
        (["n", "n/b"], ["n/b", "n/c"], [b"b"]),
        ({"n": True, "a": False}, ["n/b", "n/c"], [b"b"]),
        ({"n": ["c"]}, ["n/c"], []),
        ({"n": {"b": True, "c": False}}, ["n/b"], [b"b"]),
        ({"n": {"c": np.int64}}, ["n/c"], []),
        ({"n": fk.FeaturesDict({"c": np.int64})}, ["n/c"], []),
        (["s/d"], ["s/d"], [b"d0", b"d1"]),
        (["s/e"], ["s/e/ragged_flat_values", "s/e/ragged_row_lengths_0"], []),
        ({"s": fk.Sequence({"d": Counted()})}, ["s/d"], [b"d0", b"d1"]),
        (["steps/g"], ["steps/g"], []),
        (["steps/f"], ["steps/f"], [b"f1"]),
        ({"steps": True}, ["steps/f", "steps/g"], [b"f1"]),
    ],
)
def test_only_what_is_chosen_is_read_and_decoded(counted, record, columns, keys, decoded):
    chosen = fk.decode.select_features(counted, columns)
    assert list(chosen.layout.keys) == keys
    example = chosen.deserialize_example(record)
    if "steps" in example:
        assert len(example["steps"]) == 2
        _ = example["steps"][1]
    assert Counted.decoded == decoded


def test_what_is_chosen_keeps_its_place_and_order(counted, record):
    chosen = fk.decode.select_features(counted, ["s/e", "n/c", "a"])
    example = chosen.deserialize_example(record)
    assert list(example) == ["s", "n", "a"]
    assert example == {
        "s": {"e": RaggedTensor(np.array([1, 2, 3], np.int32), np.array([0, 1, 3]))},
        "n": {"c": 3},
        "a": b"A",
    }
    assert chosen.get_tensor_info() == {
        "s": {"e": TensorInfo((None, None), np.int32)},
        "n": {"c": TensorInfo((), np.int64)},
        "a": TensorInfo((), np.object_),
    }
    assert counted.deserialize_example(record).keys() == {"a", "n/x", "n", "s", "steps"}


def test_a_damaged_feature_that_is_not_chosen_does_no_harm():
    features = fk.FeaturesDict({"id": np.int64, "image": fk.Image(), "gone": np.int64})
    record = write_example({"id": np.array([7]), "image": [b"no picture"]})
    chosen = fk.decode.select_features(features, ["id"])
    assert chosen.deserialize_example(record) == {"id": 7}


def test_parts_of_connectors_with_features_inside():
    features = fk.FeaturesDict({
        "t": fk.Translation(["de", "en", "fr"]),
        "v": fk.TranslationVariableLanguages(["de", "en"]),
        "film": fk.Video(shape=(None, 2, 2, 3)),
    })  # fmt: skip
    chosen = fk.decode.select_features(features, ["t/en", "v/language", "film"])
    assert chosen["t"] == fk.Translation(["en"])
    assert set(chosen.layout.keys) == {"t/en", "v/language", "film"}


def test_what_makes_something_else_of_its_features_is_not_taken_apart():
    class Point(fk.FeaturesDict):
        def decode_example(self, stored):
            return complex(stored["x"], stored["y"])

    class Total(fk.Sequence):
        def decode_example(self, stored):
            return sum(stored["x"])

    features = fk.FeaturesDict({
        "point": Point({"x": np.float32, "y": np.float32}),
        "total": Total({"x": np.int64}),
    })  # fmt: skip
    assert fk.decode.feature_names(features) == ("point", "total")
    for name, cls in (("point/x", "Point"), ("total/x", "Total")):
        with pytest.raises(InvalidArgumentError, match=f"{cls} cannot be taken apart"):
            fk.decode.select_features(features, [name])


@pytest.mark.parametrize(
    ("columns", "error", "text"),
    [
        (["b"], UnknownNameError, "there is no feature 'b'; there are 'a', 'n/b', 'n/c', 'n/x', "
         "'s/d', 's/e', 'steps/f', 'steps/g'"),
        (["n/cc"], UnknownNameError, "there is no feature 'cc'; did you mean 'c'?\n  at: n"),
        ({"bb": False}, UnknownNameError, None),
        ("a", InvalidTypeError, "expected names of features, got 'a'\n  hint: give a list: ['a']"),
        (False, InvalidTypeError, "expected names of features, got False\n  hint: give a list"),
        ([1], InvalidTypeError, "the name of a feature is str, got 1"),
        ([], InvalidArgumentError, "no feature is chosen\n  hint: name at least one"),
        ({"a": False}, InvalidArgumentError, "no feature is chosen\n  hint: name at least one"),
        (["a/z"], InvalidArgumentError, "Counted cannot be taken apart, to choose {'z': True}\n"
         "  at: a\n  hint: choose all of it, by its own name"),
        ({"n": np.int64}, InvalidArgumentError, "expected shape () and dtype int64, the feature is "
         "FeaturesDict with b, c\n  at: n\n"
         "  hint: ask for what the dataset has: see `featurekit info`"),
        ({"a": np.int64}, InvalidArgumentError, None),
        ({"n": np.int64, "n/b": True}, InvalidArgumentError,
         "feature 'n' is chosen twice, in two ways"),
        ({"a": fk.Text()}, InvalidTypeError, "expected a Text, the feature is "
         "Counted(shape=(), dtype=string)\n  at: a\n"
         "  hint: ask for what the dataset has: see `featurekit info`"),
        ({"s": fk.Sequence({"z": np.int64})}, UnknownNameError, None),
    ],
)  # fmt: skip
def test_choices_that_are_refused(counted, columns, error, text):
    with pytest.raises(error) as caught:
        fk.decode.select_features(counted, columns)
    if text is not None:
        assert str(caught.value) == text


def test_tfds_exceptions_for_wrong_choices(counted):
    """TFDS has ValueError for a missing name, TypeError for another class."""
    with pytest.raises(ValueError, match="no feature"):
        fk.PartialDecoding(["zz"]).extract_features(counted)
    with pytest.raises(TypeError, match="expected a ClassLabel"):
        fk.PartialDecoding({"a": fk.ClassLabel(num_classes=2)}).extract_features(counted)
    assert repr(fk.PartialDecoding(["a"], {"a": fk.SkipDecoding()})) == (
        "PartialDecoding(['a'], decoders={'a': SkipDecoding()})"
    )


# Decoders.


def test_a_skipped_feature_is_not_decoded(counted, record):
    skip = fk.SkipDecoding()
    decoders = {"a": skip, "n": skip, "s": skip, "steps": {"f": skip}}
    example = counted.deserialize_example(record, decoders=decoders)
    assert Counted.decoded == [b"x"]
    assert example["a"] == b"a"
    assert example["n"] == {"b": b"b", "c": 3}
    assert example["s"]["d"].tolist() == [b"d0", b"d1"]
    assert example["s"]["e"].to_list() == [[1], [2, 3]]
    assert example["steps"][1] == {"f": b"f1", "g": np.float32(1.5)}
    assert Counted.decoded == [b"x"]


def test_a_decoder_for_a_dataset_gets_all_steps(counted, record):
    decoders = {"steps": fk.SkipDecoding()}
    steps = counted.deserialize_example(record, decoders=decoders)["steps"]
    assert steps["f"].tolist() == [b"f0", b"f1"]
    assert steps["g"].tolist() == [0.5, 1.5]
    spec = with_decoders(counted, decoders).get_tensor_info()["steps"]
    assert spec["g"] == TensorInfo((None,), np.float32)


def test_custom_decoders(counted, record):
    decoders = {"a": Reversed(), "n": {"c": scaled(by=2)}, "s": {"d": Reversed()}}
    features = with_decoders(counted, decoders)
    example = features.deserialize_example(record)
    assert example["a"] == b"A"
    assert example["s"]["d"].tolist() == [b"0D", b"1D"]
    assert (example["n"]["c"], type(example["n"]["c"])) == (1.5, np.float32)
    assert features.get_tensor_info()["n"]["c"] == TensorInfo((), np.float32)
    assert features.to_feature_json() == counted.to_feature_json()


def test_decoders_within_nested_sequences():
    features = fk.FeaturesDict({"s": fk.Sequence(fk.Sequence(fk.ClassLabel(num_classes=9)))})
    record = features.serialize_example({"s": [[1, 2], [], [4]]})
    decoded = features.deserialize_example(record, decoders={"s": scaled(by=2)})["s"]
    assert decoded.to_list() == [[0.5, 1.0], [], [2.0]]
    assert decoded.dtype == np.float32


def test_a_decoder_of_whole_batches():
    class Mean(Decoder):
        def get_tensor_info(self):
            return TensorInfo((2,), np.float32)

        def decode_example(self, stored):
            return stored.mean(axis=0, dtype=np.float32)

        def decode_batch_example(self, stored):
            return stored.mean(axis=1, dtype=np.float32)

    features = fk.FeaturesDict({"s": fk.Sequence(fk.Tensor(shape=(3, 2), dtype=np.int64))})
    record = features.serialize_example({"s": [[[1, 2], [3, 4], [5, 6]]]})
    decoded = with_decoders(features, {"s": Mean()})
    assert decoded.deserialize_example(record)["s"].tolist() == [[3.0, 4.0]]
    assert decoded.get_tensor_info()["s"] == TensorInfo((None, 2), np.float32)


def test_a_decoder_gives_its_shape():
    @make_decoder(output_shape=(None, None, 1))
    def first_channel(stored, feature):
        return feature.decode_example(stored)[..., :1]

    features = fk.FeaturesDict({"im": fk.Image()})
    record = features.serialize_example({"im": np.full((2, 4, 3), 7, np.uint8)})
    decoded = with_decoders(features, {"im": first_channel()})
    assert decoded.deserialize_example(record)["im"].shape == (2, 4, 1)
    assert decoded.get_tensor_info()["im"] == TensorInfo((None, None, 1), np.uint8)


def test_one_decoder_for_several_features():
    skip = scaled()
    features = fk.FeaturesDict({"a": np.int64, "b": np.int32})
    decoded = with_decoders(features, {"a": skip, "b": skip})
    assert [decoded[key]._decoder.feature for key in "ab"] == [features["a"], features["b"]]
    with pytest.raises(InvalidArgumentError, match="does not know its feature yet"):
        _ = skip.feature


def test_missing_values_stay_none():
    features = fk.FeaturesDict({"x": fk.Scalar(dtype=np.int64, optional=True)})
    record = features.serialize_example({"x": None})
    assert features.deserialize_example(record, decoders={"x": scaled()}) == {"x": None}


def test_equality_and_repr():
    text = fk.Text()
    first, second = (DecodedFeature(text, fk.SkipDecoding()) for _ in range(2))
    assert (first == second, hash(first) == hash(second)) == (True, True)
    assert first != DecodedFeature(text, Reversed())
    assert repr(first) == "DecodedFeature(Text(shape=(), dtype=string), SkipDecoding())"
    assert repr(scaled(by=3)) == "scaled()"


@pytest.mark.parametrize(
    ("decoders", "error", "text"),
    [
        ({"aa": fk.SkipDecoding()}, UnknownNameError,
         "there is no feature 'aa'; did you mean 'a'?"),
        ({"n": {"z": fk.SkipDecoding()}}, UnknownNameError,
         "there is no feature 'z'; there are 'b', 'c'\n  at: n"),
        ({"a": {"z": fk.SkipDecoding()}}, InvalidArgumentError,
         "Counted cannot be taken apart, for decoders of 'z'\n  at: a\n"
         "  hint: give one decoder for all of it"),
        ({"a": 5}, InvalidTypeError, "expected a decoder, got 5\n  at: a\n"
         "  hint: give fk.SkipDecoding(), or what fk.decode.make_decoder makes, called"),
        ({"a": scaled}, InvalidTypeError, None),
        ({"a": fk.SkipDecoding}, InvalidTypeError, None),
    ],
)  # fmt: skip
def test_decoders_that_are_refused(counted, record, decoders, error, text):
    with pytest.raises(error) as caught:
        counted.deserialize_example(record, decoders=decoders)
    if text is not None:
        assert str(caught.value) == text
    assert isinstance(caught.value, (ValueError, TypeError))


def test_make_decoder_without_parentheses():
    with pytest.raises(InvalidTypeError) as caught:

        @make_decoder
        def decoder(stored, feature):
            return stored

    assert str(caught.value) == (
        "make_decoder was given a function as the dtype\n  hint: write @make_decoder()"
    )


@make_decoder()
def failing(stored, feature):
    raise DecodeError("no luck")


@make_decoder()
def exploding(stored, feature):
    raise RuntimeError("boom")


def test_errors_say_where(counted, record):
    with pytest.raises(DecodeError) as caught:
        counted.deserialize_example(record, decoders={"s": {"d": failing()}})
    assert str(caught.value) == "no luck\n  at: s.d[0] (Counted)"
    with pytest.raises(RuntimeError) as caught:
        counted.deserialize_example(record, decoders={"n": {"b": exploding()}})
    assert caught.value.__notes__ == ["  at: n.b (DecodedFeature)"]


# Through DataSource and load.


def test_load_takes_columns_and_decoders():
    examples, info = fk.load(
        str(DECODING.folder),
        split="train",
        columns=["im", "n/a"],
        decoders={"im": fk.SkipDecoding()},
        with_info=True,
    )
    assert examples[0].keys() == {"im", "n"}
    assert examples[0]["im"].startswith(b"\x89PNG")
    assert examples[0]["n"] == {"a": b"a0"}
    assert examples.features == fk.decode.select_features(info.features, ["im", "n/a"])
    assert examples.element_spec == {
        "im": TensorInfo((), np.object_),
        "n": {"a": TensorInfo((), np.object_)},
    }
    assert "ds" in info.features


def test_columns_and_partial_decoding_together():
    partial = fk.PartialDecoding(["n/a"], decoders={"n": {"a": Reversed()}})
    examples = source(columns=["n", "id"], decoders=partial)
    assert examples[0] == {"n": {"a": b"0a"}}
    assert examples.feature_names == ("n/a",)


def test_sources_with_decoders_can_be_pickled():
    examples = source(
        columns=["id", "t", "im"],
        decoders={"id": scaled(by=2), "im": fk.SkipDecoding()},
        text="str",
    )
    again = pickle.loads(pickle.dumps(examples))
    assert [e["id"] for e in again] == [e["id"] for e in examples] == [0.0, 1.5, 0.5, 1.0]
    assert again[1]["t"] == "t3"
    assert again.element_spec == examples.element_spec


# Text as str.


def test_text_as_str():
    examples = source(text="str")
    assert examples[1]["t"] == "t3"
    assert examples[1]["n"] == {"a": "a3", "b": 3}
    assert type(examples[1]["ds"]).__name__ == "Steps"
    assert examples[1]["ds"][2] == {"q": 2, "w": "w"}


def test_text_as_str_leaves_what_has_a_decoder():
    examples = source(text="str", decoders={"im": fk.SkipDecoding(), "t": fk.SkipDecoding()})
    assert examples[1]["im"].startswith(b"\x89PNG")
    assert examples[1]["t"] == b"t3"
    assert examples[1]["n"]["a"] == "a3"


def test_text_that_is_not_utf8_says_where(tmp_path):
    features = {"s": fk.Sequence({"t": fk.Text()})}
    fk.write_dataset(
        "bad",
        {"train": [(0, {"s": [{"t": b"ok"}, {"t": b"\xff"}]})]},
        features=fk.FeaturesDict(features),
        data_dir=tmp_path,
    )
    examples = fk.load("bad", "train", data_dir=tmp_path, text="str")
    with pytest.raises(DecodeError) as caught:
        _ = examples[0]
    assert str(caught.value).startswith(
        "the text is not UTF-8: invalid start byte at byte 0\n  at: s.t (Text), "
    )
    with pytest.raises(InvalidArgumentError, match=r"text='st' is not known; did you mean 'str'\?"):
        fk.load("bad", "train", data_dir=tmp_path, text="st")
