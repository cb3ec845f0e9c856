"""Builds that download: what is recorded, checked, used again, and chosen by options."""

import hashlib
import json
import pathlib
import textwrap
import types

import numpy as np
import pytest
from click.testing import CliRunner
from web import serving

import featurekit as fk
from featurekit.builders.download_config import DownloadConfig, GenerateMode
from featurekit.builders.loading import find_builder_class
from featurekit.cli import main
from featurekit.errors import (
    BuildError,
    ChecksumError,
    InvalidArgumentError,
    MissingFileError,
)

SCRIPT = """
import numpy as np
import featurekit as fk


class Builder(fk.GeneratorBasedBuilder):
    VERSION = fk.Version("1.0.0")
    MANUAL_DOWNLOAD_INSTRUCTIONS = "Get more.txt from a friend."

    def _info(self):
        features = fk.FeaturesDict({{"n": np.int64}})
        return fk.DatasetInfo(builder=self, features=features, description="{description}")

    def _split_generators(self, dl_manager):
        paths = dl_manager.download({{"train": "{url}/train.txt", "test": "{url}/test.txt"}})
        if {by_hand}:
            paths["more"] = dl_manager.manual_dir / "more.txt"
        return {{split: self._generate_examples(path) for split, path in paths.items()}}

    def _generate_examples(self, path):
        for number in path.read_text().split():
            yield int(number), {{"n": int(number)}}
"""
TRAIN, TEST = b"0 1 2 3 4 5 6 7 8 9\n", b"10 11\n"


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving({"/train.txt": TRAIN, "/test.txt": TEST}) as server:
        yield server


@pytest.fixture
def script(server, tmp_path):
    """Writes the builder's module, and gives its path."""
    folders = iter(range(10))

    def write(by_hand=False, description="Numbers."):
        folder = tmp_path / f"code{next(folders)}" / "numerals"
        folder.mkdir(parents=True)
        path = folder / "numerals_dataset_builder.py"
        text = SCRIPT.format(url=server.url, by_hand=by_hand, description=description)
        path.write_text(textwrap.dedent(text))
        return path

    return write


def make(script, folder, **options):
    return find_builder_class(str(script))(data_dir=folder / "data", **options)


def numbers(builder, split="train"):
    return sorted(int(example["n"]) for example in builder.as_data_source(split))


def rows(server):
    """The lines of checksums.tsv for what the server has."""
    infos = {"test.txt": TEST, "train.txt": TRAIN}
    return "".join(
        f"{server.url}/{name}\t{len(data)}\t{hashlib.sha256(data).hexdigest()}\t{name}\n"
        for name, data in infos.items()
    )


def test_what_is_downloaded_is_counted_and_kept(server, script, tmp_path):
    builder = make(script(), tmp_path)
    builder.download_and_prepare(quiet=True)
    assert numbers(builder) == list(range(10))
    size = len(TRAIN) + len(TEST)
    assert builder.info.download_size == size
    info = json.loads(pathlib.Path(builder.data_dir, "dataset_info.json").read_text())
    assert info["downloadSize"] == str(size)
    kept = tmp_path / "data" / "downloads" / "numerals"
    assert len(list(kept.iterdir())) == 4
    builder.download_and_prepare(overwrite=True, quiet=True)
    assert builder.info.download_size == size
    assert len(server.requests) == 2


def test_the_folder_of_downloads_can_be_chosen(script, tmp_path):
    builder = make(script(), tmp_path)
    builder.download_and_prepare(download_dir=tmp_path / "elsewhere", quiet=True)
    assert len(list((tmp_path / "elsewhere" / "numerals").iterdir())) == 4
    assert not (tmp_path / "data" / "downloads").exists()


