/* parts.c - from MPFR to the struct that every conversion goes through. */
#include "exact.h"

enum { EXPONENT_LIMIT = 1 << 30, WIDTH = 128 };

static kc_class class_of(mpfr_srcptr x) {
  if (mpfr_nan_p(x)) return KC_NAN;
  bool negative = mpfr_signbit(x);
  if (mpfr_inf_p(x)) return negative ? KC_NINF : KC_PINF;
  if (mpfr_zero_p(x)) return negative ? KC_NZERO : KC_PZERO;
  return negative ? KC_NFIN : KC_PFIN;
}

static unsigned __int128 low_128(mpz_srcptr z) {
  uint64_t words[2] = {0, 0};
  mpz_export(words, NULL, -1, sizeof *words, 0, 0, z);
  return (unsigned __int128)words[1] << 64 | words[0];
}

static int32_t clamp_exponent(mpfr_exp_t e) {
  return e > EXPONENT_LIMIT ? EXPONENT_LIMIT : e < -EXPONENT_LIMIT ? -EXPONENT_LIMIT : (int32_t)e;
}

kc_parts kc_exact_parts(mpfr_srcptr x) {
  kc_parts p = {.cls = class_of(x)};
  if (p.cls != KC_NFIN && p.cls != KC_PFIN) return p;
  mpz_t z;
  mpz_init(z);
  mpfr_exp_t exponent = mpfr_get_z_2exp(z, x);
  size_t bits = mpz_sizeinbase(z, 2);
  if (bits > WIDTH) {
    mp_bitcnt_t excess = bits - WIDTH;
    p.sticky = mpz_scan1(z, 0) < excess;
    mpz_tdiv_q_2exp(z, z, excess);
    exponent += (mpfr_exp_t)excess;
  }
  mpz_abs(z, z);
  p.sig = low_128(z);
  p.exp = clamp_exponent(exponent);
  mpz_clear(z);
  return p;
}
