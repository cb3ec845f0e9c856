"""PNG files to pixels, and pixels to filtered rows, compiled.

Callers see it through `featurekit.connectors.image_codecs.png`, which does the same with
zlib, Pillow and NumPy, and gets what is refused here: damaged and interlaced files, and
those whose pixels depend on more than their samples.

Source: ISO/IEC 15948 (PNG, third edition).
"""

cimport numpy as cnp
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp, memcpy, memset

from featurekit.native.inflate cimport SLACK, Codes, fixed_codes, inflate, load32_big
from featurekit.native.png_rows cimport filter_rows as filter_all, unfilter_rows
from featurekit.native.wire cimport load64

cdef enum:
    SIGNATURE_SIZE = 8
    CHUNK_OVERHEAD = 12  # a chunk's length, kind and checksum
    ANCILLARY = 0x20  # in the first byte of a kind
    MAX_RATIO = 1032  # deflate packs no tighter
    WORTH_WAITING = 1 << 14  # bytes of pixels; fewer take less time than handing over the GIL
    # Kinds of chunks:
    IHDR = 0x49484452
    PLTE = 0x504C5445
    IDAT = 0x49444154
    IEND = 0x49454E44
    TRNS = 0x74524E53
    GAMA = 0x67414D41
    SRGB = 0x73524742
    # Colour types:
    GRAY = 0
    RGB = 2
    PALETTE = 3
    GRAY_ALPHA = 4
    RGBA = 6


cdef struct Bytes:
    const uint8_t* data
    size_t size


cdef struct Png:
    uint32_t height
    uint32_t width
    int bits
    int colour
    int samples  # of a stored pixel
    int channels  # of a decoded one
    size_t row_size
    bint has_gamma
    Bytes palette
    Bytes transparency
    Bytes stream  # the pixels, compressed; the first piece of them
    size_t pieces
    size_t stream_size  # of all pieces


cdef Codes FIXED_CODES
cdef uint32_t[8][256] CRC_TABLES


cdef void fill_crc_tables() noexcept:
    cdef uint32_t value
    cdef int i, k
    for i in range(256):
        value = i
        for k in range(8):
            value = value >> 1 ^ (0xEDB88320 if value & 1 else 0)
        CRC_TABLES[0][i] = value
    for i in range(256):
        for k in range(1, 8):
            value = CRC_TABLES[k - 1][i]
            CRC_TABLES[k][i] = value >> 8 ^ CRC_TABLES[0][value & 255]


fixed_codes(&FIXED_CODES)
fill_crc_tables()
cnp.import_array()


def decode(data, channels, tuple size not None, max_pixels, cnp.ndarray out=None):
    """The pixels of a file, with the channels and depth that it has by itself.

    None where the slower way shall decide: it may give the same, something else or an error.

    Args:
        data: The file.
        channels: How many they will be turned into, 1 to 4; None for no change.
        size: The declared height and width, None for what may vary.
        max_pixels: The most that may be decoded.
        out: Where they go, and what is given, if it has their shape and dtype and lies in
            one piece; even if None is given, it may be written to.
    """
    cdef Png png
    if not isinstance(data, bytes):
        return None
    cdef const uint8_t* start = <const uint8_t*>PyBytes_AS_STRING(data)
    cdef size_t length = PyBytes_GET_SIZE(data)
    if not read_chunks(&png, start, length):
        return None
    if not (fits(png.height, size[0]) and fits(png.width, size[1])):
        return None
    if <uint64_t>png.height * png.width > max_pixels:
        return None
    if channels is not None and is_special(&png, channels):
        return None
    cdef cnp.ndarray pixels = out if out is not None and has_room(out, &png) else new_array(&png)
    cdef uint8_t* place = <uint8_t*>cnp.PyArray_DATA(pixels)
    cdef bint good
    if cnp.PyArray_NBYTES(pixels) < WORTH_WAITING:
        good = read_pixels(&png, start, place)
    else:
        with nogil:
            good = read_pixels(&png, start, place)
    return pixels if good else None


def filter_rows(cnp.ndarray rows not None, int step):
    """Filtered rows, each with the number of its filter in front, one after another.

    None where the slower way shall decide.

    Args:
        rows: `(height, bytes)` uint8, one after another in memory.
        step: Bytes a pixel.
    """
    if cnp.PyArray_NDIM(rows) != 2 or cnp.PyArray_TYPE(rows) != cnp.NPY_UINT8:
        return None
    cdef size_t height = cnp.PyArray_DIM(rows, 0)
    cdef size_t size = cnp.PyArray_DIM(rows, 1)
    if height == 0 or step <= 0 or size < <size_t>step or not cnp.PyArray_IS_C_CONTIGUOUS(rows):
        return None
    cdef const uint8_t* data = <const uint8_t*>cnp.PyArray_DATA(rows)
    filtered = PyBytes_FromStringAndSize(NULL, height * (1 + size))
    cdef uint8_t* out = <uint8_t*>PyBytes_AS_STRING(filtered)
    cdef uint8_t* scratch = <uint8_t*>calloc(6, size)
    if scratch == NULL:
        raise MemoryError
    if height * size < WORTH_WAITING:
        filter_all(data, height, size, step, out, scratch)
    else:
        with nogil:
            filter_all(data, height, size, step, out, scratch)
    free(scratch)
    return filtered


