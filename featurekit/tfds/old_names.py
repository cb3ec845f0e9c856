"""Names that TFDS has deprecated, or needs for its pictures only, and that scripts still use."""

from __future__ import annotations

from typing import Any

from featurekit.dataset.info import MetadataDict
from featurekit.errors import UnsupportedError

__all__ = ["GraphVisualizerMetadataDict", "TextEncoderConfig"]


class TextEncoderConfig:
    """How text is turned into numbers before it is stored: not at all.

    Args:
        encoder: Must be None.
        encoder_cls: Must be None.
        vocab_size: Must be None.
        name: Name of the config.

    Raises:
        UnsupportedError: It asks for an encoder.
    """

    def __init__(
        self,
        encoder: Any = None,
        encoder_cls: Any = None,
        vocab_size: int | None = None,
        name: str = "plain_text",
    ) -> None:
        if encoder is not None or encoder_cls is not None or vocab_size is not None:
            raise UnsupportedError(
                "text is stored as text: TFDS's text encoders are not offered",
                hint="use features.Text(), and encode text when reading",
            )
        self.encoder = None
        self.name = name


class GraphVisualizerMetadataDict(MetadataDict):
    """Metadata that say which feature holds the edges of a graph.

    Args:
        edgelist_feature_name: Name of that feature.
        *args: Further metadata, as `dict` takes them.
        **kwargs: The same.
    """

    def __init__(self, edgelist_feature_name: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self["edgelist_feature_name"] = edgelist_feature_name
