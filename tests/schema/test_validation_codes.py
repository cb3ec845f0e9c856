"""Each code of a finding is provoked by one kind of damage, and that damage by nothing else."""

import dataclasses
import gzip
import json
import os

import numpy as np
import pytest
from damage import Damaged, wav, write_sample

import featurekit as fk
from featurekit.schema.rules import RULES


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    return write_sample(tmp_path_factory.mktemp("sample")).data_dir


@pytest.fixture
def damaged(sample, tmp_path):
    return Damaged(sample, tmp_path / "1.0.0")


@dataclasses.dataclass
class Case:
    """A kind of damage and the finding that it leads to."""

    code: str
    damage: object  # takes the `Damaged` copy
    message: str
    file: str = "sample-train.tfrecord-00000-of-00002"
    options: dict = dataclasses.field(default_factory=dict)
    place: dict = dataclasses.field(default_factory=dict)  # what else is known of it
    count: int = 1

    def __str__(self):
        return f"{self.code} {self.message[:30]}"


CASES = []


def case(code, message, file="sample-train.tfrecord-00000-of-00002", count=1, options=(), **place):
    """Register a function that damages a dataset."""

    def register(damage):
        CASES.append(Case(code, damage, message, file, dict(options), place, count))
        return damage

    return register


# Metadata.


@case(
    "FK101", "there is no dataset_info.json, so this is not the folder of a dataset's version", ""
)
def _(damaged):
    damaged.path("dataset_info.json").unlink()


@case(
    "FK102",
    "dataset_info.json is not JSON: Expecting ',' delimiter: line 4 column 3 (char 90)",
    "dataset_info.json",
    line='"name": "sample"',
)
def _(damaged):
    damaged.text("dataset_info.json", '"fileFormat": "tfrecord",', '"fileFormat": "tfrecord"')


@case(
    "FK102",
    "there is no file format 'tfrecods'; did you mean 'tfrecord'?",
    "dataset_info.json",
    line='"fileFormat": "tfrecods"',
)
def _(damaged):
    damaged.text("dataset_info.json", '"tfrecord"', '"tfrecods"')


@case(
    "FK102",
    "field 'shardLengths' of a split has the value ['4', 'four']: invalid literal for int() "
    "with base 10: 'four'",
    "dataset_info.json",
    line='"shardLengths": [',
)
def _(damaged):
    damaged.info(lambda info: info["splits"][0].update(shardLengths=["4", "four"]))


@case("FK103", "there is no features.json", "features.json")
def _(damaged):
    damaged.path("features.json").unlink()


@case(
    "FK104",
    "'int46' is not the dtype of a feature; did you mean 'int64'?",
    "features.json",
    feature="id",
)
def _(damaged):
    damaged.features(lambda features: features["id"]["tensor"].update(dtype="int46"))


@case("FK104", "the features are nested too deeply to be read", "features.json")
def _(damaged):
    name = "tensorflow_datasets.core.features.sequence_feature.Sequence"
    start = f'{{"pythonClassName": "{name}", "sequence": {{"length": "-1", "feature": '
    damaged.path("features.json").write_text(start * 400 + "{}" + "}}" * 400)


@case("FK105", "unknown fields: 'licence'", "dataset_info.json", line='"licence": "MIT"')
def _(damaged):
    damaged.info(lambda info: info.update(licence="MIT"))


@case("FK105", "unknown fields: 'shapes'", "features.json", line='"shapes": {}')
def _(damaged):
    damaged.features(lambda features: features["small"]["tensor"].update(shapes={}))


@case(
    "FK106",
    "the class 'somewhere.features.Rare' is neither known nor trusted",
    "features.json",
    feature="text",
    line='"pythonClassName": "somewhere.features.Rare"',
)
def _(damaged):
    def change(features):
        features["text"] = {
            "pythonClassName": "somewhere.features.Rare",
            "jsonFeature": {"json": "{}"},
        }

    damaged.features(change)


