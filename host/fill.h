/* fill.h - what the fillers share: the random words of a key. */
#ifndef KC_FILL_H
#define KC_FILL_H

#include "kc.h"

/** The two words of a block of `key`'s stream. */
static inline void kc__random_block(uint64_t words[2], uint64_t key, uint64_t block) {
  uint32_t out[4], counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), 0, 0};
  kc_philox4x32(out, counter, (uint32_t[2]){(uint32_t)key, (uint32_t)(key >> 32)});
  words[0] = out[0] | (uint64_t)out[1] << 32;
  words[1] = out[2] | (uint64_t)out[3] << 32;
}

/** Word `index` of the stream: element `index` of a tensor is made from it. */
static inline uint64_t kc__random_word(uint64_t key, uint64_t index) {
  uint64_t words[2];
  kc__random_block(words, key, index / 2);
  return words[index & 1];
}

/** A word mapped onto 0..n-1, n in 1..2^64: the high part of the product (bias below n / 2^64). */
static inline uint64_t kc__random_below(uint64_t word, unsigned __int128 n) {
  return (uint64_t)(n * word >> 64);
}

#endif
