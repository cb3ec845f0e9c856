"""Writing length-delimited fields of protobuf messages whose tags take one byte."""

from libc.stdint cimport uint8_t
from libc.string cimport memcpy

from featurekit.native.varints cimport varint_size, write_varint


cdef enum:
    LONGEST_MESSAGE = 0x7FFFFFFF
    TAG_1 = 10  # field number << 3 | length-delimited
    TAG_2 = 18


cdef inline size_t field_size(size_t size) noexcept:
    """Of a field with a one-byte tag that holds `size` bytes."""
    return 1 + varint_size(size) + size


cdef inline uint8_t* begin_field(uint8_t* p, int tag, size_t size) noexcept:
    p[0] = <uint8_t>tag
    return write_varint(p + 1, size)


cdef inline uint8_t* write_field(
    uint8_t* p, int tag, const uint8_t* data, size_t size
) noexcept:
    p = begin_field(p, tag, size)
    memcpy(p, data, size)
    return p + size
