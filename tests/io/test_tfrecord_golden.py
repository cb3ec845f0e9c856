"""Record files that TensorFlow wrote, and damaged ones with what TensorFlow makes of them."""

import base64
import hashlib
import json
import pickle
import re
from pathlib import Path

import pytest

from featurekit.errors import CorruptRecordError, MissingFileError
from featurekit.io import TFRecordReader, TFRecordWriter
from featurekit.io.crc32c import crc32c, masked_crc32c

DATA = Path(__file__).parents[1] / "data" / "tfrecord"
CASES = json.loads((DATA / "index.json").read_text())["cases"]
CHECKSUMS = json.loads((DATA / "crc32c.json").read_text())
BY_NAME = {case["name"]: case for case in CASES}


def cases(condition=lambda case: True):
    chosen = [case for case in CASES if condition(case)]
    assert chosen
    return [pytest.param(case, id=case["name"]) for case in chosen]


def is_damaged(case):
    if case["name"] == "zlib_two_streams":
        return False  # TensorFlow drops the second stream; both are read here
    return case["made"] != "absent" and bool(case["expect"]["error"] or case.get("wanted"))


def is_sound(case):
    return case["made"] != "absent" and not case["expect"]["error"] and not case.get("wanted")


def read(reader):
    """All records up to the end or the error, and the error."""
    records = []
    try:
        records.extend(iter(reader))  # extend keeps what came before an error
    except CorruptRecordError as error:
        return records, error
    return records, None


def summary(records):
    return [{"length": len(r), "sha256": hashlib.sha256(r).hexdigest()} for r in records]


def expected(case):
    keys = ("length", "sha256")
    return [{key: record[key] for key in keys} for record in case["expect"]["records"]]


@pytest.mark.parametrize("case", cases(is_sound))
def test_sound_file_gives_its_records(case):
    reader = TFRecordReader(DATA / case["file"], case["compression"])
    records = list(reader)
    assert summary(records) == expected(case)
    for record, golden in zip(records, case["expect"]["records"], strict=True):
        assert "b64" not in golden or record == base64.b64decode(golden["b64"])
    assert len(reader) == len(records)
    assert [reader[i] for i in range(len(records))] == records
    assert list(TFRecordReader(DATA / case["file"])) == records, "detected compression"
    assert not reader.lost


@pytest.mark.parametrize("case", cases(is_damaged))
def test_damaged_file_gives_the_records_before_the_fault_then_an_error(case):
    path = DATA / case["file"]
    records, error = read(TFRecordReader(path, case["compression"]))
    assert summary(records) == expected(case)
    assert error is not None
    assert error.file == str(path)
    assert error.record == len(records)
    assert error.byte is not None
    assert error.hint
    arrived = pickle.loads(pickle.dumps(error))
    assert str(arrived) == str(error)


def test_zlib_streams_are_read_as_one():
    case = BY_NAME["zlib_two_streams"]
    records = list(TFRecordReader(DATA / case["file"], "ZLIB"))
    assert summary(records) == expected(BY_NAME["gzip_two_members"])
    assert list(TFRecordReader(DATA / case["file"])) == records


@pytest.mark.parametrize(
    "case", cases(lambda case: re.search("record at [0-9]+", str(case["expect"]["error"])))
)
def test_error_is_at_the_byte_that_tensorflow_names(case):
    _, error = read(TFRecordReader(DATA / case["file"], case["compression"]))
    message = case["expect"]["error"]["message"]
    assert error.byte == int(re.search("record at ([0-9]+)", message)[1])


@pytest.mark.parametrize("on_corrupt", ["skip", "stop"])
@pytest.mark.parametrize("case", cases(is_damaged))
def test_salvage_gives_at_least_the_records_before_the_fault_and_counts_the_rest(case, on_corrupt):
    reader = TFRecordReader(DATA / case["file"], case["compression"], on_corrupt=on_corrupt)
    records = list(reader)
    before = expected(case)
    assert summary(records)[: len(before)] == before
    assert reader.lost
    assert isinstance(reader.lost.first_error, CorruptRecordError)
    assert len(reader) == len(records)
    assert reader[:] == records
    if case["compression"] == "NONE":
        framed = sum(16 + len(record) for record in records)
        assert framed + reader.lost.bytes == (DATA / case["file"]).stat().st_size


def test_missing_file():
    case = BY_NAME["no_such_file"]
    reader = TFRecordReader(DATA / case["file"], case["compression"])
    for use in (list, len, lambda reader: reader[0], lambda reader: reader.compression):
        with pytest.raises(MissingFileError) as caught:
            use(reader)
        assert str(caught.value) == (
            f"there is no such file\n  at: {DATA / 'no_such_file'}\n  hint: check the path"
        )


@pytest.mark.parametrize(
    "case", cases(lambda case: case["made"] == "tensorflow" and case["compression"] == "NONE")
)
def test_written_bytes_are_those_of_tensorflow(case, tmp_path):
    golden = (DATA / case["file"]).read_bytes()
    path = tmp_path / case["file"]
    with TFRecordWriter(path) as writer:
        for record in TFRecordReader(DATA / case["file"]):
            writer.write(record)
    assert path.read_bytes() == golden


@pytest.mark.parametrize("entry", CHECKSUMS, ids=lambda entry: entry["b64"][:12])
def test_checksums(entry):
    data = base64.b64decode(entry["b64"])
    assert crc32c(data) == entry["crc32c"]
    assert masked_crc32c(data) == entry["masked"]
