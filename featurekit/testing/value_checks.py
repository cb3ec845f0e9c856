"""The tests of a suite that look at one value: stored, read back, described."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from featurekit.io import columns, columns_protobuf
from featurekit.testing.base import SuiteBase, check_error, feature_path, raised
from featurekit.testing.cases import UNSTATED, Bad, Case
from featurekit.testing.compare import assert_same
from featurekit.testing.infos import check_decoded, check_encoded

__all__ = ["ValueChecks"]


class ValueChecks(SuiteBase):
    """Each valid value, by itself and in a dict, and each invalid one."""

    def test_is_read_back(self, case: Case) -> None:
        """A value that was serialized reads back as what is stated."""
        connector = self.make()
        record = connector.serialize_example(case.make())
        assert_same(connector.deserialize_example(record), case.expected)

    def test_decodes_what_it_encodes(self, case: Case) -> None:
        """The bytes of an Example between both add and lose nothing."""
        connector = self.make()
        record = connector.layout.serialize(connector.encode_example(case.make()))
        stored = connector.layout.deserialize(record)
        decoded = None if stored is None else connector.decode_example(stored)
        assert_same(decoded, case.expected)

    def test_is_read_back_within_a_dict(self, case: Case) -> None:
        """A feature of a dict gives the value that it gives alone."""
        features = self.in_dict()
        record = features.serialize_example({"x": case.make(), "beside": 1})
        decoded = features.deserialize_example(record)
        assert_same(decoded, {"x": case.expected, "beside": np.int64(1)})

    def test_is_stored_as_stated(self, case: Case) -> None:
        """The Example has the entries that are stated, and no others."""
        record = self.in_dict().serialize_example({"x": case.make(), "beside": 1})
        entries = columns.read_example(record)
        del entries["beside"]
        if case.stored is UNSTATED:
            wrong = [key for key in entries if key != "x" and not key.startswith("x/")]
            assert not wrong, f"entries outside of the feature: {wrong}"
            return
        stated = case.stored if isinstance(case.stored, Mapping) else {"": case.stored}
        expected = {f"x/{key}" if key else "x": _plain(value) for key, value in stated.items()}
        got = {key: _plain(value) for key, value in entries.items()}
        # As text, so that NaN is NaN, and 1 is not 1.0.
        assert repr(got) == repr(dict(sorted(expected.items()))), f"stored are {got}"

    def test_same_value_gives_same_bytes(self, case: Case) -> None:
        """Bytes depend on the value alone."""
        first, second = self.in_dict(), self.in_dict()
        records = {
            features.serialize_example({"x": case.make(), "beside": 1})
            for features in (first, second, first)
        }
        assert len(records) == 1, f"the same value was stored as {records}"

    def test_encoding_leaves_the_value_alone(self, case: Case) -> None:
        """The value that was given is the author's, and not written to."""
        if callable(case.value):
            return  # made for one use
        value = case.make()
        before = _snapshot(value)
        self.make().serialize_example(value)
        assert_same(_snapshot(value), before)

    def test_decoded_value_fits_the_tensor_info(self, case: Case) -> None:
        """Shape and dtype are what `get_tensor_info` says; so are `shape` and `dtype`."""
        connector = self.make()
        decoded = connector.deserialize_example(connector.serialize_example(case.make()))
        check_decoded(decoded, connector.get_tensor_info())

    def test_encoded_value_fits_the_serialized_info(self, case: Case) -> None:
        """What is handed to the serializer is what `get_serialized_info` says."""
        connector = self.make()
        check_encoded(connector.encode_example(case.make()), connector.get_serialized_info())

    def test_compiled_and_protobuf_agree(self, case: Case) -> None:
        """Reading with the compiled kernels, where they are active, changes nothing."""
        features = self.in_dict()
        record = features.serialize_example({"x": case.make(), "beside": 1})
        specs = features.layout.specs
        active = columns.read_columns([record], specs)
        reference = columns_protobuf.read_columns([record], specs)
        assert_same([tuple(column) for column in active], [tuple(column) for column in reference])
        assert columns_protobuf.write_example(columns.read_example(record)) == record

    def test_is_shown_as_html(self, case: Case) -> None:
        """Any value that reads back can be shown, and brings no markup of its own."""
        shown = self.make().repr_html(case.expected)
        assert isinstance(shown, str)
        assert "<script" not in shown

    def test_bad_value_is_refused(self, bad: Bad) -> None:
        """The error is of the class that is stated, and its text says what is stated."""
        check_error(raised(lambda: self.make().serialize_example(bad.make())), bad)

    def test_error_names_the_feature(self, bad: Bad) -> None:
        """Within a dict, the same error says which feature it is about."""
        features = self.in_dict()
        alone = raised(lambda: self.make().serialize_example(bad.make()))
        error = raised(lambda: features.serialize_example({"x": bad.make(), "beside": 1}))
        assert isinstance(error, bad.error), repr(error)
        assert feature_path(error) == ("x", *feature_path(alone))
        assert str(error).partition("\n")[0] == str(alone).partition("\n")[0]


def _snapshot(value: Any) -> Any:
    """A copy of a value that later changes do not reach."""
    if isinstance(value, Mapping):
        return {key: _snapshot(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_snapshot(item) for item in value]
    return value.copy() if isinstance(value, np.ndarray) else value


def _plain(values: Any) -> list[Any] | None:
    """The values of an entry as Python numbers and bytes."""
    if values is None:
        return None
    return [_plain_value(value) for value in values]


def _plain_value(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (float, np.floating)):
        return float(np.float32(value))  # as it is stored
    return value if isinstance(value, bytes) else int(value)
