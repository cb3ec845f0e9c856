"""Translation and TranslationVariableLanguages: texts in, texts out, and their JSON."""

import numpy as np
import pytest

from featurekit.connector import FeatureConnector
from featurekit.connectors.features_dict import FeaturesDict
from featurekit.connectors.sequence import Sequence
from featurekit.connectors.translation import Translation, TranslationVariableLanguages
from featurekit.errors import (
    EncodeError,
    EncodeTypeError,
    FeatureKeyError,
    InvalidTypeError,
    SchemaError,
    UnsupportedError,
)
from featurekit.io.columns import read_example
from featurekit.testing import Bad, Case, ConnectorSuite

PREFIX = "tensorflow_datasets.core.features.translation_feature"


def texts(*items):
    return np.array(items, object)


class TestTranslation(ConnectorSuite):
    connector = Translation(["fr", "en"])
    valid = (
        Case(
            {"en": "cat", "fr": "été"},
            {"en": b"cat", "fr": "été".encode()},
            {"en": [b"cat"], "fr": ["été".encode()]},
        ),
        Case({"fr": b"", "en": "x"}, {"en": b"x", "fr": b""}),
    )
    invalid = (
        Bad({"en": "x"}, FeatureKeyError, match="the example lacks 'fr'"),
        Bad({"en": 1, "fr": "y"}, EncodeTypeError, match="expected text or bytes, got int 1"),
        Bad("x", EncodeTypeError, match="expected a dict with 'fr', 'en', got str 'x'"),
    )
    unequal = (Translation(["en"]), Translation(["en", "de"]))
    tfds_json = {
        "pythonClassName": f"{PREFIX}.Translation",
        "translation": {"languages": ["en", "fr"]},
    }


class TestTranslationVariableLanguages(ConnectorSuite):
    connector = TranslationVariableLanguages()
    valid = (
        Case(
            {"fr": ["le chat", "la chatte"], "en": "the cat"},
            {
                "language": texts(b"en", b"fr", b"fr"),
                "translation": texts(b"the cat", b"la chatte", b"le chat"),
            },
            {
                "language": [b"en", b"fr", b"fr"],
                "translation": [b"the cat", b"la chatte", b"le chat"],
            },
        ),
        Case({"en": ""}, {"language": texts(b"en"), "translation": texts(b"")}),
    )
    invalid = (
        Bad({}, EncodeError, match="there is no translation"),
        Bad({"en": ["a", 5]}, EncodeTypeError, match="expected text or bytes, got int 5"),
    )
    unequal = (TranslationVariableLanguages(["en"]),)
    tfds_json = {
        "pythonClassName": f"{PREFIX}.TranslationVariableLanguages",
        "translation": {"variableLanguagesPerExample": True},
    }


def round_trip(feature, value):
    return feature.deserialize_example(feature.serialize_example(value))


# Translation.


def test_a_translation_is_a_dict_of_texts():
    feature = FeaturesDict({"tr": Translation(["fr", "en"])})
    record = feature.serialize_example({"tr": {"en": "cat", "fr": "été"}})
    assert {key: list(texts) for key, texts in read_example(record).items()} == {
        "tr/en": [b"cat"],
        "tr/fr": ["été".encode()],
    }
    assert feature.deserialize_example(record) == {"tr": {"en": b"cat", "fr": "été".encode()}}


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ({"en": "x"}, FeatureKeyError),
        ({"en": "x", "fr": "y", "de": "z"}, FeatureKeyError),
        (None, EncodeTypeError),
        ("x", EncodeTypeError),
        ({"en": 1, "fr": "y"}, EncodeTypeError),
        ({"en": None, "fr": "y"}, EncodeTypeError),
        ({"en": ["x"], "fr": "y"}, EncodeTypeError),
    ],
)
def test_a_translation_takes_exactly_its_languages(value, error):
    with pytest.raises(error):
        Translation(["en", "fr"]).serialize_example(value)


def test_languages_are_sorted_and_each_counts_once():
    feature = Translation(["zh", "en", "en"], doc="pairs")
    assert feature.languages == ["en", "zh"]
    assert feature.to_feature_json() == {
        "pythonClassName": f"{PREFIX}.Translation",
        "translation": {"languages": ["en", "zh"]},
        "description": "pairs",
    }
    again = FeatureConnector.from_json(feature.to_feature_json())
    assert again == Translation(["en", "zh"])
    assert again.doc.desc == "pairs"
    assert repr(again) == (
        "Translation({\n"
        "    'en': Text(shape=(), dtype=string),\n"
        "    'zh': Text(shape=(), dtype=string),\n"
        "})"
    )


@pytest.mark.parametrize("argument", ["encoder", "encoder_config"])
def test_text_encoders_are_refused(argument):
    with pytest.raises(UnsupportedError) as caught:
        Translation(["en"], **{argument: object()})
    assert str(caught.value) == (
        "a Translation takes no text encoder\n  hint: store the text, and tokenize it after reading"
    )


