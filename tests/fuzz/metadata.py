"""Damaged metadata: opening it gives features, or an error of ours, and nothing else."""

import copy
import json
import pathlib

from featurekit.connector import FeatureConnector
from featurekit.errors import FeatureKitError

DATA = pathlib.Path(__file__).parent.parent / "data" / "tfds"


def seeds():
    """The features.json files of the sample datasets, and the JSON of other features."""
    files = [path.read_text(encoding="utf-8") for path in sorted(DATA.rglob("features.json"))]
    table = json.loads((DATA / "tables" / "feature_json.json").read_text(encoding="utf-8"))
    return files + [json.dumps(row["json"]) for row in table["loads"]]


# What takes the place of a value.
VALUES = (
    *(None, True, 0, -1, 2**70, 1e308, float("nan"), "", "x", "-1", "9" * 400, "\ud800"),
    *([], [[]], {}, {"shape": {}}, {"dimensions": ["-2"]}, {"json": "[" * 5000}),
)


def mutated(rng, text):
    """Other JSON: a value replaced, removed or doubled; or text with a few characters changed."""
    if rng.random() < 0.2:
        place = rng.randrange(len(text) + 1)
        return text[:place] + rng.choice(["", '"', "}", "[" * 3000, "\0"]) + text[place + 1 :]
    content = json.loads(text)
    for _ in range(rng.choice([1, 1, 2, 4])):
        _change(rng, content)
    return json.dumps(content)


def _change(rng, content):
    places = list(_places(content))
    if not places:
        return
    holder, key = rng.choice(places)
    way = rng.random()
    if way < 0.6:
        holder[key] = copy.deepcopy(rng.choice(VALUES))
    elif way < 0.8:
        del holder[key]
    else:
        other, other_key = rng.choice(places)
        holder[key] = json.loads(
            json.dumps(other.get(other_key) if isinstance(other, dict) else None)
        )


def _places(content):
    if isinstance(content, dict):
        for key, value in content.items():
            yield content, key
            yield from _places(value)
    elif isinstance(content, list):
        for index, value in enumerate(content):
            yield content, index
            yield from _places(value)


def check(text):
    """Make features of a text; True where it describes some."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return False  # from_config makes a SchemaError of these
    try:
        features = FeatureConnector.from_json(content)
        repr(features), features.get_tensor_info(), features.get_serialized_info()
        again = FeatureConnector.from_json(features.to_feature_json())
    except FeatureKitError:
        return False
    assert again.to_feature_json() == features.to_feature_json(), text
    return True
