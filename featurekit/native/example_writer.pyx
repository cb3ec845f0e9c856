"""Arrays to an Example, compiled: keys sorted, numbers packed, the same bytes every time.

Callers see it through `featurekit.io.columns_native`, which gives what is refused here to
protobuf's implementation: types other than the usual ones, keys that are not UTF-8, and
messages too long for protobuf.

Source: the protobuf encoding guide.
"""

cimport numpy as cnp
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc

from featurekit.native.fields cimport (
    LONGEST_MESSAGE,
    TAG_1,
    TAG_2,
    begin_field,
    field_size,
    write_field,
)
from featurekit.native.sinks cimport BYTES, FLOAT, INT64, NO_KIND
from featurekit.native.varints cimport write_varint
from featurekit.native.wire cimport MAX_VARINT

cnp.import_array()

def write_example(features):
    """The serialized Example, or None where protobuf's implementation shall decide."""
    cdef list entries = []
    cdef _Entry entry
    cdef size_t size = 0
    try:
        keys = sorted(features)
    except TypeError:
        return None
    for key in keys:
        entry = _entry(key, features[key])
        if entry is None:
            return None
        entries.append(entry)
        size += field_size(entry.size)
    if field_size(size) > LONGEST_MESSAGE:
        return None
    if not entries:
        return b""
    message = PyBytes_FromStringAndSize(NULL, field_size(size))
    cdef uint8_t* p = begin_field(<uint8_t*>PyBytes_AS_STRING(message), TAG_1, size)
    for entry in entries:
        p = entry.write(p)
    return message


cdef class _Entry:
    """One map entry, its sizes worked out."""

    cdef bytes key
    cdef int kind
    cdef tuple texts  # of BYTES
    cdef object array  # of FLOAT: keeps `numbers` alive
    cdef const uint8_t* numbers  # packed, of FLOAT and INT64
    cdef uint8_t* encoded  # where `numbers` is our own memory
    cdef size_t numbers_size
    # Sizes of the messages, without the tag and length around them:
    cdef size_t list_size
    cdef size_t feature_size
    cdef size_t size

    def __dealloc__(self):
        free(self.encoded)

    cdef void measure(self) noexcept:
        if self.kind != BYTES and self.numbers_size:
            self.list_size = field_size(self.numbers_size)
        if self.kind != NO_KIND:
            self.feature_size = field_size(self.list_size)
        self.size = field_size(len(self.key)) + field_size(self.feature_size)

    cdef uint8_t* write(self, uint8_t* p) noexcept:
        p = begin_field(p, TAG_1, self.size)
        p = write_field(p, TAG_1, <const uint8_t*>PyBytes_AS_STRING(self.key), len(self.key))
        p = begin_field(p, TAG_2, self.feature_size)
        if self.kind == NO_KIND:
            return p
        p = begin_field(p, self.kind << 3 | 2, self.list_size)
        if self.kind == BYTES:
            for text in self.texts:
                p = write_field(
                    p, TAG_1, <const uint8_t*>PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text)
                )
        elif self.numbers_size:
            p = write_field(p, TAG_1, self.numbers, self.numbers_size)
        return p


cdef _Entry _entry(key, values):
    """The entry, or None where the key or the values are not of the usual types."""
    cdef _Entry entry = _Entry.__new__(_Entry)
    if type(key) is not str:
        return None
    try:
        entry.key = (<str>key).encode()
    except UnicodeEncodeError:
        return None
    if values is not None and not (
        _take_array(entry, values)
        if cnp.PyArray_CheckExact(values)
        else type(values) in (list, tuple) and _take_texts(entry, tuple(values))
    ):
        return None
    entry.measure()
    return entry


cdef bint _take_array(_Entry entry, cnp.ndarray array) except -1:
    cdef int dtype = cnp.PyArray_TYPE(array)
    if dtype == cnp.NPY_OBJECT:
        return _take_texts(entry, tuple(array.reshape(-1).tolist()))
    if dtype != cnp.NPY_INT64 and dtype != cnp.NPY_FLOAT32 or not cnp.PyArray_ISNOTSWAPPED(array):
        return False
    array = cnp.PyArray_GETCONTIGUOUS(array)
    if dtype == cnp.NPY_FLOAT32:
        entry.kind = FLOAT
        entry.array = array
        entry.numbers = <const uint8_t*>cnp.PyArray_DATA(array)
        entry.numbers_size = cnp.PyArray_NBYTES(array)
        return True
    entry.kind = INT64
    return _encode(entry, <const int64_t*>cnp.PyArray_DATA(array), cnp.PyArray_SIZE(array))


cdef bint _encode(_Entry entry, const int64_t* values, size_t count) except -1:
    cdef size_t i
    cdef uint8_t* p
    if count > LONGEST_MESSAGE:
        return False
    p = <uint8_t*>malloc(max(count, 1) * MAX_VARINT)
    if p == NULL:
        raise MemoryError
    entry.encoded = p
    entry.numbers = p
    for i in range(count):
        p = write_varint(p, <uint64_t>values[i])
    entry.numbers_size = p - entry.encoded
    return True


cdef bint _take_texts(_Entry entry, tuple texts) except -1:
    entry.kind = BYTES
    entry.texts = texts
    for text in texts:
        if type(text) is not bytes:
            return False
        entry.list_size += field_size(PyBytes_GET_SIZE(text))
    return True