@pytest.mark.parametrize("cls", [Translation, TranslationVariableLanguages])
@pytest.mark.parametrize("languages", ["en", [1], [None], [b"en"]])
def test_languages_are_a_list_of_str(cls, languages):
    with pytest.raises(InvalidTypeError):
        cls(languages)


def test_translations_in_a_sequence():
    feature = Sequence(Translation(["en", "fr"]))
    decoded = round_trip(feature, [{"en": "a", "fr": "b"}, {"en": "c", "fr": "d"}])
    assert {key: list(texts) for key, texts in decoded.items()} == {
        "en": [b"a", b"c"],
        "fr": [b"b", b"d"],
    }


# TranslationVariableLanguages.


@pytest.mark.parametrize(
    ("value", "languages", "texts"),
    [
        ({"en": "cat"}, [b"en"], [b"cat"]),
        ({b"en": b"cat"}, [b"en"], [b"cat"]),
        ({"zz": "z", "aa": ["2", "1"]}, [b"aa", b"aa", b"zz"], [b"1", b"2", b"z"]),
        ({"en": ["b", "a", "a"]}, [b"en"] * 3, [b"a", b"a", b"b"]),
        ({"en": ("b",), "fr": []}, [b"en"], [b"b"]),
        ({"en": (text for text in "ba")}, [b"en", b"en"], [b"a", b"b"]),
        ({"en": ""}, [b"en"], [b""]),
    ],
)
def test_texts_are_sorted_by_language_and_text(value, languages, texts):
    decoded = round_trip(TranslationVariableLanguages(), value)
    assert decoded["language"].tolist() == languages
    assert decoded["translation"].tolist() == texts


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ({"de": "x"}, EncodeError, "'de' is not one of the languages; there are 'en', 'fr'"),
        ({}, EncodeError, "there is no translation"),
        ({"en": []}, EncodeError, "there is no translation"),
        ({"en": 5}, EncodeTypeError, "expected text or bytes, got int 5\n  at: en (Text)"),
        ({"en": None}, EncodeTypeError, "expected text or bytes, got NoneType None"),
        ({"en": ["a", 5]}, EncodeTypeError, "expected text or bytes, got int 5"),
        ({"en": [["a"]]}, EncodeTypeError, "expected one text, got list ['a']"),
        (None, EncodeTypeError, "expected a dict of languages, got NoneType None"),
        (["en"], EncodeTypeError, "expected a dict of languages, got list ['en']"),
    ],
)
def test_what_is_no_translation_is_refused(value, error, message):
    with pytest.raises(error) as caught:
        TranslationVariableLanguages(["en", "fr"]).encode_example(value)
    assert message in str(caught.value)


def test_the_languages_that_may_occur():
    assert TranslationVariableLanguages().languages is None
    assert TranslationVariableLanguages().num_languages is None
    feature = TranslationVariableLanguages(["fr", "en", "fr"])
    assert (feature.languages, feature.num_languages) == (["en", "fr"], 2)
    assert feature != TranslationVariableLanguages()


@pytest.mark.parametrize("languages", [None, ["b", "a"]])
def test_the_json_of_variable_languages(languages):
    feature = TranslationVariableLanguages(languages)
    content = {"languages": ["a", "b"]} if languages else {}
    assert feature.to_feature_json() == {
        "pythonClassName": f"{PREFIX}.TranslationVariableLanguages",
        "translation": content | {"variableLanguagesPerExample": True},
    }
    assert FeatureConnector.from_json(feature.to_feature_json()) == feature


def test_variable_languages_in_a_sequence():
    feature = Sequence(TranslationVariableLanguages())
    decoded = round_trip(feature, [{"en": "a"}, {"fr": ["c", "b"], "en": "d"}])
    assert decoded["language"].to_list() == [[b"en"], [b"en", b"fr", b"fr"]]
    assert decoded["translation"].to_list() == [[b"a"], [b"d", b"b", b"c"]]


def test_repr_of_variable_languages():
    assert repr(TranslationVariableLanguages()) == (
        "TranslationVariableLanguages({\n"
        "    'language': Text(shape=(), dtype=string),\n"
        "    'translation': Text(shape=(), dtype=string),\n"
        "})"
    )


@pytest.mark.parametrize("name", ["Translation", "TranslationVariableLanguages"])
def test_the_legacy_json(name):
    feature = FeatureConnector.from_json(
        {"type": f"{PREFIX}.{name}", "content": {"languages": ["en", "fr"]}}
    )
    assert feature.languages == ["en", "fr"]


@pytest.mark.parametrize(
    "json_",
    [
        {
            "pythonClassName": f"{PREFIX}.Translation",
            "translation": {"languages": ["b"], "variableLanguagesPerExample": True},
        },
        {
            "pythonClassName": f"{PREFIX}.TranslationVariableLanguages",
            "translation": {"languages": ["b"]},
        },
        {
            "type": f"{PREFIX}.Translation",
            "content": {"languages": ["en"], "use_encoder": [True]},
        },
        {"pythonClassName": f"{PREFIX}.Translation", "text": {}},
    ],
)
def test_json_that_makes_no_sense_is_refused(json_):
    with pytest.raises(SchemaError):
        FeatureConnector.from_json(json_)
