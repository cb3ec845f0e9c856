"""`tfds.beam.ReadFromTFDS`: the examples of a dataset in a pipeline of Apache Beam."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from featurekit.dataset.reading import ReadsExamples
from featurekit.errors import InvalidArgumentError
from featurekit.optional import import_optional

__all__ = ["ReadFromTFDS"]

_CHUNK = 1000


def ReadFromTFDS(  # noqa: N802  # TFDS's name
    builder: ReadsExamples, split: str, workers_per_shard: int = 1, **as_dataset_kwargs: Any
) -> Any:
    """A transform that gives the examples of a split, in no particular order.

    Args:
        builder: A builder whose dataset is there.
        split: A split, or a slice of one.
        workers_per_shard: Not used: every worker reads chunks of 1000 examples.
        **as_dataset_kwargs: `decoders`, and `as_supervised`.

    Raises:
        MissingDependencyError: Apache Beam is not installed.
        InvalidArgumentError: It is asked for batches.
    """
    if as_dataset_kwargs.get("batch_size") is not None:
        raise InvalidArgumentError(
            "examples are read one by one in a pipeline", hint="batch them with beam.BatchElements"
        )
    beam = import_optional("apache_beam", extra="beam", purpose="reading in a pipeline")
    count = builder.info.splits[split].num_examples
    starts = range(0, count, _CHUNK)
    return (
        beam.Create(starts)
        | beam.Reshuffle()
        | beam.FlatMap(_read, builder=builder, split=split, options=as_dataset_kwargs)
    )


def _read(start: int, builder: ReadsExamples, split: str, options: dict[str, Any]) -> Iterator[Any]:
    keys = builder.info.supervised_keys if options.get("as_supervised") else None
    source = builder.as_data_source(split, decoders=options.get("decoders"))
    for example in source[start : start + _CHUNK]:
        yield example if keys is None else tuple(example[key] for key in keys)
