"""What TensorFlow's saver did, step by step; see tests/data/sqss/README.md."""

import json
import pathlib
import re

import numpy as np
import pytest
from stage import Stage

from featurekit import TensorInfo, errors, sequences
from featurekit.dtypes import as_dtype
from featurekit.io import SparseTensor
from featurekit.sequences import barrier

FOLDER = pathlib.Path(__file__).parents[1] / "data" / "sqss"
SCENARIOS = {
    scenario["name"]: scenario
    for path in sorted(FOLDER.glob("*.json"))
    for scenario in json.loads(path.read_text())["scenarios"]
}
CLASSES = {
    "InvalidArgumentError": errors.InvalidArgumentError,
    "OutOfRangeError": errors.OutOfRangeError,
    "CancelledError": errors.CancelledError,
    "ValueError": ValueError,
    "TypeError": TypeError,
    "KeyError": KeyError,
    "AttributeError": TypeError,  # TensorFlow looks for the dict's methods first
    "UnsavedStateError": errors.UnsavedStateError,
}


def error(name, contains):
    return {"status": "error", "class": name, "contains": contains}


# Where featurekit does otherwise on purpose: the outcome of a step, by scenario and number.
UNSAVED = error("UnsavedStateError", "the next batch would never come")
ACTIVE = error("InvalidArgumentError", "is still active")
OURS = {
    # A second close does nothing.
    ("close/close_twice/0", 1): {"status": "ok"},
    ("close/close_twice/1", 2): {"status": "ok"},
    # A batch that waits only for states that were forgotten is refused.
    ("states/only_one_of_two_saved/0", 3): UNSAVED,
    ("states/only_one_of_two_saved/1", 3): UNSAVED,
    # The key of an active example is always refused, not only where TensorFlow notices.
    ("validation/active_key_again_not_noticed/0", 1): ACTIVE,
    ("validation/active_key_again_not_noticed/1", 2): ACTIVE,
    ("validation/active_key_again_not_noticed/2", 2): ACTIVE,
    ("validation/active_key_with_other_count/0", 1): ACTIVE,
    ("validation/active_key_with_other_count/1", 1): ACTIVE,
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(name, monkeypatch):
    stage = Stage()
    monkeypatch.setattr(barrier, "threading", stage.threading)
    scenario = SCENARIOS[name]
    try:
        saver = make(scenario["make"])
    except Exception as raised:
        check_error(raised, scenario["make_expect"])
        return
    assert scenario["make_expect"]["status"] == "ok"
    calls = {}
    with saver:
        for number, step in enumerate(scenario["steps"]):
            expected = OURS.get((name, number), step.get("wanted", step["expect"]))
            if step["do"] == "sizes":
                assert sizes(saver) == expected
                continue
            if step["do"] == "wait":
                call = calls[step["for"]]
                stage.settle(call)
            else:
                action = {"insert": insert, "next": take, "close": close}[step["do"]]
                call = stage.run(lambda: action(saver, scenario["make"], step))  # noqa: B023
            calls[step.get("id")] = call
            check(call, expected, suffix=scenario.get("random_suffix"))
            if expected is ACTIVE:
                break  # the rest is about an example that is not there


# Making a saver, and taking the steps.


def make(spec):
    arguments = {
        "input_key": TensorInfo(spec.get("key_shape", ()), spec.get("key_dtype", "string")),
        "input_length": TensorInfo(spec.get("length_shape", ()), spec.get("length_dtype", "int32")),
        "input_sequences": declared(spec["sequences"]),
        "input_context": declared(spec["context"]),
        "initial_states": declared(spec["states"]),
    }
    if spec.get("length") == "inferred":
        arguments["input_length"] = None
    size = spec["batch_size"]
    arguments["batch_size"] = None if size == "dynamic" else size
    if isinstance(size, dict):
        arguments["batch_size"] = np.int32(size["tensor"])
    for option in (
        *("num_unroll", "capacity", "allow_small_batch"),
        *("pad", "make_keys_unique", "make_keys_unique_seed"),
    ):
        if option in spec:
            arguments[option] = spec[option]
    return getattr(sequences, spec["api"])(**arguments)


def declared(specs):
    if not isinstance(specs, dict):
        return specs
    return {
        int(name[1:]) if name.startswith("#") else name: (
            SparseTensor(
                np.empty((0, len(spec["shape"])), np.int64),
                np.empty(0, as_dtype(spec["dtype"])),
                [dim or 0 for dim in spec["shape"]],
            )
            if spec.get("sparse")
            else TensorInfo(spec["shape"], spec["dtype"])
        )
        for name, spec in specs.items()
    }


def values(given, specs):
    result = {}
    for name, value in given.items():
        dtype = as_dtype(specs[name]["dtype"])
        if isinstance(value, dict):
            indices = np.reshape(value["indices"], (-1, len(value["dense_shape"]))).astype(int)
            result[name] = SparseTensor(
                indices, array(value["values"], dtype), value["dense_shape"]
            )
        else:
            result[name] = array(value, dtype)
    return result


def array(value, dtype):
    if dtype.kind != "O":
        return np.array(value, dtype)
    text = np.array(value, object)
    return np.array([item.encode() for item in text.flat], object).reshape(text.shape)


def insert(saver, spec, step):
    saver.enqueue(
        key=step["key"],
        length=step.get("length"),
        sequences=values(step["sequences"], spec["sequences"]),
        context=values(step["context"], spec["context"]),
        initial_states=values(step["states"], spec["states"]),
        batch_size=step.get("batch_size"),
    )


def take(saver, spec, step):
    batch = saver.next_batch(step.get("batch_size"))
    found = contents(batch, spec)
    for name, change in (step.get("save") or {}).items():
        if "value" in change:
            value = array(change["value"], as_dtype(change["dtype"]))
        else:
            state = batch.state(name)
            value = state + change["add"] if "add" in change else state * change["mul"]
            value = np.asarray(value, state.dtype)
        batch.save_state(name, value)
    if step.get("state_query"):
        batch.state(step["state_query"])
    return found


def close(saver, spec, step):
    saver.close(step["cancel"])


def sizes(saver):
    return {
        "ready": saver.barrier.ready_size(),
        "incomplete": saver.barrier.incomplete_size(),
        "active": saver.active_size(),
    }


# Comparing.


def contents(batch, spec):
    vectors = {
        "sequence": np.int32,
        "sequence_count": np.int32,
        "length": np.int32,
        "total_length": np.int32,
        "insertion_index": np.int64,
    }
    for name, dtype in vectors.items():
        assert getattr(batch, name).dtype == dtype
        assert getattr(batch, name).shape == (batch.batch_size,)
    for name, declared_as in spec["sequences"].items():
        assert batch.sequences[name].dtype == as_dtype(declared_as["dtype"])
    return {
        "batch_size": batch.batch_size,
        "key": [key.decode() for key in batch.key],
        "next_key": [key.decode() for key in batch.next_key],
        **{name: getattr(batch, name).tolist() for name in vectors},
        "insertion_index": [int(rank) + 2**63 for rank in batch.insertion_index],
        "context": {name: listed(value) for name, value in batch.context.items()},
        "sequences": {name: listed(value) for name, value in batch.sequences.items()},
        "states": {name: listed(batch.state(name)) for name in spec["states"]},
    }


def listed(value):
    if isinstance(value, SparseTensor):
        return {
            "indices": value.indices.tolist(),
            "values": text(value.values).tolist(),
            "dense_shape": list(value.shape),
        }
    return {"shape": list(value.shape), "values": text(value).tolist()}


def text(array):
    return np.vectorize(bytes.decode, [object])(array) if array.dtype.kind == "O" else array


def check(call, expected, suffix=False):
    match expected["status"]:
        case "blocks":
            assert not call.ended, call.error
        case "error":
            assert call.error is not None
            check_error(call.error, expected)
        case "ok":
            if call.error:
                raise call.error
            assert call.ended
            if "batch" in expected:
                check_batch(call.result, expected["batch"], suffix)


def check_batch(found, expected, suffix):
    if suffix:
        for name in ("key", "next_key"):
            assert all(re.search(r"[a-z][0-9]{1,8}$", key) for key in found[name])
            found = {**found, name: [key.rstrip("0123456789") for key in found[name]]}
            expected = {**expected, name: [key.rstrip("0123456789") for key in expected[name]]}
    assert found == {name: expected.get(name) for name in found}


def check_error(raised, expected):
    assert expected["status"] == "error", raised
    assert isinstance(raised, CLASSES[expected["class"]]), repr(raised)
    assert isinstance(raised, errors.FeatureKitError)
    assert expected.get("contains", "") in str(raised)
