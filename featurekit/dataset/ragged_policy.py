"""What a batch holds where its examples differ in shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from featurekit.dataset.batching import padded
from featurekit.errors import InvalidArgumentError, UnsupportedError, add_path, did_you_mean
from featurekit.io.ragged import RaggedTensor
from featurekit.tensor_info import TensorInfo, Tree

__all__ = ["RaggedPolicy", "apply_policy", "check_policy"]

RaggedPolicy = Literal["ragged", "pad", "list"]


def check_policy(policy: str) -> RaggedPolicy:
    """Check the name of a policy.

    Raises:
        InvalidArgumentError: There is no such one.
    """
    if policy not in get_args(RaggedPolicy):
        raise InvalidArgumentError(
            f"ragged={policy!r} is not known{did_you_mean(policy, get_args(RaggedPolicy))}"
        )
    return policy  # type: ignore[return-value]


def apply_policy(batch: Any, infos: Tree[TensorInfo], policy: RaggedPolicy) -> Any:
    """Give the values of a batch whose shapes vary the form that was asked for.

    Args:
        batch: What `deserialize_batch` gave.
        infos: What one example looks like.
        policy: `"ragged"` keeps them; `"pad"` makes arrays, filled up with zeros or `b""`;
            `"list"` makes lists of one value an example.

    Raises:
        UnsupportedError: Steps of a `Dataset` cannot be padded.
    """
    if policy == "ragged":
        return batch
    if isinstance(infos, Mapping) and isinstance(batch, Mapping):
        return {key: _at(key, batch[key], infos[key], policy) for key in batch}
    if not isinstance(infos, TensorInfo):
        return _of_steps(batch, policy)
    if None not in infos.shape:
        return batch
    if policy == "list":
        return list(batch)
    return _dense(batch, infos)


def _at(key: str, value: Any, infos: Tree[TensorInfo], policy: RaggedPolicy) -> Any:
    try:
        return apply_policy(value, infos, policy)
    except UnsupportedError as error:
        add_path(error, key)
        raise


def _of_steps(batch: Any, policy: RaggedPolicy) -> Any:
    if policy == "list":
        return list(batch)
    raise UnsupportedError(
        "the steps of a Dataset cannot be padded",
        hint='read windows of steps: featurekit.episodes, or batches with ragged="list"',
    )


def _dense(values: Any, infos: TensorInfo) -> Any:
    """An array of values whose shapes may differ, at any level of nesting."""
    if isinstance(values, RaggedTensor):
        return values.to_dense()
    if isinstance(values, list):
        return padded([_dense(value, infos) for value in values], infos)
    return values