# Chunks.


cdef bint read_chunks(Png* png, const uint8_t* data, size_t size) noexcept nogil:
    """Whether all chunks are whole and usual; what they say is then in `png`."""
    cdef const uint8_t* p
    cdef const uint8_t* end = data + size
    cdef Bytes body
    cdef uint32_t kind
    memset(png, 0, sizeof(Png))
    p = data + SIGNATURE_SIZE
    if size < SIGNATURE_SIZE or memcmp(data, "\x89PNG\r\n\x1a\n", SIGNATURE_SIZE):
        return False
    while True:
        if end - p < CHUNK_OVERHEAD:
            return False
        body.size, body.data = load32_big(p), p + 8
        kind = load32_big(p + 4)
        if body.size > <size_t>(end - p) - CHUNK_OVERHEAD:
            return False
        p = body.data + body.size + 4
        # As in the slower way, what is ancillary is taken as it is.
        if not body.data[-4] & ANCILLARY and load32_big(p - 4) != crc32(
            body.data - 4, body.size + 4
        ):
            return False
        if kind == IEND:
            break
        if not read_chunk(png, kind, body):
            return False
    return png.pieces > 0 and finish_header(png)


cdef bint read_chunk(Png* png, uint32_t kind, Bytes body) noexcept nogil:
    if kind == IHDR and png.samples == 0:
        return read_header(png, body)
    if png.samples == 0:
        return False
    if kind == IDAT:
        if png.pieces == 0:
            png.stream = body
        png.pieces += 1
        png.stream_size += body.size
    elif kind == PLTE:
        png.palette = body
        return 0 < body.size <= 768 and body.size % 3 == 0
    elif kind == TRNS:
        png.transparency = body
        # More alphas than there are colours are ignored.
        if png.colour == PALETTE and png.palette.size and body.size > png.palette.size // 3:
            png.transparency.size = 0
    elif kind == GAMA or kind == SRGB:
        png.has_gamma = True
    return True


cdef bint read_header(Png* png, Bytes body) noexcept nogil:
    cdef const uint8_t* p = body.data
    if body.size != 13:
        return False
    png.width, png.height = load32_big(p), load32_big(p + 4)
    png.bits, png.colour = p[8], p[9]
    if png.width == 0 or png.height == 0 or p[10] or p[11] or p[12]:
        return False
    if png.colour == GRAY or png.colour == PALETTE:
        png.samples = 1
    elif png.colour == GRAY_ALPHA:
        png.samples = 2
    elif png.colour == RGB:
        png.samples = 3
    elif png.colour == RGBA:
        png.samples = 4
    else:
        return False
    if png.bits == 8:
        return True
    if png.bits == 16:
        return png.colour != PALETTE
    return png.samples == 1 and (png.bits == 1 or png.bits == 2 or png.bits == 4)


cdef bint finish_header(Png* png) noexcept nogil:
    """Sizes that follow from the chunks; False where the stream cannot fill them."""
    cdef uint64_t limit = <uint64_t>MAX_RATIO * png.stream_size
    png.row_size = (<uint64_t>png.width * png.bits * png.samples + 7) // 8
    png.channels = png.samples
    if png.colour == PALETTE:
        if png.palette.size == 0:
            return False
        png.channels = 4 if png.transparency.size else 3
    return 1 + png.row_size <= limit // png.height


cdef bint fits(uint32_t size, declared):
    return declared is None or declared == size


cdef int type_of(const Png* png) noexcept:
    return cnp.NPY_UINT16 if png.bits == 16 else cnp.NPY_UINT8


cdef bint has_room(cnp.ndarray out, const Png* png):
    """Whether the pixels can be written there as they are."""
    return (
        cnp.PyArray_ISCARRAY(out)
        and cnp.PyArray_TYPE(out) == type_of(png)
        and cnp.PyArray_NDIM(out) == 3
        and cnp.PyArray_DIM(out, 0) == png.height
        and cnp.PyArray_DIM(out, 1) == png.width
        and cnp.PyArray_DIM(out, 2) == png.channels
    )


cdef cnp.ndarray new_array(const Png* png):
    cdef cnp.npy_intp[3] shape = [png.height, png.width, png.channels]
    return cnp.PyArray_SimpleNew(3, shape, type_of(png))


cdef bint is_special(const Png* png, int channels) noexcept:
    """Whether turning a file's samples into so many channels takes more than these samples."""
    if channels <= 2 and png.channels >= 3 and png.has_gamma:
        return True
    # One colour that is transparent.
    return channels in (2, 4) and png.colour != PALETTE and png.transparency.size


