"""Examples to columns, compiled.

Callers see it through `featurekit.io.columns_native`. The functions give plain tuples,
and None for "not mine": bytes that are no Example, a feature of another kind than asked,
arguments of unusual types. Protobuf's implementation then says what is wrong, or that
nothing is. So the rules for refusing, and the words, exist once.
"""

cimport cython
cimport numpy as cnp
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.ref cimport Py_INCREF, PyObject
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

from featurekit.native.keys cimport Found, Index, Table, hash_key
from featurekit.native.sinks cimport (
    BYTES,
    FLOAT,
    INT64,
    Growing,
    Progress,
    Sink,
    Span,
    end_record,
)
from featurekit.native.walk cimport read_message

cnp.import_array()

cdef enum:
    MOST_PLANS = 64
    MORE_GUESSES = 32
    LONGEST_MESSAGE = 0x7FFFFFFF
    SMALL = 512  # bytes that are cheaper to copy than to own

cdef dict _plans = {}


def read_columns(records, specs):
    """The columns of serialized Examples.

    Returns:
        A list of (values, counts), or None where protobuf shall decide.
    """
    cdef _Batch batch = _Batch.__new__(_Batch)
    if batch.take_records(records) and batch.read(specs, None):
        return batch.columns()
    return None


def read_columns_buffer(buffer, const int64_t[::1] offsets, const int64_t[::1] lengths, specs):
    """The columns of Examples that lie in one buffer, such as a piece of a record file.

    Returns:
        A list of (values, counts), or None where protobuf shall decide.
    """
    cdef _Batch batch = _Batch.__new__(_Batch)
    cdef Py_buffer view
    PyObject_GetBuffer(buffer, &view, PyBUF_SIMPLE)
    try:
        if batch.take_spans(&view, offsets, lengths) and batch.read(specs, None):
            return batch.columns()
        return None
    finally:
        PyBuffer_Release(&view)


def read_sequence_columns(records, context, lists):
    """The columns of serialized SequenceExamples.

    Returns:
        A list of (values, counts) and one of (values, counts, steps), or None where
        protobuf shall decide.
    """
    cdef _Batch batch = _Batch.__new__(_Batch)
    if batch.take_records(records) and batch.read(context, lists):
        return batch.columns(), batch.step_columns()
    return None


def read_example(record):
    """Everything in one Example: {key: array or None}, or None where protobuf shall decide."""
    cdef _Batch batch = _Batch.__new__(_Batch)
    batch.features.listing = True
    records = (record,)
    if not (batch.take_records(records) and batch.read((), None)):
        return None
    kinds = batch.kinds()
    specs = [(key, kind, -1) for key, kind in sorted(kinds.items()) if kind]
    columns = read_columns(records, specs)
    if columns is None:
        return None
    result = dict.fromkeys(sorted(kinds))
    for (key, _, _), (values, _) in zip(specs, columns):
        result[key] = values
    return result


cdef class _Plan:
    """Specs made ready: one sink each, to be copied, and their keys in a hash table."""

    cdef list keys  # as UTF-8; the sinks point into them
    cdef list firsts  # for each spec, the number of the first one with its key
    cdef bint contradictory  # one key is asked for as two kinds
    cdef Sink* sinks
    cdef int32_t size
    cdef Index index

    def __cinit__(self, tuple specs, bint lists):
        cdef int32_t number
        cdef dict numbers = {}
        self.keys = [spec[0].encode() for spec in specs]
        self.firsts = [numbers.setdefault(key, number) for number, key in enumerate(self.keys)]
        self.contradictory = len(set(zip(self.firsts, [spec[1] for spec in specs]))) > len(numbers)
        self.size = <int32_t>len(specs)
        self.sinks = <Sink*>_zeros(self.size, sizeof(Sink))
        for number in range(self.size):
            _prepare(&self.sinks[number], self.keys[number], specs[number][1], specs[number][2])
            self.sinks[number].is_list = lists
        self.index.mask = 7
        while self.index.mask < 2 * <size_t>self.size:
            self.index.mask = 2 * self.index.mask + 1
        self.index.buckets = <int32_t*>_zeros(self.index.mask + 1, sizeof(int32_t))
        memset(self.index.buckets, 0xFF, (self.index.mask + 1) * sizeof(int32_t))
        for number in numbers.values():
            self.enter(number)

    cdef void enter(self, int32_t number) noexcept:
        cdef Span key = self.sinks[number].key
        cdef size_t bucket = hash_key(key.data, key.size) & self.index.mask
        while self.index.buckets[bucket] >= 0:
            bucket = (bucket + 1) & self.index.mask
        self.index.buckets[bucket] = number

    def __dealloc__(self):
        free(self.sinks)
        free(self.index.buckets)


