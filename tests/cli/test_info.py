"""`featurekit info`: whole outputs."""

import numpy as np
import pytest
from click.testing import CliRunner

import featurekit as fk
from featurekit.cli import main
from featurekit.io.columns import native_active

TFDS = "tensorflow_datasets.core.features"


@pytest.fixture
def folder(tmp_path):
    features = fk.FeaturesDict(
        {
            "age": fk.Scalar(np.uint8, doc="In years"),
            "kinds": fk.ClassLabel(names=list("abcdefgh")),
            "nested": {
                "x": fk.Sequence(fk.Sequence(np.int32)),
                "y": fk.Sequence(fk.Text(), length=2),
            },
        }
    )
    example = {"age": 3, "kinds": "c", "nested": {"x": [[1], []], "y": ["a", "b"]}}
    fk.write_dataset(
        "animals",
        {"train": [example] * 2000, "test": [example]},
        features,
        tmp_path,
        version="2.0.0",
        num_hosts=2,
        description="Many animals, described with so many words that they do not fit on one line "
        "of the terminal.",
        homepage="https://example.org/animals",
        license="CC BY 4.0\nand more text",
        supervised_keys=("age", "kinds"),
        metadata={"origin": "here"},
    )
    return tmp_path


SHOWN = """\
animals/2.0.0

Many animals, described with so many words that they do not fit on one line of the
terminal.

homepage:   https://example.org/animals
license:    CC BY 4.0
supervised: ('age', 'kinds')
format:     tfrecord
folder:     DIR/animals/2.0.0

split  examples        size  shards  examples a shard
train     2,000  261.72 KiB       1  2,000
test          1   134 bytes       1  1

features
├─ age: Scalar uint8 - In years
├─ kinds: ClassLabel int64 8 classes (a, b, c, d, e, f, ...)
└─ nested: FeaturesDict
   ├─ x: Sequence(Sequence(Tensor)) int32[?, ?]
   └─ y: Sequence(Text, length=2) string[2]
"""


def run(folder, *arguments):
    result = CliRunner().invoke(main, ["info", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    shown = (text.replace(str(folder), "DIR") for text in (result.stdout, result.stderr))
    return result.exit_code, *shown


@pytest.mark.parametrize("target", ["name", "versioned", "folder"])
def test_what_is_shown(folder, target):
    targets = {
        "name": ["animals", "--data-dir", folder],
        "versioned": ["animals:2.*.*", "--data-dir", folder],
        "folder": [folder / "animals/2.0.0"],
    }
    assert run(folder, *targets[target]) == (0, SHOWN, "")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("animal", "there is no dataset 'animal'; did you mean 'animals'?\n  at: DIR\n"
         "  hint: build it first, or give the folder of your datasets as data_dir=\n"),
        ("animals/big", "the dataset 'animals' has no config 'big'; it has no configs\n"
         "  at: DIR/animals\n"),
        ("animals:3.0.0", "the dataset 'animals' has no version 3.0.0; it has 2.0.0\n"
         "  at: DIR/animals\n"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_told_without_a_traceback(folder, name, message):
    assert run(folder, name, "--data-dir", folder) == (1, "", f"DatasetNotFoundError: {message}")


def test_damaged_metadata_is_told(folder):
    path = folder / "animals/2.0.0/dataset_info.json"
    path.write_text("{")
    code, output, errors = run(folder, path.parent)
    assert (code, output) == (1, "")
    assert errors.startswith("DatasetInfoError: dataset_info.json is not JSON")


def test_an_unknown_connector_is_shown_as_such(folder):
    path = folder / "animals/2.0.0/features.json"
    path.write_text(path.read_text().replace(f"{TFDS}.scalar.Scalar", "elsewhere.Odd"))
    code, output, errors = run(folder, path.parent)
    assert (code, errors) == (0, "")
    assert "├─ age: Opaque" in output
    code, output, errors = run(folder, path.parent, "--trust", "elsewhere")
    assert (code, output) == (1, "")
    assert "cannot import the connector 'elsewhere.Odd'" in errors


def test_versions():
    result = CliRunner().invoke(main, ["info", "--versions"])
    assert result.exit_code == 0
    lines = dict(line.split(":", 1) for line in result.output.splitlines())
    assert lines["featurekit"].strip() == fk.__version__
    assert lines["numpy"].strip() == np.__version__
    kernels = "compiled" if native_active() else "not in use: slower, the same results"
    assert lines["kernels"].strip() == kernels