def test_checksums_beside_the_module_are_recorded_and_enforced(server, script, tmp_path):
    path = script()
    builder = make(path, tmp_path)
    builder.download_and_prepare(
        download_config=DownloadConfig(register_checksums=True), quiet=True
    )
    recorded = path.parent / "checksums.tsv"
    assert recorded.read_text() == rows(server)
    server.answers["/train.txt"] = b"changed"
    strict = DownloadConfig(
        force_checksums_validation=True, download_mode=GenerateMode.FORCE_REDOWNLOAD
    )
    with pytest.raises(ChecksumError, match="gives another file than the recorded one"):
        builder.download_and_prepare(download_config=strict, quiet=True)
    assert numbers(builder) == list(range(10))  # the old one stays
    server.answers["/train.txt"] = TRAIN
    builder.download_and_prepare(download_config=strict, quiet=True)
    recorded.write_text(rows(server).split("\n")[0] + "\n")
    with pytest.raises(ChecksumError, match="no checksum is recorded for"):
        builder.download_and_prepare(
            download_config=strict.replace(download_mode="reuse_cache_if_exists"), quiet=True
        )


def test_download_modes(server, script, tmp_path):
    def run(path, mode):
        builder = make(path, tmp_path)
        builder.download_and_prepare(download_config=DownloadConfig(download_mode=mode), quiet=True)
        return builder

    path = script()
    with pytest.raises(BuildError, match="there is no dataset to update"):
        run(path, GenerateMode.UPDATE_DATASET_INFO)
    run(path, GenerateMode.REUSE_DATASET_IF_EXISTS)
    assert len(server.requests) == 2
    server.answers["/train.txt"] = b"7"
    for mode in (GenerateMode.REUSE_DATASET_IF_EXISTS, GenerateMode.REUSE_CACHE_IF_EXISTS):
        assert numbers(run(path, mode)) == list(range(10))
    assert len(server.requests) == 2
    assert numbers(run(path, GenerateMode.FORCE_REDOWNLOAD)) == [7]
    assert len(server.requests) == 4
    changed = run(script(description="Better numbers."), GenerateMode.UPDATE_DATASET_INFO)
    assert changed.info.description == "Better numbers."
    assert fk.builder_from_directory(changed.data_dir).info.description == "Better numbers."
    assert numbers(changed) == [7]
    with pytest.raises(InvalidArgumentError, match="did you mean 'force_redownload'"):
        DownloadConfig(download_mode="force_redownlod")


def test_an_update_keeps_the_features_of_the_examples(tmp_path):
    class Numbers(fk.GeneratorBasedBuilder, skip_registration=True):
        VERSION = "1.0.0"
        dtype = np.int64

        def _info(self):
            features = fk.FeaturesDict({"n": self.dtype})
            return fk.DatasetInfo(builder=self, features=features)

        def _split_generators(self, dl_manager):
            return {"train": [(0, {"n": 1})]}

        def _generate_examples(self):
            raise NotImplementedError

    Numbers(data_dir=tmp_path).download_and_prepare(quiet=True)
    before = {path.name: path.read_text() for path in tmp_path.rglob("*.json")}
    Numbers.dtype = np.float32
    mode = types.SimpleNamespace(download_mode=GenerateMode.UPDATE_DATASET_INFO)
    Numbers(data_dir=tmp_path).download_and_prepare(download_config=mode, quiet=True)
    assert {path.name: path.read_text() for path in tmp_path.rglob("*.json")} == before


@pytest.mark.parametrize("limit", [1, 2, 5, 100])
def test_splits_can_end_early(script, tmp_path, limit):
    builder = make(script(), tmp_path)
    config = DownloadConfig(max_examples_per_split=limit)
    builder.download_and_prepare(download_config=config, quiet=True)
    assert numbers(builder) == list(range(min(limit, 10)))
    assert len(numbers(builder, "test")) == min(limit, 2)


def test_no_examples_means_downloads_only(server, script, tmp_path):
    builder = make(script(), tmp_path)
    config = DownloadConfig(max_examples_per_split=0)
    builder.download_and_prepare(download_config=config, quiet=True)
    assert not builder.is_prepared()
    assert len(server.requests) == 2
    builder.download_and_prepare(quiet=True)
    assert numbers(builder) == list(range(10))
    assert len(server.requests) == 2


