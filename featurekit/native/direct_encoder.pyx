"""Dicts of numbers, text and arrays to Examples in one step: checked, converted and written.

It takes what most tables consist of: Python and NumPy numbers, text, and arrays
of exactly the declared dtype. What else there may be, and all that is wrong, is left to
`encode_example` of the connectors: then the answer is None.

Source: the protobuf encoding guide.
"""

cimport numpy as cnp
from cpython.bytes cimport (
    PyBytes_AS_STRING,
    PyBytes_CheckExact,
    PyBytes_FromStringAndSize,
    PyBytes_GET_SIZE,
)
from cpython.dict cimport PyDict_CheckExact, PyDict_GetItem
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.long cimport PyLong_CheckExact
from cpython.number cimport PyNumber_Index
from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_CheckExact
from libc.math cimport isinf
from libc.stdint cimport (
    int8_t,
    int16_t,
    int32_t,
    int64_t,
    uint8_t,
    uint16_t,
    uint32_t,
    uint64_t,
)
from libc.string cimport memcpy

from featurekit.native.fields cimport (
    LONGEST_MESSAGE,
    TAG_1,
    TAG_2,
    begin_field,
    field_size,
    write_field,
)
from featurekit.native.sinks cimport BYTES, FLOAT, INT64
from featurekit.native.varints cimport varint_size, write_varint

import numpy as np

cnp.import_array()

cdef type _NUMPY_INTEGER = np.integer
cdef type _NUMPY_FLOAT32 = np.float32
cdef type _NUMPY_FLOAT64 = np.float64

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL
    long long PyLong_AsLongLongAndOverflow(object number, int* overflow) except? -1


cdef struct Value:  # of one feature of one example
    int64_t number  # an int
    float real
    const uint8_t* data  # of text or an array
    size_t count  # bytes of text, items of an array
    # Sizes of the messages, without the tag and length around them:
    size_t packed
    size_t list_size
    size_t feature_size
    size_t size


cdef enum:
    MOST_FEATURES = 64  # as many as memory on the stack shall hold


cdef class DirectEncoder:
    """Encodes dicts that have exactly the given features.

    Args:
        specs: For each feature its name, the kind of its list, NumPy's number of its dtype,
            its shape (-1 for a size that varies; None for a scalar), and the least and the
            greatest integer that it takes.
    """

    cdef list specs
    cdef list fields

    def __init__(self, specs):
        self.specs = sorted(specs, key=lambda spec: spec[0].encode())
        self.fields = [_Field(*spec) for spec in self.specs]

    def __reduce__(self):
        return DirectEncoder, (self.specs,)

    def encode(self, example):
        """The bytes of an Example, or None where the rules of the connectors must decide."""
        cdef Value values[MOST_FEATURES]
        cdef Py_ssize_t count = len(self.fields), i
        cdef size_t size = 0
        cdef _Field field
        if not PyDict_CheckExact(example) or len(<dict>example) != count or count > MOST_FEATURES:
            return None
        # A reference to each value, since looking one up may run code that drops another.
        cdef list found = []
        for i in range(count):
            field = <_Field>self.fields[i]
            item = PyDict_GetItem(example, field.name)
            if item == NULL:
                return None
            found.append(<object>item)
        for i in range(count):
            field = <_Field>self.fields[i]
            if not field.measure(found[i], &values[i]):
                return None
            size += field_size(values[i].size)
        if field_size(size) > LONGEST_MESSAGE:
            return None
        message = PyBytes_FromStringAndSize(NULL, field_size(size))
        cdef uint8_t* p = begin_field(<uint8_t*>PyBytes_AS_STRING(message), TAG_1, size)
        for i in range(count):
            p = (<_Field>self.fields[i]).write(p, &values[i])
        return message


