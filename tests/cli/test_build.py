"""`featurekit build`: whole outputs."""

import pytest
from click.testing import CliRunner

import featurekit as fk
from featurekit.cli import main

BUILDER = '''
import numpy as np
import featurekit as fk


class Pets(fk.GeneratorBasedBuilder):
    VERSION = fk.Version("1.1.0")
    SUPPORTED_VERSIONS = [fk.Version("1.0.0")]
    BUILDER_CONFIGS = [
        fk.BuilderConfig("large", description="All pets."),
        fk.BuilderConfig("small"),
    ]

    def _info(self):
        return fk.DatasetInfo(
            builder=self,
            description="""
            Pets
            of many kinds.
            """,
            features=fk.FeaturesDict({
                "name": fk.Text(doc="What it is called"),
                "boxes": fk.Sequence({"box": fk.BBoxFeature(),
                                      "label": fk.ClassLabel(names=["cat", "dog"])}),
                "weight": fk.Tensor(shape=(None, 2), dtype=np.float32),
            }),
        )

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples(11), "test": self._generate_examples(2)}

    def _generate_examples(self, count):
        for index in range(count):
            boxes = [{"box": (0, 0, 1, 1), "label": "cat"}] * (index % 3)
            yield f"pet {index}", {"name": f"pet {index}", "boxes": boxes, "weight": [[1, 2]]}
'''

SHOWN = """\
pets/{version}

Pets of many kinds.

{facts}
format:     tfrecord
folder:     DIR/data/pets/{version}

split  examples       size  shards  examples a shard
{train}
test          2  183 bytes       1  2

features
├─ name: Text string - What it is called
├─ boxes: Sequence(FeaturesDict)
│  ├─ box: BBoxFeature float32[4]
│  └─ label: ClassLabel int64 2 classes (cat, dog)
└─ weight: Tensor float32[?, 2]
"""
LARGE = SHOWN.format(
    version="large/1.1.0",
    facts="config:     All pets.",
    train="train        11   1.06 KiB       1  11",
)


@pytest.fixture
def run(tmp_path):
    """Runs `featurekit build`; gives exit code, output and errors."""
    file = tmp_path / "pets.py"
    file.write_text(BUILDER)

    def invoke(*options, target=file):
        data = tmp_path / "data"
        result = CliRunner().invoke(main, ["build", str(target), "--data-dir", str(data), *options])
        assert result.exception is None or isinstance(result.exception, SystemExit)
        shown = (text.replace(str(tmp_path), "DIR") for text in (result.stdout, result.stderr))
        return result.exit_code, *shown

    return invoke


def test_a_build_shows_what_it_made(run, tmp_path):
    assert run() == (0, LARGE, "")
    assert len(fk.load("pets", "train", data_dir=tmp_path / "data")) == 11


def test_a_dataset_that_is_there_is_shown(run):
    run()
    notice = "The dataset is there already; build it again with --overwrite.\n\n"
    assert run() == (0, LARGE, notice)
    assert run("--overwrite", "--num-processes", "2", "--quiet") == (0, LARGE, "")


def test_config_version_and_shards(run, tmp_path):
    text = BUILDER.replace("range(count)", "range(max(count, 5))")
    (tmp_path / "pets.py").write_text(text)
    code, output, _ = run("--config", "small", "--version", "1.1.*", "--num-shards", "4")
    assert code == 0
    assert output.splitlines()[:9] == [
        "pets/small/1.1.0",
        "",
        "Pets of many kinds.",
        "",
        "format:     tfrecord",
        "folder:     DIR/data/pets/small/1.1.0",
        "",
        "split  examples       size  shards  examples a shard",
        "train        11   1.06 KiB       4  2 to 3",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--config", "smal"],
         "UnknownNameError: there is no config 'smal'; did you mean 'small'?\n"),
        (["--version", "2.0.0"],
         "UnknownNameError: there is no version 2.0.0; there are 1.1.0, 1.0.0\n"),
        (["--version", "1.0.0"],
         "BuildError: version 1.0.0 of 'pets' can be read, but not built\n"
         "  hint: build version 1.1.0\n"),
        (["--num-shards", "20"],
         "BuildError: 20 shards were asked for, but there are only 11 examples\n"
         "  hint: ask for at most num_shards=11, or leave the number out\n"
         "  while building pets/large:1.1.0, split train\n"),
    ],
)  # fmt: skip
def test_what_cannot_be_built_is_told_without_a_traceback(run, options, message, tmp_path):
    assert run(*options) == (1, "", message)
    assert not list((tmp_path / "data").glob("**/dataset_info.json"))


def test_a_bad_example_is_told(run, tmp_path):
    (tmp_path / "pets.py").write_text(BUILDER.replace('"label": "cat"', '"label": "caat"'))
    assert run() == (
        1,
        "",
        "EncodeError: 'caat' is not one of the 2 classes ('cat', 'dog'); did you mean 'cat'?\n"
        "  at: boxes[0].label (ClassLabel)\n"
        "  hint: fix the value, or add the class to names=\n"
        "  while building pets/large:1.1.0, split train, key 'pet 1'\n",
    )


def test_a_wrong_target_is_told(run, tmp_path):
    assert run(target=tmp_path / "pet.py") == (
        1,
        "",
        "MissingFileError: there is no such builder file\n  at: DIR/pet.py\n",
    )
    code, output, errors = run(target="digit")
    assert (code, output) == (1, "")
    assert errors.startswith("UnknownNameError: there is no builder 'digit'; did you mean 'digits")


def test_the_help_names_every_option():
    result = CliRunner().invoke(main, ["build", "--help"])
    assert result.exit_code == 0
    for option in ("data-dir", "config", "version", "num-hosts", "num-shards", "num-processes",
                   "overwrite", "quiet"):  # fmt: skip
        assert f"--{option}" in result.stdout


def test_commands_are_listed_and_imported_on_demand():
    result = CliRunner().invoke(main, [])
    listed = [line.split(maxsplit=1) for line in result.output.splitlines()]
    assert ["build", "Build a dataset and show what it made."] in listed
    assert CliRunner().invoke(main, ["bild"]).exit_code == 2
