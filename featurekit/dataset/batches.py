"""Batches of examples: arrays with one entry an example along the first axis."""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from featurekit.dataset.item_reader import Chunk, ItemReader, numbers_from
from featurekit.dataset.iteration import ResumableIterator
from featurekit.dataset.order import Order
from featurekit.dataset.prefetch import map_ahead
from featurekit.dataset.ragged_policy import RaggedPolicy, apply_policy, check_policy
from featurekit.errors import InvalidArgumentError, InvalidTypeError, RecordIndexError

if TYPE_CHECKING:
    from featurekit.dataset.adapters.torch import TorchLoader

__all__ = ["Batches"]

Transform = Callable[[Any], Any]


class Batches(Sequence[Any]):
    """The examples of a source in batches: a sequence; each batch is read when asked for.

    A batch has the form of an example: nested dicts, in which every value is joined along a
    new first axis. Values are arrays `(batch, ...)`; a `RaggedTensor` where a list varies in
    length, a list where the shapes of pictures differ, a masked array where optional values
    are missing. Iterating reads ahead in threads; the iterator has `state_dict` and
    `load_state_dict`.

    Made by `DataSource.batches`, whose documentation explains the arguments.

    Example:
        >>> batches = fk.load("digits", split="train").batches(256)  # doctest: +SKIP
        >>> len(batches), batches[0]["image"].shape  # doctest: +SKIP
        (8, (256, 8, 8, 1))
    """

    def __init__(
        self,
        reader: ItemReader,
        order: Order,
        size: int,
        *,
        epoch: int = 0,
        drop_remainder: bool = False,
        ragged: str = "ragged",
        threads: int = 0,
        ahead: int | None = None,
    ) -> None:
        if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
            raise InvalidArgumentError(f"a batch has 1 example or more, got {size!r}")
        if threads < 0 or (ahead is not None and ahead < 1):
            raise InvalidArgumentError(
                f"expected threads >= 0 and ahead >= 1, got {threads} and {ahead}"
            )
        self._reader = reader
        self._order = order
        self._size = int(size)
        self._epoch = epoch
        self._drop_remainder = drop_remainder
        self._ragged: RaggedPolicy = check_policy(ragged)
        self._threads = threads
        self._ahead = threads + 1 if ahead is None else ahead

    @property
    def batch_size(self) -> int:
        """Number of examples of each batch; the last one may have fewer."""
        return self._size

    @property
    def current_epoch(self) -> int:
        """The epoch that is read."""
        return self._epoch

    @property
    def has_end(self) -> bool:
        """Whether they are not repeated for ever."""
        return self._order.size is not None

    @property
    def order(self) -> str:
        """What is read and in which order, in words."""
        return repr(self._order)

    def __len__(self) -> int:
        """Number of batches.

        Raises:
            TypeError: The examples are repeated for ever.
        """
        if self._order.size is None:
            raise TypeError("the examples are repeated for ever: their batches have no number")
        whole, rest = divmod(self._order.size, self._size)
        return whole + bool(rest and not self._drop_remainder)

    def __getitem__(self, index: SupportsIndex) -> Any:  # type: ignore[override]
        """One batch; the same as iterating gives there."""
        try:
            position = operator.index(index)
        except TypeError:
            raise InvalidTypeError(
                f"a batch's index is an int, not {type(index).__name__}"
            ) from None
        count = sys.maxsize if self._order.size is None else len(self)
        if not -count <= position < count or (position < 0 and self._order.size is None):
            raise RecordIndexError(f"there is no batch {position}: there are {count}")
        start = (position if position >= 0 else position + count) * self._size
        numbers = numbers_from(self._order, self._epoch, start, self._size)
        return self._decode(Chunk(start, numbers))

    def __iter__(self) -> ResumableIterator:
        """All batches, read and decoded ahead."""
        return ResumableIterator(self._stream, self.order, self._epoch)

    def epoch(self, number: int) -> Batches:
        """The same batches in another epoch: shuffled anew."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, _epoch=number)
        return other

    def to_torch(self, *, transform: Transform | None = None, **options: Any) -> TorchLoader:
        """A loader of the batches as tensors: PyTorch's `DataLoader`, and it can be resumed.

        Each worker process decodes whole batches. The order is that of the batches whatever
        the number of workers, and each iteration is the next epoch. `state_dict` and
        `load_state_dict` go on in the middle of one.

        Args:
            transform: Called with each batch, as NumPy values, before it becomes tensors.
            **options: Of `torch.utils.data.DataLoader`: `num_workers`, `pin_memory`, ...

        Raises:
            MissingDependencyError: PyTorch is not installed.
            InvalidArgumentError: An option is one that the batches settle.
        """
        from featurekit.dataset.adapters.torch import TorchLoader

        return TorchLoader(self, transform, options)

    def to_jax(
        self, sharding: Any = None, *, transform: Transform | None = None
    ) -> ResumableIterator:
        """The batches as JAX arrays; text stays what it is.

        Args:
            sharding: A `jax.sharding.Sharding`: how a batch lies on the devices. Of several
                processes each gives its own part of it. None for the default device.
            transform: Called with each batch, as NumPy values, before it becomes arrays.

        Returns:
            An iterator over this epoch that has `state_dict` and `load_state_dict`.

        Raises:
            MissingDependencyError: JAX is not installed.
        """
        from featurekit.dataset.adapters.jax import device_batches

        return device_batches(self, sharding, transform)

    def _stream(self, epoch: int, start: int) -> Iterator[tuple[Any, int]]:
        chunks = self._reader.chunks(self._order, epoch, start, self._size)
        if self._drop_remainder:
            chunks = (chunk for chunk in chunks if len(chunk.numbers) == self._size)
        return map_ahead(self._decode_at, chunks, self._threads, self._ahead)

    def _decode_at(self, chunk: Chunk) -> tuple[Any, int]:
        return self._decode(chunk), chunk.stop

    def _decode(self, chunk: Chunk) -> Any:
        batch = self._reader.batch(chunk)
        return apply_policy(batch, self._infos, self._ragged)

    @functools.cached_property
    def _infos(self) -> Any:
        return self._reader.infos

    def __repr__(self) -> str:
        """What it holds, without reading anything."""
        return f"Batches({self._order!r}, size={self._size})"
