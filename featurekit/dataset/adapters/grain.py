"""Grain: examples as the source of a pipeline."""

from __future__ import annotations

from typing import Any

from featurekit.optional import import_optional

__all__ = ["map_dataset"]


def map_dataset(items: Any) -> Any:
    """A `grain.MapDataset` of the items.

    Nothing is wrapped: what has an order is a random-access source for Grain as it is.
    """
    grain = import_optional("grain", extra="grain", purpose="to_grain")
    return grain.MapDataset.source(items)
