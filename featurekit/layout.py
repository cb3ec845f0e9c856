"""Where the values of a nested feature lie in a flat tf.train.Example, and back.

A feature's serialized info (nested dicts of `TensorInfo`) fixes the layout, as TFDS has it:

    ============================  ==========================================================
    value                         key(s), for a feature at path `f`
    ============================  ==========================================================
    all dimensions known          `f`: the values in row-major order
    one dimension unknown         `f`: the same; the unknown size follows from their number
    below two or more sequences   `f/ragged_flat_values`, and the lengths of all lists of each
                                  inner level in `f/ragged_row_lengths_0`, `_1`, ...
    opaque (class unknown)        whatever the record has at `f` and below `f/`
    ============================  ==========================================================

Nested dict keys are joined with `/`.

Source: the layout that TFDS's example_serializer and example_parser modules define.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from featurekit.errors import (
    DecodeError,
    EncodeTypeError,
    FeatureKeyError,
    FeatureKitError,
    SchemaError,
    add_path,
    short_repr,
)
from featurekit.io.columns import Column, ColumnSpec, read_columns, read_example, write_example
from featurekit.leaves import (
    Leaf,
    ListLeaf,
    OpaqueInfo,
    OpaqueLeaf,
    Path,
    Wire,
    has_opaque,
    make_leaf,
)
from featurekit.tensor_info import TensorInfo, Tree

__all__ = ["Layout", "OpaqueInfo", "has_opaque"]


class Layout:
    """How the values of one feature are laid out in a tf.train.Example.

    Args:
        infos: The feature's serialized info: a `TensorInfo`, or nested dicts of them.

    Raises:
        SchemaError: Two values would have the same key.
        UnsupportedError: A dtype or shape cannot be stored without an encoding.
    """

    def __init__(self, infos: Tree[TensorInfo]) -> None:
        self.infos = infos
        self._leaves = tuple(make_leaf(path, info) for path, info in _flatten(infos))
        _check_keys(self._leaves)
        self._specs = tuple(spec for leaf in self._leaves for spec in leaf.specs)
        self._has_opaque = any(isinstance(leaf, OpaqueLeaf) for leaf in self._leaves)

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the Example's entries, in order of the feature."""
        return tuple(spec.key for spec in self._specs)

    @property
    def specs(self) -> tuple[ColumnSpec, ...]:
        """What each entry is: key, list kind and number of values where it is fixed."""
        return self._specs

    def serialize(self, encoded: Tree[Any]) -> bytes:
        """Write encoded values as the bytes of a tf.train.Example.

        The bytes depend on the values alone: keys are sorted, lists packed.

        Args:
            encoded: What `encode_example` gave: a value, or nested dicts of values.

        Raises:
            EncodeError: A value does not fit its info, or the example passes 2 GiB.
        """
        wire: Wire = {}
        for leaf in self._leaves:
            try:
                leaf.write(_find(encoded, leaf.path), wire)
            except FeatureKitError as error:
                for part in reversed(leaf.path):
                    add_path(error, part)
                raise
        return write_example(wire)

    def deserialize(self, record: bytes) -> Tree[Any]:
        """Read the stored values of one serialized tf.train.Example.

        Raises:
            ParseError: The bytes are no Example, or a list has the wrong kind.
            DecodeError: An entry is missing, or has the wrong number of values.
        """
        try:
            return self.deserialize_each([record])[0]
        except FeatureKitError as error:
            error.record = None  # there is but one
            raise

    def deserialize_each(self, records: Sequence[bytes]) -> list[Any]:
        """Read the stored values of several Examples: a list, one entry a record.

        Raises:
            ParseError: As in `deserialize`; `record` is the index in the list.
            DecodeError: The same.
        """
        return _transpose(self._read(records, lambda leaf: leaf.split), len(records))

    def deserialize_batch(self, records: Sequence[bytes]) -> Tree[Any]:
        """Read the stored values of several Examples, joined along a new first axis.

        Returns:
            Arrays where all records have one shape, a `RaggedTensor` where the first
            dimension varies, a masked array where optional values are missing, else a list.
        """
        return self._read(records, lambda leaf: leaf.join)

    def _read(
        self, records: Sequence[bytes], reader: Callable[[ListLeaf], Callable[[list[Column]], Any]]
    ) -> Tree[Any]:
        """The values of all leaves, nested like the feature."""
        columns = iter(read_columns(records, self._specs))
        everything = [read_example(record) for record in records] if self._has_opaque else []
        result: Any = _skeleton(self.infos)
        for leaf in self._leaves:
            if isinstance(leaf, OpaqueLeaf):
                values: Any = [leaf.pick(entries) for entries in everything]
            else:
                values = _at(leaf, reader(leaf), [next(columns) for _ in leaf.specs])
            if not leaf.path:
                return values
            _set(result, leaf.path, values)
        return result


def _at(leaf: Leaf, read: Callable[[list[Column]], Any], columns: list[Column]) -> Any:
    """Read the values of a leaf; an error says which one it is."""
    try:
        return read(columns)
    except DecodeError as error:
        error.path = (*leaf.path, *error.path)
        raise


# Nested dicts and paths.


def _flatten(infos: Tree[TensorInfo], path: Path = ()) -> Iterator[tuple[Path, TensorInfo]]:
    if isinstance(infos, TensorInfo):
        yield path, infos
        return
    for key, info in infos.items():
        yield from _flatten(info, (*path, key))


def _check_keys(leaves: Sequence[Leaf]) -> None:
    seen: dict[str, Path] = {}
    for leaf in leaves:
        for key in {leaf.key, *(spec.key for spec in leaf.specs)}:
            if key in seen:
                raise SchemaError(
                    f"two features are stored under the key {key!r}",
                    path=leaf.path,
                    hint="rename one of them; a '/' in a name counts as nesting",
                )
            seen[key] = leaf.path


def _find(tree: Any, path: Path) -> Any:
    for index, part in enumerate(path):
        if type(tree) is not dict and not isinstance(tree, Mapping):
            raise EncodeTypeError(
                f"expected a dict, got {type(tree).__name__} {short_repr(tree)}",
                hint="encode_example must return what get_serialized_info declares",
            )
        if part not in tree:
            raise FeatureKeyError(
                f"the encoded example has no {'.'.join(path[: index + 1])!r}",
                hint="encode_example must return what get_serialized_info declares",
            )
        tree = tree[part]
    return tree


def _skeleton(infos: Tree[TensorInfo]) -> Any:
    """The nested dicts of `infos` without the values, so that empty ones are there too."""
    if isinstance(infos, TensorInfo):
        return None
    return {key: _skeleton(info) for key, info in infos.items()}


def _set(tree: dict[str, Any], path: Path, value: Any) -> None:
    for part in path[:-1]:
        tree = tree[part]
    tree[path[-1]] = value


def _transpose(tree: Any, count: int) -> list[Any]:
    """From nested dicts of lists to the list of nested dicts."""
    if not isinstance(tree, dict):
        return tree  # type: ignore[no-any-return]
    if not tree:
        return [{} for _ in range(count)]
    columns = [_transpose(values, count) for values in tree.values()]
    return [dict(zip(tree, row, strict=True)) for row in zip(*columns, strict=True)]
