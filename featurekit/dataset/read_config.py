"""ReadConfig: in which order `as_dataset` reads, as TFDS has it."""

from __future__ import annotations

import dataclasses
from typing import Any

from featurekit.errors import UnsupportedError

__all__ = ["ReadConfig"]


@dataclasses.dataclass(kw_only=True)
class ReadConfig:
    """How a dataset is read: in the order of TFDS's default, or in another one.

    Attributes:
        add_tfds_id: Whether examples get the entry `tfds_id`, `<shard file>__<index in it>`.
        shuffle_seed: Seed for the order of the files, with `shuffle_files=True`.
        interleave_cycle_length: Number of files that are read in turn; by default 16, and 1
            for a dataset with `disable_shuffling`.
        interleave_block_length: Number of examples of a file that are read at a time.
        repeat_filenames: Whether to begin anew at the end, for ever.
        enable_ordering_guard: Whether to refuse another order for a dataset with
            `disable_shuffling`.
        options: Of tf.data; not used here, as all that follow.
        try_autocache: Not used.
        shuffle_reshuffle_each_iteration: Not used: each iteration has the same order.
        skip_prefetch: Not used.
        num_parallel_calls_for_decode: Not used.
        num_parallel_calls_for_interleave_files: Not used.
        assert_cardinality: Not used: a wrong number of records is always an error.
        override_buffer_size: Not used.
        input_context: Must be None.
        experimental_interleave_sort_fn: Must be None.

    Raises:
        UnsupportedError: It asks for a part of the files, or sorts them.
    """

    add_tfds_id: bool = False
    shuffle_seed: int | None = None
    interleave_cycle_length: int | None = None
    interleave_block_length: int | None = None
    repeat_filenames: bool = False
    enable_ordering_guard: bool = True
    options: Any = None
    try_autocache: bool = True
    shuffle_reshuffle_each_iteration: bool | None = None
    skip_prefetch: bool = False
    num_parallel_calls_for_decode: int | None = None
    num_parallel_calls_for_interleave_files: int | None = None
    assert_cardinality: bool = True
    override_buffer_size: int | None = None
    input_context: Any = None
    experimental_interleave_sort_fn: Any = None

    def __post_init__(self) -> None:
        for name in ("input_context", "experimental_interleave_sort_fn"):
            if getattr(self, name) is not None:
                raise UnsupportedError(
                    f"ReadConfig does not offer {name}",
                    hint="read a part of the split: featurekit.split_for_process",
                )

    def replace(self, **changes: Any) -> ReadConfig:
        """A copy with some attributes changed."""
        return dataclasses.replace(self, **changes)