@case(
    "FK107",
    "the folder is called 1.0.0, and the 'version' stated is 1.0.1",
    "dataset_info.json",
    line='"version": "1.0.1"',
)
def _(damaged):
    damaged.text("dataset_info.json", '"version": "1.0.0"', '"version": "1.0.1"')


@case(
    "FK108",
    "supervisedKeys name 'lable', and there is no such feature; did you mean 'label'?",
    "dataset_info.json",
    line='"featureKey": "lable"',
)
def _(damaged):
    damaged.text("dataset_info.json", '"featureKey": "label"', '"featureKey": "lable"')


@case(
    "FK109",
    "the classes are not those of features.json: there are 3 classes, got 2 names",
    "label.labels.txt",
    feature="label",
)
def _(damaged):
    damaged.path("label.labels.txt").write_text("cat\ndog\n")


@case(
    "FK109",
    "the classes are not those of features.json: class name 'cat' is there twice",
    "label.labels.txt",
    feature="label",
    line="cat",
)
def _(damaged):
    damaged.path("label.labels.txt").write_text("cat\ndog\ncat\n")


@case(
    "FK109",
    "the classes are not those of features.json: the file of class names is not UTF-8: invalid "
    "start byte at byte 0",
    "label.labels.txt",
    feature="label",
)
def _(damaged):
    damaged.path("label.labels.txt").write_bytes(b"\xff\ndog\ncat\n")


@case("FK110", "no feature has these class names", "lable.labels.txt")
def _(damaged):
    damaged.path("lable.labels.txt").write_text("cat\n")


@case("FK111", "metadata.json holds no object", "metadata.json")
def _(damaged):
    damaged.path("metadata.json").write_text("[]")


@case(
    "FK112",
    "the template '{SPLIT}.tfrecord' gives 2 shards one name",
    "dataset_info.json",
    line='"filepathTemplate": "{SPLIT}.tfrecord"',
)
def _(damaged):
    damaged.info(lambda info: info["splits"][0].update(filepathTemplate="{SPLIT}.tfrecord"))


@case(
    "FK113",
    "the split 'extra' has no examples",
    "dataset_info.json",
    split="extra",
    line='"name": "extra"',
)
def _(damaged):
    damaged.info(lambda info: info["splits"].append({"name": "extra"}))


@case("FK114", "the dataset has no 'splits'", "dataset_info.json")
def _(damaged):
    damaged.info(lambda info: info.pop("splits"))
    for path in damaged.folder.glob("*.tfrecord-*"):
        path.unlink()


# Shard files.


@case("FK201", "there is no such file")
def _(damaged):
    damaged.shard().unlink()


@case(
    "FK202",
    "payload checksum is 0xd4f1d8b7, the file says 0x00000000",
    record=0,
)
def _(damaged):
    def change(data):
        data[40] ^= 1
        return data

    damaged.bytes(change)


@case("FK202", "length checksum is 0x, the file says 0x", record=2)
def _(damaged):
    def change(data):
        index = fk.io.TFRecordReader(damaged.shard())._indexed()
        data[index[2][0] + 9] ^= 0x80
        return data

    damaged.bytes(change)


@case("FK203", "record is cut: the file ends after 0 of the 4 bytes of its payload's checksum")
def _(damaged):
    damaged.bytes(lambda data: data[:-4])


@case("FK204", "record is cut: the file ends after 5 of the 12 bytes of its header", record=4)
def _(damaged):
    damaged.bytes(lambda data: data + b"trail")


@case("FK204", "length checksum is 0x, the file says 0x", record=4)
def _(damaged):
    damaged.bytes(lambda data: data + bytes(range(40)))


@case("FK205", "expected 5 records, got 4")
def _(damaged):
    damaged.info(lambda info: info["splits"][0].update(shardLengths=["5", "4"]))


@case(
    "FK206",
    "expected bytes in the records of split 'train'",
    "dataset_info.json",
    split="train",
    line='"name": "train"',
)
def _(damaged):
    damaged.add_bytes(1)


