"""FeatureTable: the features of a dataset as a table, for documentation."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import NamedTuple, overload

from featurekit.connector import FeatureConnector
from featurekit.dtypes import dtype_name
from featurekit.tensor_info import TensorInfo

__all__ = ["FeatureRow", "FeatureTable"]

_HEADER = ("Feature", "Class", "Shape", "Dtype", "Description", "Value range")


class FeatureRow(NamedTuple):
    """One feature of a table.

    Attributes:
        name: Its name, such as `"objects/label"`; `""` for all of them together.
        connector: Its class; of sequences with what they hold, `"Sequence(ClassLabel)"`.
        shape: Such as `"(None, 4)"`; `""` where it holds features of its own.
        dtype: Such as `"float32"`; the same.
        description: What it means.
        value_range: The values it takes, in words; else from its bounds or classes.
    """

    name: str
    connector: str
    shape: str = ""
    dtype: str = ""
    description: str = ""
    value_range: str = ""


class FeatureTable(Sequence[FeatureRow]):
    """A row for every feature, also for those within others.

    Printed, it is aligned text; in a notebook, a table.

    Args:
        features: The features, such as `info.features`.

    Example:
        >>> import numpy as np
        >>> from featurekit.connectors.class_label import ClassLabel
        >>> from featurekit.connectors.features_dict import FeaturesDict
        >>> print(FeatureTable(FeaturesDict({"id": np.int64, "kind": ClassLabel(num_classes=3)})))
        Feature  Class         Shape  Dtype  Description  Value range
                 FeaturesDict
        id       Tensor        ()     int64
        kind     ClassLabel    ()     int64               0 to 2
    """

    def __init__(self, features: FeatureConnector) -> None:
        self._rows = tuple(_rows(features, ""))

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> FeatureRow: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[FeatureRow, ...]: ...
    def __getitem__(self, index: int | slice) -> FeatureRow | tuple[FeatureRow, ...]:
        return self._rows[index]

    def to_markdown(self) -> str:
        """The table in Markdown, as GitHub and MkDocs read it."""
        lines = [_HEADER, ("---",) * len(_HEADER), *map(_as_markdown, self._rows)]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def __str__(self) -> str:
        """The table as aligned text."""
        lines = [_HEADER, *(tuple(map(_one_line, row)) for row in self._rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        padded = (
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
            for line in lines
        )
        return "\n".join(line.rstrip() for line in padded)

    def __repr__(self) -> str:
        """How many features it has."""
        return f"{type(self).__name__}({len(self)} rows)"

    def _repr_html_(self) -> str:
        rows = [_html_row(_HEADER, "th"), *(_html_row(row, "td") for row in self._rows)]
        return f"<table>{''.join(rows)}</table>"


def _rows(feature: FeatureConnector, name: str) -> Iterator[FeatureRow]:
    connector, inner = _class_name(feature), feature
    while None in (parts := inner.inner_features()):
        inner = parts[None]
    info = feature.get_tensor_info()
    shape, dtype = "", ""
    if isinstance(info, TensorInfo):
        shape, dtype = str(info.shape), dtype_name(info.dtype)
    doc = feature.doc if feature.doc.desc or feature.doc.value_range else inner.doc
    value_range = doc.value_range or _known_range(inner)
    yield FeatureRow(name, connector, shape, dtype, doc.desc, value_range)
    for key, part in parts.items():
        yield from _rows(part, f"{name}/{key}" if name else str(key))


def _class_name(feature: FeatureConnector) -> str:
    """The class; of what has one feature inside with that one's, unless it has rows of its own."""
    name = type(feature).__name__
    element = feature.inner_features().get(None)
    if element is None or (element.inner_features() and None not in element.inner_features()):
        return name
    return f"{name}({_class_name(element)})"


def _known_range(feature: FeatureConnector) -> str:
    """The range of values that the feature itself tells."""
    info = feature.get_tensor_info()
    classes = getattr(feature, "num_classes", None)
    if classes:
        return f"0 to {classes - 1}"
    if not isinstance(info, TensorInfo) or (info.minimum is None and info.maximum is None):
        return ""
    if info.maximum is None:
        return f"from {info.minimum}"
    return f"up to {info.maximum}" if info.minimum is None else f"{info.minimum} to {info.maximum}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _as_markdown(row: FeatureRow) -> tuple[str, ...]:
    # What HTML would take for tags, and what would end the cell.
    return tuple(html.escape(_one_line(cell), quote=False).replace("|", "\\|") for cell in row)


def _html_row(cells: Sequence[str], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"
