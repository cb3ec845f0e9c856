"""Feature connectors: one file each, how one field of an example is stored.

The public names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from featurekit import lazy

if not __name__.startswith("featurekit."):
    raise ImportError(
        "import featurekit.connectors: the bare name makes a second copy of every class"
    )

if TYPE_CHECKING:
    from featurekit.connectors.audio import Audio
    from featurekit.connectors.bbox import BBox, BBoxFeature
    from featurekit.connectors.class_label import ClassLabel
    from featurekit.connectors.dataset import Dataset
    from featurekit.connectors.features_dict import FeaturesDict
    from featurekit.connectors.image import Image
    from featurekit.connectors.labeled_image import LabeledImage
    from featurekit.connectors.scalar import Scalar
    from featurekit.connectors.sequence import Sequence
    from featurekit.connectors.tensor import Tensor
    from featurekit.connectors.text import Text
    from featurekit.connectors.translation import Translation, TranslationVariableLanguages
    from featurekit.connectors.video import Video

__all__ = [
    "Audio",
    "BBox",
    "BBoxFeature",
    "ClassLabel",
    "Dataset",
    "FeaturesDict",
    "Image",
    "LabeledImage",
    "Scalar",
    "Sequence",
    "Tensor",
    "Text",
    "Translation",
    "TranslationVariableLanguages",
    "Video",
]

_MODULES = {
    "Audio": "featurekit.connectors.audio",
    "BBox": "featurekit.connectors.bbox",
    "BBoxFeature": "featurekit.connectors.bbox",
    "ClassLabel": "featurekit.connectors.class_label",
    "Dataset": "featurekit.connectors.dataset",
    "FeaturesDict": "featurekit.connectors.features_dict",
    "Image": "featurekit.connectors.image",
    "LabeledImage": "featurekit.connectors.labeled_image",
    "Scalar": "featurekit.connectors.scalar",
    "Sequence": "featurekit.connectors.sequence",
    "Tensor": "featurekit.connectors.tensor",
    "Text": "featurekit.connectors.text",
    "Translation": "featurekit.connectors.translation",
    "TranslationVariableLanguages": "featurekit.connectors.translation",
    "Video": "featurekit.connectors.video",
}

__getattr__, __dir__ = lazy.attach(globals(), _MODULES)
