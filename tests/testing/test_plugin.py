"""The pytest plugin: its fixtures, in a pytest of their own."""

import subprocess
import sys
import textwrap

BODY = """
    import os
    import pathlib

    def test_data_dir(featurekit_data_dir):
        assert os.environ["FEATUREKIT_DATA_DIR"] == str(featurekit_data_dir)
        assert list(pathlib.Path(featurekit_data_dir).iterdir()) == []

    def test_mock_data(featurekit_data_dir, featurekit_mock_data):
        import featurekit as fk

        featurekit_mock_data(num_examples=3)
        assert len(fk.load("digits", split="train")) == 3

    def test_the_mock_is_gone():
        import featurekit as fk

        assert not hasattr(fk.builder, "mock")
        assert fk.builder.__module__ == "featurekit.dataset.load"
"""


def run(tmp_path, body):
    (tmp_path / "test_it.py").write_text(textwrap.dedent(body))
    # By its module, whether it is installed as an entry point or not.
    plugins = ["no:cacheprovider", "no:featurekit", "featurekit.testing.plugin"]
    command = [sys.executable, "-m", "pytest", "-q", *(f"-p{plugin}" for plugin in plugins)]
    return subprocess.run(
        [*command, str(tmp_path)], capture_output=True, text=True, check=False, cwd=tmp_path
    )


def test_fixtures(tmp_path):
    done = run(tmp_path, BODY)
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


def test_loading_the_plugin_imports_nothing_heavy(tmp_path):
    body = """
        import sys

        def test_it():
            loaded = {name for name in sys.modules if name.startswith("featurekit")}
            testing = {"featurekit.testing", "featurekit.testing.plugin"}
            assert loaded <= {"featurekit", "featurekit.lazy"} | testing
            assert "numpy" not in sys.modules
    """
    done = run(tmp_path, body)
    assert done.returncode == 0, done.stdout
