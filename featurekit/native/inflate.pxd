"""Inflating a zlib stream to a number of bytes that is known beforehand.

Taken are whole streams that give exactly that many bytes; everything else is refused
without a reason: zlib itself then says what is wrong, or that nothing is.

Nothing is read outside the stream. What is written outside the output are at most `SLACK`
bytes behind it.

Sources: RFC 1950 (zlib) and RFC 1951 (deflate).
"""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcpy, memset

from featurekit.native.prefix_codes cimport (
    CODE_LENGTHS,
    DISTANCES,
    END,
    END_OF_BLOCK,
    LITERAL,
    LITERALS_AND_LENGTHS,
    MOST_DISTANCES,
    MOST_LITERALS,
    MOST_SYMBOLS,
    PAIR,
    TABLE_BITS,
    Bits,
    Code,
    align,
    make_code,
    next_entry,
    pair_literals,
    refill,
    take,
)

cdef enum:
    SLACK = 8  # matches are copied eight bytes at a time
    WORTH_PAIRING = 1024  # bytes of a stream

cdef extern from *:
    """
    /* The order in which a block states the lengths of its code for code lengths. */
    static const unsigned char fk_length_order[19] = {
        16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15
    };
    """
    const uint8_t* LENGTH_ORDER "fk_length_order"


cdef struct Codes:
    Code literals  # and lengths
    Code distances


cdef struct Output:
    uint8_t* start
    uint8_t* next
    uint8_t* end


cdef inline bint inflate(
    const uint8_t* data, size_t size, const Codes* fixed, uint8_t* out, size_t out_size
) noexcept nogil:
    """Whether `data` begins with a zlib stream of `out_size` bytes, which `out` then has.

    `fixed` is from `fixed_codes`. `out` has room for `SLACK` bytes more.
    """
    cdef Bits bits
    cdef Output output
    if size < 2 or (data[0] << 8 | data[1]) % 31 or data[0] & 15 != 8 or data[0] >> 4 > 7:
        return False
    if data[1] & 0x20:  # a dictionary
        return False
    bits.next, bits.end = data + 2, data + size
    bits.held = 0
    bits.count = bits.lacking = 0
    output.start, output.next, output.end = out, out, out + out_size
    if not inflate_blocks(&bits, fixed, &output) or output.next != output.end:
        return False
    if not align(&bits) or bits.end - bits.next < 4:
        return False
    return load32_big(bits.next) == adler32(out, out_size)


cdef inline bint inflate_blocks(Bits* bits, const Codes* fixed, Output* output) noexcept nogil:
    cdef Codes codes
    cdef bint good = True
    cdef uint32_t last = 0
    cdef uint32_t kind
    while good and not last:
        if not refill(bits):
            return False
        last = take(bits, 1)
        kind = take(bits, 2)
        if kind == 0:
            good = copy_stored(bits, output)
        elif kind == 1:
            good = inflate_symbols(bits, fixed, output)
        elif kind == 2:
            good = read_codes(bits, &codes) and inflate_symbols(bits, &codes, output)
        else:
            good = False
    return good


cdef inline bint inflate_symbols(
    Bits* stream, const Codes* codes, Output* output
) noexcept nogil:
    """The literals and matches of one block."""
    cdef Bits bits = stream[0]  # local copies, which the compiler keeps in registers
    cdef uint8_t* out = output.next
    cdef uint32_t entry, length, distance
    cdef int i
    while True:
        if not refill(&bits):
            return False
        for i in range(3):  # 45 bits, and 5 for the length: never more than are held
            entry = next_entry(&bits, &codes.literals)
            if not entry & LITERAL:
                break
            if out >= output.end:
                return False
            out[0] = <uint8_t>(entry >> 16)
            out[1] = <uint8_t>(entry >> 24)
            out += 1 + <int>((entry & PAIR) != 0)
        if entry & LITERAL:
            continue
        if entry & END:
            break
        length = (entry >> 16) + take(&bits, entry >> 8 & 15)
        if entry == 0 or not refill(&bits):
            return False
        entry = next_entry(&bits, &codes.distances)
        distance = (entry >> 16) + take(&bits, entry >> 8 & 15)
        if entry == 0 or distance > out - output.start or length > output.end - out:
            return False
        copy_match(out, distance, length)
        out += length
    stream[0] = bits
    output.next = out
    return True


