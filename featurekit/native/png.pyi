from typing import Any

import numpy as np
import numpy.typing as npt

def decode(
    data: bytes,
    channels: int | None,
    size: tuple[int | None, int | None],
    max_pixels: int,
    out: npt.NDArray[Any] | None = None,
) -> npt.NDArray[Any] | None: ...
def filter_rows(rows: npt.NDArray[np.uint8], step: int) -> bytes | None: ...
