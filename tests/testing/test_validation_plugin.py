"""`pytest --featurekit DIR`: a test for each dataset."""

import subprocess
import sys

import numpy as np
from damage import Damaged, write_sample


def run(folder, *arguments):
    # By its module, whether it is installed as an entry point or not.
    plugin = ["-p", "no:featurekit", "-p", "featurekit.testing.plugin", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *plugin, "-c", "/dev/null", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_datasets_are_tests(tmp_path):
    source = write_sample(tmp_path / "data").data_dir
    (tmp_path / "empty").mkdir()
    result = run(tmp_path / "empty", "--featurekit", tmp_path / "data", "-v")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "1 passed" in result.stdout
    copy = Damaged(source, tmp_path / "data" / "copy" / "1.0.0")
    copy.entries(lambda entries: entries.update(label=np.array([3])))
    result = run(tmp_path / "empty", "--featurekit", tmp_path / "data")
    assert result.returncode == 1
    assert "1 failed, 1 passed" in result.stdout
    assert "error FK401 bad-label: expected a label from 0 to 2, or -1, got 3" in result.stdout
    assert "Traceback" not in result.stdout
    result = run(tmp_path / "empty", "--featurekit", copy.folder, "--featurekit-sample", 0)
    assert result.returncode == 0


def test_nothing_without_the_option(tmp_path):
    write_sample(tmp_path / "data")
    assert run(tmp_path).returncode == 5  # no tests
