"""`tfds.testing`: what authors of connectors test them with.

The expectations of TFDS are checked against what is stored and decoded here. TFDS decodes in
two ways, with TensorFlow and with NumPy; here there is one, whose values are the former's.
So `expected` is compared, with TFDS's values for what is missing; `expected_np` where there is
no `expected`, or where it says that a value is missing.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import pathlib
import pickle
import shutil
import tempfile
import unittest
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from featurekit.connector import FeatureConnector
from featurekit.connectors.features_dict import FeaturesDict
from featurekit.dataset.missing import filler
from featurekit.dtypes import as_dtype
from featurekit.io.ragged import RaggedTensor

__all__ = [
    "FeatureExpectationItem",
    "FeatureExpectationsTestCase",
    "RaggedConstant",
    "SubTestCase",
    "TestCase",
    "TestValue",
    "make_tmp_dir",
    "rm_tmp_dir",
    "test_main",
    "tmp_dir",
]


class TestValue(enum.Enum):
    """Stands for None where None means that nothing is expected."""

    __test__ = False  # pytest takes it for a test

    NONE = 0


class RaggedConstant:
    """A ragged value that is expected: nested lists.

    Args:
        values: The lists.
        dtype: Dtype of the values.
        **options: TensorFlow's; `inner_shape` and such are told by the lists.
    """

    def __init__(self, values: Any, dtype: Any = None, **options: Any) -> None:
        self._values = values
        self._dtype = dtype

    def build(self) -> Any:
        """The nested lists."""
        return self._values


@dataclasses.dataclass
class FeatureExpectationItem:
    """A value, and what is expected of it.

    Attributes:
        value: What is encoded.
        expected: What it decodes to.
        expected_np: What TFDS's NumPy path decodes it to.
        expected_serialized: What `encode_example` gives.
        decoders: Decoders in place of the feature's own.
        dtype: Dtype of what they decode to.
        shape: Its shape.
        raise_cls: The error that encoding and decoding it raises.
        raise_cls_np: The same on TFDS's NumPy path.
        raise_msg: What TFDS's message has; messages here are other ones.
        atol: How far numbers may be off.
    """

    value: Any
    expected: Any = None
    expected_np: Any = None
    expected_serialized: Any = None
    decoders: Any = None
    dtype: Any = None
    shape: Any = None
    raise_cls: type[BaseException] | None = None
    raise_cls_np: type[BaseException] | None = None
    raise_msg: str | None = None
    atol: float | None = None


class TestCase(unittest.TestCase):
    """A test case with TFDS's further assertions."""

    __test__ = False  # itself it has no tests

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__test__ = True

    def get_temp_dir(self) -> str:
        """A folder for temporary files, removed after the test."""
        folder = make_tmp_dir()
        self.addCleanup(rm_tmp_dir, folder)
        return folder

    def assertEqual(self, first: Any, second: Any, msg: Any = None) -> None:  # noqa: N802
        """As unittest's; also for nested values with arrays in them."""
        try:
            super().assertEqual(first, second, msg)
        except ValueError:  # the truth value of an array
            self.assertAllEqualNested(first, second)

    def assertAllEqual(self, first: Any, second: Any) -> None:  # noqa: N802
        """Fail where values, or arrays, differ."""
        self.assertAllEqualNested(first, second)

    def assertAllClose(self, first: Any, second: Any, atol: float = 1e-6) -> None:  # noqa: N802
        """Fail where numbers differ by more than `atol`."""
        self.assertAllEqualNested(first, second, atol=atol)

    def assertAllEqualNested(  # noqa: N802
        self, d1: Any, d2: Any, *, atol: float | None = None
    ) -> None:
        """Fail where nested values differ.

        Args:
            d1: What was got.
            d2: What was expected; also tensors and datasets of TensorFlow.
            atol: How far numbers may be off; by default not at all.
        """
        difference = _difference(_plain(d1), _plain(d2), atol or 0.0)
        if difference is not None:
            self.fail(difference)

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(  # noqa: N802
        self, kind: type[BaseException], text: Any
    ) -> Iterator[None]:
        """Fail unless an error of that kind is raised; messages are not TFDS's."""
        with self.assertRaises(kind):
            yield


