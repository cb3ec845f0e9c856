"""How a dataset is to be built, apart from what is in it."""

from __future__ import annotations

import dataclasses
from typing import Any, Self

from featurekit.builders.download_config import DownloadConfig
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

    @classmethod
    def of(
        cls,
        config: DownloadConfig,
        *,
        policy: ShardPolicy | None,
        num_shards: int | None,
        num_hosts: int,
        num_processes: int,
        ignore_duplicates: bool,
        quiet: bool,
    ) -> Self:
        """What the arguments of a build say, and where they do not, a `DownloadConfig`."""
        sizes = {"min_shard_bytes": config.min_shard_size, "max_shard_bytes": config.max_shard_size}
        return cls(
            policy=policy
            or ShardPolicy(
                num_shards=num_shards or config.num_shards,
                num_hosts=num_hosts,
                **{name: size for name, size in sizes.items() if size is not None},
            ),
            num_processes=num_processes,
            ignore_duplicates=ignore_duplicates or config.ignore_duplicates,
            max_examples=config.max_examples_per_split,
            beam_runner=config.beam_runner,
            beam_options=config.beam_options,
            quiet=quiet,
        )

    def __post_init__(self) -> None:
        if self.num_processes < 1:
            raise InvalidArgumentError(
                f"num_processes must be at least 1, got {self.num_processes}"
            )
        if self.max_examples is not None and self.max_examples < 1:
            raise InvalidArgumentError(
                f"the number of examples must be at least 1, got {self.max_examples}"
            )
