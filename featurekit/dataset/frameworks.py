"""The methods that give examples to other frameworks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["ItemsForFrameworks", "SourceForFrameworks"]

Transform = Callable[[Any], Any]


class ItemsForFrameworks:
    """What can be read in any order, for frameworks that read in any order."""

    def to_torch(self, *, iterable: bool = False, transform: Transform | None = None) -> Any:
        """A PyTorch dataset, to be given to a `DataLoader`.

        Values become tensors, text stays `bytes`. For batches, `batches(size).to_torch()` is
        faster: it decodes whole batches, and can be resumed.

        Args:
            iterable: Whether to give a `torch.utils.data.IterableDataset`, which reads in this
                order, each worker a part of its own; else a `torch.utils.data.Dataset`, whose
                order is the loader's.
            transform: Called with each item, as NumPy values, before it becomes tensors.

        Raises:
            MissingDependencyError: PyTorch is not installed.
        """
        from featurekit.dataset.adapters import torch

        make = torch.iterable_dataset if iterable else torch.map_dataset
        return make(self, transform)

    def to_grain(self) -> Any:
        """A `grain.MapDataset`, the beginning of a pipeline of Grain.

        Raises:
            MissingDependencyError: Grain is not installed.
        """
        from featurekit.dataset.adapters import grain

        return grain.map_dataset(self)


class SourceForFrameworks(ItemsForFrameworks):
    """The same, and what needs to know the features."""

    def to_tf(self) -> Any:
        """A `tf.data.Dataset` with the element_spec and the values that TFDS has.

        A missing optional value is the smallest of its dtype. All steps of an episode are
        decoded.

        Raises:
            MissingDependencyError: TensorFlow is not installed.
        """
        from featurekit.dataset.adapters import tensorflow

        return tensorflow.tf_dataset(self)

    def to_arrow(self, *, text: str = "bytes") -> Any:
        """All examples as a `pyarrow.Table`.

        Dicts are structs; arrays are nested lists, of one size where that is known; missing
        values are null; bfloat16 becomes float32.

        Args:
            text: `"bytes"` gives binary columns, `"str"` strings.

        Raises:
            MissingDependencyError: pyarrow is not installed.
        """
        from featurekit.dataset.adapters import arrow

        return arrow.arrow_table(self, text=text)

    def to_pandas(self) -> Any:
        """All examples as a `pandas.DataFrame`; see `featurekit.as_dataframe`.

        Raises:
            MissingDependencyError: pandas is not installed.
        """
        from featurekit.dataset.adapters import pandas

        return pandas.as_dataframe(self)

    def to_huggingface(self, *, streaming: bool = False) -> Any:
        """A `datasets.Dataset` of Hugging Face.

        `ClassLabel`, `Text` and `Image` become what is called so there, pictures as the files
        they are stored as; all else has the types of `to_arrow`.

        Args:
            streaming: Whether to give a `datasets.IterableDataset`, which reads when it is
                iterated; else all examples are held in memory.

        Raises:
            MissingDependencyError: The package datasets is not installed.
        """
        from featurekit.dataset.adapters import huggingface

        return huggingface.hf_dataset(self, streaming)
