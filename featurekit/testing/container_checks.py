"""The tests of a suite that put the connector into sequences."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from featurekit.connector import FeatureConnector
from featurekit.connectors.features_dict import FeaturesDict
from featurekit.connectors.sequence import Sequence
from featurekit.errors import EncodeError, UnsupportedError
from featurekit.tensor_info import TensorInfo, Tree
from featurekit.testing.base import SuiteBase, feature_path, raised
from featurekit.testing.cases import Bad
from featurekit.testing.compare import assert_same

__all__ = ["ContainerChecks"]


class ContainerChecks(SuiteBase):
    """The valid values as elements of sequences, and of sequences of sequences."""

    def test_sequences_are_as_stated(self) -> None:
        """A connector that no sequence can hold is refused, and says so with `in_sequence`."""
        once = Sequence(self.make())
        for stated, sequence in (
            (self.in_sequence, once),
            (self.in_nested_sequence, Sequence(once)),
        ):
            values = [case.make() for case in self.elements()]
            value = values if sequence is once else [values]
            if stated:
                sequence.serialize_example(value)
            else:
                error = raised(functools.partial(sequence.serialize_example, value))
                assert isinstance(error, (EncodeError, UnsupportedError)), repr(error)

    def test_sequence_of_all_values(self) -> None:
        """Every element is what the value reads back as alone; equal shapes make an array."""
        if not self.in_sequence:
            return
        cases = self.elements()
        decoded = _round_trip(Sequence(self.make()), [case.make() for case in cases])
        _check_count(decoded, len(cases))
        for index, case in enumerate(cases):
            _same_element(_element(decoded, index), case.expected, f"element {index}")
        _check_arrays(decoded, self.make().get_tensor_info(), [case.expected for case in cases])

    def test_empty_sequence(self) -> None:
        """No elements read back as arrays with no rows, of the dtypes of the elements."""
        if not self.in_sequence:
            return
        decoded = _round_trip(Sequence(self.make()), [])
        _check_empty(decoded, self.make().get_tensor_info())

    def test_sequence_of_fixed_length(self) -> None:
        """A declared length changes neither the elements nor their form."""
        if not self.in_sequence:
            return
        case = self.elements()[0]
        sequence = Sequence(self.make(), length=2)
        decoded = _round_trip(sequence, (case.make(), case.make()))
        _check_count(decoded, 2)
        for index in range(2):
            _same_element(_element(decoded, index), case.expected, f"element {index}")

    def test_sequence_of_sequences(self) -> None:
        """Lists of different lengths, empty ones among them, keep their elements."""
        if not self.in_nested_sequence:
            return
        cases = self.elements()
        rows = [[], cases, [], cases[:1]]
        values = [[case.make() for case in row] for row in rows]
        decoded = _round_trip(Sequence(Sequence(self.make())), values)
        _check_count(decoded, len(rows))
        for i, row in enumerate(rows):
            inner = _element(decoded, i)
            _check_count(inner, len(row))
            for j, case in enumerate(row):
                _same_element(_element(inner, j), case.expected, f"element {i}, {j}")

    def test_empty_sequence_of_sequences(self) -> None:
        """No rows read back as no rows."""
        if not self.in_nested_sequence:
            return
        _check_count(_round_trip(Sequence(Sequence(self.make())), []), 0)

    def test_error_names_the_element(self, bad: Bad) -> None:
        """Within a sequence, the error says which element it is about."""
        good = self.elements()
        if not self.in_sequence or not good:
            return
        alone = raised(lambda: self.make().serialize_example(bad.make()))
        values = [good[0].make(), bad.make()]
        error = raised(lambda: Sequence(self.make()).serialize_example(values))
        assert isinstance(error, bad.error), repr(error)
        assert feature_path(error) == (1, *feature_path(alone))


def _round_trip(sequence: FeatureConnector, values: Any) -> Any:
    """Within a dict, as sequences are in datasets."""
    features = FeaturesDict({"x": sequence})
    return features.deserialize_example(features.serialize_example({"x": values}))["x"]


def _element(decoded: Any, index: int) -> Any:
    """An element of a decoded sequence; of dicts, which read back as a dict of lists."""
    if isinstance(decoded, Mapping):
        return {key: _element(value, index) for key, value in decoded.items()}
    return decoded[index]


def _same_element(got: Any, expected: Any, what: str) -> None:
    """As `assert_same`; a list among lists whose items differ in shape may be equal items'."""
    if isinstance(got, list) and isinstance(expected, np.ndarray):
        expected = list(expected)
    assert_same(got, expected, what)


def _check_count(decoded: Any, count: int) -> None:
    if isinstance(decoded, Mapping):
        for value in decoded.values():
            _check_count(value, count)
    else:
        assert len(decoded) == count, f"expected {count} elements, got {decoded!r}"


def _check_arrays(decoded: Any, info: Tree[TensorInfo], elements: list[Any]) -> None:
    """Elements of one shape make an array, never a list or an object array by accident."""
    if isinstance(info, Mapping):
        for key, inner in info.items():
            _check_arrays(decoded[key], inner, [element[key] for element in elements])
        return
    lists = info.sequence_rank or any(item is None for item in elements)
    if not lists and len({np.shape(item) for item in elements}) == 1:
        assert isinstance(decoded, np.ndarray), f"expected an array, got {decoded!r}"
        assert decoded.dtype == info.dtype, f"expected dtype {info.dtype}, got {decoded.dtype}"


def _check_empty(decoded: Any, info: Tree[TensorInfo]) -> None:
    if isinstance(info, Mapping):
        for key, inner in info.items():
            _check_empty(decoded[key], inner)
        return
    assert len(decoded) == 0, f"expected nothing, got {decoded!r}"
    if isinstance(decoded, np.ndarray):
        expected = np.empty((0, *(dim or 0 for dim in info.shape)), info.dtype)
        assert_same(decoded, expected)
