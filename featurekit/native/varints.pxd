"""Runs of varints, as packed int64 lists hold them: the innermost loops.

A varint is 7 bits a byte, lowest first; the top bit says that more follow. Eight bytes
are loaded at once: the first two clear top bits are where two values end, and three steps
of mask and shift close the gaps between the groups of 7 bits of each. There is no branch
on the lengths of values below 2**28, which random data would mispredict.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t

from featurekit.native.wire cimport MAX_VARINT, TOP_BITS, clz64, ctz64, likely, load64, read_varint


cdef enum:
    WORD = 8


cdef inline uint64_t close_gaps(uint64_t word) noexcept nogil:
    """The 56 bits of eight groups of 7 (their top bits are dropped)."""
    word = (word & 0x007F007F007F007FULL) | (word & 0x7F007F007F007F00ULL) >> 1
    word = (word & 0x00003FFF00003FFFULL) | (word & 0x3FFF00003FFF0000ULL) >> 2
    return (word & 0x000000000FFFFFFFULL) | (word & 0x0FFFFFFF00000000ULL) >> 4


cdef inline uint64_t up_to(uint64_t bits) noexcept nogil:
    """All bits up to the lowest of these."""
    return bits ^ (bits - 1)


cdef inline const uint8_t* decode_varints(
    const uint8_t* p, const uint8_t* end, int64_t* out, size_t room, size_t* count
) noexcept nogil:
    """Decode until `end`, or until `room` values are written; NULL where malformed."""
    cdef size_t done = 0
    cdef uint64_t word, first, second  # a stop is the top bit of a value's last byte, clear
    cdef int i
    while room - done >= 2 and end - p >= MAX_VARINT:
        word = load64(p)
        first = ~word & TOP_BITS
        second = first & (first - 1)
        if first == TOP_BITS and room - done >= WORD:
            for i in range(WORD):
                out[done + i] = p[i]
            p += WORD
            done += WORD
        elif likely(second != 0):
            out[done] = <int64_t>close_gaps(word & up_to(first))
            out[done + 1] = <int64_t>close_gaps((word & up_to(second)) >> (ctz64(first) + 1))
            p += (ctz64(second) >> 3) + 1
            done += 2
        elif first != 0:
            out[done] = <int64_t>close_gaps(word & up_to(first))
            p += (ctz64(first) >> 3) + 1
            done += 1
        else:
            word = close_gaps(word) | <uint64_t>(p[8] & 0x7F) << 56
            p += 9
            if (p - 1)[0] >= 0x80:
                if p[0] >= 0x80:
                    return NULL
                word |= <uint64_t>p[0] << 63
                p += 1
            out[done] = <int64_t>word
            done += 1
    while done < room and p < end:
        p = read_varint(p, end, MAX_VARINT, &word)
        if p == NULL:
            return NULL
        out[done] = <int64_t>word
        done += 1
    count[0] = done
    return p


cdef inline bint are_varints(const uint8_t* p, const uint8_t* end) noexcept nogil:
    """Whether `[p, end)` is whole varints, none longer than 10 bytes."""
    cdef uint64_t word, stops
    cdef int run = 0  # bytes since the last stop
    if p < end and (end - 1)[0] >= 0x80:
        return False
    while end - p >= WORD:
        stops = ~load64(p) & TOP_BITS
        if stops == 0:
            run += WORD
        elif run + (ctz64(stops) >> 3) >= MAX_VARINT:
            return False
        else:
            run = clz64(stops) >> 3
        if run >= MAX_VARINT:
            return False
        p += WORD
    while p < end:
        run = run + 1 if p[0] >= 0x80 else 0
        if run >= MAX_VARINT:
            return False
        p += 1
    return True


cdef inline size_t count_varints(const uint8_t* p, const uint8_t* end) noexcept nogil:
    cdef size_t count = 0
    cdef ptrdiff_t i
    for i in range(end - p):
        count += p[i] < 0x80
    return count


cdef inline int varint_size(uint64_t value) noexcept nogil:
    """Bytes that it takes: one for each 7 bits, at least one."""
    return (70 - clz64(value | 1)) // 7


cdef inline uint8_t* write_varint(uint8_t* p, uint64_t value) noexcept nogil:
    while value >= 0x80:
        p[0] = <uint8_t>(value | 0x80)
        value >>= 7
        p += 1
    p[0] = <uint8_t>value
    return p + 1
