"""One pass over an Example or SequenceExample, which puts its values into sinks.

Every function takes the bytes `[p, end)` of one message and says whether they are that
message. Merging is protobuf's: lists of one kind are joined, another kind of the oneof
replaces what was there, the last map entry of a key wins. What nobody asked for is
checked all the same, so that the verdict does not depend on the columns asked for.
"""

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

from featurekit.native.keys cimport Table, find, note_entry
from featurekit.native.sinks cimport (
    BYTES,
    FLOAT,
    INT64,
    Sink,
    Span,
    begin_entry,
    end_step,
    reserve_values,
)
from featurekit.native.varints cimport are_varints, count_varints, decode_varints
from featurekit.native.wire cimport DELIMITED, Field, is_utf8, read_field

cdef enum:  # tags: field number << 3 | wire type
    TAG_1_VARINT = 8
    TAG_1 = 10
    TAG_1_FIXED32 = 13
    TAG_2 = 18


cdef inline bint keep_bytes(Sink* sink, const uint8_t* p, size_t size) noexcept nogil:
    cdef Span* span
    if sink.wanted != BYTES:
        return True
    if not reserve_values(sink, 1):
        return False
    span = <Span*>sink.values.data + sink.values.used
    span.data = p
    span.size = size
    sink.values.used += 1
    return True


cdef inline bint keep_floats(Sink* sink, const uint8_t* p, size_t size) noexcept nogil:
    if size % 4:
        return False
    if sink.wanted != FLOAT or size == 0:
        return True
    if not reserve_values(sink, size // 4):
        return False
    memcpy(sink.values.data + 4 * sink.values.used, p, size)
    sink.values.used += size // 4
    return True


cdef inline bint keep_int64s(Sink* sink, const uint8_t* p, size_t size) noexcept nogil:
    """From varints one after another."""
    cdef const uint8_t* end = p + size
    cdef int64_t* out
    cdef size_t count = 0
    if sink.wanted != INT64:
        return are_varints(p, end)
    if sink.values.room - sink.values.used < size:
        if not reserve_values(sink, count_varints(p, end)):
            return False
    out = <int64_t*>sink.values.data + sink.values.used
    p = decode_varints(p, end, out, sink.values.room - sink.values.used, &count)
    sink.values.used += count
    return p == end


cdef inline bint read_list(
    Sink* sink, int kind, const uint8_t* p, const uint8_t* end
) noexcept nogil:
    """A BytesList, FloatList or Int64List; numbers packed or one by one."""
    cdef Field field
    while p < end:
        p = read_field(p, end, &field)
        if p == NULL:
            return False
        if kind == BYTES:
            if field.tag == TAG_1 and not keep_bytes(sink, field.data, field.size):
                return False
        elif kind == FLOAT:
            if field.tag == TAG_1 or field.tag == TAG_1_FIXED32:
                if not keep_floats(sink, field.data, field.size):
                    return False
        elif field.tag == TAG_1 or field.tag == TAG_1_VARINT:
            if not keep_int64s(sink, field.data, field.size):
                return False
    return True


cdef inline bint read_feature(Sink* sink, const uint8_t* p, const uint8_t* end) noexcept nogil:
    cdef Field field
    cdef int kind
    while p < end:
        p = read_field(p, end, &field)
        if p == NULL:
            return False
        kind = field.tag >> 3
        if field.tag & 7 != DELIMITED or not BYTES <= kind <= INT64:
            continue
        if kind != sink.kind:
            sink.kind = kind
            sink.values.used = sink.feature_start
        if not read_list(sink, kind, field.data, p):
            return False
    return True


cdef inline bint read_steps(Sink* sink, const uint8_t* p, const uint8_t* end) noexcept nogil:
    """A FeatureList: one Feature a step."""
    cdef Field field
    while p < end:
        p = read_field(p, end, &field)
        if p == NULL:
            return False
        if field.tag == TAG_1:
            if not read_feature(sink, field.data, p) or not end_step(sink):
                return False
    return True


cdef inline bint read_entry(
    Table* table, bint steps, const uint8_t* p, const uint8_t* end
) noexcept nogil:
    """One key and its Feature or FeatureList, in any order, each perhaps repeated."""
    cdef const uint8_t* begin = p
    cdef Field field
    cdef Span key = Span(p, 0)
    cdef Sink* sink
    while p < end:
        p = read_field(p, end, &field)
        if p == NULL:
            return False
        if field.tag == TAG_1:
            key = Span(field.data, field.size)
            if not is_utf8(field.data, p):
                return False
        elif field.tag != TAG_2:
            return False  # protobuf sets an entry with unknown fields aside: leave it to it
    sink = find(table, &key)
    begin_entry(sink)
    p = begin
    while p < end:
        p = read_field(p, end, &field)
        if p == NULL:
            return False
        if field.tag == TAG_2:
            if steps:
                if not read_steps(sink, field.data, p):
                    return False
            elif not read_feature(sink, field.data, p):
                return False
    return note_entry(table, &key, sink.kind) if table.listing else True


cdef inline bint read_map(
    Table* table, bint steps, const uint8_t* p, const uint8_t* end
) noexcept nogil:
    """A Features or FeatureLists message."""
    cdef Field field
    while p < end:
        p = read_field(p, end, &field)
        if p == NULL:
            return False
        if field.tag == TAG_1 and not read_entry(table, steps, field.data, p):
            return False
    return True


cdef inline bint read_message(
    Table* features, Table* lists, const uint8_t* p, const uint8_t* end
) noexcept nogil:
    """An Example, or with `lists` a SequenceExample."""
    cdef Field field
    features.place = 0
    if lists != NULL:
        lists.place = 0
    while p < end:
        p = read_field(p, end, &field)
        if p == NULL:
            return False
        if field.tag == TAG_1:
            if not read_map(features, False, field.data, p):
                return False
        elif field.tag == TAG_2 and lists != NULL:
            if not read_map(lists, True, field.data, p):
                return False
    return True