@case(
    "FK207",
    "the file is named like a shard, and the metadata counts no such shard",
    "sample-train.tfrecord-00000-of-00003",
)
def _(damaged):
    damaged.path("sample-train.tfrecord-00000-of-00003").write_bytes(b"")


@case("FK208", "the shard is compressed with GZIP")
def _(damaged):
    damaged.bytes(lambda data: gzip.compress(data, mtime=0))


@case(
    "FK209",
    "the file is left from a build that did not finish",
    "incomplete.0123456789abcdef.features.json",
)
def _(damaged):
    damaged.path("incomplete.0123456789abcdef.features.json").write_text("{}")


@case("FK210", "this is not a regular file")
def _(damaged):
    damaged.shard().unlink()
    damaged.shard().mkdir()


@case(
    "FK211",
    "files of the format 'riegeli' can be neither read nor written",
    "dataset_info.json",
    line='"fileFormat": "riegeli"',
)
def _(damaged):
    damaged.text("dataset_info.json", '"tfrecord"', '"riegeli"')


# Records.


@case("FK301", "expected a serialized Example, got b'\\xff\\xff\\xff'", record=1, split="train")
def _(damaged):
    damaged.records(lambda record: b"\xff\xff\xff", record=1)


def entry_case(code, feature, message, **entries):
    """Damage that sets entries of record 2; None removes one."""

    def damage(damaged):
        def change(found):
            for key, value in entries.items():
                key = key.replace("__", "/")
                assert key in found or code == "FK305"
                if value is None:
                    del found[key]
                else:
                    found[key] = value(found[key]) if callable(value) else value

        damaged.entries(change, record=2)

    case(code, message, feature=feature, record=2, split="train")(damage)


def at(index, value):
    """A function that sets one item of an array."""

    def change(array):
        array = np.array(array)
        array[index] = value
        return array

    return change


entry_case("FK302", "id", "the record has no entry 'id'", id=None)
entry_case("FK302", "image", "the record has no entry 'image'", image=None)
entry_case("FK302", "matrix.value", "the record has no entry 'matrix/value'", matrix__value=None)
entry_case(
    "FK303",
    "id",
    "feature 'id': expected int64_list, got float_list",
    id=np.array([1.5], np.float32),
)
entry_case(
    "FK304",
    "bounded",
    "entry 'bounded' has 3 values, which do not fill shape (2,)",
    bounded=np.zeros(3, np.float32),
)
entry_case(
    "FK304",
    "ragged[][]",
    "entry 'ragged/ragged_row_lengths_0' adds up to 9, and there are",
    ragged__ragged_row_lengths_0=np.array([9]),
)
entry_case(
    "FK304",
    "objects[]",
    "the lists of the sequence have different lengths",
    objects__label=np.array([1, 1, 1, 1, 1]),
)
entry_case("FK305", "smal", "entry 'smal' is not declared; did you mean 'small'?", smal=[1])
entry_case("FK305", "", "entry '' is not declared; there are", **{"": [1]})
entry_case("FK306", "small", "stored value 256 does not fit uint8", small=np.array([256]))
entry_case("FK306", "flag", "stored value 2 does not fit bool", flag=np.array([2]))
entry_case("FK306", "half", "stored value 70000 does not fit float16", half=np.array([7e4], "f4"))

# Values.

entry_case("FK401", "label", "expected a label from 0 to 2, or -1, got 3", label=np.array([3]))
entry_case(
    "FK402", "bounded", "expected at most 10, got 11.0", bounded=np.array([11, 3], np.float32)
)
entry_case(
    "FK403",
    "box",
    "expected a box within 0 and 1, got BBox(ymin=0.0, xmin=0.0, ymax=1.5, xmax=1.0)",
    box=np.array([0, 0, 1.5, 1], np.float32),
)
entry_case(
    "FK404",
    "box",
    "expected ymin <= ymax and xmin <= xmax, got BBox(ymin=0.5, xmin=0.0, ymax=0.25, xmax=1.0)",
    box=np.array([0.5, 0, 0.25, 1], np.float32),
)
entry_case(
    "FK405",
    "text",
    "the text is not UTF-8: invalid start byte at byte 1 of b'a\\xff'",
    text=[b"a\xff"],
)
entry_case("FK406", "image", "expected a PNG, JPEG, GIF or BMP file, got b'no'", image=[b"no"])


