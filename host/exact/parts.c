/* parts.c - an MPFR number taken apart, so that the one codec rounds it once. */
#include "exact.h"

enum { SIG_BITS = 128 };

static int32_t clamp_exponent(mpfr_exp_t e) {
  const mpfr_exp_t limit = (mpfr_exp_t)1 << 30;
  return (int32_t)(e > limit ? limit : e < -limit ? -limit : e);
}

static unsigned __int128 low_128(const mpz_t z) {
  uint64_t words[2] = {0, 0};
  mpz_export(words, NULL, -1, sizeof *words, 0, 0, z);
  return (unsigned __int128)words[1] << 64 | words[0];
}

kc_parts kc_exact_parts(mpfr_srcptr x) {
  if (mpfr_nan_p(x)) return (kc_parts){.cls = KC_NAN};
  bool negative = mpfr_signbit(x);
  if (mpfr_inf_p(x)) return (kc_parts){.cls = negative ? KC_NINF : KC_PINF};
  if (mpfr_zero_p(x)) return (kc_parts){.cls = negative ? KC_NZERO : KC_PZERO};
  mpz_t z;
  mpz_init(z);
  mpfr_exp_t e = mpfr_get_z_2exp(z, x);
  mpz_abs(z, z);
  size_t bits = mpz_sizeinbase(z, 2), cut = bits > SIG_BITS ? bits - SIG_BITS : 0;
  kc_parts p = {.cls = negative ? KC_NFIN : KC_PFIN, .sticky = cut > 0 && mpz_scan1(z, 0) < cut};
  mpz_fdiv_q_2exp(z, z, cut);
  p.sig = low_128(z);
  p.exp = clamp_exponent(e + (mpfr_exp_t)cut);
  mpz_clear(z);
  return p;
}