cdef void _prepare(Sink* sink, bytes key, int kind, int64_t size) noexcept:
    sink.key = _span(key)
    sink.wanted = kind
    sink.values.width = sizeof(Span) if kind == BYTES else 4 if kind == FLOAT else 8
    sink.step_counts.width = sizeof(int64_t)
    sink.expected = <size_t>size if size > 0 else 0  # per record, until there is a batch


cdef _Plan _plan(specs, bint lists):
    """The plan of these specs, made once for a tuple that is used again and again."""
    cdef tuple cached
    if type(specs) is not tuple:
        return _Plan(tuple(specs), lists)
    name = (id(specs), lists)
    cached = _plans.get(name)
    if cached is None:
        if len(_plans) >= MOST_PLANS:
            _plans.clear()
        cached = (_Plan(specs, lists), specs)  # while the specs live, their id is theirs
        _plans[name] = cached
    return cached[0]


cdef class _Batch:
    """Records while they are read."""

    cdef tuple held  # the records: `spans` points into them
    cdef Span* spans
    cdef size_t size
    cdef Progress progress
    cdef _Plan features_plan
    cdef _Plan lists_plan
    cdef Table features
    cdef Table lists
    cdef list features_counts
    cdef list lists_counts

    cdef bint take_records(self, records) except -1:
        """Whether all are bytes of a bearable length."""
        cdef size_t number
        self.held = tuple(records)
        self.size = len(self.held)
        self.spans = <Span*>_zeros(self.size, sizeof(Span))
        for number in range(self.size):
            record = self.held[number]
            if type(record) is not bytes or len(<bytes>record) > LONGEST_MESSAGE:
                return False
            self.spans[number] = _span(<bytes>record)
            self.progress.total += self.spans[number].size
        return True

    cdef bint take_spans(
        self, Py_buffer* view, const int64_t[::1] offsets, const int64_t[::1] lengths
    ) except -1:
        """Whether all lie inside of the buffer."""
        cdef size_t number
        cdef int64_t offset, length
        if offsets.shape[0] != lengths.shape[0]:
            return False
        self.size = offsets.shape[0]
        self.spans = <Span*>_zeros(self.size, sizeof(Span))
        for number in range(self.size):
            offset, length = offsets[number], lengths[number]
            if not 0 <= offset <= view.len or not 0 <= length <= view.len - offset:
                return False
            if length > LONGEST_MESSAGE:
                return False
            self.spans[number].data = <const uint8_t*>view.buf + offset
            self.spans[number].size = length
            self.progress.total += length
        return True

    cdef bint read(self, features, lists) except -1:
        """Read all records into the sinks; `lists` is None for Examples."""
        cdef bint good
        cdef Table* steps = NULL
        try:
            self.features_plan = _plan(features, False)
            if lists is not None:
                self.lists_plan = _plan(lists, True)
        except UnicodeEncodeError:  # a key that no record can have
            return False
        if self.features_plan.contradictory or (lists is not None and self.lists_plan.contradictory):
            return False
        self.features_counts = self.open(&self.features, self.features_plan)
        if lists is not None:
            self.lists_counts = self.open(&self.lists, self.lists_plan)
            steps = &self.lists
        with nogil:
            good = _read_records(self.spans, self.size, &self.progress, &self.features, steps)
        if self.progress.no_memory:
            raise MemoryError
        return good

    cdef list open(self, Table* table, _Plan plan):
        """Make the table ready; gives the arrays that its counts go to."""
        cdef int32_t number
        cdef cnp.npy_intp size = self.size
        cdef list counts = []
        table.index = plan.index
        table.sinks = <Sink*>_zeros(plan.size, sizeof(Sink))
        table.size = plan.size
        memcpy(table.sinks, plan.sinks, plan.size * sizeof(Sink))
        for number in range(plan.size):
            array = cnp.PyArray_SimpleNew(1, &size, cnp.NPY_INT64)
            counts.append(array)
            table.sinks[number].counts = <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>array)
            table.sinks[number].progress = &self.progress
            table.sinks[number].expected *= self.size
        table.ignored.progress = &self.progress
        table.found.width = sizeof(Found)
        table.num_guesses = plan.size + MORE_GUESSES if self.size > 1 else 0
        table.guesses = <int32_t*>_zeros(table.num_guesses, sizeof(int32_t))
        memset(table.guesses, 0xFF, table.num_guesses * sizeof(int32_t))
        return counts

    cdef list columns(self):
        cdef int32_t number
        cdef list columns = []
        for number in range(self.features_plan.size):
            first = self.features_plan.firsts[number]
            if first != number:
                columns.append(tuple([array.copy() for array in columns[first]]))
            else:
                values = _values(&self.features.sinks[number])
                columns.append((values, self.features_counts[number]))
        return columns

    cdef list step_columns(self):
        cdef int32_t number
        cdef list columns = []
        for number in range(self.lists_plan.size):
            first = self.lists_plan.firsts[number]
            if first != number:
                columns.append(tuple([array.copy() for array in columns[first]]))
            else:
                sink = &self.lists.sinks[number]
                step_counts = _numbers(&sink.step_counts, cnp.NPY_INT64)
                columns.append((_values(sink), step_counts, self.lists_counts[number]))
        return columns

    cdef dict kinds(self):
        """The kind of each feature of a record that was listed; the last entry counts."""
        cdef size_t number
        cdef Found* found = <Found*>self.features.found.data
        cdef dict kinds = {}
        for number in range(self.features.found.used):
            key = PyUnicode_DecodeUTF8(
                <const char*>found[number].key.data, found[number].key.size, NULL
            )
            kinds[key] = found[number].kind
        return kinds

    def __dealloc__(self):
        free(self.spans)
        _close(&self.features)
        _close(&self.lists)


