"""digits: handwritten digits of 43 people, 8x8 pixels each."""

from __future__ import annotations

import csv
import gzip
import importlib.resources
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from featurekit.builders.base import GeneratorBasedBuilder
from featurekit.connectors.class_label import ClassLabel
from featurekit.connectors.features_dict import FeaturesDict
from featurekit.connectors.image import Image
from featurekit.dataset.info import DatasetInfo
from featurekit.dataset.version import Version

__all__ = ["Digits"]

_SIDE = 8  # pixels


class Digits(GeneratorBasedBuilder):
    """1,797 images of handwritten digits: the test half of UCI's optical digits."""

    VERSION = Version("1.0.0")
    RELEASE_NOTES = {"1.0.0": "Initial release."}

    def _info(self) -> DatasetInfo:
        return DatasetInfo(
            builder=self,
            description="""
            Handwritten digits, 1,797 gray images of 8x8 pixels and the digit that each shows.

            The pixels are counts from 0 (white) to 16 (black): the black pixels in each 4x4
            block of a 32x32 bitmap of the digit.
            """,
            features=FeaturesDict(
                {
                    "image": Image(
                        shape=(_SIDE, _SIDE, 1),
                        encoding_format="png",
                        doc="Ink of each 4x4 block, from 0 to 16",
                    ),
                    "label": ClassLabel(num_classes=10, doc="The digit"),
                }
            ),
            supervised_keys=("image", "label"),
            homepage="https://archive.ics.uci.edu/dataset/80",
            license="CC BY 4.0",
            citation="""
            @misc{optdigits,
              author = {Alpaydin, E. and Kaynak, C.},
              title = {Optical Recognition of Handwritten Digits},
              year = {1998},
              howpublished = {UCI Machine Learning Repository},
              doi = {10.24432/C50P49},
            }
            """,
        )

    def _split_generators(self, dl_manager: Any) -> Mapping[str, Any]:
        return {"train": self._generate_examples()}

    def _generate_examples(self) -> Iterator[tuple[int, dict[str, Any]]]:
        table = importlib.resources.files(__package__) / "data" / "digits.csv.gz"
        with table.open("rb") as packed, gzip.open(packed, "rt", encoding="ascii") as text:
            for key, row in enumerate(csv.reader(text)):
                *pixels, label = map(int, row)
                image = np.array(pixels, np.uint8).reshape(_SIDE, _SIDE, 1)
                yield key, {"image": image, "label": label}
