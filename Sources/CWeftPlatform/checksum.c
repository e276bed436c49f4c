#include "platform.h"

#include <string.h>

// CRC-32C, reflected: the polynomial 0x1EDC6F41 with its bits reversed.
static const uint32_t polynomial = 0x82F63B78;

static uint32_t table[8][256];

// Runs before main, so that callers need not check whether the table exists.
__attribute__((constructor)) static void fill_table(void) {
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; bit++) rest = rest & 1 ? rest >> 1 ^ polynomial : rest >> 1;
    table[0][byte] = rest;
  }
  for (int slice = 1; slice < 8; slice++)
    for (int byte = 0; byte < 256; byte++) {
      uint32_t before = table[slice - 1][byte];
      table[slice][byte] = before >> 8 ^ table[0][before & 0xFF];
    }
}

// Eight bytes at a time (Kounavis and Berry, "Novel Table Lookup-Based Algorithms", 2008).
uint32_t weft_crc32c_by_table(uint32_t checksum, const void *bytes, size_t count) {
  const uint8_t *next = bytes;
  uint32_t rest = ~checksum;
  for (; count >= 8; count -= 8, next += 8) {
    uint32_t low = rest ^ (next[0] | next[1] << 8 | next[2] << 16 | (uint32_t)next[3] << 24);
    rest = table[7][low & 0xFF] ^ table[6][low >> 8 & 0xFF] ^ table[5][low >> 16 & 0xFF]
           ^ table[4][low >> 24] ^ table[3][next[4]] ^ table[2][next[5]] ^ table[1][next[6]]
           ^ table[0][next[7]];
  }
  for (; count > 0; count--) rest = rest >> 8 ^ table[0][(rest ^ *next++) & 0xFF];
  return ~rest;
}

#if defined(__x86_64__)

#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t
by_instruction(uint32_t checksum, const uint8_t *next, size_t count) {
  uint64_t rest = ~checksum;
  for (; count >= 8; count -= 8, next += 8) {
    uint64_t word;
    memcpy(&word, next, 8);
    rest = _mm_crc32_u64(rest, word);
  }
  for (; count > 0; count--) rest = _mm_crc32_u8((uint32_t)rest, *next++);
  return ~(uint32_t)rest;
}

uint32_t weft_crc32c(uint32_t checksum, const void *bytes, size_t count) {
  return __builtin_cpu_supports("sse4.2") ? by_instruction(checksum, bytes, count)
                                          : weft_crc32c_by_table(checksum, bytes, count);
}

#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)

#include <arm_acle.h>

uint32_t weft_crc32c(uint32_t checksum, const void *bytes, size_t count) {
  const uint8_t *next = bytes;
  uint32_t rest = ~checksum;
  for (; count >= 8; count -= 8, next += 8) {
    uint64_t word;
    memcpy(&word, next, 8);
    rest = __crc32cd(rest, word);
  }
  for (; count > 0; count--) rest = __crc32cb(rest, *next++);
  return ~rest;
}

#else

uint32_t weft_crc32c(uint32_t checksum, const void *bytes, size_t count) {
  return weft_crc32c_by_table(checksum, bytes, count);
}

#endif
