/* range.c - the grid on which the values of an array lie, and limits put to them. */
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

void kc_clamp_array(const kc_format *f, void *array, size_t n, uint64_t lo, uint64_t hi) {
  int64_t least = kc_ordered(f, lo), most = kc_ordered(f, hi);
  for (size_t i = 0; i < n; i++) {
    uint64_t code = kc_load(f, array, i);
    if (kc_classify(f, code) & (KC_NAN | KC_NINF | KC_PINF)) continue;
    int64_t at = kc_ordered(f, code);
    if (at < least || at > most) kc_store(f, array, i, at < least ? lo : hi);
  }
}
