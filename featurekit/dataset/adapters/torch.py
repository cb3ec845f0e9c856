"""PyTorch: datasets of examples, and a loader of batches that can be resumed."""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from featurekit.dataset.batches import Batches
from featurekit.dataset.order import Order, Part
from featurekit.errors import InvalidArgumentError, UnsupportedError, add_path, short_repr
from featurekit.io.ragged import RaggedTensor
from featurekit.optional import import_optional

__all__ = ["TorchLoader", "iterable_dataset", "map_dataset", "to_tensors"]

Transform = Callable[[Any], Any]


def to_tensors(value: Any) -> Any:
    """NumPy values as tensors, in nested dicts and lists of the same form.

    Arrays and scalars share their memory with the tensors where that can be. Text stays:
    `bytes`, and lists of them in place of object arrays. A `RaggedTensor` becomes a list of
    tensors, one a row.

    Raises:
        UnsupportedError: Optional values are missing, which tensors cannot say.
    """
    if isinstance(value, Mapping):
        return {key: _at(key, item) for key, item in value.items()}
    if isinstance(value, np.ma.MaskedArray):
        return _from_masked(value)
    if isinstance(value, np.ndarray):
        return value.tolist() if value.dtype.kind == "O" else _from_array(value)
    if isinstance(value, np.generic):
        return _from_array(np.asarray(value))
    if isinstance(value, (RaggedTensor, list)):
        return [to_tensors(item) for item in value]
    if value is None:
        raise _missing()
    return value


def _at(key: str, value: Any) -> Any:
    try:
        return to_tensors(value)
    except UnsupportedError as error:
        add_path(error, key)
        raise


