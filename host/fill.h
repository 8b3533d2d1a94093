/* fill.h - what the fillers share: the random words of a key. */
#ifndef KC_FILL_H
#define KC_FILL_H

#include "kc.h"

/** Word `index` of the stream of `key`: half of Philox block index / 2. */
static inline uint64_t kc__random_word(uint64_t key, uint64_t index) {
  uint64_t block = index / 2;
  uint32_t out[4], counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), 0, 0};
  kc_philox4x32(out, counter, (uint32_t[2]){(uint32_t)key, (uint32_t)(key >> 32)});
  const uint32_t *half = out + 2 * (index & 1);
  return half[0] | (uint64_t)half[1] << 32;
}

/** A word mapped onto 0..n-1, n in 1..2^64: the high part of the product (bias below n / 2^64). */
static inline uint64_t kc__random_below(uint64_t word, unsigned __int128 n) {
  return (uint64_t)(n * word >> 64);
}

#endif
