"""Text: one string."""

from __future__ import annotations

import html
from typing import Any, Self

import numpy as np

from featurekit.connector import Documentation
from featurekit.connectors.tensor import Tensor
from featurekit.direct import DirectSpec
from featurekit.errors import EncodeTypeError, SchemaError, UnsupportedError, short_repr
from featurekit.feature_json import ProtoContent
from featurekit.tensor_info import TensorInfo

__all__ = ["Text"]

_HTML_LENGTH = 1000


class Text(Tensor):
    r"""One string, stored as UTF-8; `bytes` are stored as they are and read as `bytes`.

    The format has no place for `optional`: after a reload a missing text still reads as
    `None`, though the feature no longer says `optional`.

    Args:
        doc: What the feature means.
        optional: Whether `None` is legal.
        encoder_config: Of TFDS's text encoders, which it has deprecated: one that changes
            nothing, or None.

    Raises:
        UnsupportedError: `encoder_config` has an encoder.

    Example:
        >>> Text().encode_example("grüezi")[()]
        b'gr\xc3\xbcezi'
    """

    tfds_name = "tensorflow_datasets.core.features.text_feature.Text"

    def __init__(
        self,
        *,
        doc: Documentation | str | None = None,
        optional: bool = False,
        encoder_config: Any = None,
    ) -> None:
        if getattr(encoder_config, "encoder", None) is not None:
            raise UnsupportedError(
                "text is stored as text, not as the numbers of an encoder",
                hint="encode it when reading",
            )
        super().__init__(shape=(), dtype=np.object_, doc=doc, optional=optional)

    def get_serialized_info(self) -> TensorInfo:
        """One bytes item, which a record may lack."""
        return self.get_tensor_info().replace(may_be_absent=True)

    def encode_example(self, value: Any) -> Any:
        """Check a string and make it UTF-8.

        Raises:
            EncodeTypeError: It is neither `str` nor `bytes`.
        """
        if isinstance(value, (np.ndarray, list, tuple)):
            raise EncodeTypeError(
                f"expected one text, got {type(value).__name__} {short_repr(value)}",
                hint="declare Sequence(Text()) for several",
            )
        return super().encode_example(value)

    def direct_spec(self) -> DirectSpec | None:
        """One text, unless an author's subclass has other rules."""
        return DirectSpec(self._dtype, ()) if type(self) is Text else None

    def to_json_content(self) -> Any:
        """Nothing: the class says it all."""
        return ProtoContent("text")

    @classmethod
    def from_json_content(cls, value: Any) -> Self:
        """Make a `Text`; the text encoders of early TFDS are refused.

        Raises:
            SchemaError: The text was stored by a vocabulary encoder.
        """
        if "use_encoder" in value:
            raise SchemaError(
                "this text was stored by a vocabulary encoder, which no release of TFDS reads",
                hint="build the dataset again with a current TFDS, or with featurekit",
            )
        return cls()

    def _repr_extras(self) -> list[str]:
        return []

    def repr_html(self, value: Any) -> str:
        """The text, escaped and shortened."""
        text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
        return html.escape(text if len(text) <= _HTML_LENGTH else f"{text[: _HTML_LENGTH - 3]}...")
