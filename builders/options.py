"""How a dataset is to be built, apart from what is in it."""

from __future__ import annotations

import dataclasses

from featurekit.builders.sharding import ShardPolicy
from featurekit.errors import InvalidArgumentError

__all__ = ["BuildOptions"]


@dataclasses.dataclass(frozen=True)
class BuildOptions:
    """How a dataset is to be built.

    Attributes:
        policy: How many files a split gets.
        num_processes: Number of processes that encode examples.
        ignore_duplicates: Keep the first of the examples that have the same key.
        quiet: Whether to show no progress.
    """

    policy: ShardPolicy = dataclasses.field(default_factory=ShardPolicy)
    num_processes: int = 1
    ignore_duplicates: bool = False
    quiet: bool = False

    def __post_init__(self) -> None:
        if self.num_processes < 1:
            raise InvalidArgumentError(
                f"num_processes must be at least 1, got {self.num_processes}"
            )
