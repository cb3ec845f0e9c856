"""How a dataset is to be built, apart from what is in it."""

from __future__ import annotations

import dataclasses
from typing import Any

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
        max_examples: Number of examples of each split to take; None for all.
        beam_runner: Runner of Apache Beam's pipeline; by default the one in this process.
        beam_options: Options of Apache Beam's pipeline.
        quiet: Whether to show no progress.
    """

    policy: ShardPolicy = dataclasses.field(default_factory=ShardPolicy)
    num_processes: int = 1
    ignore_duplicates: bool = False
    max_examples: int | None = None
    beam_runner: Any = None
    beam_options: Any = None
    quiet: bool = False

    def __post_init__(self) -> None:
        if self.num_processes < 1:
            raise InvalidArgumentError(
                f"num_processes must be at least 1, got {self.num_processes}"
            )
        if self.max_examples is not None and self.max_examples < 1:
            raise InvalidArgumentError(
                f"the number of examples must be at least 1, got {self.max_examples}"
            )
