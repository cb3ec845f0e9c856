"""The tests of a suite that look at the connector itself: JSON, files, pickle, equality."""

from __future__ import annotations

import json
import pathlib
import pickle
from typing import Any

from featurekit.connector import Documentation, FeatureConnector
from featurekit.tensor_info import map_tree
from featurekit.testing.base import SuiteBase
from featurekit.testing.cases import Case
from featurekit.testing.compare import assert_same

__all__ = ["MetadataChecks"]


class MetadataChecks(SuiteBase):
    """What a dataset's folder keeps of the connector, and what Python does with it."""

    def test_json_gives_the_connector_back(self) -> None:
        """Both forms of the JSON, `to_json` and that of features.json, are read back."""
        connector = self.make()
        restored = FeatureConnector.from_json(_through_text(connector.to_feature_json()))
        assert type(restored) is type(connector)
        assert restored.to_feature_json() == connector.to_feature_json()
        # The older form keeps no documentation.
        restored = FeatureConnector.from_json(_through_text(connector.to_json()))
        assert type(restored) is type(connector)
        assert restored.to_json() == connector.to_json()

    def test_json_is_what_tfds_writes(self) -> None:
        """Where TFDS has the connector, features.json is TFDS's."""
        if self.tfds_json is not None:
            assert self.make().to_feature_json() == dict(self.tfds_json)

    def test_folder_gives_the_connector_back(self, tmp_path: pathlib.Path) -> None:
        """features.json and the files beside it give an equal connector."""
        features = self.in_dict()
        features.save_config(tmp_path)
        assert FeatureConnector.from_config(tmp_path) == features

    def test_files_are_as_stated(self, tmp_path: pathlib.Path) -> None:
        """`save_metadata` writes the files that are stated, and no others."""
        self.make().save_metadata(tmp_path, "x")
        written = {path.name: path.read_text("utf-8") for path in sorted(tmp_path.iterdir())}
        assert written == dict(self.files)

    def test_restored_connector_stores_and_reads_the_same(
        self, case: Case, tmp_path: pathlib.Path
    ) -> None:
        """A dataset that is opened later reads as one that was just written."""
        features = self.in_dict()
        features.save_config(tmp_path)
        restored = FeatureConnector.from_config(tmp_path)
        record = features.serialize_example({"x": case.make(), "beside": 1})
        assert_same(restored.deserialize_example(record)["x"], case.expected)

    def test_documentation_is_kept(self) -> None:
        """features.json keeps what the feature means."""
        documented = self.make().to_feature_json() | {"description": "d", "valueRange": "0-1"}
        restored = FeatureConnector.from_json(documented)
        assert restored.doc == Documentation("d", "0-1")
        assert restored.to_feature_json() == documented

    def test_pickle_gives_the_connector_back(self, case: Case) -> None:
        """Worker processes get connectors by pickle, before and after their first use."""
        connector = self.make()
        fresh = pickle.loads(pickle.dumps(connector))
        record = connector.serialize_example(case.make())
        used = pickle.loads(pickle.dumps(connector))
        for copy in (fresh, used):
            assert copy == connector
            assert copy.serialize_example(case.make()) == record
            assert_same(copy.deserialize_example(record), case.expected)

    def test_equality_and_hash(self) -> None:
        """Equal arguments make equal connectors, which hash alike."""
        connector, again = self.make(), pickle.loads(pickle.dumps(self.make()))
        assert connector == again
        assert hash(connector) == hash(again)
        assert connector != object()
        for other in self.unequal:
            assert connector != other, f"{connector!r} is equal to {other!r}"

    def test_repr(self) -> None:
        """The repr begins with the class's name, and is TFDS's where TFDS has the connector."""
        connector = self.make()
        assert repr(connector).startswith(f"{type(connector).__name__}(")
        assert repr(pickle.loads(pickle.dumps(connector))) == repr(connector)
        if self.tfds_repr is not None:
            assert repr(connector) == self.tfds_repr

    def test_shape_and_dtype_are_those_of_the_tensor_info(self) -> None:
        """The properties say what `get_tensor_info` says."""
        connector = self.make()
        info: Any = connector.get_tensor_info()
        assert connector.shape == map_tree(lambda leaf: leaf.shape, info)
        assert connector.dtype == connector.np_dtype == map_tree(lambda leaf: leaf.dtype, info)


def _through_text(written: Any) -> Any:
    return json.loads(json.dumps(written))
