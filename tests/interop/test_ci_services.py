"""The hook for pre-commit and the action for GitHub, run as those services run them."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import venv

import numpy as np
import pytest
from damage import Damaged, write_sample

ROOT = pathlib.Path(__file__).parent.parent.parent


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def project(tmp_path):
    """A repository of one dataset with a wrong label."""
    source = write_sample(tmp_path / "built").data_dir
    damaged = Damaged(source, tmp_path / "project" / "data" / "1.0.0")
    damaged.entries(lambda entries: entries.update(label=np.array([3])))
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], cwd=tmp_path / "project", check=True)
    return tmp_path / "project"


@pytest.mark.timeout(600)
def test_pre_commit_hook(project, tmp_path):
    pytest.importorskip("pre_commit")
    copy = tmp_path / "featurekit"
    run("git", "clone", "-q", ROOT, copy)
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", copy)
    environment = os.environ | {"PRE_COMMIT_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-m", "pre_commit", "try-repo", copy, "--all-files"]
    code, output = run(*command, cwd=project, env=environment)
    assert code == 1
    assert "error FK401 bad-label" in output
    shutil.rmtree(project / "data")
    Damaged(tmp_path / "built" / "sample" / "1.0.0", project / "data" / "1.0.0")
    run("git", "add", ".", cwd=project)
    code, output = run(*command, cwd=project, env=environment)
    assert code == 0, output


@pytest.mark.timeout(600)
def test_action(project, tmp_path):
    yaml = pytest.importorskip("yaml")
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    inputs = {name: value.get("default") for name, value in action["inputs"].items()}
    inputs |= {"paths": "data", "sarif": "report.sarif"}
    venv.create(tmp_path / "env", with_pip=True)
    environment = os.environ | {
        "PATH": f"{tmp_path / 'env' / 'bin'}:{os.environ['PATH']}",
        "GITHUB_ACTION_PATH": str(ROOT),
    }
    codes = []
    for step in action["runs"]["steps"]:
        variables = {
            name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: inputs[match[1]], text)
            for name, text in step.get("env", {}).items()
        }
        # GitHub's own way to call bash.
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        code, output = run(*command, cwd=project, env=environment | variables)
        codes.append(code)
    assert codes == [0, 0, 1], output
    assert output.startswith("::error file=data/1.0.0/sample-train.tfrecord-00000-of-00002,")
    assert '"ruleId": "FK401"' in (project / "report.sarif").read_text()
