from collections.abc import Mapping, Sequence
from typing import Any

import numpy.typing as npt

def write_example(
    features: Mapping[str, npt.NDArray[Any] | Sequence[bytes] | None],
) -> bytes | None: ...
