"""Text as `str` instead of `bytes`, where a reader asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np

from featurekit.connector import FeatureConnector
from featurekit.dtypes import is_string
from featurekit.errors import DecodeError, InvalidArgumentError, add_path, did_you_mean
from featurekit.io.ragged import RaggedTensor
from featurekit.tensor_info import TensorInfo, Tree

__all__ = ["TextMode", "text_converter"]

TextMode = Literal["bytes", "str"]


def text_converter(mode: TextMode, features: FeatureConnector) -> Callable[[Any], Any] | None:
    """A function that turns the text of decoded examples into `str`; None for `"bytes"`.

    Raises:
        InvalidArgumentError: The mode is neither `"bytes"` nor `"str"`.
    """
    if mode not in get_args(TextMode):
        raise InvalidArgumentError(
            f"text={mode!r} is not known{did_you_mean(mode, get_args(TextMode))}"
        )
    if mode == "bytes":
        return None
    infos = features.get_tensor_info()
    return lambda example: _convert(infos, example)


def _convert(infos: Tree[TensorInfo], value: Any) -> Any:
    if isinstance(infos, Mapping):
        if not isinstance(value, Mapping):  # the lazy steps of a Dataset
            return [_convert(infos, step) for step in value]
        return {key: _convert_at(info, value[key], key) for key, info in infos.items()}
    return _to_str(value) if is_string(infos.dtype) else value


def _convert_at(infos: Tree[TensorInfo], value: Any, key: str) -> Any:
    try:
        return _convert(infos, value)
    except DecodeError as error:
        add_path(error, key)
        raise


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
