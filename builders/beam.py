"""Running a pipeline of Apache Beam for the splits whose examples come from one.

The pipeline encodes the examples, on any runner. What it gives is sorted and written here,
as of any other builder, so that the files are the same.
"""

from __future__ import annotations

import inspect
import os
import struct
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Any

from featurekit.builders.keys import Key, pack_key, unpack_key
from featurekit.builders.serializing import ExampleSerializer, SerializedExamples
from featurekit.dataset.info import DatasetInfo
from featurekit.errors import BuildError, FeatureKitError, InvalidTypeError
from featurekit.io.tfrecord import TFRecordReader
from featurekit.optional import import_optional

__all__ = ["BeamRun", "is_beam"]

_KEY_LENGTH = struct.Struct("<I")


def is_beam(value: Any) -> bool:
    """Whether a value is a collection or transform of Beam, which is not imported for that."""
    beam = sys.modules.get("apache_beam")
    if isinstance(value, Deferred):
        return True
    return beam is not None and isinstance(value, (beam.PTransform, beam.pvalue.PCollection))


class Deferred:
    """A collection that is made once there is a pipeline.

    Args:
        make: Takes the pipeline, and gives the collection or transform.
    """

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self.make = make


class BeamRun:
    """One run of a pipeline, for the splits whose examples it gives.

    Args:
        folder: An existing folder, for temporary files.
        runner: Beam's runner; by default the one in this process.
        options: Beam's options.
    """

    def __init__(self, folder: str, runner: Any = None, options: Any = None) -> None:
        self._folder = folder
        self._runner = runner
        self._options = options
        self._pipeline: Any = None

    @property
    def pipeline(self) -> Any:
        """The pipeline.

        Raises:
            MissingDependencyError: Apache Beam is not installed.
        """
        if self._pipeline is None:
            beam = import_optional("apache_beam", extra="beam", purpose="a builder on Apache Beam")
            self._pipeline = beam.Pipeline(runner=self._runner, options=self._options)
        return self._pipeline

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a hook, with the pipeline where it takes one."""
        if "pipeline" in inspect.signature(function).parameters:
            return function(*args, pipeline=self.pipeline)
        return function(*args)

    def run(self, info: DatasetInfo, splits: Mapping[str, Any]) -> dict[str, Iterable[Any]]:
        """Run the pipeline, if any split comes from it.

        Args:
            info: What the dataset is.
            splits: By the name of the split, an iterable of examples, or a collection or
                transform of Beam that gives them.

        Returns:
            The same, with the encoded examples in place of Beam's.

        Raises:
            BuildError: The pipeline failed.
        """
        found = dict(splits)
        names = [name for name, value in splits.items() if is_beam(value)]
        if not names:
            return found
        folders = {name: tempfile.mkdtemp(prefix="beam-", dir=self._folder) for name in names}
        for name in names:
            self._write(info, name, splits[name], folders[name])
            found[name] = SerializedExamples(_read(folders[name], ordered=info.disable_shuffling))
        try:
            self.pipeline.run().wait_until_finish()
        except FeatureKitError:
            raise
        except Exception as error:
            raise BuildError(f"the pipeline of {info.full_name} failed: {error}") from error
        return found

    def _write(self, info: DatasetInfo, name: str, value: Any, folder: str) -> None:
        """Let the pipeline write the encoded examples of a split to a folder."""
        import apache_beam as beam

        if isinstance(value, Deferred):  # a transform, so that labels are those of a split
            value = beam.ptransform_fn(value.make)()
        if isinstance(value, beam.PTransform):
            value = self.pipeline | f"{name}_examples" >> value
        if not isinstance(value, beam.pvalue.PCollection):
            raise InvalidTypeError(
                f"split {name!r} is no collection of Beam, but {type(value).__name__}"
            )
        encode = _Encode(ExampleSerializer(info.features, f"{info.full_name}, split {name}"))
        records = value | f"{name}_encode" >> beam.Map(encode)
        prefix = os.path.join(folder, "part")
        _ = records | f"{name}_write" >> beam.io.WriteToTFRecord(prefix)


class _Encode:
    """From `(key, example)` to one record."""

    def __init__(self, serializer: ExampleSerializer) -> None:
        self._serializer = serializer

    def __call__(self, item: Any) -> bytes:
        for key, example in self._serializer.pairs([item]):
            packed = pack_key(key)
            payload = self._serializer.serialize(key, example)
        return _KEY_LENGTH.pack(len(packed)) + packed + payload


def _read(folder: str, *, ordered: bool) -> Generator[tuple[Key, bytes], None, None]:
    """Keys and payloads of the records that the pipeline wrote, in no particular order."""
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        for record in TFRecordReader(path, compression=None):
            (length,) = _KEY_LENGTH.unpack_from(record)
            start = _KEY_LENGTH.size + length
            key = unpack_key(record[_KEY_LENGTH.size : start])
            if ordered and not isinstance(key, int):
                raise InvalidTypeError(
                    f"examples of a pipeline are ordered by int keys, got {key!r}",
                    hint="yield the position of an example as its key, or leave "
                    "disable_shuffling out",
                )
            yield key, record[start:]
        os.remove(path)
    os.rmdir(folder)
