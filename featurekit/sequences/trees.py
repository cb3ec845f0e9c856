"""Nested values: dicts, lists, tuples and named tuples of arrays, and JAX's own nodes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from featurekit.errors import FeatureKitError, InvalidArgumentError, PathPart, add_path, short_repr

__all__ = ["leaves", "map_leaves"]

Rebuild = Callable[[list[Any]], Any]


def map_leaves(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """Apply a function to every leaf of a tree, and what the other trees have in its place.

    Args:
        function: Takes a leaf of `tree` and one value of each other tree.
        tree: Gives the structure. Dicts, lists, tuples, named tuples and None have parts;
            where JAX is loaded, also what is registered there. All else is a leaf.
        others: Trees that have the structure of `tree` at least.

    Raises:
        InvalidArgumentError: Another tree has another structure.

    Example:
        >>> map_leaves(lambda a, b: a + b, {"h": 1, "c": (2, 3)}, {"h": 10, "c": (20, 30)})
        {'h': 11, 'c': (22, 33)}
    """
    parts = _parts(tree)
    if parts is None:
        return function(tree, *others)
    children, rebuild = parts
    columns = [_same_parts(other, tree, children) for other in others]
    results = []
    for key, child in children.items():
        try:
            results.append(map_leaves(function, child, *(column[key] for column in columns)))
        except FeatureKitError as error:
            add_path(error, key)
            raise
    return rebuild(results)


def leaves(tree: Any) -> Iterator[Any]:
    """All leaves of a tree, from left to right.

    >>> list(leaves({"h": 1, "c": (2, 3)}))
    [1, 2, 3]
    """
    parts = _parts(tree)
    if parts is None:
        yield tree
    else:
        for child in parts[0].values():
            yield from leaves(child)


def _parts(node: Any) -> tuple[dict[PathPart, Any], Rebuild] | None:
    """The parts of a node by key, and the function that makes a node of other parts."""
    if node is None:
        return {}, lambda values: None
    if isinstance(node, Mapping):
        return dict(node), lambda values: dict(zip(node, values, strict=True))
    if isinstance(node, tuple) and hasattr(node, "_fields"):
        return dict(zip(node._fields, node, strict=True)), lambda values: type(node)(*values)
    if isinstance(node, (list, tuple)):
        return dict(enumerate(node)), type(node)
    return _jax_parts(node)


def _jax_parts(node: Any) -> tuple[dict[PathPart, Any], Rebuild] | None:
    jax = sys.modules.get("jax")
    if jax is None or hasattr(node, "dtype"):
        return None
    values, structure = jax.tree_util.tree_flatten(node, is_leaf=lambda value: value is not node)
    if len(values) == 1 and values[0] is node:
        return None
    return dict(enumerate(values)), structure.unflatten


def _same_parts(other: Any, tree: Any, children: Mapping[PathPart, Any]) -> dict[PathPart, Any]:
    parts = _parts(other)
    if parts is None or parts[0].keys() != children.keys():
        raise InvalidArgumentError(
            f"expected the structure of {short_repr(tree)}, got {short_repr(other)}"
        )
    return parts[0]
