"""Full disks, few open files, little memory, and the number of shards, through whole builds."""

import os
import subprocess
import sys
import textwrap

import pytest
from click.testing import CliRunner

import featurekit as fk
from featurekit.cli import main

SCRIPT = """
import resource, signal, sys
import numpy as np
import featurekit as fk


class Toy(fk.GeneratorBasedBuilder):
    VERSION = fk.Version("1.0.0")

    def _info(self):
        return fk.DatasetInfo(builder=self, features=fk.FeaturesDict({"x": fk.Text()}))

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples()}

    def _generate_examples(self):
        for index in range(COUNT):
            yield index, {"x": np.random.default_rng(index).bytes(SIZE)}
"""


def run(tmp_path, code, count, size, num_processes=1):
    script = tmp_path / "toy.py"
    text = SCRIPT.replace("COUNT", str(count)).replace("SIZE", str(size)) + textwrap.dedent(code)
    script.write_text(text)
    return subprocess.run(
        [sys.executable, script, tmp_path / "data", str(num_processes)],
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("num_processes", [1, 2])
def test_a_full_disk_is_an_error(tmp_path, num_processes):
    code = """
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    Toy(data_dir=sys.argv[1]).download_and_prepare(num_processes=int(sys.argv[2]))
    """
    done = run(tmp_path, code, 50, 50_000, num_processes)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    start = next(i for i, line in enumerate(lines) if "errors.WriteError" in line)
    assert lines[start:] == [
        "featurekit.errors.WriteError: the file cannot be written: File too large",
        lines[start + 1],
        "  hint: make room and write the file again: it is incomplete",
        "  while building toy:1.0.0, split train",
    ]
    assert lines[start + 1].endswith("_1.0.0/toy-train.tfrecord-00000-of-00001")
    assert os.listdir(tmp_path / "data/toy") == []


@pytest.mark.parametrize("num_processes", [1, 2])
def test_few_open_files_are_enough(tmp_path, num_processes):
    code = """
    from featurekit.builders.writer import SplitWriter
    SplitWriter.__init__.__kwdefaults__["max_buffer_bytes"] = 5_000  # a hundred spilled files
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    builder = Toy(data_dir=sys.argv[1])
    builder.download_and_prepare(num_shards=100, num_processes=int(sys.argv[2]))
    print(sum(1 for _ in builder.as_data_source("train")), builder.info.splits["train"].num_shards)
    """
    done = run(tmp_path, code, 600, 1000, num_processes)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "600 100\n")


@pytest.mark.parametrize("num_processes", [1, 2])
def test_memory_does_not_grow_with_the_number_of_examples(tmp_path, num_processes):
    code = """
    from featurekit.builders.writer import SplitWriter
    SplitWriter.__init__.__kwdefaults__["max_buffer_bytes"] = 16 * 2**20
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    Toy(data_dir=sys.argv[1]).download_and_prepare(num_processes=int(sys.argv[2]))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """
    done = run(tmp_path, code, 100, 2**20, num_processes)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) * 1024 < 60 * 2**20  # for 100 MiB of examples


@pytest.mark.parametrize(
    ("megabytes", "num_hosts", "num_shards"), [(45, 1, 4), (45, 4, 4), (115, 1, 10), (115, 4, 11)]
)
def test_ten_shards_a_host_of_ten_megabytes_or_more(
    tmp_path, monkeypatch, megabytes, num_hosts, num_shards
):
    monkeypatch.setattr("os.fsync", lambda descriptor: None)
    (tmp_path / "large.py").write_text(
        SCRIPT.replace("class Toy", "class Large")
        .replace("COUNT", str(megabytes))
        .replace("np.random.default_rng(index).bytes(SIZE)", "bytes(1_000_000)")
    )
    arguments = ["build", str(tmp_path / "large.py"), "--data-dir", str(tmp_path / "data")]
    result = CliRunner().invoke(main, [*arguments, "--num-hosts", str(num_hosts), "-q"])
    assert result.exit_code == 0, result.output
    split = fk.builder("large", data_dir=tmp_path / "data").info.splits["train"]
    assert split.num_shards == num_shards
    assert max(split.shard_lengths) - min(split.shard_lengths) <= 1
    size = sum(os.path.getsize(path) for path in split.filepaths)
    assert size // 10_000_000 == megabytes // 10  # framing is counted
