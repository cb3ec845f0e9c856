"""Text: one string."""

import numpy as np
import pytest

from featurekit.connector import FeatureConnector
from featurekit.connectors.features_dict import FeaturesDict
from featurekit.connectors.text import Text
from featurekit.errors import DecodeError, EncodeError, EncodeTypeError, SchemaError
from featurekit.io.columns import write_example
from featurekit.testing import Bad, Case, ConnectorSuite

NAME = "tensorflow_datasets.core.features.text_feature.Text"


class TestText(ConnectorSuite):
    connector = Text()
    valid = (
        Case("grüezi", "grüezi".encode(), stored=["grüezi"]),
        Case(b"\xff\x00", stored=[b"\xff\x00"]),
        Case("", b"", stored=[""]),
        Case(np.str_("s"), b"s"),
        Case(np.bytes_(b"s"), b"s"),
    )
    invalid = (
        Bad(
            5,
            EncodeTypeError,
            "expected text or bytes, got int 5\n"
            "  hint: give str or bytes; convert other values with str() first",
        ),
        Bad(
            ["a", "b"],
            EncodeTypeError,
            "expected one text, got list ['a', 'b']\n  hint: declare Sequence(Text()) for several",
        ),
        Bad(
            "\ud800",
            EncodeError,
            r"'\ud800' cannot be written as UTF-8"
            "\n  hint: give bytes, or text without lone surrogates",
        ),
        Bad(1.5, EncodeTypeError, match=r"expected text or bytes, got float 1\.5"),
        Bad(None, EncodeTypeError, match="expected text or bytes, got NoneType None"),
        Bad({"a": 1}, EncodeTypeError, match="expected text or bytes, got dict"),
        Bad(np.array("x"), EncodeTypeError, match="expected one text, got ndarray"),
        Bad(bytearray(b"x"), EncodeTypeError, match="expected text or bytes, got bytearray"),
    )
    tfds_json = {"pythonClassName": NAME, "text": {}}
    tfds_repr = "Text(shape=(), dtype=string)"


class TestOptionalText(ConnectorSuite):
    connector = Text(optional=True, doc="what was said")
    valid = (Case("a", b"a", stored=["a"]), Case(None, stored={}))
    invalid = (Bad(5, EncodeTypeError, match="expected text or bytes, got int 5"),)
    # The format has no place for `optional`, and TFDS's repr of a Text none for the doc.
    tfds_json = {"pythonClassName": NAME, "text": {}, "description": "what was said"}
    tfds_repr = "Text(shape=(), dtype=string)"


def test_a_record_without_the_text_reads_as_none():
    features = FeaturesDict({"x": Text(), "y": Text()})
    assert features.deserialize_example(write_example({"y": [b"b"]})) == {"x": None, "y": b"b"}


def test_a_record_with_two_texts_is_refused():
    features = FeaturesDict({"x": Text()})
    with pytest.raises(DecodeError) as caught:
        features.deserialize_example(write_example({"x": [b"a", b"b"]}))
    assert str(caught.value) == (
        "entry 'x' has 2 values, which do not fill shape ()\n"
        "  at: x\n"
        "  hint: the record is damaged, or was written with other features"
    )


def test_text_of_a_vocabulary_encoder_is_refused():
    with pytest.raises(SchemaError) as caught:
        FeatureConnector.from_json({"type": NAME, "content": {"use_encoder": True}})
    assert str(caught.value) == (
        "this text was stored by a vocabulary encoder, which no release of TFDS reads\n"
        "  hint: build the dataset again with a current TFDS, or with featurekit"
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (b"<b>&", "&lt;b&gt;&amp;"),
        (b"\xff", "\N{REPLACEMENT CHARACTER}"),
        ("x" * 1001, "x" * 997 + "..."),
        ("x" * 1000, "x" * 1000),
    ],
)
def test_html_is_escaped_and_short(value, shown):
    assert Text().repr_html(value) == shown