def test_files_got_by_hand(script, tmp_path):
    builder = make(script(by_hand=True), tmp_path)
    folder = tmp_path / "data" / "downloads" / "manual"
    with pytest.raises(MissingFileError) as caught:
        builder.download_and_prepare(quiet=True)
    assert str(caught.value) == (
        "the dataset needs files that must be got by hand:\n    Get more.txt from a friend.\n"
        f"  at: {folder}\n"
        "  hint: put them into this folder, or name another: featurekit build --manual-dir"
    )
    folder.mkdir()
    (folder / "more.txt").write_text("1 2")
    builder.download_and_prepare(quiet=True)
    assert numbers(builder, "more") == [1, 2]
    other = tmp_path / "other"
    other.mkdir()
    (other / "more.txt").write_text("3")
    builder.download_and_prepare(
        download_config=DownloadConfig(manual_dir=other), overwrite=True, quiet=True
    )
    assert numbers(builder, "more") == [3]


def test_shard_sizes_of_the_config(tmp_path):
    examples = {i: {"t": "x" * 1000} for i in range(100)}

    class Texts(fk.GeneratorBasedBuilder, skip_registration=True):
        VERSION = "1.0.0"

        def _info(self):
            return fk.DatasetInfo(builder=self, features=fk.FeaturesDict({"t": fk.Text()}))

        def _split_generators(self, dl_manager):
            return {"train": examples.items()}

        def _generate_examples(self):
            raise NotImplementedError

    def shards(**options):
        builder = Texts(data_dir=tmp_path)
        config = DownloadConfig(**options)
        builder.download_and_prepare(download_config=config, overwrite=True, quiet=True)
        return builder.info.splits["train"].num_shards

    assert [shards(), shards(num_shards=3)] == [1, 3]
    assert shards(min_shard_size=20_000) == 5
    assert shards(max_shard_size=20_000) == 6


def test_a_build_in_processes_downloads_once(server, script, tmp_path):
    builder = make(script(), tmp_path)
    builder.download_and_prepare(num_processes=2, quiet=True)
    assert numbers(builder) == list(range(10))
    assert len(server.requests) == 2


# The command.


def run(*arguments):
    return CliRunner().invoke(main, ["build", *map(str, arguments)])


def test_the_command(server, script, tmp_path):
    path = script(by_hand=True)
    by_hand = tmp_path / "by_hand"
    by_hand.mkdir()
    (by_hand / "more.txt").write_text("5 6 7")
    data, downloads = tmp_path / "data", tmp_path / "downloads"
    options = ("--data-dir", data, "--download-dir", downloads, "--manual-dir", by_hand, "-q")
    done = run(path, *options, "--register-checksums", "--max-examples-per-split", 0)
    assert (done.exit_code, done.output) == (0, "")
    assert (path.parent / "checksums.tsv").read_text() == rows(server)
    assert len(list((downloads / "numerals").iterdir())) == 4
    done = run(path, *options, "--max-examples-per-split", 2)
    assert done.exit_code == 0
    assert "numerals/1.0.0" in done.output
    builder = fk.builder("numerals", data_dir=data)
    assert {name: split.num_examples for name, split in builder.info.splits.items()} == {
        "train": 2, "test": 2, "more": 2
    }  # fmt: skip
    server.answers["/train.txt"] = b"changed"
    for kept in (downloads / "numerals").iterdir():
        kept.unlink()
    done = run(path, *options, "--overwrite")
    assert done.exit_code == 1
    assert "ChecksumError: " in done.output
    assert "check it and record it anew: featurekit build --register-checksums" in done.output


def test_the_command_without_files_got_by_hand(script, tmp_path):
    done = run(script(by_hand=True), "--data-dir", tmp_path, "-q")
    assert done.exit_code == 1
    assert "MissingFileError: the dataset needs files that must be got by hand:" in done.output


def test_the_command_and_formats(script, tmp_path):
    pytest.importorskip("pyarrow")
    done = run(script(), "--data-dir", tmp_path, "-q", "--file-format", "parquet")
    assert done.exit_code == 0
    assert fk.builder("numerals", data_dir=tmp_path).info.file_format == "parquet"
