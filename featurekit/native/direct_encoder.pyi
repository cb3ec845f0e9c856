from collections.abc import Iterable
from typing import Any

class DirectEncoder:
    def __init__(
        self,
        specs: Iterable[tuple[str, int, int, tuple[int, ...] | None, int, int]],
    ) -> None: ...
    def encode(self, example: Any) -> bytes | None: ...
