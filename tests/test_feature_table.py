"""FeatureTable: features as a table; and their values as HTML."""

import numpy as np
import pytest

import featurekit as fk
from featurekit.feature_table import FeatureRow

FEATURES = fk.FeaturesDict({
    "id": np.int64,
    "name": fk.Text(doc=fk.Documentation("What it is\ncalled", "a|b <i>")),
    "objects": fk.Sequence({
        "box": fk.BBoxFeature(),
        "label": fk.ClassLabel(names=["cat", "dog"]),
    }, doc="All of them"),
    "tags": fk.Sequence(fk.Sequence(fk.ClassLabel(num_classes=3, doc="a tag"))),
    "film": fk.Video(shape=(None, 4, 4, 3)),
    "steps": fk.Dataset({"reward": np.float32}),
    "size": fk.Tensor(shape=(2,), dtype=np.int32, minimum=0, maximum=9),
    "low": fk.Tensor(shape=(), dtype=np.int32, minimum=1),
    "high": fk.Tensor(shape=(), dtype=np.int32, maximum=5),
})  # fmt: skip

TEXT = """\
Feature        Class                           Shape            Dtype    Description        Value range
               FeaturesDict
id             Tensor                          ()               int64
name           Text                            ()               string   What it is called  a|b <i>
objects        Sequence                                                  All of them
objects/box    BBoxFeature                     (4,)             float32
objects/label  ClassLabel                      ()               int64                       0 to 1
tags           Sequence(Sequence(ClassLabel))  (None, None)     int64    a tag              0 to 2
film           Video(Image)                    (None, 4, 4, 3)  uint8
steps          Dataset
steps/reward   Tensor                          ()               float32
size           Tensor                          (2,)             int32                       0 to 9
low            Tensor                          ()               int32                       from 1
high           Tensor                          ()               int32                       up to 5"""  # noqa: E501


def test_as_text():
    assert str(fk.FeatureTable(FEATURES)) == TEXT


def test_as_markdown():
    lines = fk.FeatureTable(FEATURES).to_markdown().splitlines()
    assert lines[:2] == [
        "| Feature | Class | Shape | Dtype | Description | Value range |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    assert lines[4] == "| name | Text | () | string | What it is called | a\\|b &lt;i&gt; |"
    assert len(lines) == 2 + 13


def test_as_html():
    html = fk.FeatureTable(FEATURES)._repr_html_()
    assert html.startswith("<table><tr><th>Feature</th><th>Class</th>")
    assert "<td>a|b &lt;i&gt;</td>" in html
    assert html.count("<tr>") == 1 + 13


def test_as_a_sequence():
    table = fk.FeatureTable(FEATURES)
    assert (len(table), repr(table)) == (13, "FeatureTable(13 rows)")
    assert table[0] == FeatureRow("", "FeaturesDict")
    assert [row.name for row in table[3:6]] == ["objects", "objects/box", "objects/label"]
    assert list(fk.FeatureTable(fk.Text())) == [FeatureRow("", "Text", "()", "string")]


# Values as HTML.


HTML = [
    (
        fk.FeaturesDict({"a<b": fk.Text(), "n": {"x": np.int64}}),
        {"a<b": b"<script>", "n": {"x": np.int64(3)}},
        "<table><tr><th>a&lt;b</th><td>&lt;script&gt;</td></tr>"
        "<tr><th>n</th><td><table><tr><th>x</th><td>3</td></tr></table></td></tr></table>",
    ),
    (
        fk.FeaturesDict({"x": fk.Tensor(shape=(), dtype=np.int64, optional=True)}),
        {"x": None},
        "<table><tr><th>x</th><td>&ndash;</td></tr></table>",
    ),
    (fk.Sequence(fk.ClassLabel(names=["a", "b"])), np.array([1, 0]), "1 (b), 0 (a)"),
    (fk.Sequence(np.int64), np.array([], np.int64), "none"),
    (
        fk.Sequence(np.int64),
        np.arange(12),
        "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, &hellip; 12 in all",
    ),
    (
        fk.Sequence(fk.Tensor(shape=(9,), dtype=np.int8)),
        np.zeros((2, 9), np.int8),
        "array of shape (9,), int8<br>array of shape (9,), int8",
    ),
    (
        fk.Sequence({"a": fk.Text(), "b": fk.Sequence(np.int64)}),
        {"a": [b"x", b"<"], "b": [[1, 2], [3]]},
        "<table><tr><th>a</th><td>x, &lt;</td></tr>"
        "<tr><th>b</th><td>1, 2<br>3</td></tr></table>",
    ),
    (
        fk.Dataset({"r": np.float32}),
        [{"r": 0.5}, {"r": 1.5}],
        "<table><tr><th>r</th><td>0.5</td></tr></table><br>"
        "<table><tr><th>r</th><td>1.5</td></tr></table>",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("feature", "value", "html"), HTML)
def test_values_as_html(feature, value, html):
    if not isinstance(value, np.ndarray) and value not in ({"x": None},):
        value = fk.FeaturesDict({"v": feature}).deserialize_example(
            fk.FeaturesDict({"v": feature}).serialize_example({"v": value})
        )["v"]
    assert feature.repr_html(value) == html


def test_pictures_in_sequences_are_shown():
    feature = fk.Sequence({"im": fk.Image(shape=(2, 2, 3))})
    html = feature.repr_html({"im": np.zeros((3, 2, 2, 3), np.uint8)})
    assert html.count("<img src=") == 3


def test_steps_that_are_not_shown_are_not_decoded():
    decoded = []

    class Noted(fk.Tensor):
        def decode_example(self, stored):
            decoded.append(int(stored))
            return stored

    feature = fk.Dataset({"x": Noted(shape=(), dtype=np.int64)})
    steps = feature.deserialize_example(feature.serialize_example({"x": i} for i in range(1000)))
    assert feature.repr_html(steps).endswith("&hellip; 1000 in all")
    assert decoded == list(range(10))