cdef inline void copy_match(uint8_t* out, size_t distance, size_t length) noexcept nogil:
    """Repeat what is `distance` bytes back; what is copied may be part of the result."""
    cdef const uint8_t* source = out - distance
    cdef uint8_t* end = out + length
    if distance >= 8:
        while out < end:
            memcpy(out, source, 8)
            out += 8
            source += 8
    elif distance == 1:
        memset(out, source[0], length)
    else:
        while out < end:
            out[0] = source[0]
            out += 1
            source += 1


cdef inline bint copy_stored(Bits* bits, Output* output) noexcept nogil:
    """A block that is not compressed."""
    cdef size_t size
    if not align(bits) or bits.end - bits.next < 4:
        return False
    size = bits.next[0] | bits.next[1] << 8
    if size ^ (bits.next[2] | bits.next[3] << 8) != 0xFFFF:
        return False
    bits.next += 4
    if size > <size_t>(bits.end - bits.next) or size > <size_t>(output.end - output.next):
        return False
    memcpy(output.next, bits.next, size)
    bits.next += size
    output.next += size
    return True


cdef inline void fixed_codes(Codes* codes) noexcept nogil:
    """The codes of blocks that state none."""
    cdef uint8_t lengths[MOST_SYMBOLS]
    memset(lengths, 8, 144)
    memset(lengths + 144, 9, 112)
    memset(lengths + 256, 7, 24)
    memset(lengths + 280, 8, 8)
    make_code(&codes.literals, LITERALS_AND_LENGTHS, 9, lengths, MOST_SYMBOLS)
    memset(lengths, 5, 32)
    make_code(&codes.distances, DISTANCES, 5, lengths, 32)


cdef inline bint read_codes(Bits* bits, Codes* codes) noexcept nogil:
    """The codes that a block states."""
    cdef uint8_t lengths[MOST_LITERALS + MOST_DISTANCES]
    cdef uint8_t first_lengths[19]
    cdef int i
    cdef int literal_count = 257 + take(bits, 5)
    cdef int distance_count = 1 + take(bits, 5)
    cdef int length_count = 4 + take(bits, 4)
    if literal_count > MOST_LITERALS or distance_count > MOST_DISTANCES:
        return False
    memset(first_lengths, 0, 19)
    for i in range(length_count):
        if not refill(bits):
            return False
        first_lengths[LENGTH_ORDER[i]] = take(bits, 3)
    # Its memory serves for the code of the lengths first.
    if not make_code(&codes.literals, CODE_LENGTHS, 7, first_lengths, 19):
        return False
    if not read_lengths(bits, &codes.literals, lengths, literal_count + distance_count):
        return False
    if lengths[END_OF_BLOCK] == 0:
        return False
    if not make_code(&codes.literals, LITERALS_AND_LENGTHS, TABLE_BITS, lengths, literal_count):
        return False
    if bits.end - bits.next >= WORTH_PAIRING:
        pair_literals(&codes.literals)
    return make_code(&codes.distances, DISTANCES, 8, lengths + literal_count, distance_count)


cdef inline bint read_lengths(
    Bits* bits, const Code* code, uint8_t* lengths, int size
) noexcept nogil:
    """`size` code lengths, of which runs are packed."""
    cdef int i = 0
    cdef int run
    cdef uint8_t repeated
    cdef uint32_t entry
    while i < size:
        if not refill(bits):
            return False
        entry = next_entry(bits, code)
        if entry == 0:
            return False
        entry >>= 16
        if entry < 16:
            lengths[i] = entry
            i += 1
            continue
        if entry == 16 and i == 0:
            return False
        repeated = lengths[i - 1] if entry == 16 else 0
        run = 3 + take(bits, 2 if entry == 16 else 3) if entry < 18 else 11 + take(bits, 7)
        if run > size - i:
            return False
        memset(lengths + i, repeated, run)
        i += run
    return True


# Numbers.


cdef inline uint32_t load32_big(const uint8_t* p) noexcept nogil:
    return <uint32_t>p[0] << 24 | <uint32_t>p[1] << 16 | <uint32_t>p[2] << 8 | p[3]


cdef inline uint32_t adler32(const uint8_t* p, size_t size) noexcept nogil:
    cdef uint32_t a = 1
    cdef uint32_t b = 0
    cdef size_t step
    while size:
        step = min(size, <size_t>5552)  # so few bytes that `b` cannot overflow
        size -= step
        while step:
            a += p[0]
            b += a
            p += 1
            step -= 1
        a %= 65521
        b %= 65521
    return b << 16 | a
