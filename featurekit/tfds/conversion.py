"""`tfds.as_numpy` and `tfds.as_dataframe`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from featurekit.optional import import_optional

__all__ = ["as_dataframe", "as_numpy"]


def as_numpy(dataset: Any) -> Any:
    """What it is given: values are NumPy already."""
    return dataset


def as_dataframe(ds: Iterable[Any], ds_info: Any = None) -> Any:
    """Examples as a `pandas.DataFrame`; columns are called `a/b` where dicts are nested.

    Args:
        ds: Examples; take as many as are to be shown.
        ds_info: The dataset; names the columns of supervised pairs.

    Raises:
        MissingDependencyError: pandas is not installed.
    """
    pandas = import_optional("pandas", extra="pandas", purpose="as_dataframe")
    keys = getattr(ds_info, "supervised_keys", None)
    rows = [dict(sorted(_flat(_named(example, keys), ""))) for example in ds]
    return pandas.DataFrame(rows)


def _named(example: Any, keys: Any) -> Any:
    if not isinstance(example, tuple):
        return example
    return dict(zip(keys or map(str, itertools.count()), example, strict=False))


def _flat(value: Any, path: str) -> Iterable[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _flat(item, f"{path}/{key}" if path else key)
    else:
        yield path, value
