"""The rows of a PNG file: their filters, undone and applied.

A filter replaces bytes by their difference from a prediction, made from the bytes `step`
(the bytes of a pixel) to the left (a), above (b), and above to the left (c); outside the
picture there are zeros.

Source: ISO/IEC 15948 (PNG, third edition), clause 9.
"""

from libc.stdint cimport uint8_t, uint64_t
from libc.stdlib cimport abs
from libc.string cimport memcpy

cdef enum:  # filters
    NONE = 0
    SUB = 1
    UP = 2
    AVERAGE = 3
    PAETH = 4


cdef inline uint8_t paeth(int a, int b, int c) noexcept nogil:
    """The one of the three that is nearest to a + b - c; the first where there is a tie.

    Without branches, which nobody could predict.
    """
    cdef int to_a = abs(b - c)
    cdef int to_b = abs(a - c)
    cdef int to_c = abs(a + b - 2 * c)
    cdef int b_or_c = c ^ ((b ^ c) & -<int>(to_b <= to_c))
    cdef int is_a = <int>(to_a <= to_b) & <int>(to_a <= to_c)
    return <uint8_t>(b_or_c ^ ((a ^ b_or_c) & -is_a))


cdef inline bint unfilter_rows(uint8_t* rows, size_t height, size_t size, int step) noexcept nogil:
    """Undo the filters in place; False where one does not exist.

    Every row has its filter's number in front of its `size` bytes, which are one or more
    pixels. Before the first row there is one of zeros, with no number.
    """
    cdef uint8_t* row = rows
    cdef const uint8_t* above = rows - size
    cdef size_t y
    for y in range(height):
        row += 1
        if not unfilter_row(row[-1], row, above, size, step):
            return False
        above = row
        row += size
    return True


cdef inline bint unfilter_row(
    int kind, uint8_t* row, const uint8_t* above, size_t size, int step
) noexcept nogil:
    cdef size_t i
    if kind == UP:
        for i in range(size):
            row[i] += above[i]
    elif kind == SUB or kind == AVERAGE or kind == PAETH:
        # Constant steps, which the compiler makes loops without counting of.
        if step == 1:
            unfilter_pixels(kind, row, above, size, 1)
        elif step == 2:
            unfilter_pixels(kind, row, above, size, 2)
        elif step == 3:
            unfilter_pixels(kind, row, above, size, 3)
        elif step == 4:
            unfilter_pixels(kind, row, above, size, 4)
        else:
            unfilter_pixels(kind, row, above, size, step)
    return kind <= PAETH


cdef inline void unfilter_pixels(
    int kind, uint8_t* row, const uint8_t* above, size_t size, int step
) noexcept nogil:
    """The filters whose predictions are made of pixels just found."""
    cdef const uint8_t* end = row + size
    cdef uint8_t a[8]
    cdef uint8_t b, c
    cdef int k
    for k in range(step):
        # With zeros for a and c, the prediction of AVERAGE is b / 2, and that of PAETH b.
        if kind == AVERAGE:
            row[k] += above[k] >> 1
        elif kind == PAETH:
            row[k] += above[k]
        a[k] = row[k]
    row += step
    while row < end:
        for k in range(step):
            b, c = above[k + step], above[k]
            if kind == SUB:
                a[k] += row[k]
            elif kind == AVERAGE:
                a[k] = <uint8_t>(row[k] + ((a[k] + b) >> 1))
            else:
                a[k] = <uint8_t>(row[k] + paeth(a[k], b, c))
            row[k] = a[k]
        row += step
        above += step


cdef inline void filter_rows(
    const uint8_t* rows, size_t height, size_t size, int step, uint8_t* out, uint8_t* scratch
) noexcept nogil:
    """Filter every row as leaves the smallest differences, the first where there is a tie.

    Args:
        rows: `height` rows of `size` bytes, one or more pixels each.
        out: Has room for them with the filter's number in front of each.
        scratch: `6 * size` bytes, of which the first `size` are 0.
    """
    cdef const uint8_t* above = scratch
    cdef uint8_t* filtered = scratch + size
    cdef uint64_t cost, least
    cdef size_t y
    cdef int kind, best
    for y in range(height):
        filter_row(rows, above, size, step, filtered)
        best, least = NONE, 0
        for kind in range(PAETH + 1):
            cost = cost_of(filtered + kind * size, size)
            if kind == NONE or cost < least:
                best, least = kind, cost
        out[0] = best
        memcpy(out + 1, filtered + best * size, size)
        out += 1 + size
        above = rows
        rows += size


cdef inline void filter_row(
    const uint8_t* row, const uint8_t* above, size_t size, int step, uint8_t* out
) noexcept nogil:
    """One row by all filters, one after another."""
    cdef uint8_t* sub = out + size
    cdef uint8_t* up = sub + size
    cdef uint8_t* average = up + size
    cdef uint8_t* by_paeth = average + size
    cdef size_t first = step
    cdef size_t i
    memcpy(out, row, size)
    for i in range(size):
        up[i] = row[i] - above[i]
    for i in range(first):
        sub[i] = row[i]
        average[i] = row[i] - (above[i] >> 1)
        by_paeth[i] = row[i] - above[i]
    for i in range(first, size):
        sub[i] = row[i] - row[i - first]
    for i in range(first, size):
        average[i] = row[i] - <uint8_t>((row[i - first] + above[i]) >> 1)
    for i in range(first, size):
        by_paeth[i] = row[i] - paeth(row[i - first], above[i], above[i - first])


cdef inline uint64_t cost_of(const uint8_t* p, size_t size) noexcept nogil:
    """The sum of the differences without their signs."""
    cdef uint64_t sum_ = 0
    cdef size_t i
    for i in range(size):
        sum_ += min(p[i], <uint8_t>-p[i])
    return sum_
