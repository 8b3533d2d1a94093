/* bits.h - integer views of numbers. Conversions work on these alone, so that no rounding mode, FTZ or DAZ reaches them. */
#ifndef KC_BITS_H
#define KC_BITS_H

#include <string.h>

#include "kc.h"

static inline uint64_t kc__bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline double kc__double_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/** The n lowest bits set; n in 0..64. */
static inline uint64_t kc__mask(unsigned n) {
  return n < 64 ? (UINT64_C(1) << n) - 1 : ~UINT64_C(0);
}

/** The sign bit of a code, 0 where the format has none. */
static inline uint64_t kc__sign_bit(const kc_format *f) {
  return f->has_sign ? UINT64_C(1) << (f->bits - 1) : 0;
}

/** 2^e for e in -1074..1023. */
static inline double kc__pow2(int e) {
  return kc__double_of(e < -1022 ? UINT64_C(1) << (e + 1074) : (uint64_t)(e + 1023) << 52);
}

/** Index of the highest bit of x != 0. */
static inline int kc__log2_u128(unsigned __int128 x) {
  uint64_t high = (uint64_t)(x >> 64);
  return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)x);
}

/** Bits of a double that lie below the last place of float format f. */
static inline unsigned kc__extra_bits(const kc_format *f) {
  return 52u - f->frac_bits;
}

/** What the biased exponents of a double and of float format f differ by, at the place of f's exponent field. */
static inline uint64_t kc__rebias(const kc_format *f) {
  return (uint64_t)(1023 - f->bias) << f->frac_bits;
}

#endif
