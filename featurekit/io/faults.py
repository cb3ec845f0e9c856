"""What is wrong with a damaged record, in words."""

from __future__ import annotations

from featurekit.errors import CorruptRecordError
from featurekit.io.compression import COPY_AGAIN
from featurekit.io.crc32c import masked_crc32c
from featurekit.io.framing import FOOTER_BYTES, HEADER_BYTES, Block, Fault
from featurekit.io.window import Window

__all__ = ["record_fault"]

_NO_RECORD_FILE = (
    'this may be no TFRecord file, or a compressed one: try compression="auto"; ' + COPY_AGAIN
)


def record_fault(window: Window, block: Block, record: int) -> CorruptRecordError:
    """The error for the record at which `window` stands and which follows `block`.

    Args:
        window: Stands at the damaged record and holds it, or all that is there of it.
        block: What came before it, and what is wrong with it.
        record: Its index in the file.
    """
    data = window.data[window.position : window.position + block.needed]
    byte, hint = window.offset, COPY_AGAIN
    if block.fault is Fault.HEADER:
        message = _checksum_message("length", data[:8], data[8:HEADER_BYTES])
        hint = _NO_RECORD_FILE if byte == 0 else COPY_AGAIN
    elif block.fault is Fault.PAYLOAD:
        payload = data[HEADER_BYTES:-FOOTER_BYTES]
        message = _checksum_message("payload", payload, data[-FOOTER_BYTES:])
        byte += HEADER_BYTES
    else:
        message = _cut_message(window.left, block.needed)
    return CorruptRecordError(message, file=window.source.path, record=record, byte=byte, hint=hint)


def _checksum_message(what: str, data: bytes, stored: bytes) -> str:
    got, said = masked_crc32c(data), int.from_bytes(stored, "little")
    return f"{what} checksum is 0x{got:08x}, the file says 0x{said:08x}"


def _cut_message(left: int, needed: int) -> str:
    if left < HEADER_BYTES:
        return (
            f"record is cut: the file ends after {left} of the {HEADER_BYTES} bytes of its header"
        )
    length = needed - HEADER_BYTES - FOOTER_BYTES
    if left < HEADER_BYTES + length:
        return (
            f"record is cut: the file ends after {left - HEADER_BYTES} "
            f"of the {length} bytes of its payload"
        )
    return (
        f"record is cut: the file ends after {left - HEADER_BYTES - length} "
        f"of the {FOOTER_BYTES} bytes of its payload's checksum"
    )


def index_fault(window: Window, length: int, indexed: int, record: int) -> CorruptRecordError:
    """The error for a record whose header is sound, but has not the length of the index."""
    return CorruptRecordError(
        f"the record has a payload of {length} bytes, the index says {indexed}",
        file=window.source.path,
        record=record,
        byte=window.offset,
        hint="the file has changed since it was indexed: open it again, or index it again",
    )
