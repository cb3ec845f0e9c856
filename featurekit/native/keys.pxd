"""The features asked for, found by key.

Records of one file list their features in the same order nearly always. So the first
guess is what stood at this place in the record before; else a hash table answers.
"""

from libc.stdint cimport int32_t, uint8_t, uint64_t
from libc.string cimport memcmp

from featurekit.native.sinks cimport Growing, Sink, Span, reserve
from featurekit.native.wire cimport load64


cdef struct Index:  # hash table of keys: buckets hold numbers of sinks, -1 where empty
    int32_t* buckets
    size_t mask


cdef struct Found:  # a map entry
    Span key
    int kind


cdef struct Table:
    Index index
    Sink* sinks
    size_t size
    Sink ignored  # for keys that nobody asked for
    int32_t* guesses  # sink that the map entry at this place went to last; -1 for ignored
    size_t num_guesses
    size_t place  # of the next map entry in the current record
    bint listing  # note every entry in `found`
    Growing found


cdef inline uint64_t hash_key(const uint8_t* p, size_t size) noexcept nogil:
    cdef uint64_t state = size
    while size >= 8:
        state = (state ^ load64(p)) * 0x9E3779B97F4A7C15ULL
        state ^= state >> 32
        p += 8
        size -= 8
    while size:
        state = (state ^ p[0]) * 0x9E3779B97F4A7C15ULL
        p += 1
        size -= 1
    return state ^ state >> 29


cdef inline bint same_key(const Span* a, const Span* b) noexcept nogil:
    return a.size == b.size and memcmp(a.data, b.data, a.size) == 0


cdef inline Sink* find(Table* table, const Span* key) noexcept nogil:
    """The sink of that key, or the one that keeps nothing."""
    cdef size_t place = table.place
    cdef size_t bucket
    cdef int32_t number
    table.place += 1
    if place < table.num_guesses:
        number = table.guesses[place]
        if number >= 0 and same_key(&table.sinks[number].key, key):
            return &table.sinks[number]
    bucket = hash_key(key.data, key.size) & table.index.mask
    number = table.index.buckets[bucket]
    while number >= 0 and not same_key(&table.sinks[number].key, key):
        bucket = (bucket + 1) & table.index.mask
        number = table.index.buckets[bucket]
    if place < table.num_guesses:
        table.guesses[place] = number
    return &table.sinks[number] if number >= 0 else &table.ignored


cdef inline bint note_entry(Table* table, const Span* key, int kind) noexcept nogil:
    cdef Found* found
    if not reserve(table.ignored.progress, &table.found, 1, 0):
        return False
    found = <Found*>table.found.data + table.found.used
    found.key = key[0]
    found.kind = kind
    table.found.used += 1
    return True
