"""BeamBasedBuilder: a builder whose examples come from an Apache Beam pipeline."""

from __future__ import annotations

from typing import Any

from featurekit.builders.base import GeneratorBasedBuilder
from featurekit.builders.beam import Deferred
from featurekit.errors import BuildError

__all__ = ["BeamBasedBuilder"]


class BeamBasedBuilder(GeneratorBasedBuilder, skip_registration=True):
    """A builder that says how a pipeline makes its examples.

    Subclasses state `VERSION` and define `_info`, `_split_generators`, and `_build_pcollection`
    or `_generate_examples`. Any other builder may give Beam's transforms too.
    """

    def _build_pcollection(self, pipeline: Any, *args: Any, **kwargs: Any) -> Any:
        """The collection of `(key, example)` of a split."""
        raise BuildError(
            f"{type(self).__name__} does not say how its examples are made",
            hint="define _build_pcollection(self, pipeline, ...), or _generate_examples",
        )

    def _generate_examples(self, *args: Any, **kwargs: Any) -> Any:
        return Deferred(lambda pipeline: self._build_pcollection(pipeline, *args, **kwargs))
