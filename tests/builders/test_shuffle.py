import os
import pickle
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featurekit.builders import spill
from featurekit.builders.keys import hash_key
from featurekit.builders.shuffle import Shuffler
from featurekit.errors import (
    BuildError,
    DuplicateKeyError,
    InvalidArgumentError,
    InvalidTypeError,
    WriteError,
)

SMALL, LARGE = 1000, 2**30  # buffers: many files on disk, none


def shuffled(examples, folder, split="train", **options):
    with Shuffler(split, folder, **options) as shuffler:
        for key, payload in examples:
            shuffler.add(key, payload)
        shuffler.finish()
        return list(shuffler)


keys = st.one_of(st.integers(), st.text(st.characters(exclude_categories=["Cs"])), st.binary())


@given(
    st.lists(st.tuples(keys, st.binary(max_size=300)), unique_by=lambda e: hash_key("test", e[0])),
    st.sampled_from([1, 200, SMALL, LARGE]),
)
def test_any_buffer_gives_the_order_of_the_hashes(tmp_path_factory, examples, buffer):
    folder = tmp_path_factory.mktemp("spill")
    expected = [payload for _, payload in sorted(examples, key=lambda e: hash_key("test", e[0]))]
    assert shuffled(examples, folder, "test", max_buffer_bytes=buffer) == expected
    assert os.listdir(folder) == []


@pytest.mark.parametrize("buffer", [SMALL, LARGE])
def test_order_does_not_depend_on_the_order_of_generation(tmp_path, buffer):
    examples = [(index, b"%d" % index * (index % 50)) for index in range(500)]
    first = shuffled(examples, tmp_path, max_buffer_bytes=buffer)
    random.Random(0).shuffle(examples)
    assert shuffled(examples, tmp_path, max_buffer_bytes=buffer) == first
    assert shuffled(examples, tmp_path, split="test", max_buffer_bytes=buffer) != first


def test_many_runs_are_merged_in_several_passes(tmp_path):
    examples = [(index, b"%d" % index) for index in range(spill.MAX_OPEN_RUNS**2 + 5)]
    expected = shuffled(examples, tmp_path, max_buffer_bytes=LARGE)
    assert shuffled(examples, tmp_path, max_buffer_bytes=1) == expected


def test_iterating_again_gives_the_same(tmp_path):
    with Shuffler("train", tmp_path, max_buffer_bytes=SMALL) as shuffler:
        for key in range(50):
            shuffler.add(key, b"%d" % key)
        shuffler.finish()
        assert list(shuffler) == list(shuffler)
        assert (shuffler.num_examples, shuffler.num_bytes) == (50, 90)
    shuffler.close()


@pytest.mark.parametrize("buffer", [1, LARGE])
def test_duplicate_key_names_both_examples(tmp_path, buffer):
    examples = [(5 if index == 9 else index, b"%d" % index) for index in range(20)]
    with pytest.raises(DuplicateKeyError) as caught:
        shuffled(examples, tmp_path, max_buffer_bytes=buffer)
    error = pickle.loads(pickle.dumps(caught.value))
    assert str(error) == (
        "two examples of split 'train' have the same key: 5 at position 5 and 5 at position 9\n"
        "  hint: yield a key that is unique in the split, or build with ignore_duplicates=True"
    )
    assert (error.keys, error.positions, error.payloads) == ((5, 5), (5, 9), (b"5", b"9"))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(("first", "second"), [(5, "5"), (b"a", "a"), ("a\\b", "a/b")])
def test_keys_that_clash_are_shown_as_given(tmp_path, first, second):
    with pytest.raises(DuplicateKeyError) as caught:
        shuffled([("x", b""), (first, b"1"), (second, b"2")], tmp_path)
    assert str(caught.value) == (
        f"two examples of split 'train' have the same key: {first!r} at position 1 and "
        f"{second!r} at position 2\n"
        "  hint: yield a key that is unique in the split, or build with ignore_duplicates=True; "
        "keys are compared as text, and '\\' is the same as '/'"
    )