cdef uint32_t crc32(const uint8_t* p, size_t size) noexcept nogil:
    """CRC-32 as zlib's, eight bytes at a time: a table for each place among them."""
    cdef uint32_t value = 0xFFFFFFFF
    cdef uint64_t word
    while size >= 8:
        word = load64(p) ^ value
        value = (
            CRC_TABLES[7][word & 255]
            ^ CRC_TABLES[6][word >> 8 & 255]
            ^ CRC_TABLES[5][word >> 16 & 255]
            ^ CRC_TABLES[4][word >> 24 & 255]
            ^ CRC_TABLES[3][word >> 32 & 255]
            ^ CRC_TABLES[2][word >> 40 & 255]
            ^ CRC_TABLES[1][word >> 48 & 255]
            ^ CRC_TABLES[0][word >> 56]
        )
        p += 8
        size -= 8
    while size:
        value = CRC_TABLES[0][(value ^ p[0]) & 255] ^ value >> 8
        p += 1
        size -= 1
    return ~value


# Pixels.


cdef bint read_pixels(const Png* png, const uint8_t* start, uint8_t* out) noexcept nogil:
    """Whether the stream is whole; the pixels are then in `out`."""
    cdef size_t size = png.height * (1 + png.row_size)
    cdef int step = max(1, png.bits * png.samples // 8)
    cdef uint8_t* memory = <uint8_t*>malloc(png.row_size + size + SLACK)
    cdef uint8_t* joined = NULL
    cdef uint8_t* rows = memory + png.row_size
    cdef const uint8_t* stream = png.stream.data
    cdef bint good = False
    if png.pieces > 1:
        stream = joined = <uint8_t*>malloc(png.stream_size)
    # Where memory is short, the slower way may say so.
    if memory != NULL and stream != NULL:
        if joined != NULL:
            join_pieces(png, joined)
        memset(memory, 0, png.row_size)
        good = inflate(stream, png.stream_size, &FIXED_CODES, rows, size)
        good = good and unfilter_rows(rows, png.height, png.row_size, step)
        if good:
            expand_rows(png, rows, out)
    free(joined)
    free(memory)
    return good


cdef void join_pieces(const Png* png, uint8_t* out) noexcept nogil:
    """Copy the bodies of all IDAT chunks; `read_chunks` has seen that they are whole."""
    cdef const uint8_t* p = png.stream.data - 8
    cdef size_t pieces = 0
    cdef size_t size
    while pieces < png.pieces:
        size = load32_big(p)
        if load32_big(p + 4) == IDAT:
            memcpy(out, p + 8, size)
            out += size
            pieces += 1
        p += size + CHUNK_OVERHEAD


cdef void expand_rows(const Png* png, const uint8_t* rows, uint8_t* out) noexcept nogil:
    """From unfiltered rows, each behind one byte, to pixels."""
    cdef uint8_t[4 * 256] colours  # as RGBA
    cdef size_t width = <size_t>png.width * png.samples
    cdef size_t row_bytes = <size_t>png.width * png.channels * (2 if png.bits == 16 else 1)
    cdef uint32_t y
    if png.colour == PALETTE:
        fill_colours(png, colours)
    elif png.bits < 8:
        fill_grays(png.bits, colours)
    for y in range(png.height):
        rows += 1
        if png.colour == PALETTE or png.bits < 8:
            look_up(rows, width, png.bits, colours, png.channels, out)
        elif png.bits == 8:
            memcpy(out, rows, row_bytes)
        else:
            swap_bytes(rows, width, out)
        rows += png.row_size
        out += row_bytes


cdef void fill_colours(const Png* png, uint8_t* colours) noexcept nogil:
    cdef size_t i
    memset(colours, 0, 4 * 256)  # a colour beyond the palette is black
    for i in range(png.palette.size // 3):
        memcpy(colours + 4 * i, png.palette.data + 3 * i, 3)
    for i in range(256):
        colours[4 * i + 3] = png.transparency.data[i] if i < png.transparency.size else 255


cdef void fill_grays(int bits, uint8_t* colours) noexcept nogil:
    cdef int i
    cdef int top = (1 << bits) - 1
    for i in range(top + 1):
        colours[4 * i] = i * (255 // top)


cdef void look_up(
    const uint8_t* row, size_t width, int bits, const uint8_t* colours, int channels,
    uint8_t* out,
) noexcept nogil:
    """Colours by indices, of which a byte may hold several, the first one at its top."""
    cdef size_t x
    cdef int k, index
    cdef int shift = 8
    cdef int mask = (1 << bits) - 1
    for x in range(width):
        shift -= bits
        index = row[0] >> shift & mask
        if shift == 0:
            row += 1
            shift = 8
        for k in range(channels):
            out[k] = colours[4 * index + k]
        out += channels


cdef void swap_bytes(const uint8_t* row, size_t count, uint8_t* out) noexcept nogil:
    """Big-endian 16-bit samples to the machine's, which is little-endian: see `wire`."""
    cdef size_t i
    for i in range(count):
        out[2 * i] = row[2 * i + 1]
        out[2 * i + 1] = row[2 * i]
