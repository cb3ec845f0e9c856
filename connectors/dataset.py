"""Dataset: steps of an episode, decoded one by one when they are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from featurekit.connector import encode_at
from featurekit.connectors.features_dict import FeaturesDict
from featurekit.connectors.sequence import Sequence
from featurekit.errors import EncodeTypeError, short_repr
from featurekit.layout import OpaqueInfo, has_opaque
from featurekit.steps import Steps
from featurekit.tensor_info import TensorInfo, Tree, map_tree

__all__ = ["Dataset"]


class Dataset(Sequence):
    """Any number of values of one feature, read as a sequence that decodes on demand.

    Stored as a `Sequence` is. What differs: it takes any iterable, such as a generator of
    steps; a value is a `featurekit.steps.Steps`, which decodes a step when it is asked for;
    and steps may differ in shape.

    Args:
        feature: The steps' feature; a dtype or dict as in `FeaturesDict`.
        length: Number of steps, where it is always the same.
        doc: What the feature means.

    Example:
        >>> import numpy as np
        >>> steps = Dataset({"reward": np.float32, "is_last": np.bool_})
        >>> record = steps.serialize_example({"reward": i, "is_last": i == 2} for i in range(3))
        >>> steps.deserialize_example(record)
        Steps(len=3)
        >>> steps.deserialize_example(record)[-1]
        {'reward': np.float32(2.0), 'is_last': np.True_}
    """

    tfds_name = "tensorflow_datasets.core.features.dataset_feature.Dataset"
    decodes_elements = False  # a decoder gets all steps, as in TFDS

    def get_tensor_info(self) -> Tree[TensorInfo]:
        """The info of one step."""
        return map_tree(_add_level, self._feature.get_tensor_info())

    def get_serialized_info(self) -> Tree[TensorInfo]:
        """The steps' stored info with one more leading dimension."""
        return map_tree(_add_level, super().get_serialized_info())

    def encode_example(self, value: Any) -> Any:
        """Encode an iterable of steps, or a dict of lists.

        Raises:
            EncodeTypeError: It is neither.
            EncodeError: The number of steps is not the declared one, the lists of a dict have
                different lengths, or a step does not fit; says which.
        """
        if isinstance(value, Mapping) and isinstance(self._feature, FeaturesDict):
            value = self._dicts(value)
        return self._transpose(self._encode_steps(value))

    def _encode_steps(self, steps: Any) -> list[Any]:
        scalar = isinstance(steps, (str, bytes, Mapping)) or getattr(steps, "ndim", 1) == 0
        if scalar or not isinstance(steps, Iterable):
            raise EncodeTypeError(
                f"expected the steps, got {type(steps).__name__} {short_repr(steps)}",
                hint="give a list or a generator of steps, or a dict of lists",
            )
        if hasattr(steps, "as_numpy_iterator"):  # a tf.data.Dataset, whose steps are tensors
            steps = steps.as_numpy_iterator()
        encoded = [encode_at(self._feature, step, index) for index, step in enumerate(steps)]
        self._check_length(len(encoded))
        return encoded

    def decode_example(self, stored: Any) -> Any:
        """The steps, none of them decoded yet."""
        return self._steps(stored)

    def decode_batch_example(self, stored: Any) -> Any:
        """A sequence of datasets: one item for each, its steps together as a `Sequence` has them.

        So does TFDS read it, and so does the feature's tensor info say.
        """
        return self._steps(stored, rank=1)

    def decode_ragged_example(self, stored: Any) -> Any:
        """The same, nested deeper."""
        return self._steps(stored, rank=2)

    @property
    def _decodes_itself(self) -> bool:
        return type(self).decode_example is not Dataset.decode_example

    def _steps(self, stored: Any, rank: int = 0) -> Any:
        if has_opaque(self._feature.get_serialized_info()):
            # Nobody knows which of the stored values of an unknown class are whose step's.
            return super().decode_batch_example(stored) if rank else super().decode_example(stored)
        return Steps(self._feature, stored, rank=rank)


def _add_level(info: TensorInfo) -> TensorInfo:
    if isinstance(info, OpaqueInfo):
        return info
    return info.replace(dataset_lvl=info.dataset_lvl + 1)
