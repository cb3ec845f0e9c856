"""CRC-32C (Castagnoli), plain and in the masked form that TFRecord files store.

Masking rotates the checksum and adds a constant, so that a checksum over data which
contains checksums stays meaningful. The rule is that of TensorFlow's TFRecord format.
"""

from __future__ import annotations

from collections.abc import Callable

import google_crc32c

from featurekit.native import kernel

__all__ = ["crc32c", "masked_crc32c"]

_KERNEL = kernel("records")
_value: Callable[[bytes], int] = google_crc32c.value if _KERNEL is None else _KERNEL.crc32c


def crc32c(data: bytes) -> int:
    """The CRC-32C of `data`, in [0, 2**32).

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    return _value(data)


def masked_crc32c(data: bytes) -> int:
    """The masked CRC-32C of `data`, in [0, 2**32), as TFRecord files store it.

    >>> hex(masked_crc32c(b""))
    '0xa282ead8'
    """
    crc = _value(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
