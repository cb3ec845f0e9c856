"""Text as `str` instead of `bytes`, where a reader asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np

from featurekit.connector import FeatureConnector
from featurekit.decode import DecodedFeature, Decoder
from featurekit.dtypes import is_string
from featurekit.errors import DecodeError, InvalidArgumentError, did_you_mean
from featurekit.io.ragged import RaggedTensor
from featurekit.layout import OpaqueInfo
from featurekit.tensor_info import TensorInfo, Tree, zip_trees

__all__ = ["TextMode", "with_text"]

TextMode = Literal["bytes", "str"]


def with_text(features: FeatureConnector, mode: TextMode) -> FeatureConnector:
    """The same features, whose text is read as `mode` says; what has a decoder is left to it.

    Raises:
        InvalidArgumentError: The mode is neither `"bytes"` nor `"str"`.
    """
    if mode not in get_args(TextMode):
        raise InvalidArgumentError(
            f"text={mode!r} is not known{did_you_mean(mode, get_args(TextMode))}"
        )
    return features if mode == "bytes" else _with_str(features)


def _with_str(feature: FeatureConnector) -> FeatureConnector:
    if inner := feature.inner_features():
        return feature.with_inner_features({key: _with_str(f) for key, f in inner.items()})
    if isinstance(feature, DecodedFeature) or not _has_text(feature.get_tensor_info()):
        return feature
    return DecodedFeature(feature, _StrDecoder())


def _has_text(infos: Tree[TensorInfo]) -> bool:
    if isinstance(infos, Mapping):
        return any(_has_text(info) for info in infos.values())
    return is_string(infos.dtype) and not isinstance(infos, OpaqueInfo)


class _StrDecoder(Decoder):
    """Decodes as the feature does, and then text as UTF-8."""

    def decode_example(self, stored: Any) -> Any:
        return self._convert(self.feature.decode_example(stored))

    def decode_batch_example(self, stored: Any) -> Any:
        return self._convert(self.feature.decode_batch_example(stored))

    def decode_ragged_example(self, stored: Any) -> Any:
        return self._convert(self.feature.decode_ragged_example(stored))

    def _convert(self, value: Any) -> Any:
        def convert(info: TensorInfo, part: Any) -> Any:
            return _to_str(part) if is_string(info.dtype) else part

        return zip_trees(convert, self.feature.get_tensor_info(), value)


def _to_str(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise DecodeError(
                f"the text is not UTF-8: {error.reason} at byte {error.start}",
                hint='read it with text="bytes"',
            ) from None
    if isinstance(value, RaggedTensor):
        return value.with_flat_values(_to_str(value.flat_values))
    if isinstance(value, np.ndarray):
        result = np.empty(value.shape, object)
        result.reshape(-1)[:] = [_to_str(item) for item in value.flat]
        return result
    if isinstance(value, Sequence):
        return [_to_str(item) for item in value]
    return value
