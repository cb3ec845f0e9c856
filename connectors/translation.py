"""Translation and TranslationVariableLanguages: one text in several languages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from featurekit.connector import Documentation
from featurekit.connectors.features_dict import FeaturesDict
from featurekit.connectors.sequence import Sequence
from featurekit.connectors.text import Text
from featurekit.errors import (
    EncodeError,
    EncodeTypeError,
    InvalidTypeError,
    SchemaError,
    UnsupportedError,
    did_you_mean,
    short_repr,
)
from featurekit.feature_json import ProtoContent

__all__ = ["Translation", "TranslationVariableLanguages"]


class Translation(FeaturesDict):
    """One text in each of several languages: a dict of `Text`.

    Args:
        languages: Codes of the languages.
        encoder: Must be None; an argument of early TFDS.
        encoder_config: The same.
        doc: What the feature means.

    Raises:
        InvalidTypeError: The languages are no list of `str`.
        UnsupportedError: A text encoder is given.

    Example:
        >>> pair = Translation(["en", "fr"])
        >>> pair.deserialize_example(pair.serialize_example({"en": "cat", "fr": "chat"}))
        {'en': b'cat', 'fr': b'chat'}
    """

    tfds_name = "tensorflow_datasets.core.features.translation_feature.Translation"

    def __init__(
        self,
        languages: Iterable[str],
        encoder: None = None,
        encoder_config: None = None,
        *,
        doc: Documentation | str | None = None,
    ) -> None:
        if encoder is not None or encoder_config is not None:
            raise UnsupportedError(
                "a Translation takes no text encoder",
                hint="store the text, and tokenize it after reading",
            )
        super().__init__({language: Text() for language in _codes(languages)}, doc=doc)

    @property
    def languages(self) -> list[str]:
        """Codes of the languages, sorted."""
        return sorted(self)

    def to_json_content(self) -> Any:
        """The languages, in TFDS's form."""
        return ProtoContent("translation", languages=self.languages)

    @classmethod
    def from_json_content(cls, value: Any) -> Self:
        """Make a `Translation` from what TFDS wrote."""
        return cls(**_arguments(value, variable=False))


class TranslationVariableLanguages(Sequence):
    """One text in some of several languages, in one or more versions each.

    Takes a dict of languages, each with a text or a list of texts. It is stored, and read, as
    two lists of equal length: `language` and `translation`, sorted by both.

    Args:
        languages: Codes of the languages that may occur; None for any.
        doc: What the feature means.

    Raises:
        InvalidTypeError: The languages are no list of `str`.

    Example:
        >>> texts = TranslationVariableLanguages()
        >>> record = texts.serialize_example({"fr": ["le chat", "la chatte"], "en": "the cat"})
        >>> texts.deserialize_example(record)["translation"]
        array([b'the cat', b'la chatte', b'le chat'], dtype=object)
    """

    tfds_name = "tensorflow_datasets.core.features.translation_feature.TranslationVariableLanguages"

    def __init__(
        self,
        languages: Iterable[str] | None = None,
        *,
        doc: Documentation | str | None = None,
    ) -> None:
        super().__init__({"language": Text(), "translation": Text()}, doc=doc)
        self._languages = sorted(_codes(languages or ()))

    @property
    def languages(self) -> list[str] | None:
        """Codes of the languages that may occur, sorted; None for any."""
        return list(self._languages) or None

    @property
    def num_languages(self) -> int | None:
        """Number of languages that may occur; None for any."""
        return len(self._languages) or None

    def encode_example(self, value: Any) -> Any:
        """Make two lists of a dict of texts.

        Raises:
            EncodeTypeError: It is no dict of languages, or a translation is no text.
            EncodeError: There is no translation at all, or a language is not a declared one.
        """
        if not isinstance(value, Mapping):
            raise EncodeTypeError(
                f"expected a dict of languages, got {type(value).__name__} {short_repr(value)}",
                hint="give {'en': 'the cat', 'fr': ['le chat', 'la chatte']}",
            )
        pairs = sorted(pair for item in value.items() for pair in self._pairs(*item))
        if not pairs:
            raise EncodeError(
                "there is no translation", hint="leave the example out, or give one text at least"
            )
        return super().encode_example(
            [{"language": language, "translation": text} for language, text in pairs]
        )

    def _pairs(self, language: Any, texts: Any) -> Iterator[tuple[bytes, bytes]]:
        if isinstance(language, bytes):
            language = language.decode("utf-8", "replace")
        if self._languages and language not in self._languages:
            raise EncodeError(
                f"{language!r} is not one of the languages"
                f"{did_you_mean(language, self._languages)}",
                hint="add it to languages=, or leave it out",
            )
        single = isinstance(texts, (str, bytes)) or not hasattr(texts, "__iter__")
        for text in [texts] if single else texts:
            yield _utf8(language), _utf8(text, path=(language,))

    def to_json_content(self) -> Any:
        """The languages, in TFDS's form."""
        return ProtoContent(
            "translation", languages=self._languages, variable_languages_per_example=True
        )

    @classmethod
    def from_json_content(cls, value: Any) -> Self:
        """Make a `TranslationVariableLanguages` from what TFDS wrote."""
        return cls(**_arguments(value, variable=True))

    def _identity(self) -> Any:
        return self._languages


def _codes(languages: Iterable[str]) -> dict[str, None]:
    """The languages without repetitions, in order."""
    if isinstance(languages, str):
        raise InvalidTypeError(
            f"expected a list of languages, got str {languages!r}", hint=f"write [{languages!r}]"
        )
    codes = dict.fromkeys(languages)
    for code in codes:
        if not isinstance(code, str):
            raise InvalidTypeError(f"a language must be str, got {short_repr(code)}")
    return codes


def _utf8(text: Any, path: tuple[str, ...] = ()) -> bytes:
    try:
        return bytes(Text().encode_example(text)[()])
    except EncodeError as error:
        error.path, error.connector = path, "Text"
        raise


def _arguments(value: Mapping[str, Any], *, variable: bool) -> dict[str, Any]:
    """The constructor's arguments from the JSON of either class."""
    if "use_encoder" in value:
        raise SchemaError(
            "this text was stored by a vocabulary encoder, which no release of TFDS reads",
            hint="build the dataset again with a current TFDS, or with featurekit",
        )
    if not isinstance(value, ProtoContent):
        return dict(value)
    if value["variable_languages_per_example"] is not variable:
        raise SchemaError(
            f"variableLanguagesPerExample is {value['variable_languages_per_example']}, and the "
            "class says the contrary",
            hint="features.json is damaged; restore it from where the dataset was built",
        )
    return {"languages": value["languages"]}
