"""What the parse functions are given: serialized messages and their names."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from featurekit.errors import (
    FeatureKitError,
    InvalidArgumentError,
    InvalidTypeError,
    add_context,
    short_repr,
)

__all__ = ["Batch", "as_batch", "require_single"]

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Batch:
    """Serialized messages.

    Attributes:
        records: `(batch,)`.
        names: Names of the messages, for error texts; None if there are none.
        single: Whether one message was given on its own; results have no batch dimension.
    """

    records: Sequence[bytes]
    names: list[str] | None
    single: bool

    def run(self, parse: Callable[[Sequence[bytes]], T]) -> T:
        """What `parse` makes of the records; errors are those of the first that fails.

        Results are made feature by feature, so an error found first may be in a later
        record than another. Then the records before it are parsed once more.
        """
        try:
            return parse(self.records)
        except FeatureKitError as error:
            first = self._first_failure(parse, error)
            self._name_record(first)
            if first is error:
                raise
            raise first from None

    def _first_failure(
        self, parse: Callable[[Sequence[bytes]], T], error: FeatureKitError
    ) -> FeatureKitError:
        while error.record:
            try:
                parse(self.records[: error.record])
            except FeatureKitError as earlier:
                error = earlier
            else:
                break
        return error

    def _name_record(self, error: FeatureKitError) -> None:
        if error.record is not None and self.names:
            add_context(error, f"while parsing example {self.names[error.record]!r}")
        if self.single:
            error.record = None  # always 0, and 0 is not its place in any file


def as_batch(serialized: Any, example_names: Any) -> Batch:
    """Check the messages and their names.

    Args:
        serialized: bytes, or a list, tuple or array of bytes.
        example_names: None, or names of the same shape.

    Raises:
        InvalidTypeError: There is no bytes object where one should be.
        InvalidArgumentError: The rank is above 1, or the names have another shape.
    """
    records: Sequence[Any]
    if isinstance(serialized, (bytes, bytearray, memoryview)):
        records, single = [bytes(serialized)], True
    elif isinstance(serialized, (list, tuple)):
        records, single = serialized, False
        if records and isinstance(records[0], (list, tuple, np.ndarray)):
            raise _rank_error(short_repr(serialized))
    else:
        records, single = _of_array(serialized)
    return Batch(records, _as_names(example_names, len(records), single), single)


def require_single(batch: Batch) -> None:
    """Refuse more than one message where one is to be given on its own."""
    if not batch.single:
        raise InvalidArgumentError(
            f"expected the bytes of one message, got a batch of {len(batch.records)}",
            hint="parse_example and parse_sequence_example take batches",
        )


def _of_array(serialized: Any) -> tuple[list[bytes], bool]:
    if isinstance(serialized, str) or not hasattr(serialized, "__array__"):
        raise InvalidTypeError(
            f"expected bytes, or a list or array of bytes, got {short_repr(serialized)}"
        )
    array = np.asarray(serialized)
    if array.dtype.kind not in "OS" and array.size:
        raise InvalidTypeError(f"expected an array of bytes, got one of dtype {array.dtype}")
    if array.ndim > 1:
        raise _rank_error(f"an array of shape {array.shape}")
    return array.reshape(-1).tolist(), array.ndim == 0


def _as_names(names: Any, count: int, single: bool) -> list[str] | None:
    if names is None:
        return None
    if isinstance(names, (str, bytes)):
        given, scalar = [names], True
    elif isinstance(names, (list, tuple)):
        given, scalar = list(names), False
    elif hasattr(names, "__array__"):
        array = np.asarray(names)
        given, scalar = array.reshape(-1).tolist(), array.ndim == 0
    else:
        raise InvalidTypeError(f"expected example_names as strings, got {short_repr(names)}")
    if not given and not scalar:
        return None
    if scalar != single or len(given) != count:
        raise InvalidArgumentError(
            f"expected example_names like serialized, {_shape(count, single)}, "
            f"got {_shape(len(given), scalar)}"
        )
    for name in given:
        if not isinstance(name, (str, bytes)):
            raise InvalidTypeError(f"expected example_names as strings, got {short_repr(name)}")
    return [name.decode(errors="replace") if isinstance(name, bytes) else name for name in given]


def _shape(count: int, single: bool) -> str:
    return "a single one" if single else f"a list of {count}"


def _rank_error(got: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"expected serialized as bytes or a list of bytes, got {got}",
        hint="flatten it first, and reshape the results",
    )