def other_png(pixels):
    return [fk.Image().encode_example(pixels)]


entry_case("FK407", "image", "5", image=other_png(np.zeros((5, 6, 3), np.uint8)))
entry_case("FK408", "sound", "these are no sound file: b'no'", sound=[b"no"])
entry_case("FK409", "sound", "expected a sample rate of 8000 Hz, got 16000 Hz", sound=[wav(16000)])
entry_case("FK410", "packed", "the zlib stream is damaged", packed=[b"no"])
entry_case("FK410", "matrix", "stored shape (2, -1) does not fit", matrix__shape=np.array([2, -1]))
entry_case(
    "FK412",
    "words[0].language",
    "'fr' is not one of the languages",
    words__language=at(0, b"fr"),
)


@case("FK401", "from 0 to 4, or -1, got 7", record=1, feature="objects[1].label", split="train")
def _(damaged):
    entries = {
        "objects/label": np.array([1, 7]),
        "objects/box": np.array([0, 0, 1, 1] * 2, np.float32),
    }
    damaged.entries(lambda found: found.update(entries), record=1)


@case(
    "FK406",
    "expected a PNG, JPEG, GIF or BMP file, got b'no'",
    record=3,
    feature="steps[1].view",
    split="train",
)
def _(damaged):
    damaged.entries(
        lambda found: found.update({"steps/view": at(1, b"no")(found["steps/view"])}), record=3
    )


# Splits.


@case(
    "FK501",
    "1 of the 2 examples of split 'test' (50.00%) are in 'train' too; the first one is record 1 of",
    "sample-test.tfrecord-00000-of-00002",
    options={"leakage": True},
    record=0,
    split="test",
)
def _(damaged):
    (record,) = list(fk.io.TFRecordReader(damaged.shard("train", 0)))[1:2]
    damaged.records(lambda _: record, split="test")


def codes(findings):
    return [finding.code for finding in findings]


def differs(message, expected):
    """Checksums and sizes in messages are not worth writing down."""
    import re

    def plain(text):
        return re.sub(r"0x[0-9a-f]*|\b\d{4,} bytes ", "", text)

    return plain(expected.replace("expected bytes", "expected 1234 bytes")) not in plain(message)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_damage_leads_to_its_finding_alone(case, damaged):
    case.damage(damaged)
    report = fk.schema.validate(damaged.folder, **case.options)
    assert codes(report.findings) == [case.code]
    (finding,) = report.findings
    assert not differs(finding.message, case.message), finding.message
    assert finding.place.file == os.path.join(damaged.folder, case.file).rstrip("/")
    known = {key: getattr(finding.place, key) for key in case.place}
    if known.get("line"):  # say the text of the line, not its number
        lines = damaged.path(case.file).read_text().splitlines()
        known["line"] = lines[known["line"] - 1].strip().rstrip(",")
    assert known == case.place
    assert finding.count == case.count
    assert finding.cure


def test_every_code_is_provoked():
    elsewhere = {
        *(code for code in RULES if code.startswith(("FK6", "FK7"))),
        "FK411",  # of connectors that the test has to define
    }
    assert {case.code for case in CASES} == set(RULES) - elsewhere


@pytest.mark.parametrize("options", [{}, {"leakage": True}, {"sample": 1}, {"sample": 0}])
def test_sound_dataset_has_no_findings(sample, options):
    report = fk.schema.validate(sample, **options)
    assert report.findings == []
    assert report.ok
    assert (report.records, report.shards) == (10, 4)
    assert report.decoded == {None: 10, 1: 2, 0: 0}[options.get("sample")]


def test_json_is_plain(sample):
    json.dumps([finding.as_json() for finding in fk.schema.validate(sample).findings])
