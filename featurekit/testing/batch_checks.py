"""The tests of a suite that read several examples at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from featurekit.testing.base import SuiteBase
from featurekit.testing.compare import assert_same

__all__ = ["BatchChecks"]


class BatchChecks(SuiteBase):
    """All valid values as the examples of one batch."""

    def test_each_of_a_batch(self) -> None:
        """Reading several examples gives what reading them one by one gives."""
        connector, features = self.make(), self.in_dict()
        alone = connector.deserialize_each(
            [connector.serialize_example(case.make()) for case in self.valid]
        )
        in_dict = features.deserialize_each(self._records())
        for case, value, example in zip(self.valid, alone, in_dict, strict=True):
            assert_same(value, case.expected)
            assert_same(example, {"x": case.expected, "beside": np.int64(1)})

    def test_batch(self) -> None:
        """Joined along a first axis, every row is what the example is alone."""
        batch = self.in_dict().deserialize_batch(self._records())
        assert_same(batch["beside"], np.ones(len(self.valid), np.int64))
        for index, case in enumerate(self.valid):
            assert_same(_row(batch["x"], index, case.expected), case.expected, f"row {index}")

    def _records(self) -> list[bytes]:
        features = self.in_dict()
        return [features.serialize_example({"x": case.make(), "beside": 1}) for case in self.valid]


def _row(batch: Any, index: int, like: Any) -> Any:
    """One example of a batch; None where all of it is masked."""
    if isinstance(batch, Mapping):
        inner = like if isinstance(like, Mapping) else dict.fromkeys(batch)
        return {key: _row(value, index, inner[key]) for key, value in batch.items()}
    if isinstance(batch, np.ma.MaskedArray):
        return None if np.ma.getmaskarray(batch)[index].all() else batch.data[index]
    row = batch[index]
    # Where some examples have varying items, all have lists.
    return np.stack(row) if isinstance(row, list) and isinstance(like, np.ndarray) else row
