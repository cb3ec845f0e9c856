"""TFRecord framing and CRC-32C, compiled.

Callers see it through `featurekit.io.crc32c`, `featurekit.io.framing` and
`featurekit.io.index`, which do the same in Python where this was not built.

A record is its payload's length (uint64, little endian), the masked checksum of these 8
bytes (uint32), the payload, and the masked checksum of the payload.
"""

cimport numpy as cnp
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport UINT32_MAX, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from featurekit.native.sinks cimport Growing, Progress, Span, reserve
from featurekit.native.wire cimport load64

cdef extern from "crc32c.h" nogil:
    void prepare "fk_crc_prepare"() noexcept
    uint32_t extend "fk_crc32c"(uint32_t value, const uint8_t* p, size_t size) noexcept
    uint32_t extend_by_table "fk_crc_by_table"(uint32_t crc, const uint8_t* p, size_t s) noexcept

cdef enum:
    HEADER = 12
    FOOTER = 4
    # Why a pass ends:
    CUT_HEADER = 0
    CUT_RECORD = 1
    BAD_LENGTH = 2
    BAD_PAYLOAD = 3
    NO_MEMORY = 4

prepare()
cnp.import_array()


def crc32c(data, uint32_t value=0):
    """The CRC-32C of what `value` is the CRC-32C of, followed by `data`."""
    cdef _Buffer buffer = _Buffer(data)
    return extend(value, <const uint8_t*>buffer.view.buf, buffer.view.len)


def crc32c_by_table(data):
    """The CRC-32C of `data`, without the processor's instruction for it."""
    cdef _Buffer buffer = _Buffer(data)
    return <uint32_t>~extend_by_table(UINT32_MAX, <const uint8_t*>buffer.view.buf, buffer.view.len)


def masked_crc32c(data):
    """The masked CRC-32C of `data`, as TFRecord files store it."""
    cdef _Buffer buffer = _Buffer(data)
    return masked(<const uint8_t*>buffer.view.buf, buffer.view.len)


def frame(bytes payload not None):
    """The bytes of one record."""
    cdef uint64_t size = len(payload)
    cdef const uint8_t* data = <const uint8_t*>PyBytes_AS_STRING(payload)
    record = PyBytes_FromStringAndSize(NULL, HEADER + size + FOOTER)
    cdef uint8_t* p = <uint8_t*>PyBytes_AS_STRING(record)
    memcpy(p, &size, 8)
    cdef uint32_t crc = masked(p, 8)
    memcpy(p + 8, &crc, 4)
    memcpy(p + HEADER, data, size)
    crc = masked(data, size)
    memcpy(p + HEADER + size, &crc, 4)
    return record


def read_block(data, size_t start, bint check_crc):
    """What `featurekit.io.framing.read_block` gives, as a tuple; the fault by its value."""
    cdef _Scan scan = _Scan(data, start, check_crc)
    cdef size_t number
    cdef Span* found
    scan.run(scan.view.len - start, True)
    found = <Span*>scan.found.data
    payloads = [
        PyBytes_FromStringAndSize(<const char*>found[number].data, found[number].size)
        for number in range(scan.found.used)
    ]
    return payloads, scan.position - start, scan.needed, scan.fault


def scan_records(data, size_t start, size_t limit, bint check_crc, bint payloads):
    """What `featurekit.io.framing.scan_records` gives, as a tuple; the fault by its value."""
    cdef _Scan scan = _Scan(data, start, check_crc)
    if payloads:
        limit = min(limit, scan.view.len - start)
    scan.run(limit, payloads)
    return scan.lengths(), scan.position - start, scan.needed, scan.fault


cdef class _Scan:
    """A pass over the records in a buffer."""

    cdef Py_buffer view
    cdef size_t start
    cdef size_t position  # of the first record that was not found good
    cdef bint check_crc
    cdef object needed  # bytes that this record takes, as far as known
    cdef object fault  # what is wrong with it: "length", "payload", or None
    cdef Growing found  # Spans of the payloads before it
    cdef Progress progress

    def __cinit__(self, data, size_t start, bint check_crc):
        PyObject_GetBuffer(data, &self.view, PyBUF_SIMPLE)
        if start > <size_t>self.view.len:
            raise IndexError(f"start {start} is behind the end of {self.view.len} bytes")
        self.start = self.position = start
        self.check_crc = check_crc
        self.found.width = sizeof(Span)
        self.progress.total = self.view.len - start

    def __dealloc__(self):
        PyBuffer_Release(&self.view)
        free(self.found.data)

    cdef int run(self, size_t limit, bint payloads) except -1:
        cdef uint64_t length = 0
        cdef int end
        with nogil:
            end = self.walk(limit, payloads, &length)
        if end == NO_MEMORY:
            raise MemoryError
        self.needed = HEADER
        if end == CUT_RECORD or end == BAD_PAYLOAD:
            self.needed = HEADER + FOOTER + <object>length
        self.fault = {BAD_LENGTH: "length", BAD_PAYLOAD: "payload"}.get(end)
        return 0

    cdef int walk(self, size_t limit, bint payloads, uint64_t* length) noexcept nogil:
        """Collect good records; says why there are no more, and the last length read."""
        cdef const uint8_t* p
        cdef Span* span
        while self.position <= <size_t>self.view.len - HEADER and self.view.len >= HEADER:
            p = <const uint8_t*>self.view.buf + self.position
            if self.check_crc and masked(p, 8) != load32(p + 8):
                return BAD_LENGTH
            length[0] = load64(p)
            if not fits(length[0], limit - (self.position - self.start)):
                return CUT_RECORD
            p += HEADER
            if payloads and self.check_crc and masked(p, length[0]) != load32(p + length[0]):
                return BAD_PAYLOAD
            self.progress.seen = self.position - self.start + HEADER
            if not reserve(&self.progress, &self.found, 1, 0):
                return NO_MEMORY
            span = <Span*>self.found.data + self.found.used
            span.data = p
            span.size = length[0]
            self.found.used += 1
            self.position += HEADER + length[0] + FOOTER
        return CUT_HEADER

    cdef object lengths(self):
        cdef cnp.npy_intp count = self.found.used
        cdef cnp.npy_intp i
        lengths = cnp.PyArray_SimpleNew(1, &count, cnp.NPY_INT64)
        cdef int64_t* out = <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>lengths)
        for i in range(count):
            out[i] = <int64_t>(<Span*>self.found.data)[i].size
        return lengths


cdef class _Buffer:
    """Bytes of somebody else, held as long as this lives."""

    cdef Py_buffer view

    def __cinit__(self, data):
        PyObject_GetBuffer(data, &self.view, PyBUF_SIMPLE)

    def __dealloc__(self):
        PyBuffer_Release(&self.view)


cdef inline bint fits(uint64_t length, size_t room) noexcept nogil:
    """Whether a record with such a payload takes no more than `room` bytes."""
    return room >= HEADER + FOOTER and length <= room - HEADER - FOOTER


cdef inline uint32_t masked(const uint8_t* p, size_t size) noexcept nogil:
    """Rotated, and a constant added: checksums of data with checksums in it stay useful."""
    cdef uint32_t crc = extend(0, p, size)
    return (crc >> 15 | crc << 17) + <uint32_t>0xA282EAD8


cdef inline uint32_t load32(const uint8_t* p) noexcept nogil:
    cdef uint32_t word
    memcpy(&word, p, 4)
    return word
