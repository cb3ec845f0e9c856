/* CRC-32C (Castagnoli), as fast as the processor offers: its own instruction, else tables.

The instruction takes 8 bytes and answers three cycles later, but a new one can start every
cycle. So long data is read as three neighbouring blocks at once. Their checksums are then
joined: going on over a block's worth of zeros is linear in the checksum, hence one table
look-up for each of its bytes.

Source of the polynomial: RFC 3720, appendix B.4. */

#ifndef FEATUREKIT_CRC32C_H
#define FEATUREKIT_CRC32C_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FK_CRC_POLYNOMIAL 0x82F63B78u /* bits reversed, as the whole computation is */
#define FK_CRC_BLOCK 256              /* bytes; of 128 to 1024 the best for records of 4 KB */

static uint32_t fk_crc_slices[8][256]; /* a byte, followed by 0 to 7 zero bytes */
static uint32_t fk_crc_shifts[4][256]; /* a byte of a checksum, followed by a block of zeros */

static inline uint64_t fk_crc_load(const uint8_t *p) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

static uint32_t fk_crc_by_table(uint32_t crc, const uint8_t *p, size_t size) {
    for (; size >= 8; p += 8, size -= 8) {
        uint64_t word = fk_crc_load(p) ^ crc;
        crc = 0;
        for (int i = 0; i < 8; i++) {
            crc ^= fk_crc_slices[7 - i][word >> 8 * i & 0xFF];
        }
    }
    for (; size; p++, size--) {
        crc = crc >> 8 ^ fk_crc_slices[0][(crc ^ *p) & 0xFF];
    }
    return crc;
}

static inline uint32_t fk_crc_shift(uint32_t crc) {
    return fk_crc_shifts[0][crc & 0xFF] ^ fk_crc_shifts[1][crc >> 8 & 0xFF] ^
           fk_crc_shifts[2][crc >> 16 & 0xFF] ^ fk_crc_shifts[3][crc >> 24];
}

#if defined(__x86_64__)
#define FK_CRC_TARGET __attribute__((target("sse4.2")))
#define FK_CRC_8(crc, word) ((uint32_t)__builtin_ia32_crc32di((crc), (word)))
#define FK_CRC_1(crc, byte) __builtin_ia32_crc32qi((crc), (byte))
#define FK_CRC_HAS_INSTRUCTION() (__builtin_cpu_init(), __builtin_cpu_supports("sse4.2"))
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#define FK_CRC_TARGET
#define FK_CRC_8(crc, word) __crc32cd((crc), (word))
#define FK_CRC_1(crc, byte) __crc32cb((crc), (byte))
#define FK_CRC_HAS_INSTRUCTION() 1
#endif

#ifdef FK_CRC_TARGET
FK_CRC_TARGET static uint32_t fk_crc_by_instruction(uint32_t crc, const uint8_t *p, size_t size) {
    for (; size >= 3 * FK_CRC_BLOCK; p += 3 * FK_CRC_BLOCK, size -= 3 * FK_CRC_BLOCK) {
        uint32_t second = 0, third = 0;
        for (size_t i = 0; i < FK_CRC_BLOCK; i += 8) {
            crc = FK_CRC_8(crc, fk_crc_load(p + i));
            second = FK_CRC_8(second, fk_crc_load(p + FK_CRC_BLOCK + i));
            third = FK_CRC_8(third, fk_crc_load(p + 2 * FK_CRC_BLOCK + i));
        }
        crc = fk_crc_shift(fk_crc_shift(crc) ^ second) ^ third;
    }
    for (; size >= 8; p += 8, size -= 8) {
        crc = FK_CRC_8(crc, fk_crc_load(p));
    }
    for (; size; p++, size--) {
        crc = FK_CRC_1(crc, *p);
    }
    return crc;
}
#endif

static uint32_t (*fk_crc_best)(uint32_t, const uint8_t *, size_t) = fk_crc_by_table;

/* Fills the tables and chooses; to be called once, before anything else. */
static void fk_crc_prepare(void) {
    static const uint8_t zeros[FK_CRC_BLOCK];
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? FK_CRC_POLYNOMIAL : 0);
        }
        fk_crc_slices[0][byte] = crc;
    }
    for (uint32_t byte = 0; byte < 256; byte++) {
        for (int i = 1; i < 8; i++) {
            uint32_t crc = fk_crc_slices[i - 1][byte];
            fk_crc_slices[i][byte] = crc >> 8 ^ fk_crc_slices[0][crc & 0xFF];
        }
    }
    for (uint32_t byte = 0; byte < 256; byte++) {
        for (int i = 0; i < 4; i++) {
            fk_crc_shifts[i][byte] = fk_crc_by_table(byte << 8 * i, zeros, FK_CRC_BLOCK);
        }
    }
#ifdef FK_CRC_TARGET
    if (FK_CRC_HAS_INSTRUCTION()) {
        fk_crc_best = fk_crc_by_instruction;
    }
#endif
}

/* The checksum of what `value` is the checksum of, followed by `[p, p + size)`. */
static inline uint32_t fk_crc32c(uint32_t value, const uint8_t *p, size_t size) {
    return ~fk_crc_best(~value, p, size);
}

#endif
