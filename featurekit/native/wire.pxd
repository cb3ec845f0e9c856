"""Protobuf's wire format: tags, lengths, varints, fields to skip, text.

Every reader takes the bytes `[p, end)`, touches none outside, and gives the place behind
what it read; or NULL for what is malformed, or not worth compiled code (groups, which
no writer of Examples uses).

Source: the protobuf encoding guide. Limits (5 bytes for a tag or length, 10 for a value,
spare bits of the tenth ignored) are those of protobuf's own parser.
"""

from libc.stdint cimport UINT32_MAX, uint8_t, uint32_t, uint64_t

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>
    #if defined(__GNUC__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    #define fk_load64(p) ({ uint64_t w_; memcpy(&w_, (p), 8); w_; })
    #define fk_ctz64(w) __builtin_ctzll(w)
    #define fk_clz64(w) __builtin_clzll(w)
    #define fk_likely(x) __builtin_expect(!!(x), 1)
    #else
    #error "needs GCC or Clang and a little-endian machine; featurekit runs without this module"
    #endif
    """
    uint64_t load64 "fk_load64"(const uint8_t* p) noexcept nogil
    int ctz64 "fk_ctz64"(uint64_t word) noexcept nogil
    int clz64 "fk_clz64"(uint64_t word) noexcept nogil
    const uint64_t TOP_BITS "UINT64_C(0x8080808080808080)"  # of each of eight bytes
    bint likely "fk_likely"(bint condition) noexcept nogil


cdef enum:
    VARINT = 0
    FIXED64 = 1
    DELIMITED = 2
    FIXED32 = 5
    MAX_VARINT = 10


cdef struct Field:
    uint32_t tag  # field number << 3 | wire type
    const uint8_t* data  # the value: its varint, its 4 or 8 bytes, or what it delimits
    size_t size


cdef inline const uint8_t* read_varint(
    const uint8_t* p, const uint8_t* end, int longest, uint64_t* value
) noexcept nogil:
    cdef uint64_t result = 0
    cdef int i
    for i in range(longest):
        if p == end:
            return NULL
        result |= <uint64_t>(p[0] & 0x7F) << (7 * i)
        p += 1
        if (p - 1)[0] < 0x80:
            value[0] = result
            return p
    return NULL


cdef inline const uint8_t* read_field(
    const uint8_t* p, const uint8_t* end, Field* field
) noexcept nogil:
    """One field of a message, known or not, without looking into its value."""
    cdef uint64_t number
    if likely(p < end and p[0] < 0x80):
        number = p[0]
        p += 1
    else:
        p = read_varint(p, end, 5, &number)
    # There is no field number 0.
    if p == NULL or number < 8 or number > UINT32_MAX:
        return NULL
    field.tag = <uint32_t>number
    field.data = p
    if likely(number & 7 == DELIMITED):
        if likely(p < end and p[0] < 0x80):
            number = p[0]
            p += 1
        else:
            p = read_varint(p, end, 5, &number)
        field.data = p
    elif number & 7 == VARINT:
        p = read_varint(p, end, MAX_VARINT, &number)
        number = p - field.data if p != NULL else 0
        p = field.data if p != NULL else NULL
    elif number & 7 == FIXED64:
        number = 8
    elif number & 7 == FIXED32:
        number = 4
    else:
        return NULL
    if p == NULL or number > <uint64_t>(end - p):
        return NULL
    field.size = number
    return p + number


cdef inline bint is_utf8(const uint8_t* p, const uint8_t* end) noexcept nogil:
    """Whether it is UTF-8 as Unicode defines it: shortest forms, no surrogates."""
    cdef int extra, i
    cdef uint32_t code, least
    while p < end:
        if end - p >= 8 and load64(p) & TOP_BITS == 0:
            p += 8
            continue
        if p[0] < 0x80:
            p += 1
            continue
        if p[0] & 0xE0 == 0xC0:
            extra, least, code = 1, 0x80, p[0] & 0x1F
        elif p[0] & 0xF0 == 0xE0:
            extra, least, code = 2, 0x800, p[0] & 0x0F
        elif p[0] & 0xF8 == 0xF0:
            extra, least, code = 3, 0x10000, p[0] & 0x07
        else:
            return False
        if end - p <= extra:
            return False
        for i in range(1, extra + 1):
            if p[i] & 0xC0 != 0x80:
                return False
            code = code << 6 | (p[i] & 0x3F)
        if code < least or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            return False
        p += extra + 1
    return True
