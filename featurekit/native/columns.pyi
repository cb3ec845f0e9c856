from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from typing_extensions import Buffer

_Specs: TypeAlias = Sequence[tuple[str, int, int]]
_Column: TypeAlias = tuple[npt.NDArray[Any], npt.NDArray[np.int64]]
_StepColumn: TypeAlias = tuple[npt.NDArray[Any], npt.NDArray[np.int64], npt.NDArray[np.int64]]

def read_columns(records: Sequence[bytes], specs: _Specs) -> list[_Column] | None: ...
def read_columns_buffer(
    buffer: Buffer, offsets: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64], specs: _Specs
) -> list[_Column] | None: ...
def read_sequence_columns(
    records: Sequence[bytes], context: _Specs, lists: _Specs
) -> tuple[list[_Column], list[_StepColumn]] | None: ...
def read_example(record: bytes) -> dict[str, npt.NDArray[Any] | None] | None: ...
