"""Where the values of one feature go: arrays that grow as records are read.

They are plain C memory, so that they can grow without the GIL, and become NumPy's own
when all records are read. No length in the input is believed: an array grows to what
the values so far took, projected onto the bytes that are still to come.
"""

from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport realloc

cdef extern from *:
    """
    #include <stdint.h>
    #include <sys/mman.h>
    /* Getting fresh memory can cost more than filling it; huge pages halve that. */
    static inline void fk_advise_huge(void *data, size_t size) {
    #ifdef MADV_HUGEPAGE
        uintptr_t first = ((uintptr_t)data + 4095) & ~(uintptr_t)4095;
        uintptr_t last = ((uintptr_t)data + size) & ~(uintptr_t)4095;
        if (size >= (size_t)1 << 22) {
            (void)madvise((void *)first, last - first, MADV_HUGEPAGE);
        }
    #else
        (void)data;
        (void)size;
    #endif
    }
    """
    void advise_huge "fk_advise_huge"(void* data, size_t size) noexcept nogil


cdef enum:  # featurekit.io.columns.Kind
    NO_KIND = 0
    BYTES = 1
    FLOAT = 2
    INT64 = 3


cdef struct Span:
    const uint8_t* data
    size_t size


cdef struct Progress:  # in a batch
    size_t total  # bytes of all records
    size_t seen  # bytes of the records up to and with the current one
    bint no_memory


cdef struct Growing:
    char* data
    size_t width  # bytes of an item
    size_t used  # items
    size_t room  # items
    size_t start  # `used` where the current record began


cdef struct Sink:
    Progress* progress
    Span key
    int wanted  # kind of the values to keep; NO_KIND keeps none
    size_t expected  # values in the whole batch, as far as the caller knows; else 0
    Growing values
    bint is_list  # a feature list, else a feature
    Growing step_counts  # for feature lists: values of each step, -1 for no kind
    int64_t* counts  # for each record: values, or steps of a feature list; -1 for none
    # The state of the current record:
    int kind  # set in the current Feature
    size_t feature_start  # `values.used` where the current Feature began
    bint present  # the feature list is
    bint wrong  # a step has another kind than wanted


cdef inline bint reserve(
    Progress* progress, Growing* items, size_t more, size_t expected
) noexcept nogil:
    """Make room for `more` items; False where memory ends."""
    cdef size_t need = items.used + more
    cdef size_t room
    cdef void* data
    if need <= items.room:
        return True
    if expected and not items.room:
        room = min(expected, progress.total)  # no item takes less than a byte
    else:
        room = <size_t>(1.03 * need * progress.total / progress.seen)
        room = max(room, items.room + items.room // 2)
    room = max(room, need)
    data = realloc(items.data, room * items.width)
    if data == NULL:
        progress.no_memory = True
        return False
    advise_huge(data, room * items.width)
    items.data = <char*>data
    items.room = room
    return True


cdef inline bint reserve_values(Sink* sink, size_t more) noexcept nogil:
    return reserve(sink.progress, &sink.values, more, sink.expected)


cdef inline void begin_entry(Sink* sink) noexcept nogil:
    """Forget what an earlier map entry of the same key gave."""
    sink.values.used = sink.feature_start = sink.values.start
    sink.step_counts.used = sink.step_counts.start
    sink.kind = NO_KIND
    sink.present = True
    sink.wrong = False


cdef inline bint end_step(Sink* sink) noexcept nogil:
    if sink.wanted != NO_KIND:
        if not reserve(sink.progress, &sink.step_counts, 1, 0):
            return False
        (<int64_t*>sink.step_counts.data)[sink.step_counts.used] = (
            <int64_t>(sink.values.used - sink.feature_start) if sink.kind != NO_KIND else -1
        )
        sink.step_counts.used += 1
    sink.wrong |= sink.kind != NO_KIND and sink.kind != sink.wanted
    sink.feature_start = sink.values.used
    sink.kind = NO_KIND
    return True


cdef inline bint end_record(Sink* sink, size_t record) noexcept nogil:
    """Note the record's count; False where a kind was not the one wanted."""
    cdef int64_t count = -1
    if sink.is_list:
        if sink.present:
            count = <int64_t>(sink.step_counts.used - sink.step_counts.start)
        sink.step_counts.start = sink.step_counts.used
    elif sink.kind != NO_KIND:
        count = <int64_t>(sink.values.used - sink.values.start)
        sink.wrong = sink.kind != sink.wanted
    if sink.wrong:
        return False
    sink.counts[record] = count
    sink.values.start = sink.feature_start = sink.values.used
    sink.kind = NO_KIND
    sink.present = False
    return True