class SubTestCase(TestCase):
    """A test case whose parts have names."""

    __test__ = False

    @contextlib.contextmanager
    def _subTest(self, name: str) -> Iterator[None]:  # noqa: N802
        with self.subTest(name):
            yield


class FeatureExpectationsTestCase(SubTestCase):
    """Tests connectors by what values they store and give back."""

    __test__ = False

    def assertFeature(  # noqa: N802
        self,
        feature: FeatureConnector,
        shape: Any,
        dtype: Any,
        tests: Iterable[FeatureExpectationItem],
        serialized_info: Any = None,
        test_tensor_spec: bool = True,
        skip_feature_tests: bool = False,
        test_attributes: Mapping[str, Any] | None = None,
    ) -> None:
        """Check a connector, and those that its JSON and metadata make, by some values.

        Args:
            feature: The connector.
            shape: Its shape.
            dtype: Its dtype, NumPy's or TensorFlow's.
            tests: Values, and what is expected of them.
            serialized_info: What `get_serialized_info` gives.
            test_tensor_spec: Not used: there is no TensorSpec.
            skip_feature_tests: Whether to leave out the connectors made from JSON.
            test_attributes: Values of attributes; TFDS's private ones are not looked at.
        """
        features = {"feature": feature}
        if not skip_feature_tests:
            features["feature_roundtrip"] = _from_files(feature)
            features["feature_json_roundtrip"] = _from_json(feature)
        for name, connector in features.items():
            with self._subTest(name):
                self._check_info(connector, shape, dtype, serialized_info)
                for key, value in (test_attributes or {}).items():
                    if not key.startswith("_"):
                        self.assertEqual(getattr(connector, key), value)
                for number, item in enumerate(tests):
                    with self._subTest(str(number)):
                        self._check_item(feature, connector, item)

    assertFeatureEagerOnly = assertFeature  # noqa: N815

    def _check_info(
        self, feature: FeatureConnector, shape: Any, dtype: Any, serialized_info: Any
    ) -> None:
        self.assertEqual(feature.shape, shape)
        self.assertEqual(feature.dtype, _map(as_dtype, dtype))
        if serialized_info:
            self.assertEqual(feature.get_serialized_info(), serialized_info)
        pickle.loads(pickle.dumps(feature))
        self.assertIsInstance(repr(feature), str)

    def _check_item(
        self, writer: FeatureConnector, reader: FeatureConnector, item: FeatureExpectationItem
    ) -> None:
        kind = item.raise_cls or item.raise_cls_np
        if kind is not None:
            with self.assertRaises(kind):
                _encode_and_decode(writer, reader, item)
            return
        if item.expected_serialized is not None:
            self.assertAllEqualNested(reader.encode_example(item.value), item.expected_serialized)
        decoded = _encode_and_decode(writer, reader, item)
        if item.expected is not None:
            fill = filler({"inner": reader.get_tensor_info()})
            filled = decoded if fill is None or item.decoders else fill({"inner": decoded})["inner"]
            self.assertAllEqualNested(filled, item.expected, atol=item.atol)
        if item.expected is None or isinstance(item.expected_np, TestValue):
            expected = None if isinstance(item.expected_np, TestValue) else item.expected_np
            self.assertAllEqualNested(decoded, expected, atol=item.atol)
        if item.dtype is not None:
            self.assertEqual(np.asarray(decoded).dtype, as_dtype(item.dtype))
        if not item.decoders:
            self.assertIsInstance(reader.repr_html(decoded), str)


def _encode_and_decode(
    writer: FeatureConnector, reader: FeatureConnector, item: FeatureExpectationItem
) -> Any:
    record = FeaturesDict({"inner": writer}).serialize_example({"inner": item.value})
    decoders = {"inner": item.decoders} if item.decoders else None
    return FeaturesDict({"inner": reader}).deserialize_example(record, decoders=decoders)["inner"]


def _from_files(feature: FeatureConnector) -> FeatureConnector:
    with tempfile.TemporaryDirectory() as folder:
        feature.save_config(folder)
        return FeatureConnector.from_config(folder, trust=[type(feature).__module__])


