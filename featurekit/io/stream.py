"""The records of a byte source from front to back, and what happens at damaged ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Literal

from featurekit.errors import CorruptRecordError, add_location
from featurekit.io.compression import ByteSource
from featurekit.io.faults import record_fault
from featurekit.io.framing import Block, Fault, read_block
from featurekit.io.resync import Resynchroniser
from featurekit.io.window import Window

__all__ = ["Loss", "OnCorrupt", "RecordStream"]

OnCorrupt = Literal["raise", "skip", "stop"]

_BLOCK_BYTES = 1 << 18  # larger ones are slower: they fit no cache and are mapped anew each time


@dataclasses.dataclass
class Loss:
    """What was left out in reading a damaged file. False where nothing was.

    Attributes:
        errors: Number of damaged places met.
        records: Number of records lost, at least: where a length is wrong nobody can tell
            how many records there were, and all up to the next sound one count as one.
        bytes: Number of bytes passed over, of the uncompressed file. What a damaged
            compressed stream would have held is not known and not counted.
        first_error: The error that `on_corrupt="raise"` would have raised.
    """

    errors: int = 0
    records: int = 0
    bytes: int = 0
    first_error: CorruptRecordError | None = None

    def __bool__(self) -> bool:
        return self.errors > 0


class RecordStream:
    """One pass over the records of a source.

    Args:
        source: Where the bytes come from, uncompressed.
        on_corrupt: What to do at a damaged record; see `TFRecordReader`.
        check_crc: Whether to check both checksums of each record.
        on_error: Called with each error that is not raised, and with what is wrong with the
            record; None where it is cut.

    Attributes:
        lost: What was left out so far.
    """

    def __init__(
        self,
        source: ByteSource,
        on_corrupt: OnCorrupt,
        check_crc: bool,
        *,
        on_error: Callable[[CorruptRecordError, Fault | None], None] | None = None,
    ) -> None:
        self.lost = Loss()
        self._window = Window(source, _BLOCK_BYTES)
        self._resynchroniser = Resynchroniser(self._window)
        self._on_corrupt = on_corrupt
        self._check_crc = check_crc
        self._on_error = on_error
        self._good = 0  # records given
        self._noted: CorruptRecordError | None = None  # the latest error that was not raised

    def __iter__(self) -> Iterator[bytes]:
        for _, payloads in self.blocks():
            yield from payloads

    def blocks(self) -> Iterator[tuple[int, list[bytes]]]:
        """Runs of records that follow one another: the first one's offset, their payloads.

        Raises:
            CorruptRecordError: A record is damaged, and `on_corrupt` is "raise".
        """
        window = self._window
        while True:
            block = read_block(window.data, window.position, self._check_crc)
            if block.payloads:
                yield window.offset, block.payloads
                self._good += len(block.payloads)
                window.move(block.size)
            if block.fault is None and window.load(block.needed):
                continue
            at_end = block.fault is None and not window.load(1)
            if at_end and window.broken in (None, self._noted):
                return
            self._handle(self._error(block), block.fault)
            if not at_end:
                self._pass_over(block)
            if at_end or self._on_corrupt == "stop":
                return

    def _error(self, block: Block) -> CorruptRecordError:
        """What is wrong at the place where the window stands, behind `block`."""
        window, record = self._window, self._good + self.lost.records
        if block.fault is None and window.broken is not None:
            add_location(window.broken, record=record, byte=window.offset)
            return window.broken
        return record_fault(window, block, record)

    def _handle(self, error: CorruptRecordError, fault: Fault | None) -> None:
        if self._on_corrupt == "raise":
            raise error
        if self._on_error is not None:
            self._on_error(error, fault)
        self._noted = error
        self.lost.errors += 1
        self.lost.first_error = self.lost.first_error or error

    def _pass_over(self, block: Block) -> None:
        """Leave out the damaged record behind `block`, or all that follows."""
        start = self._window.offset
        if self._on_corrupt == "skip":
            self._resynchroniser.skip(block)
        else:
            self._window.move_to_end()
        self.lost.records += 1
        self.lost.bytes += self._window.offset - start