cdef class _Field:
    """One feature: what it takes, and how that is written."""

    cdef str name
    cdef bytes key
    cdef int kind  # of the list
    cdef int dtype  # NumPy's number
    cdef tuple shape  # None for a scalar
    cdef int64_t low
    cdef int64_t high

    def __init__(self, str name, int kind, int dtype, tuple shape, low, high):
        self.name = name
        self.key = name.encode()
        self.kind = kind
        self.dtype = dtype
        self.shape = shape
        self.low = low
        self.high = high

    cdef bint measure(self, object item, Value* value) except -1:
        """Take a value, and work its sizes out; False where it is none for the kernel."""
        value.packed = 0
        if self.shape is not None:
            if not self.take_array(item, value):
                return False
        elif self.kind == INT64:
            if not self.take_int(item, value):
                return False
            value.packed = varint_size(<uint64_t>value.number)
        elif self.kind == FLOAT:
            if not self.take_float(item, value):
                return False
            value.packed = 4
        elif not self.take_text(item, value):
            return False
        if self.kind == BYTES:
            value.list_size = field_size(value.count)
        else:
            value.list_size = field_size(value.packed) if value.packed else 0
        value.feature_size = field_size(value.list_size)
        value.size = field_size(PyBytes_GET_SIZE(self.key)) + field_size(value.feature_size)
        return True

    cdef bint take_int(self, object item, Value* value) except -1:
        cdef int overflow
        if item is True or item is False:
            value.number = item is True
            return self.dtype == cnp.NPY_BOOL
        if not PyLong_CheckExact(item):
            if not isinstance(item, _NUMPY_INTEGER):
                return False
            try:
                item = PyNumber_Index(item)
            except TypeError:  # a timedelta64, which NumPy counts among its integers
                return False
        value.number = PyLong_AsLongLongAndOverflow(item, &overflow)
        return overflow == 0 and self.low <= value.number <= self.high

    cdef bint take_float(self, object item, Value* value) except -1:
        cdef double number
        if PyFloat_CheckExact(item) or type(item) is _NUMPY_FLOAT64:
            number = PyFloat_AS_DOUBLE(item)
        elif type(item) is _NUMPY_FLOAT32:
            number = item
        else:
            return False
        value.real = <float>number
        return not isinf(value.real) or isinf(number)

    cdef bint take_text(self, object item, Value* value) except -1:
        cdef Py_ssize_t size
        cdef const char* data
        if PyBytes_CheckExact(item):
            value.data = <const uint8_t*>PyBytes_AS_STRING(item)
            value.count = PyBytes_GET_SIZE(item)
            return True
        if not PyUnicode_CheckExact(item):
            return False
        try:
            data = PyUnicode_AsUTF8AndSize(item, &size)
        except UnicodeEncodeError:
            return False
        value.data = <const uint8_t*>data
        value.count = size
        return True

    cdef bint take_array(self, object item, Value* value) except -1:
        cdef cnp.ndarray array
        cdef Py_ssize_t i, size
        if not cnp.PyArray_CheckExact(item):
            return False
        array = <cnp.ndarray>item
        if (
            cnp.PyArray_TYPE(array) != self.dtype
            or cnp.PyArray_NDIM(array) != len(self.shape)
            or not cnp.PyArray_ISCARRAY_RO(array)
        ):
            return False
        for i in range(len(self.shape)):
            size = self.shape[i]
            if size != -1 and cnp.PyArray_DIM(array, i) != size:
                return False
        value.data = <const uint8_t*>cnp.PyArray_DATA(array)
        value.count = cnp.PyArray_SIZE(array)
        if self.kind == FLOAT:
            value.packed = 4 * value.count
        else:
            for i in range(<Py_ssize_t>value.count):
                value.packed += varint_size(<uint64_t>_integer(value.data, i, self.dtype))
        return True

    cdef uint8_t* write(self, uint8_t* p, Value* value) noexcept:
        cdef size_t i
        p = begin_field(p, TAG_1, value.size)
        p = write_field(
            p, TAG_1, <const uint8_t*>PyBytes_AS_STRING(self.key), PyBytes_GET_SIZE(self.key)
        )
        p = begin_field(p, TAG_2, value.feature_size)
        p = begin_field(p, self.kind << 3 | 2, value.list_size)
        if self.kind == BYTES:
            return write_field(p, TAG_1, value.data, value.count)
        if not value.packed:
            return p
        p = begin_field(p, TAG_1, value.packed)
        if self.kind == FLOAT:
            memcpy(p, value.data if self.shape is not None else <uint8_t*>&value.real, value.packed)
            return p + value.packed
        if self.shape is None:
            return write_varint(p, <uint64_t>value.number)
        for i in range(value.count):
            p = write_varint(p, <uint64_t>_integer(value.data, i, self.dtype))
        return p


cdef inline int64_t _integer(const uint8_t* data, size_t index, int dtype) noexcept:
    """One item of an array of integers or bools."""
    if dtype == cnp.NPY_INT64 or dtype == cnp.NPY_UINT64:
        return (<const int64_t*>data)[index]
    if dtype == cnp.NPY_INT32:
        return (<const int32_t*>data)[index]
    if dtype == cnp.NPY_UINT32:
        return (<const uint32_t*>data)[index]
    if dtype == cnp.NPY_INT16:
        return (<const int16_t*>data)[index]
    if dtype == cnp.NPY_UINT16:
        return (<const uint16_t*>data)[index]
    if dtype == cnp.NPY_INT8:
        return (<const int8_t*>data)[index]
    return data[index]  # NPY_UINT8, NPY_BOOL
