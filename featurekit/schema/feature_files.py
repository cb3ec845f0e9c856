"""Features from a file: features.json, or one like it under another name."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from featurekit.connector import FEATURES_FILE, FeatureConnector
from featurekit.errors import FeatureKitError, MissingFileError, SchemaError, add_location

__all__ = ["read_features"]


def read_features(path: str, *, trust: Iterable[str] = ()) -> FeatureConnector:
    """The features that a JSON file describes, with the class names in the files beside it.

    Args:
        path: The file, or the folder of a features.json.
        trust: Packages that connector classes named there may be imported from.

    Raises:
        MissingFileError: There is no such file.
        SchemaError: It does not describe features.
    """
    if os.path.isdir(path):
        path = os.path.join(path, FEATURES_FILE)
    try:
        with open(path, "rb") as file:
            value = json.load(file)
    except FileNotFoundError:
        raise MissingFileError("there is no such file of features", file=path) from None
    except (ValueError, RecursionError) as error:
        raise SchemaError(f"the file is not JSON: {error}", file=path) from error
    try:
        features = FeatureConnector.from_json(value, trust=trust)
        features.load_metadata(os.path.dirname(path) or ".", None)
    except FeatureKitError as error:
        add_location(error, file=path)
        raise
    return features
