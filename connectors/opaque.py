"""Opaque: a feature whose class is not known, or not trusted."""

from __future__ import annotations

import logging
from typing import Any

from featurekit.connector import FeatureConnector
from featurekit.errors import EncodeError
from featurekit.layout import OpaqueInfo
from featurekit.tensor_info import TensorInfo

__all__ = ["Opaque"]


class Opaque(FeatureConnector):
    """Gives what the records hold for a feature whose class cannot be used.

    A dataset's files never choose code to run. A connector class that they name is used
    where it is imported already, offered by an installed package as an entry point of the
    group `featurekit.connectors`, or lies in a package named in `trust=[...]`.

    Args:
        class_name: The class's path in features.json.
        content: What features.json says of it.
    """

    def __init__(self, *, class_name: str, content: Any) -> None:
        super().__init__()
        self.class_name = class_name
        self.content = content
        logging.getLogger("featurekit").warning(
            "the connector class %s is neither imported nor trusted: its feature gives the stored "
            "values; %s",
            class_name,
            _cure(class_name),
        )

    def get_tensor_info(self) -> TensorInfo:
        """Nothing is known of it."""
        return OpaqueInfo()

    def encode_example(self, value: Any) -> Any:
        """Refused: how to store a value is what is not known."""
        raise EncodeError(
            f"values of the unknown connector {self.class_name} cannot be stored",
            hint=_cure(self.class_name),
        )

    def decode_batch_example(self, stored: Any) -> Any:
        """The stored values, as they are."""
        return stored

    def decode_ragged_example(self, stored: Any) -> Any:
        """The stored values, as they are."""
        return stored

    def to_feature_json(self) -> dict[str, Any]:
        """What features.json said."""
        from featurekit import feature_json

        json_: dict[str, Any] = feature_json.to_feature_json(
            self.class_name, self.content, self.doc.desc, self.doc.value_range
        )
        return json_

    def to_json_content(self) -> Any:
        """What features.json said of it."""
        return self.content

    def __repr__(self) -> str:
        """Says which class is missing."""
        return f"Opaque({self.class_name})"


def _cure(class_name: str) -> str:
    package = class_name.partition(".")[0]
    if package == "__main__":
        return "a script or a notebook defined it: define it first, or build with it in a module"
    return f"import it first, or pass trust=[{package!r}]"
