"""Supervised keys: which features are the input and which the target.

`("image", "label")` is a nest of feature names: tuples and dicts with names as leaves.
`dataset_info.json` writes it as nested messages; releases before 4.0 wrote
`{"input": ..., "output": ...}`.

Source: the SupervisedKeys message of TFDS's dataset_info.proto.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from featurekit.errors import DatasetInfoError, InvalidArgumentError, short_repr

__all__ = ["SupervisedKeys", "check", "from_json", "map_keys", "to_json"]

SupervisedKeys = tuple[Any, ...]


def check(keys: Any) -> SupervisedKeys | None:
    """Check supervised keys as builders give them.

    Raises:
        InvalidArgumentError: They are no tuple of two or three nests of names.
    """
    if keys is None:
        return None
    if not isinstance(keys, tuple) or len(keys) not in (2, 3):
        raise InvalidArgumentError(
            f"supervised_keys must be a tuple of 2 or 3, got {short_repr(keys)}",
            hint="give the names of input and target, such as ('image', 'label')",
        )
    return map_keys(_check_leaf, keys)  # type: ignore[no-any-return]


def _check_leaf(leaf: Any) -> str:
    if not isinstance(leaf, str):
        raise InvalidArgumentError(
            f"supervised_keys may nest tuples and dicts of feature names, got {short_repr(leaf)}"
        )
    return leaf


def map_keys(function: Callable[[Any], Any], keys: Any) -> Any:
    """Apply a function to every name; the tuples and dicts stay."""
    if isinstance(keys, tuple):
        return tuple(map_keys(function, item) for item in keys)
    if isinstance(keys, Mapping):
        return {name: map_keys(function, item) for name, item in keys.items()}
    return function(keys)


def to_json(keys: Any) -> dict[str, Any]:
    """The JSON of supervised keys."""
    if isinstance(keys, tuple):
        return {"tuple": {"items": [to_json(item) for item in keys]}}
    if isinstance(keys, Mapping):
        return {"dict": {"dict": {name: to_json(item) for name, item in keys.items()}}}
    return {"featureKey": keys}


def from_json(value: Any) -> Any:
    """Read supervised keys in any of their forms.

    Raises:
        DatasetInfoError: It is none of them.
    """
    if isinstance(value, Mapping):
        if "input" in value or "output" in value:
            return (value.get("input", ""), value.get("output", ""))
        if isinstance(value.get("tuple"), Mapping):
            return tuple(from_json(item) for item in value["tuple"].get("items", []))
        if isinstance(value.get("dict"), Mapping):
            items = value["dict"].get("dict", {})
            return {name: from_json(item) for name, item in items.items()}
        for name in ("featureKey", "feature_key"):
            if isinstance(value.get(name), str):
                return value[name]
    raise DatasetInfoError(
        f"supervisedKeys holds {short_repr(value)}, which is no tuple, dict or featureKey",
        hint="dataset_info.json is damaged; copy it again",
    )
