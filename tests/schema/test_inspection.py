"""Looking at record files, from Python. The reports are tested with the command."""

import os
import tracemalloc

import numpy as np
import pytest

import featurekit as fk
from featurekit.errors import InvalidArgumentError
from featurekit.io.columns import Kind, write_example
from featurekit.schema.statistics import MAX_KEYS, KeyStatistics, Range, Statistics


def test_what_an_inspection_has(tmp_path):
    path = tmp_path / "data"
    with fk.io.TFRecordWriter(path, "ZLIB") as writer:
        for number in range(10):
            writer.write(write_example({"n": np.array([number])}))
    found = fk.schema.inspect(path)
    assert (found.path, found.file_bytes) == (str(path), os.path.getsize(path))
    assert (found.compression, found.is_complete, bool(found.lost)) == ("ZLIB", True, False)
    seen = found.statistics
    assert (seen.records, seen.examples, seen.sequences, len(seen.others)) == (10, 10, 0, 0)
    key = seen.keys["n"]
    assert (key.kind, key.records, key.lengths.fixed) == (Kind.INT64, 10, 1)
    assert (key.numbers, key.first) == (Range(0, 9), [0])
    assert not fk.schema.inspect(path, records=9).is_complete
    assert fk.schema.inspect(path, records=10).is_complete
    with pytest.raises(InvalidArgumentError, match="records must be 1 or more, got 0"):
        fk.schema.inspect(path, records=0)


def test_keys_beyond_the_limit_are_counted_only(tmp_path, monkeypatch):
    monkeypatch.setattr("featurekit.schema.statistics.MAX_KEYS", 2)
    path = tmp_path / "data"
    example = {key: np.array([1]) for key in "abcd"}
    steps = {key: [[1]] for key in "abc"}
    with fk.io.TFRecordWriter(path) as writer:
        writer.write(write_example(example))
        writer.write(write_example(example))
        writer.write(fk.io.serialize(fk.io.make_sequence_example({}, steps)))
    found = fk.schema.inspect(path)
    assert list(found.statistics.keys) == ["a", "b"]
    assert found.statistics.uncounted == 2 + 2 + 1
    assert str(found).endswith(f"\n\nKeys beyond the first {MAX_KEYS} were met 5 times.")


def test_memory_does_not_grow_with_records_and_values():
    seen = Statistics()
    payload = write_example({
        "text": [bytes([65 + i % 26]) * 1000 for i in range(200)],
        "numbers": np.arange(100_000),
    })  # fmt: skip
    seen.add(payload)
    tracemalloc.start()
    for _ in range(20):
        seen.add(payload)
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert grown < 20_000
    assert len(seen.keys["text"].first[0]) == 64


def test_numbers_with_nan_and_infinity():
    key = KeyStatistics("k")
    key.add(np.array([np.nan, np.nan], np.float32), 0)
    assert (key.numbers, key.nans) == (Range(), 2)
    key.add(np.array([np.nan, -np.inf, 2], np.float32), 1)
    assert (key.numbers, key.nans) == (Range(-np.inf, 2.0), 3)
