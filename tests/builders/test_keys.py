import base64
import json
from pathlib import Path

import numpy as np
import pytest

from featurekit.builders.keys import KeyHasher, hash_key, pack_key, plain_key, unpack_key
from featurekit.errors import InvalidArgumentError, InvalidTypeError

TABLES = json.loads(
    Path(__file__).parents[1].joinpath("data/tfds/tables/hash_order.json").read_text()
)
ACCEPTED_HERE_ONLY = {"np.int64(5)": 5}


def key_of(node):
    match node:
        case {"b64": text}:
            return base64.b64decode(text)
        case {"t": "special", "v": source}:
            return eval(source, {"np": np})
        case {"v": value}:
            return value
    raise ValueError(node)


def test_hashes_are_those_of_tfds():
    rows = TABLES["hashes"]
    assert [f"{hash_key(row['salt'], key_of(row['key'])):032x}" for row in rows] == [
        row["hex"] for row in rows
    ]


@pytest.mark.parametrize("row", TABLES["odd_keys"], ids=lambda row: row["key"])
def test_odd_keys(row):
    key = eval(row["key"], {"np": np})
    if row["key"] in ACCEPTED_HERE_ONLY:
        assert hash_key("train", key) == hash_key("train", ACCEPTED_HERE_ONLY[row["key"]])
    elif "hex" in row:
        assert f"{hash_key('train', key):032x}" == row["hex"]
    else:
        with pytest.raises(InvalidTypeError, match=r"^a key must be bytes, str or int, got "):
            hash_key("train", key)


@pytest.mark.parametrize("row", TABLES["orders"], ids=lambda row: row["salt"])
def test_orders_are_those_of_tfds(row):
    hasher = KeyHasher(row["salt"])
    keys = [pack_key(key_of(node)) for node in row["keys"]]
    order = sorted(range(len(keys)), key=lambda index: hasher.digest(keys[index]))
    assert order == row["order"]
    assert [hasher.digest(keys[index]).hex() for index in order] == row["hex_in_order"]


@pytest.mark.parametrize("keys", [(5, "5"), (b"a", "a"), ("a\\b", "a/b"), (True, "True")])
def test_keys_that_clash(keys):
    assert hash_key("train", keys[0]) == hash_key("train", keys[1])


@pytest.mark.parametrize("keys", [("é", "e\u0301"), (1, True), (b"a\\b", b"a/b")])
def test_keys_that_do_not_clash(keys):
    assert hash_key("train", keys[0]) != hash_key("train", keys[1])


def test_message_for_a_key_of_a_wrong_type():
    with pytest.raises(InvalidTypeError) as caught:
        plain_key(1.5)
    assert str(caught.value) == (
        "a key must be bytes, str or int, got 1.5 of type float\n"
        "  hint: yield (key, example) with a key that is unique in the split, such as a file name"
    )


def test_message_for_text_that_is_not_unicode():
    with pytest.raises(InvalidArgumentError) as caught:
        hash_key("train", "caf\udce9")
    assert str(caught.value) == (
        "key 'caf\\udce9' is not text that UTF-8 can hold: surrogates not allowed\n"
        "  hint: use os.fsencode(path) for a file name that is not UTF-8"
    )


@pytest.mark.parametrize(
    ("key", "plain"),
    [
        (np.int64(3), 3),
        (np.uint8(3), 3),
        (np.bool_(True), True),
        (np.array([[7]]), 7),
        (np.array("s"), "s"),
        (np.array([b"s"]), b"s"),
        (-5, -5),
        (2**70, 2**70),
        ("a\\b", "a\\b"),
        (b"\0\xff", b"\0\xff"),
    ],
)
def test_keys_survive_packing(key, plain):
    result = unpack_key(pack_key(key))
    assert result == plain
    assert type(result) is type(plain)
