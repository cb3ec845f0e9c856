"""What a suite states, and how its tests get at it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from featurekit.connector import FeatureConnector
from featurekit.connectors.features_dict import FeaturesDict
from featurekit.errors import FeatureKitError, InvalidArgumentError
from featurekit.testing.cases import Bad, Case

__all__ = ["SuiteBase", "check_error", "feature_path", "raised"]


class SuiteBase:
    """What a suite states; the classes derived from it look at every attribute.

    Attributes:
        connector: The connector, or a function that makes it.
        valid: Values that it takes; at least one.
        invalid: Values that it refuses.
        unequal: Connectors of the same class that are not equal to this one.
        tfds_json: The connector in features.json, as TFDS writes it.
        tfds_repr: The connector's repr, as TFDS writes it.
        files: What `save_metadata` writes for a feature named `x`: text by file name.
        in_sequence: Whether it can be the feature of a `Sequence`.
        in_nested_sequence: Whether it can be that of a `Sequence(Sequence(...))`.
    """

    connector: ClassVar[FeatureConnector | Callable[[], FeatureConnector]]
    valid: ClassVar[Sequence[Case]] = ()
    invalid: ClassVar[Sequence[Bad]] = ()
    unequal: ClassVar[Sequence[FeatureConnector]] = ()
    tfds_json: ClassVar[Mapping[str, Any] | None] = None
    tfds_repr: ClassVar[str | None] = None
    files: ClassVar[Mapping[str, str]] = {}
    in_sequence: ClassVar[bool] = True
    in_nested_sequence: ClassVar[bool] = True

    def pytest_generate_tests(self, metafunc: Any) -> None:
        """Run a test that takes a `case` for every valid value, a `bad` for every invalid one."""
        if not self.valid:
            raise InvalidArgumentError(
                f"{type(self).__name__} states no valid value", hint="set valid = (Case(...), ...)"
            )
        for argument, stated in (("case", self.valid), ("bad", self.invalid)):
            if argument in metafunc.fixturenames:
                metafunc.parametrize(argument, stated, ids=[item.name for item in stated])

    @classmethod
    def make(cls) -> FeatureConnector:
        """The connector of the suite."""
        stated = cls.connector
        return stated() if callable(stated) else stated

    @classmethod
    def in_dict(cls) -> FeaturesDict:
        """The connector as the feature `x` of a dict, beside a number."""
        return FeaturesDict({"x": cls.make(), "beside": np.int64})

    @classmethod
    def elements(cls) -> list[Case]:
        """The valid values that can be elements of a sequence: all but a missing one."""
        return [case for case in cls.valid if case.value is not None]


def raised(function: Callable[[], Any]) -> BaseException:
    """The exception that a function raises.

    Raises:
        AssertionError: It raises none.
    """
    try:
        result = function()
    except Exception as error:
        return error
    raise AssertionError(f"expected an error, got {result!r}")


def feature_path(error: BaseException) -> tuple[str | int, ...]:
    """Where in the example an error says it is; errors that are not ours say it in a note."""
    place = error if isinstance(error, FeatureKitError) else None
    found = place or getattr(error, "_featurekit_place", None)
    return () if found is None else found.path


def check_error(error: BaseException, bad: Bad) -> None:
    """Raise an `AssertionError` unless an error is the one that was stated."""
    if not isinstance(error, bad.error):
        raise AssertionError(f"expected {bad.error.__name__}, got {error!r}") from error
    if bad.message is not None and str(error) != bad.message:
        raise AssertionError(f"expected the text\n{bad.message}\ngot\n{error}") from error
    if bad.match is not None and not re.search(bad.match, str(error)):
        raise AssertionError(f"expected a text that matches {bad.match!r}, got\n{error}") from error
