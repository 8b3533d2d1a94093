/* quantum.c - the grid on which the values of an array lie. */
#include "kc.h"

/* Trailing zeros of a significand that is not zero. */
static int trailing_zeros(unsigned __int128 sig) {
  uint64_t low = (uint64_t)sig;
  return low ? __builtin_ctzll(low) : 64 + __builtin_ctzll((uint64_t)(sig >> 64));
}

bool kc_quantum(const kc_format *f, const void *array, size_t n, int *exponent) {
  bool any = false;
  for (size_t i = 0; i < n; i++) {
    kc_parts p = kc_parts_of_code(f, kc_load(f, array, i));
    if (p.cls & (KC_NZERO | KC_PZERO)) continue;
    if (!(p.cls & (KC_NFIN | KC_PFIN))) return false;
    int e = p.exp + trailing_zeros(p.sig);
    if (!any || e < *exponent) *exponent = e;
    any = true;
  }
  return any;
}