@pytest.mark.parametrize("disable_shuffling", [False, True])
@pytest.mark.parametrize("buffer", [1, LARGE])
def test_duplicates_can_be_left_out(tmp_path, buffer, disable_shuffling):
    options = {"max_buffer_bytes": buffer, "disable_shuffling": disable_shuffling}
    examples = [(index % 7, b"%d" % index) for index in range(20)]
    with Shuffler("train", tmp_path, ignore_duplicates=True, **options) as shuffler:
        for key, payload in examples:
            shuffler.add(key, payload)
        shuffler.finish()
        assert list(shuffler) == shuffled(examples[:7], tmp_path, **options)
        assert (shuffler.num_examples, shuffler.num_bytes, shuffler.num_duplicates) == (7, 7, 13)


@pytest.mark.parametrize("buffer", [1, LARGE])
@pytest.mark.parametrize(
    ("given_keys", "order"),
    [
        ([3, -1, np.int64(2), 10**30], [1, 2, 0, 3]),
        (["b", "a", "c"], [0, 1, 2]),
        ([b"b", "a", "b"], [0, 1, 2]),  # such keys do not matter: TFDS counts instead
    ],
)
def test_without_shuffling(tmp_path, given_keys, order, buffer):
    examples = [(key, b"%d" % index) for index, key in enumerate(given_keys)]
    result = shuffled(examples, tmp_path, disable_shuffling=True, max_buffer_bytes=buffer)
    assert result == [b"%d" % index for index in order]


def test_without_shuffling_duplicate_int_keys_are_refused(tmp_path):
    with pytest.raises(DuplicateKeyError, match="1 at position 0 and 1 at position 2"):
        shuffled([(1, b""), (2, b""), (1, b"")], tmp_path, disable_shuffling=True)


def test_without_shuffling_keys_of_two_kinds_are_refused(tmp_path):
    with pytest.raises(BuildError) as caught:
        shuffled([(1, b""), ("a", b"")], tmp_path, disable_shuffling=True)
    assert str(caught.value) == (
        "split 'train' mixes int keys with others, such as 1 and 'a'\n"
        "  hint: with disable_shuffling=True, int keys give the order and others do not: "
        "use keys of one type"
    )


def test_without_shuffling_int_keys_have_a_limit(tmp_path):
    with pytest.raises(InvalidArgumentError, match="does not fit in 128 bits"):
        shuffled([(2**127, b"")], tmp_path, disable_shuffling=True)


@pytest.mark.parametrize("disable_shuffling", [False, True])
@pytest.mark.parametrize("key", [None, 1.5, (1, 2)])
def test_keys_of_other_types_are_refused(tmp_path, key, disable_shuffling):
    with pytest.raises(InvalidTypeError, match="a key must be bytes, str or int"):
        shuffled([(key, b"")], tmp_path, disable_shuffling=disable_shuffling)


def test_damaged_temporary_file_is_an_error(tmp_path):
    with Shuffler("train", tmp_path, max_buffer_bytes=1) as shuffler:
        shuffler.add(1, b"x" * 1000)
        (run,) = tmp_path.glob("*/*")
        os.truncate(run, 500)
        shuffler.finish()
        with pytest.raises(BuildError) as caught:
            list(shuffler)
    assert str(caught.value) == (
        "a temporary file is damaged: expected 1000 more bytes, got 462\n"
        f"  at: {run}\n"
        "  hint: build again, and leave the folder of a running build alone"
    )


def test_missing_temporary_folder_is_an_error(tmp_path):
    shuffler = Shuffler("train", tmp_path / "missing", max_buffer_bytes=1)
    with pytest.raises(WriteError, match="cannot write: No such file or directory"):
        shuffler.add(1, b"")


FAT = """
import re, sys
import numpy as np
from featurekit.builders.shuffle import Shuffler

random = np.random.default_rng(0)
with Shuffler("train", sys.argv[1]) as shuffler:
    for key in range(int(sys.argv[2])):
        shuffler.add(key, random.integers(0, 256, 2**20, dtype=np.uint8).tobytes())
    shuffler.finish()
    assert sum(map(len, shuffler)) == int(sys.argv[2]) * 2**20
print(int(re.search(r"VmHWM:\\s*(\\d+) kB", open("/proc/self/status").read())[1]) * 1024)
"""


def test_memory_does_not_grow_with_the_number_of_examples(tmp_path):
    peaks = []
    for count in (500, 2000):
        command = [sys.executable, "-c", FAT, tmp_path, str(count)]
        peaks.append(int(subprocess.run(command, check=True, capture_output=True).stdout))
    assert max(peaks) < 600 * 10**6
    assert abs(peaks[0] - peaks[1]) < 100 * 10**6
