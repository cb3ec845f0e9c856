"""Forms of input that TFDS takes, and its scripts give."""

import numpy as np

import featurekit as fk


def test_inner_sequences_may_be_dicts_of_lists():
    features = fk.FeaturesDict(
        {"s": fk.Sequence({"a": fk.Sequence({"c": np.int64}), "b": np.int64})}
    )
    rows = [{"a": {"c": [1, 1, 1]}, "b": 1}, {"a": {"c": []}, "b": 2}]
    columns = {"a": {"c": [[1, 1, 1], []]}, "b": [1, 2]}
    assert features.serialize_example({"s": columns}) == features.serialize_example({"s": rows})


class TensorSteps:
    """Steps as TensorFlow's datasets give them: tensors, and NumPy when asked."""

    def __iter__(self):
        raise AssertionError("these would be tensors")

    def as_numpy_iterator(self):
        return iter([{"x": np.int64(1)}, {"x": np.int64(2)}])


def test_steps_may_be_a_dataset_of_tensorflow():
    features = fk.FeaturesDict({"steps": fk.Dataset({"x": np.int64})})
    record = features.serialize_example({"steps": TensorSteps()})
    steps = features.deserialize_example(record)["steps"]
    assert [int(step["x"]) for step in steps] == [1, 2]


def test_infos_are_copied():
    info = fk.TensorInfo((2,), np.int32, minimum=1)
    assert fk.TensorInfo.copy_from(info) == info
