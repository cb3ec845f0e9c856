"""Texts beside a builder's module, blocked versions, and what the hooks may complete."""

import textwrap

import pytest

import featurekit as fk
from featurekit.builders.blocked import BlockedVersions
from featurekit.builders.loading import find_builder_class
from featurekit.errors import BuildError

SCRIPT = """
    import featurekit as fk

    class Builder(fk.GeneratorBasedBuilder):
        VERSION = fk.Version("1.0.0")

        def _info(self):
            return self.dataset_info_from_configs(
                features=fk.FeaturesDict({"label": fk.ClassLabel()}),
                description="not this one",
                citation="@misc{stated}",
                homepage="https://example.org",
            )

        def _split_generators(self, dl_manager):
            self.info.features["label"].names = ["cat", "dog"]
            self.info.metadata["seen"] = True
            return {"train": self._generate_examples()}

        def _generate_examples(self):
            assert self.info.features["label"].num_classes == 2
            yield "a", {"label": "dog"}
"""


def write(folder, **files):
    folder.mkdir()
    (folder / f"{folder.name}_dataset_builder.py").write_text(textwrap.dedent(SCRIPT))
    (folder / "__init__.py").write_text("")
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return find_builder_class(str(folder))


def test_files_beside_the_module_describe_the_dataset(tmp_path):
    cls = write(
        tmp_path / "pets_told",
        README_md="# Pets\n\nCats, and dogs.\n",
        TAGS_txt="# all\ncontent.animals # of them\n\nlanguage.en\n",
    )
    builder = cls(data_dir=tmp_path)
    assert builder.name == "pets_told"
    assert builder.info.description == "# Pets\n\nCats, and dogs."
    assert builder.info.citation == "@misc{stated}"
    assert builder.info.homepage == "https://example.org"
    assert cls.get_metadata().tags == ("content.animals", "language.en")


def test_arguments_count_where_there_are_no_files(tmp_path):
    info = write(tmp_path / "pets_untold")(data_dir=tmp_path).info
    assert info.description == "not this one"


def test_hooks_may_complete_the_info(tmp_path):
    builder = write(tmp_path / "pets_late", CITATIONS_bib="@misc{filed}")(data_dir=tmp_path)
    builder.download_and_prepare(quiet=True)
    assert builder.info.features["label"].names == ["cat", "dog"]
    opened = fk.builder_from_directory(builder.data_dir)
    assert opened.info.features["label"].names == ["cat", "dog"]
    assert opened.info.metadata == {"seen": True}
    assert opened.info.citation == "@misc{filed}"
    assert [e["label"] for e in opened.as_dataset("train")] == [1]
    assert builder.data_path == tmp_path / "pets_late" / "1.0.0"


@pytest.mark.parametrize(
    ("blocked", "message"),
    [
        (BlockedVersions({"1.0.0": "wrong labels"}), "version 1.0.0 .* author: wrong labels"),
        (BlockedVersions({"1.0.0": None}), "version 1.0.0 .* is blocked by its author"),
        (BlockedVersions({}, {"1.0.0": {"small": "x"}}), None),
        (BlockedVersions({"2.0.0": "x"}), None),
    ],
)
def test_blocked_versions_are_not_built(tmp_path, blocked, message):
    cls = write(tmp_path / "pets_blocked")
    cls.BLOCKED_VERSIONS = blocked
    builder = cls(data_dir=tmp_path)
    if message is None:
        builder.download_and_prepare(quiet=True)
        assert builder.is_prepared()
    else:
        with pytest.raises(BuildError, match=message):
            builder.download_and_prepare()


def test_blocked_configs_are_refused():
    blocked = BlockedVersions(configs={"1.0.0": {"small": "too small"}})
    with pytest.raises(BuildError, match=r"config 'small' in version 1\.0\.0 of 'pets' is blocked"):
        blocked.check(fk.Version("1.0.0"), "small", "pets")
    blocked.check(fk.Version("1.0.0"), "big", "pets")