cdef void _close(Table* table) noexcept:
    cdef size_t number
    for number in range(table.size):
        free(table.sinks[number].values.data)
        free(table.sinks[number].step_counts.data)
    free(table.sinks)
    free(table.guesses)
    free(table.found.data)


cdef bint _read_records(
    const Span* records, size_t size, Progress* progress, Table* features, Table* lists
) noexcept nogil:
    cdef size_t record, number
    for record in range(size):
        progress.seen += records[record].size
        if not read_message(
            features, lists, records[record].data, records[record].data + records[record].size
        ):
            return False
        for number in range(features.size):
            if not end_record(&features.sinks[number], record):
                return False
        if lists != NULL:
            for number in range(lists.size):
                if not end_record(&lists.sinks[number], record):
                    return False
    return True


cdef class _Memory:
    """Owns what a NumPy array shows."""

    cdef void* data

    def __dealloc__(self):
        free(self.data)


cdef object _values(Sink* sink):
    if sink.wanted == BYTES:
        return _bytes(&sink.values)
    return _numbers(&sink.values, cnp.NPY_FLOAT32 if sink.wanted == FLOAT else cnp.NPY_INT64)


cdef object _numbers(Growing* items, int dtype):
    """The items as an array, without copying where they are many."""
    cdef cnp.npy_intp size = items.used
    cdef size_t taken = items.used * items.width
    cdef _Memory owner
    if taken <= SMALL:
        array = cnp.PyArray_SimpleNew(1, &size, dtype)
        if taken:
            memcpy(cnp.PyArray_DATA(<cnp.ndarray>array), items.data, taken)
        return array
    owner = _Memory.__new__(_Memory)
    owner.data = realloc(items.data, taken) if items.room - items.used > items.used // 16 else NULL
    if owner.data == NULL:  # nothing to trim, or no trimming today
        owner.data = items.data
    items.data = NULL
    array = cnp.PyArray_SimpleNewFromData(1, &size, dtype, owner.data)
    cnp.set_array_base(<cnp.ndarray>array, owner)
    return array


cdef object _bytes(Growing* items):
    cdef cnp.npy_intp size = items.used
    cdef size_t number
    cdef Span* spans = <Span*>items.data
    array = cnp.PyArray_SimpleNew(1, &size, cnp.NPY_OBJECT)  # NumPy fills these with NULL
    cdef PyObject** slots = <PyObject**>cnp.PyArray_DATA(<cnp.ndarray>array)
    for number in range(items.used):
        value = PyBytes_FromStringAndSize(<const char*>spans[number].data, spans[number].size)
        Py_INCREF(value)
        slots[number] = <PyObject*>value
    return array


cdef inline Span _span(bytes data) noexcept:
    return Span(<const uint8_t*>PyBytes_AS_STRING(data), <size_t>PyBytes_GET_SIZE(data))


cdef void* _zeros(size_t count, size_t width) except NULL:
    cdef void* data = calloc(max(count, 1), width)
    if data == NULL:
        raise MemoryError
    return data
