"""Bits, and the prefix codes that deflate writes with them.

Nothing is read outside the stream, whatever it says: behind its end come zeros, which are
counted.

Source: RFC 1951 (deflate). Which codes may be incomplete, it does not say; that is as
with zlib.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from featurekit.native.wire cimport clz64, likely, load64

cdef enum:
    MAX_LENGTH = 15  # of a code, in bits
    TABLE_BITS = 10  # codes up to that length are looked up
    MOST_SYMBOLS = 288
    END_OF_BLOCK = 256
    # In the codes that a block states; the fixed ones have two more, which mean nothing.
    MOST_LITERALS = 286
    MOST_DISTANCES = 30
    # Alphabets:
    CODE_LENGTHS = 0
    LITERALS_AND_LENGTHS = 1
    DISTANCES = 2
    # An entry: a code's length (8 bits), extra bits to add (4), these marks, a value (16).
    LITERAL = 0x1000
    END = 0x2000
    PAIR = 0x4000  # two literals, the second one's value above the first one's


cdef struct Code:
    int alphabet
    uint64_t mask  # of the bits that index the table
    uint16_t counts[MAX_LENGTH + 1]  # codes of each length
    uint16_t symbols[MOST_SYMBOLS]  # in the order of their codes
    uint32_t table[1 << TABLE_BITS]  # by the next bits; 0 where the code is longer, or is none


cdef struct Bits:
    const uint8_t* next  # of the stream, not in `held` yet
    const uint8_t* end
    uint64_t held  # the lowest bit comes first; bits above `count` are not to be trusted
    int count
    int lacking  # zero bytes taken from behind the end


# Bits.


cdef inline bint refill(Bits* bits) noexcept nogil:
    """Hold 56 bits or more; False where more were taken than there are."""
    if likely(bits.end - bits.next >= 8):
        bits.held |= load64(bits.next) << bits.count
        bits.next += (63 - bits.count) >> 3
        bits.count |= 56
        return True
    while bits.count < 56:
        if bits.next < bits.end:
            bits.held |= <uint64_t>bits.next[0] << bits.count
            bits.next += 1
        else:
            bits.lacking += 1
        bits.count += 8
    return bits.lacking <= 8


cdef inline uint32_t take(Bits* bits, int count) noexcept nogil:
    """The next bits, 0 to 16 of them."""
    cdef uint32_t value = bits.held & ((1 << count) - 1)
    bits.held >>= count
    bits.count -= count
    return value


cdef inline bint align(Bits* bits) noexcept nogil:
    """Go on at the next whole byte, with no bits held."""
    cdef int held = (bits.count >> 3) - bits.lacking
    if held < 0:
        return False
    bits.next -= held
    bits.held = 0
    bits.count = bits.lacking = 0
    return True


# Prefix codes.


cdef inline uint32_t next_entry(Bits* bits, const Code* code) noexcept nogil:
    """The entry of the code that comes next; 0 where there is no such code."""
    cdef uint32_t entry = code.table[bits.held & code.mask]
    if not likely(entry != 0):
        entry = find_entry(code, bits.held)
    bits.held >>= entry & 255
    bits.count -= entry & 255
    return entry


cdef inline uint32_t find_entry(const Code* code, uint64_t held) noexcept nogil:
    """As `next_entry`, by going through the lengths."""
    cdef int value = 0
    cdef int first = 0
    cdef int index = 0
    cdef int length
    for length in range(1, MAX_LENGTH + 1):
        value = value << 1 | <int>(held >> (length - 1) & 1)
        first <<= 1
        if value - first < code.counts[length]:
            return make_entry(code.alphabet, code.symbols[index + value - first], length)
        index += code.counts[length]
        first += code.counts[length]
    return 0


cdef inline uint32_t make_entry(int alphabet, uint32_t symbol, uint32_t length) noexcept nogil:
    """What a symbol means; 0 for one that means nothing."""
    cdef uint32_t extra
    if alphabet == CODE_LENGTHS:
        return symbol << 16 | LITERAL | length
    if alphabet == DISTANCES:
        if symbol >= MOST_DISTANCES:
            return 0
        if symbol < 4:
            return (symbol + 1) << 16 | length
        extra = (symbol >> 1) - 1
        return (((2 | symbol & 1) << extra) + 1) << 16 | extra << 8 | length
    if symbol < END_OF_BLOCK:
        return symbol << 16 | LITERAL | length
    if symbol == END_OF_BLOCK:
        return END | length
    if symbol >= MOST_LITERALS:
        return 0
    symbol -= END_OF_BLOCK + 1
    if symbol < 8:
        return (symbol + 3) << 16 | length
    if symbol == 28:
        return 258 << 16 | length
    extra = (symbol >> 2) - 1
    return (((4 | symbol & 3) << extra) + 3) << 16 | extra << 8 | length


cdef inline bint make_code(
    Code* code, int alphabet, int bits, const uint8_t* lengths, int size
) noexcept nogil:
    """The code that is given by the length of each symbol's, 0 for none; False if it is none."""
    cdef uint16_t places[MAX_LENGTH + 2]
    cdef int symbol, length
    cdef int room = 1
    code.alphabet, code.mask = alphabet, (1 << bits) - 1
    memset(code.counts, 0, sizeof(code.counts))
    for symbol in range(size):
        code.counts[lengths[symbol]] += 1
    cdef int used = size - code.counts[0]
    code.counts[0] = 0
    places[1] = 0
    for length in range(1, MAX_LENGTH + 1):
        room = 2 * room - code.counts[length]
        if room < 0:
            return False
        places[length + 1] = places[length] + code.counts[length]
    # Incomplete, but for no code at all or a single one of one bit.
    if room and (used != code.counts[1] or alphabet == CODE_LENGTHS):
        return False
    for symbol in range(size):
        if lengths[symbol]:
            code.symbols[places[lengths[symbol]]] = symbol
            places[lengths[symbol]] += 1
    fill_table(code, bits)
    return True


cdef inline void fill_table(Code* code, int bits) noexcept nogil:
    """Length after length: each doubles the table, then replaces its share of what is no code."""
    cdef int length, i
    cdef int index = 0
    cdef uint32_t size = 1
    cdef uint32_t free, top
    cdef uint32_t place = 0  # the code, its first bit lowest, as bits are held
    code.table[0] = 0
    for length in range(1, bits + 1):
        memcpy(code.table + size, code.table, size * sizeof(uint32_t))
        size *= 2
        for i in range(code.counts[length]):
            code.table[place] = make_entry(code.alphabet, code.symbols[index], length)
            index += 1
            free = ~place & (size - 1)
            if free:  # else this was the last code
                top = 1 << (63 - clz64(free))
                place = place & (top - 1) | top


cdef inline void pair_literals(Code* code) noexcept nogil:
    """Look up two literals at once, where both codes fit the table."""
    cdef int place
    cdef uint32_t first, second, length
    for place in range(<int>code.mask, -1, -1):  # downwards: what follows is still single
        first = code.table[place]
        second = code.table[place >> (first & 255)]
        length = (first & 255) + (second & 255)
        if first & second & LITERAL and length <= TABLE_BITS:
            code.table[place] = (
                (second >> 16) << 24 | (first & 0xFF0000) | PAIR | LITERAL | length
            )
