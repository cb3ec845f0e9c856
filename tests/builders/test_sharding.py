import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from featurekit.builders.sharding import ShardPolicy, shard_boundaries, shard_lengths
from featurekit.errors import BuildError, InvalidArgumentError

TABLES = json.loads(
    Path(__file__).parents[1].joinpath("data/tfds/tables/shard_rules.json").read_text()
)
MB = 10**6
GIB = 2**30


@pytest.mark.parametrize(
    ("num_bytes", "num_examples", "num_hosts", "expected"),
    [
        (0, 0, 1, 0),
        (1, 1, 1, 1),
        (9_999_999, 1000, 1, 1),
        (10 * MB, 1000, 1, 1),
        (19_999_999, 1000, 1, 1),
        (20 * MB, 1000, 1, 2),
        (99_999_999, 10**5, 1, 9),
        (100 * MB, 10**5, 1, 10),
        (104 * MB, 10**5, 1, 10),
        (500 * MB, 10**5, 1, 10),
        (500 * MB, 7, 1, 7),
        (10 * GIB, 10**6, 1, 10),
        (10 * GIB + 1, 10**6, 1, 11),
        (15 * 10**9, 10**6, 1, 14),
        (500 * MB, 10**5, 4, 40),
        (300 * MB, 10**5, 4, 30),
        (400 * MB, 10**5, 4, 40),
        (5 * 10**9, 10**6, 16, 160),
        (10**12, 10**8, 16, 944),
        (10**12, 10**8, 128, 1280),
        (10**12, 500, 128, 500),
    ],
)
def test_ten_shards_a_host(num_bytes, num_examples, num_hosts, expected):
    assert ShardPolicy(num_hosts).num_shards(num_bytes, num_examples) == expected


def test_limits_of_size_can_be_set():
    policy = ShardPolicy(min_shard_bytes=100, max_shard_bytes=200)
    assert [policy.num_shards(size, 1000) for size in (99, 250, 1000, 2000, 2001)] == [
        1, 2, 10, 10, 11,
    ]  # fmt: skip


def test_framing_counts_towards_the_size():
    assert ShardPolicy().num_shards_of(20 * MB - 16_000, 1000) == 2
    assert ShardPolicy().num_shards_of(20 * MB - 16_001, 1000) == 1


@pytest.mark.parametrize("policy", [ShardPolicy(num_shards=5), ShardPolicy(4, 5)])
def test_fixed_number_of_shards(policy):
    assert policy.num_shards(10**12, 5) == 5
    assert policy.num_shards(0, 0) == 0
    with pytest.raises(BuildError) as caught:
        policy.num_shards(10**12, 4)
    assert str(caught.value) == (
        "5 shards were asked for, but there are only 4 examples\n"
        "  hint: ask for at most num_shards=4, or leave the number out"
    )


@pytest.mark.parametrize("name", ["num_hosts", "num_shards", "min_shard_bytes", "max_shard_bytes"])
def test_arguments_below_one_are_refused(name):
    with pytest.raises(InvalidArgumentError, match=f"^{name} must be at least 1, got 0$"):
        ShardPolicy(**{name: 0})


def test_policies_are_values():
    assert ShardPolicy(2) == ShardPolicy(num_hosts=2) != ShardPolicy()
    assert len({ShardPolicy(), ShardPolicy(), ShardPolicy.tfds()}) == 2
    with pytest.raises(AttributeError):
        ShardPolicy().num_hosts = 3


def test_tfds_numbers():
    policy = ShardPolicy.tfds()
    wrong = [
        (row, ours)
        for *row, expected in TABLES["number_of_shards"]
        if (ours := policy.num_shards(*row)) != expected
    ]
    assert wrong == []
    assert len(TABLES["number_of_shards"]) == 900


@pytest.mark.parametrize(
    ("num_bytes", "num_examples", "expected"),
    [
        (2000 * GIB, 5000, 2048),
        (3000 * GIB, 10**7, 3072),
        (4000 * GIB, 2000, 2000),
        (4000 * GIB, 10, 10),
        (2060 * GIB, 2100, 2100),
        (0, 0, 0),
    ],
)
def test_tfds_numbers_for_huge_splits_end(num_bytes, num_examples, expected):
    assert ShardPolicy.tfds().num_shards(num_bytes, num_examples) == expected
    assert ShardPolicy.tfds().num_shards_of(num_bytes, num_examples) == expected


@pytest.mark.parametrize("row", TABLES["boundaries"], ids=str)
def test_boundaries_are_those_of_tfds(row):
    if isinstance(row["boundaries"], dict):
        with pytest.raises(InvalidArgumentError, match="between 1 and the number of examples"):
            shard_boundaries(row["num_examples"], row["num_shards"])
    else:
        assert shard_boundaries(row["num_examples"], row["num_shards"]) == row["boundaries"]


@given(st.integers(1, 10**9), st.integers(1, 2000))
def test_lengths_differ_by_at_most_one(num_examples, num_shards):
    lengths = shard_lengths(num_examples, min(num_shards, num_examples))
    assert sum(lengths) == num_examples
    assert max(lengths) - min(lengths) <= 1
    assert min(lengths) >= 1


@given(st.integers(0, 10**14), st.integers(1, 10**10), st.integers(1, 256))
def test_number_of_shards_keeps_its_promises(num_bytes, num_examples, num_hosts):
    shards = ShardPolicy(num_hosts).num_shards(num_bytes, num_examples)
    assert 1 <= shards <= num_examples
    assert shards == num_examples or num_bytes <= shards * GIB
    assert shards == 1 or shards <= max(10 * num_hosts, num_bytes // GIB + 1 + num_hosts)
