import os
import random
import resource
import signal
import subprocess
import sys

import pytest

from featurekit.builders.keys import hash_key
from featurekit.builders.sharding import ShardPolicy
from featurekit.builders.writer import SplitWriter
from featurekit.errors import BuildError, DuplicateKeyError, EmptySplitError, WriteError
from featurekit.io.tfrecord import TFRecordReader


def shard_name(index, count):
    return f"pets-train.tfrecord-{index:05}-of-{count:05}"


def write(folder, examples, **options):
    with SplitWriter(folder, "train", shard_name, **options) as writer:
        for key, payload in examples:
            writer.write(key, payload)
        return writer.finalize()


def read(folder):
    return {path.name: list(TFRecordReader(path)) for path in sorted(folder.iterdir())}


EXAMPLES = [(f"example_{index}", b"%d" % index) for index in range(10)]


def in_hash_order(examples):
    return [payload for _, payload in sorted(examples, key=lambda e: hash_key("train", e[0]))]


def test_shards_are_consecutive_pieces_in_hash_order(tmp_path):
    result = write(tmp_path, EXAMPLES, policy=ShardPolicy(num_shards=4))
    assert result == ([2, 3, 3, 2], 10)
    order = in_hash_order(EXAMPLES)
    assert read(tmp_path) == {
        "pets-train.tfrecord-00000-of-00004": order[:2],
        "pets-train.tfrecord-00001-of-00004": order[2:5],
        "pets-train.tfrecord-00002-of-00004": order[5:8],
        "pets-train.tfrecord-00003-of-00004": order[8:],
    }


def test_number_of_shards_counts_framing(tmp_path):
    policy = ShardPolicy(min_shard_bytes=17 * 5)
    assert write(tmp_path, EXAMPLES, policy=policy).shard_lengths == [5, 5]


def test_bytes_do_not_depend_on_memory_or_order(tmp_path):
    examples = [(index, os.urandom(index % 100)) for index in range(300)]
    policy = ShardPolicy(num_shards=7)
    contents = []
    for number, buffer in enumerate([2**20, 5000, 1]):
        folder = tmp_path / str(number)
        folder.mkdir()
        result = write(folder, examples, policy=policy, max_buffer_bytes=buffer)
        contents.append((result, {path.name: path.read_bytes() for path in folder.iterdir()}))
        random.Random(number).shuffle(examples)
    assert contents[0] == contents[1] == contents[2]
    assert len(contents[0][1]) == 7


def test_order_of_generation_is_kept_on_request(tmp_path):
    write(tmp_path, EXAMPLES, disable_shuffling=True)
    assert read(tmp_path) == {shard_name(0, 1): [payload for _, payload in EXAMPLES]}


def test_shards_may_lie_in_folders(tmp_path):
    with SplitWriter(tmp_path, "train", lambda i, n: f"a/b/{i}", policy=ShardPolicy()) as writer:
        writer.write(1, b"x")
        writer.finalize()
    assert list(TFRecordReader(tmp_path / "a/b/0")) == [b"x"]


def test_other_file_formats_can_be_plugged_in(tmp_path):
    class Lines:
        def __init__(self, path):
            self._path = path
            self._lines = []

        def write(self, record):
            self._lines.append(record + b"\n")

        def close(self):
            self._path.write_bytes(b"".join(self._lines))

    write(tmp_path, EXAMPLES, open_shard=Lines, disable_shuffling=True)
    assert (tmp_path / shard_name(0, 1)).read_bytes() == b"0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n"


def test_split_without_examples_is_refused(tmp_path):
    with pytest.raises(EmptySplitError) as caught:
        write(tmp_path, [])
    assert str(caught.value) == (
        "split 'train' has no examples\n"
        "  hint: check that its generator yields (key, example), or leave the split out"
    )


def test_more_shards_than_examples_are_refused(tmp_path):
    with pytest.raises(BuildError, match="11 shards were asked for, but there are only 10"):
        write(tmp_path, EXAMPLES, policy=ShardPolicy(num_shards=11))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("buffer", [1, 2**20])
def test_duplicates_are_refused_or_left_out(tmp_path, buffer):
    examples = [*EXAMPLES, ("example_3", b"again")]
    with pytest.raises(DuplicateKeyError, match="'example_3' at position 3 and 'example_3' at po"):
        write(tmp_path, examples, max_buffer_bytes=buffer)
    with SplitWriter(
        tmp_path, "train", shard_name, ignore_duplicates=True, max_buffer_bytes=buffer
    ) as writer:
        for key, payload in examples:
            writer.write(key, payload)
        assert writer.finalize() == ([10], 10)
        assert writer.num_duplicates == 1
    assert read(tmp_path) == {shard_name(0, 1): in_hash_order(EXAMPLES)}


def run_limited(source, folder, **limits):
    """Run a script in a child process with limits on its resources."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        for name, value in limits.items():
            resource.setrlimit(getattr(resource, name), (value, value))

    command = [sys.executable, "-c", source, folder]
    return subprocess.run(command, preexec_fn=limit, capture_output=True, text=True, check=False)


BUILD = """
import sys
from featurekit.builders.sharding import ShardPolicy
from featurekit.builders.writer import SplitWriter

with SplitWriter(
    sys.argv[1], "train", "{}-of-{}".format, policy=ShardPolicy(num_shards=SHARDS),
    max_buffer_bytes=BUFFER
) as writer:
    for key in range(300):
        writer.write(key, bytes(10_000))
    print(writer.finalize())
"""


@pytest.mark.parametrize(
    ("buffer", "place"), [(10**9, "0-of-1"), (2_500_000, "shuffle_")], ids=["shard", "spill"]
)
def test_full_disk_is_an_error(tmp_path, buffer, place):
    script = BUILD.replace("SHARDS", "1").replace("BUFFER", str(buffer))
    result = run_limited(script, tmp_path, RLIMIT_FSIZE=2_000_000)
    assert result.returncode == 1
    assert "featurekit.errors.WriteError: " in result.stderr
    assert "File too large" in result.stderr
    assert f"at: {tmp_path}/{place}" in result.stderr
    assert result.stdout == ""
    assert list(tmp_path.glob("shuffle_*")) == []


def test_few_open_files_are_enough(tmp_path):
    script = BUILD.replace("SHARDS", "100").replace("BUFFER", "1")
    result = run_limited(script, tmp_path, RLIMIT_NOFILE=64)
    assert result.stderr == ""
    assert result.stdout == f"WrittenSplit(shard_lengths={[3] * 100}, num_bytes=3000000)\n"
    assert len(list(tmp_path.iterdir())) == 100


def test_fault_of_the_disk_when_closing_is_an_error(tmp_path):
    class Full:
        def __init__(self, path):
            self.path = path

        def write(self, record):
            pass

        def close(self):
            raise OSError(28, "No space left on device")

    with pytest.raises(WriteError) as caught:
        write(tmp_path, EXAMPLES, open_shard=Full)
    assert str(caught.value) == (
        "cannot write: No space left on device\n"
        f"  at: {tmp_path / shard_name(0, 1)}\n"
        "  hint: free some space, or build in another data_dir"
    )