def _from_json(feature: FeatureConnector) -> FeatureConnector:
    with tempfile.TemporaryDirectory() as folder:
        feature.save_metadata(folder, None)
        made = FeatureConnector.from_json(feature.to_json(), trust=[type(feature).__module__])
        made.load_metadata(folder, None)
        return made


# Comparing nested values.


def _map(function: Any, tree: Any) -> Any:
    if isinstance(tree, Mapping):
        return {key: _map(function, value) for key, value in tree.items()}
    return function(tree)


def _plain(value: Any) -> Any:
    """Tensors and datasets of TensorFlow as arrays and lists; others as they are."""
    if isinstance(value, RaggedConstant):
        return value.build()
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if hasattr(value, "as_numpy_iterator"):
        return list(value.as_numpy_iterator())
    if isinstance(value, RaggedTensor) or hasattr(value, "to_list"):
        return value.to_list()
    if hasattr(value, "numpy"):
        return value.numpy()
    return value


def _difference(got: Any, expected: Any, atol: float, path: str = "value") -> str | None:
    if isinstance(expected, Mapping):
        if not isinstance(got, Mapping) or set(got) != set(expected):
            return f"{path}: expected the keys {sorted(expected)}, got {got!r}"
        pairs = [(got[key], expected[key], f"{path}.{key}") for key in expected]
    elif got is None or expected is None:
        return None if got is expected else f"{path}: expected {expected!r}, got {got!r}"
    elif isinstance(got, RaggedTensor):
        return _difference(got.to_list(), expected, atol, path)
    elif _is_listed(got, expected):
        if len(got) != len(expected):
            return f"{path}: expected {len(expected)} items, got {len(got)}"
        items = enumerate(zip(got, expected, strict=True))
        pairs = [(mine, theirs, f"{path}[{index}]") for index, (mine, theirs) in items]
    else:
        return _difference_of_arrays(got, expected, atol, path)
    found = (_difference(mine, theirs, atol, place) for mine, theirs, place in pairs)
    return next(filter(None, found), None)


def _is_listed(got: Any, expected: Any) -> bool:
    """Whether both are sequences of values that have to be compared one by one."""
    arrays = (np.ndarray, np.generic, str, bytes, int, float)
    if isinstance(got, arrays) and isinstance(expected, arrays):
        return False
    return hasattr(got, "__len__") and hasattr(expected, "__len__") and _is_deep(got, expected)


def _is_deep(got: Any, expected: Any) -> bool:
    plain = (str, bytes)
    return not isinstance(got, plain) and not isinstance(expected, plain)


def _difference_of_arrays(got: Any, expected: Any, atol: float, path: str) -> str | None:
    mine, theirs = np.asarray(got), np.asarray(expected)
    if theirs.dtype.kind in "SU" or mine.dtype.kind in "SUO":
        same = _texts(mine) == _texts(theirs)
    elif mine.shape != theirs.shape:
        same = False
    else:
        same = bool(np.allclose(mine, theirs, rtol=0, atol=atol, equal_nan=True))
    return None if same else f"{path}: expected {expected!r}, got {got!r}"


def _texts(array: np.ndarray[Any, Any]) -> Any:
    def text(value: Any) -> Any:
        if isinstance(value, list):
            return [text(item) for item in value]
        return value.encode() if isinstance(value, str) else value

    return text(array.tolist())


# Folders, and running.


@contextlib.contextmanager
def tmp_dir(dirname: str | None = None) -> Iterator[str]:
    """A folder that is removed at the end.

    Args:
        dirname: Where it is made.
    """
    folder = make_tmp_dir(dirname)
    try:
        yield folder
    finally:
        rm_tmp_dir(folder)


def make_tmp_dir(dirname: str | None = None) -> str:
    """Make a folder for temporary files."""
    if dirname is not None:
        pathlib.Path(dirname).mkdir(parents=True, exist_ok=True)
    return tempfile.mkdtemp(dir=dirname)


def rm_tmp_dir(dirname: str) -> None:
    """Remove a folder with all that is in it."""
    shutil.rmtree(dirname)


def test_main() -> None:
    """Run the tests of the script."""
    unittest.main()


test_main.__test__ = False  # type: ignore[attr-defined]  # pytest takes it for a test
