"""How many shards a split gets, and where they are cut."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

from featurekit.errors import BuildError, InvalidArgumentError
from featurekit.io.framing import FRAME_BYTES

__all__ = ["ShardPolicy", "TfdsShardPolicy", "shard_boundaries", "shard_lengths"]

_SHARDS_PER_HOST = 10
_TFDS_MIN_BYTES = 64 * 2**20
_TFDS_MAX_BYTES = 2**30


@dataclasses.dataclass(frozen=True, init=False)
class ShardPolicy:
    """Chooses the number of shards: ten for each reading host, of 10 MB or more each.

    For a split of X bytes and n examples the number is `min(n, max(base, need))` with
    `base = max(1, min(10 * num_hosts, X // min_shard_bytes))` and
    `need = ceil(X / max_shard_bytes)`, rounded up to a multiple of `num_hosts` where it
    exceeds `base`. Ten files a host keep all its readers busy, and files of 10 MB or more
    (ideally 100 MB) make prefetching pay.

    Args:
        num_hosts: Number of machines that will read the split at once.
        num_shards: The number itself, instead of the rule.
        min_shard_bytes: Size below which a split is not cut further, in bytes.
        max_shard_bytes: Size above which a shard is cut even if there are enough of them.

    Raises:
        InvalidArgumentError: A number is below 1.

    >>> policy = ShardPolicy(num_hosts=4)
    >>> policy.num_shards(500_000_000, num_examples=100_000)
    40
    >>> ShardPolicy(num_shards=3).num_shards(500_000_000, num_examples=100_000)
    3
    """

    num_hosts: int
    fixed_num_shards: int | None
    min_shard_bytes: int
    max_shard_bytes: int

    # Written by hand: the argument `num_shards` has the name of the method.
    def __init__(
        self,
        num_hosts: int = 1,
        num_shards: int | None = None,
        min_shard_bytes: int = 10_000_000,
        max_shard_bytes: int = 2**30,
    ) -> None:
        sizes = {
            "num_hosts": num_hosts,
            "min_shard_bytes": min_shard_bytes,
            "max_shard_bytes": max_shard_bytes,
        }
        if num_shards is not None:
            sizes["num_shards"] = num_shards
        for name, value in sizes.items():
            if value < 1:
                raise InvalidArgumentError(f"{name} must be at least 1, got {value}")
        for field, value in sizes.items():
            if field != "num_shards":
                object.__setattr__(self, field, value)
        object.__setattr__(self, "fixed_num_shards", num_shards)

    @staticmethod
    def tfds() -> TfdsShardPolicy:
        """The policy that gives the numbers of TensorFlow Datasets.

        >>> ShardPolicy.tfds().num_shards(2**30, num_examples=10)
        8
        """
        return TfdsShardPolicy()

    def num_shards(self, num_bytes: int, num_examples: int) -> int:
        """The number of shards of a split; 0 for a split without examples.

        Args:
            num_bytes: Size of the records as they lie in the files, framing included.
            num_examples: Number of records.

        Raises:
            BuildError: `num_shards` was fixed and there are fewer examples than that.
        """
        if num_examples == 0:
            return 0
        if self.fixed_num_shards is not None:
            return _check_enough(self.fixed_num_shards, num_examples)
        base = max(1, min(_SHARDS_PER_HOST * self.num_hosts, num_bytes // self.min_shard_bytes))
        need = _ceil_div(num_bytes, self.max_shard_bytes)
        if need > base:
            base = _ceil_div(need, self.num_hosts) * self.num_hosts
        return min(num_examples, base)

    def num_shards_of(self, payload_bytes: int, num_examples: int) -> int:
        """The number of shards of a split, from the size of its payloads without framing."""
        return self.num_shards(payload_bytes + FRAME_BYTES * num_examples, num_examples)


class TfdsShardPolicy(ShardPolicy):
    """Chooses the number of shards that TensorFlow Datasets 4.9 would.

    It is a power of two up to 1024, or a multiple of 1024, for which shards are between
    64 MiB and 1 GiB. It differs from `ShardPolicy` in that `num_bytes` counts payloads only.
    """

    def num_shards(
        self, num_bytes: int, num_examples: int, uses_precise_sharding: bool = True
    ) -> int:
        """The number of shards of a split; 0 for a split without examples.

        Args:
            num_bytes: Size of the payloads, framing not included (the rule adds it).
            num_examples: Number of records.
            uses_precise_sharding: False for the rule of Beam pipelines, which cannot cut
                exactly and so aim at 0.9 GiB.

        More than 1024 GiB in fewer examples than shards are needed has no answer in TFDS's
        rule; here every example gets its own shard, which comes closest to it.
        """
        if num_examples == 0:
            return 0
        if self.fixed_num_shards is not None:
            return _check_enough(self.fixed_num_shards, num_examples)
        total = num_bytes + FRAME_BYTES * num_examples
        most = total // _TFDS_MIN_BYTES
        least = int(total // (_TFDS_MAX_BYTES * (1 if uses_precise_sharding else 0.9)))
        if least > 1024:
            return min(num_examples, _ceil_div(least, 1024) * 1024)
        powers = (2**exponent for exponent in range(10, 0, -1))
        return next((n for n in powers if least <= n <= most and n <= num_examples), 1)

    def num_shards_of(self, payload_bytes: int, num_examples: int) -> int:
        """The number of shards of a split, from the size of its payloads without framing."""
        return self.num_shards(payload_bytes, num_examples)


def shard_boundaries(num_examples: int, num_shards: int) -> list[int]:
    """The index one past the last example of each shard, rounded half to even as in TFDS.

    Raises:
        InvalidArgumentError: `num_shards` is not between 1 and `num_examples`.

    >>> shard_boundaries(10, 4)
    [2, 5, 8, 10]
    """
    if not 1 <= num_shards <= num_examples:
        raise InvalidArgumentError(
            f"num_shards must be between 1 and the number of examples, {num_examples}, "
            f"got {num_shards}"
        )
    return [round(num_examples * end / num_shards) for end in range(1, num_shards + 1)]


def shard_lengths(num_examples: int, num_shards: int) -> list[int]:
    """The number of examples of each shard; they differ by at most one.

    Raises:
        InvalidArgumentError: `num_shards` is not between 1 and `num_examples`.

    >>> shard_lengths(10, 4)
    [2, 3, 3, 2]
    """
    return [
        end - start for start, end in pairwise([0, *shard_boundaries(num_examples, num_shards)])
    ]


def _ceil_div(value: int, divisor: int) -> int:
    return -(-value // divisor)


def _check_enough(num_shards: int, num_examples: int) -> int:
    if num_shards > num_examples:
        raise BuildError(
            f"{num_shards} shards were asked for, but there are only {num_examples} examples",
            hint=f"ask for at most num_shards={num_examples}, or leave the number out",
        )
    return num_shards
