"""pandas: examples as a data frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from featurekit.dataset.adapters.structure import structure
from featurekit.optional import import_optional
from featurekit.tensor_info import TensorInfo

__all__ = ["as_dataframe"]


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
    infos = dict(_flat(structure(items)))
    columns: dict[str, list[Any]] = {name: [] for name in infos}
    for example in items.iterate():
        for name, value in _values(example, infos):
            columns[name].append(value)
    return pandas.DataFrame(
        {name: _column(pandas, column, infos[name]) for name, column in columns.items()}
    )


def _flat(parts: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, part in parts.items():
        if isinstance(part, Mapping):
            yield from _flat(part, f"{prefix}{key}/")
        else:
            yield f"{prefix}{key}", part


def _values(
    example: Mapping[str, Any], infos: Mapping[str, Any], prefix: str = ""
) -> Iterator[tuple[str, Any]]:
    for key, value in example.items():
        name = f"{prefix}{key}"
        if name in infos:
            yield name, value
        else:
            yield from _values(value, infos, f"{name}/")


def _column(pandas: Any, values: list[Any], part: Any) -> Any:
    """One column: of the feature's dtype where it has single numbers, else of objects."""
    is_number = isinstance(part, TensorInfo) and not part.shape and part.dtype.kind in "iufb"
    missing = np.array([value is None for value in values], bool)
    if is_number and not missing.any():
        return np.array(values, part.dtype)
    if is_number and (nullable := _nullable(part.dtype)):
        known = np.array([0 if value is None else value for value in values], part.dtype)
        return pandas.Series(known).astype(nullable).mask(missing)
    column = np.empty(len(values), object)
    for index, value in enumerate(values):
        column[index] = value
    return column


def _nullable(dtype: np.dtype[Any]) -> str:
    """Name of pandas's dtype for the same numbers with missing ones; `""` where it has none."""
    if dtype == np.bool_:
        return "boolean"
    if dtype.name in ("float32", "float64") or dtype.kind in "iu":
        return dtype.name.replace("int", "Int").replace("uI", "UI").replace("float", "Float")
    return ""