def _from_array(array: np.ndarray[Any, Any]) -> Any:
    torch = _torch()
    if not array.flags.writeable or any(stride < 0 for stride in array.strides):
        array = array.copy()
    if array.dtype.name == "bfloat16":  # which PyTorch does not take from NumPy
        return torch.from_numpy(array.view(np.uint16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def _from_masked(array: np.ma.MaskedArray[Any, Any]) -> Any:
    if np.ma.getmaskarray(array).any():
        raise _missing()
    return to_tensors(array.data)


def _missing() -> UnsupportedError:
    return UnsupportedError(
        "an optional value is missing, and a tensor has no way to say so",
        hint="fill it in, in a function given as transform=, or leave the feature out: columns=",
    )


def _torch() -> Any:
    return import_optional("torch", extra="torch", purpose="to_torch")


# Datasets of examples.


def map_dataset(items: Any, transform: Transform | None = None) -> Any:
    """A `torch.utils.data.Dataset` of the items as tensors, by index."""
    return _make("MapDataset", items, transform)


def iterable_dataset(items: Any, transform: Transform | None = None) -> Any:
    """A `torch.utils.data.IterableDataset` of the items as tensors; workers share them."""
    return _make("IterableDataset", items, transform)


def _make(name: str, *arguments: Any) -> Any:
    """Make an instance of one of the classes below, of which PyTorch's are the bases."""
    return _classes()[name](*arguments)


@functools.cache
def _classes() -> dict[str, type[Any]]:
    data = _torch().utils.data

    class MapDataset(data.Dataset):  # type: ignore[name-defined,misc]
        """Items by index."""

        def __init__(self, items: Any, transform: Transform | None) -> None:
            self._items, self._transform = items, transform

        def __len__(self) -> int:
            return len(self._items)

        def __getitem__(self, index: int) -> Any:
            return _transformed(self._items[index], self._transform)

        def __getitems__(self, indices: Sequence[int]) -> list[Any]:
            found = self._items.__getitems__(indices)
            return [_transformed(item, self._transform) for item in found]

        def __reduce__(self) -> Any:
            return (_make, ("MapDataset", self._items, self._transform))

    class IterableDataset(data.IterableDataset):  # type: ignore[name-defined,misc]
        """Items one after the other; each worker has a part of its own."""

        def __init__(self, items: Any, transform: Transform | None) -> None:
            self._items, self._transform = items, transform

        def __len__(self) -> int:
            return len(self._items)

        def set_epoch(self, number: int) -> None:
            """Read another epoch from the next iteration on."""
            self._items = self._items.epoch(number)

        def __iter__(self) -> Iterator[Any]:
            info = data.get_worker_info()
            items = self._items if info is None else _share(self._items, info.id, info.num_workers)
            return (_transformed(item, self._transform) for item in items)

        def __reduce__(self) -> Any:
            return (_make, ("IterableDataset", self._items, self._transform))

    return {"MapDataset": MapDataset, "IterableDataset": IterableDataset}


def _share(items: Any, index: int, count: int) -> Any:
    """One worker's part of the items."""
    order: Order = items.plain_order
    if order.size is not None:
        return items.shard(index, count)
    return items.in_order(Part(order, range(index, sys.maxsize, count)))


def _transformed(item: Any, transform: Transform | None) -> Any:
    return to_tensors(item if transform is None else transform(item))


# Batches.


class TorchLoader:
    """Batches as tensors, read by worker processes; each iteration is the next epoch.

    The order is that of the batches, whatever the number of workers. `state_dict` tells which
    batches have been given, not which have been read ahead.

    Made by `Batches.to_torch`.

    Args:
        batches: The batches.
        transform: Called with each batch, as NumPy values, before it becomes tensors.
        options: Of `torch.utils.data.DataLoader`.
    """

    def __init__(
        self, batches: Batches, transform: Transform | None, options: Mapping[str, Any]
    ) -> None:
        taken = {"batch_size", "shuffle", "sampler", "batch_sampler", "collate_fn", "dataset"}
        if wrong := taken & options.keys():
            raise InvalidArgumentError(
                f"{sorted(wrong)[0]}= is settled by the batches",
                hint="shuffle and batch before: source.shuffle(seed).batches(size).to_torch()",
            )
        self._batches = batches
        self._transform = transform
        self._options = dict(options)
        self._epoch = batches.current_epoch
        self._given = 0  # batches of the epoch
        self._begun = False
        _torch()

    def __len__(self) -> int:
        """Number of batches of an epoch."""
        return len(self._batches)

    @property
    def epoch(self) -> int:
        """The epoch that is read."""
        return self._epoch

    def __iter__(self) -> Iterator[Any]:
        """The next epoch; after `load_state_dict`, the rest of that one."""
        if self._begun:
            self._epoch, self._given = self._epoch + 1, 0
        self._begun = True
        return self._rest()

    def _rest(self) -> Iterator[Any]:
        for batch in self._loader(self._epoch, self._given):
            self._given += 1
            yield batch

    def _loader(self, epoch: int, start: int) -> Any:
        batches = self._batches.epoch(epoch)
        numbers: Any = itertools.count(start)
        if self._batches.has_end:
            numbers = range(start, len(batches))
        return _torch().utils.data.DataLoader(
            _BatchDataset(batches, self._transform),
            batch_size=None,
            sampler=numbers,
            collate_fn=_as_it_is,
            **self._options,
        )

    def state_dict(self) -> dict[str, Any]:
        """Where it is: plain values, to be saved with a checkpoint."""
        return {
            "order": self._batches.order,
            "batch_size": self._batches.batch_size,
            "epoch": self._epoch,
            "batches": self._given,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from where another loader was: the next iteration gives the rest of its epoch.

        Raises:
            InvalidArgumentError: It loaded other batches.
        """
        own = self.state_dict()
        if not isinstance(state, Mapping) or own.keys() != state.keys():
            raise InvalidArgumentError(f"expected what state_dict gave, got {short_repr(state)}")
        for key in ("order", "batch_size"):
            if own[key] != state[key]:
                raise InvalidArgumentError(
                    f"the state belongs to batches with the {key.replace('_', ' ')} {state[key]}, "
                    f"this one is {own[key]}",
                    hint="load it where the same split is shuffled and batched the same way",
                )
        self._epoch, self._given = int(state["epoch"]), int(state["batches"])
        self._begun = False


class _BatchDataset:
    """Batches by number, for workers."""

    def __init__(self, batches: Batches, transform: Transform | None) -> None:
        self._batches = batches
        self._transform = transform

    def __getitem__(self, index: int) -> Any:
        return _transformed(self._batches[index], self._transform)

    def __len__(self) -> int:
        return len(self._batches)


def _as_it_is(batch: Any) -> Any:
    return batch
