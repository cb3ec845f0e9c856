"""Hugging Face datasets: examples as a `datasets.Dataset`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from featurekit.connector import FeatureConnector
from featurekit.dataset.adapters.arrow import arrow_batches, arrow_schema
from featurekit.dataset.adapters.structure import structure
from featurekit.decode import SkipDecoding, with_decoders
from featurekit.optional import import_optional

__all__ = ["hf_dataset"]


def hf_dataset(source: Any, streaming: bool) -> Any:
    """The examples of a source; see `DataSource.to_huggingface`."""
    datasets = import_optional("datasets", extra="huggingface", purpose="to_huggingface")
    pa = import_optional("pyarrow", extra="huggingface", purpose="to_huggingface")
    kinds = {name: _kind(f) for name, f in source.decoding_features.inner_features().items()}
    pictures = {name: SkipDecoding() for name, kind in kinds.items() if kind == "Image"}
    encoded = source.decoded_by(with_decoders(source.decoding_features, pictures))
    features = _features(datasets, source.decoding_features, structure(encoded), kinds)
    if streaming:
        return datasets.IterableDataset.from_generator(
            _rows, gen_kwargs={"source": encoded, "kinds": kinds}, features=features
        )
    tables = [pa.Table.from_batches([batch]) for batch in _batches(encoded, kinds)]
    schema = features.arrow_schema
    table = pa.concat_tables([table.cast(schema) for table in tables] or [schema.empty_table()])
    return datasets.Dataset(table)


def _kind(feature: FeatureConnector) -> str:
    """What a feature is, where Hugging Face has the same, else `""`."""
    name = (type(feature).tfds_name or "").rpartition(".")[2]
    if name == "Image" and len(feature.shape) != 3:
        return ""
    return name if name in ("ClassLabel", "Image", "Text") else ""


def _features(datasets: Any, features: Any, parts: dict[str, Any], kinds: dict[str, str]) -> Any:
    plain = datasets.Features.from_arrow_schema(arrow_schema(parts))
    for name, kind in kinds.items():
        if kind == "Image":
            plain[name] = datasets.Image()
        elif kind == "Text":
            plain[name] = datasets.Value("string")
        elif kind == "ClassLabel" and features[name].num_classes:
            plain[name] = datasets.ClassLabel(names=features[name].names)
    return plain


def _batches(source: Any, kinds: dict[str, str]) -> Iterator[Any]:
    """The examples as record batches, in the form in which Hugging Face stores them."""
    pa = import_optional("pyarrow", extra="huggingface", purpose="to_huggingface")
    parts = structure(source)
    for batch in arrow_batches(source, parts, arrow_schema(parts)):
        columns = []
        for name in batch.schema.names:
            column = batch.column(name)
            if kinds[name] == "Image":
                paths = pa.nulls(len(column), pa.string())
                column = pa.StructArray.from_arrays([column, paths], ["bytes", "path"])
            elif kinds[name] == "Text":
                column = column.cast(pa.string())
            columns.append(column)
        yield pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _rows(source: Any, kinds: dict[str, str]) -> Iterator[Any]:
    for batch in _batches(source, kinds):
        yield from batch.to_pylist()
