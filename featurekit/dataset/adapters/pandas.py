"""pandas: examples as a data frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from featurekit.optional import import_optional

__all__ = ["as_dataframe"]

_BATCH = 256


def as_dataframe(items: Any) -> Any:
    """Examples as a `pandas.DataFrame`, one a row.

    Columns are called `a/b` where features are nested. Single numbers make columns of their
    dtype; where optional ones are missing, of pandas's nullable dtype. Text and arrays are
    the objects that an example has.

    Args:
        items: A `DataSource`, or a part of one such as `source.take(100)`.

    Raises:
        MissingDependencyError: pandas is not installed.

    Example:
        >>> frame = fk.as_dataframe(fk.load("digits", split="train"))  # doctest: +SKIP
        >>> frame["label"].mean()  # doctest: +SKIP
    """
    pandas = import_optional("pandas", extra="pandas", purpose="as_dataframe")
    pieces: dict[str, list[Any]] = {name: [] for name in _names(items.element_spec)}
    for batch in items.batches(_BATCH):
        for name, values in _flat(batch):
            pieces[name].append(values)
    return pandas.DataFrame({name: _column(pandas, parts) for name, parts in pieces.items()})


def _names(infos: Any, prefix: str = "") -> Iterator[str]:
    for key, info in infos.items():
        # Steps are one value, though their infos are a dict.
        if isinstance(info, Mapping) and not _is_steps(info):
            yield from _names(info, f"{prefix}{key}/")
        else:
            yield f"{prefix}{key}"


def _is_steps(infos: Any) -> bool:
    return any(
        _is_steps(info) if isinstance(info, Mapping) else info.dataset_lvl > 0
        for info in infos.values()
    )


def _flat(batch: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, values in batch.items():
        if isinstance(values, Mapping):
            yield from _flat(values, f"{prefix}{key}/")
        else:
            yield f"{prefix}{key}", values


def _column(pandas: Any, parts: list[Any]) -> Any:
    """One column, from the values of each batch."""
    if parts and all(isinstance(part, np.ndarray) and part.ndim == 1 for part in parts):
        values = np.concatenate([np.ma.getdata(part) for part in parts])
        masks = np.concatenate([np.ma.getmaskarray(part) for part in parts])
        if not masks.any():
            return values
        if values.dtype.kind in "iufb":
            return pandas.Series(values).convert_dtypes().mask(masks)
        parts = [np.where(masks, None, values)]
    objects = [value for part in parts for value in part]
    column = np.empty(len(objects), object)
    for index, value in enumerate(objects):
        column[index] = value
    return column
